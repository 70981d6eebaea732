import { Problem } from "../../contract/errors.ts";
import {
  createForeign,
  detectFile,
  eachFile,
  type Input,
  type InputFile,
  openText,
} from "./input.ts";
import { type SuggestNeeds, type Suggestion, suggestMap } from "./suggest.ts";
import { isTableFormat, type TableFormat } from "./formats.ts";

export type SuggestFileNeeds = Omit<SuggestNeeds, "bytes" | "format"> & {
  input: Input;
  /** Undefined: the content decides. */
  format: TableFormat | undefined;
};

/** A proposed map, with the file in a ZIP that it is for. */
export type FileSuggestion = Suggestion & { file?: string; encoding?: string };

const chooseFormat = async (
  { format, kind }: SuggestFileNeeds,
  file: InputFile,
): Promise<TableFormat> => {
  if (format !== undefined) return format;
  const found = await detectFile(file);
  if (typeof found === "object") throw createForeign(file.name, found.foreign);
  if (found !== "zip" && isTableFormat(found)) return found;
  if (kind !== "payments") return "csv";
  throw new Problem(
    "invalid_request",
    `${file.name} is a bank file (${found}), which needs no map. Import it with: import payments`,
  );
};

const suggestOne = async (
  needs: SuggestFileNeeds,
  file: InputFile,
): Promise<FileSuggestion | undefined> => {
  const format = await chooseFormat(needs, file);
  if (format === "xlsx") return suggestMap({ ...needs, format, bytes: file.bytes });
  const { bytes, encoding } = await openText(file);
  const found = await suggestMap({ ...needs, format, bytes });
  return found === undefined ? undefined : { ...found, encoding };
};

/**
 * Proposes a map for a table, or for the first table of a ZIP; notes name the other files of the ZIP, which an import
 * reads with the same map.
 *
 * @throws {Problem} invalid_request if there is no table
 */
export const suggestFile = async (needs: SuggestFileNeeds): Promise<FileSuggestion> => {
  const { input } = needs;
  let found: FileSuggestion | undefined;
  let refused: Problem | undefined;
  const others: string[] = [];
  const isTable = async (file: InputFile): Promise<boolean> => {
    if (found !== undefined) return false;
    try {
      const one = await suggestOne(needs, file);
      if (one !== undefined) found = file === input ? one : { ...one, file: file.name };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refused ??= error;
    }
    return found !== undefined;
  };
  await eachFile(input, async (file) => {
    if (!(await isTable(file))) others.push(file.name);
  });
  if (found === undefined) {
    throw (
      refused ?? new Problem("invalid_request", `The file ${input.name} has no rows of a table.`)
    );
  }
  if (others.length === 0) return found;
  const note = `The archive has other files, which an import reads with the same map: ${others.slice(0, 10).join(", ")}.`;
  return { ...found, notes: [...found.notes, note] };
};
