import { writeFile } from "node:fs/promises";
import { checkReplaceable } from "../../kit/replace-file.ts";
import { findForm } from "../../platform/import/kinds.ts";
import { suggestFile } from "../../platform/import/suggest-file.ts";
import type { Io } from "./io.ts";
import type { SuggestOptions } from "./import-options.ts";
import { openInput } from "./input-file.ts";

/** Prints a map for a file of unknown form, with the first rows as they would be read, and writes it to a file. */
export const suggestImport = async (io: Io, options: SuggestOptions): Promise<void> => {
  const { kind, source = "cashapp", currency, output, format } = options;
  const form = findForm(kind, source);
  if (form === undefined) throw new TypeError(`No table has ${kind}.`);
  if (output !== undefined) checkReplaceable(output);
  const payments = kind === "payments" ? { source } : {};
  const input = await openInput(options.file);
  try {
    const { name, bytes, handle: place } = input;
    const file = { name, bytes, place };
    const found = await suggestFile({ kind, ...payments, format, ...form, currency, input: file });
    const { map, ...others } = found;
    if (output !== undefined) await writeFile(output, `${JSON.stringify(map, undefined, 2)}\n`);
    io.print({ ...others, map, ...(output === undefined ? {} : { output }) });
  } finally {
    await input.close();
  }
};
