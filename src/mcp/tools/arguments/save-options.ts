import { z } from "zod";
import { SAVED_FORMATS, type SavedFormat } from "../../results/saved-files.ts";

/** The form of a saved table; `about`: a CSV file has its facts above its rows. */
export type SaveOptions = { format: SavedFormat; about: boolean };

/** The arguments that save the whole result of a tool as a table. */
export const SaveArguments = z.object({
  save: z.enum(SAVED_FORMATS).optional(),
  about: z.boolean().optional(),
});

export const toSaveOptions = ({
  save,
  about = false,
}: z.output<typeof SaveArguments>): SaveOptions | undefined =>
  save === undefined ? undefined : { format: save, about };
