import { createReadStream } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { Problem } from "../../contract/errors.ts";
import type { Checked } from "../../contract/faults.ts";
import type { Source } from "../../contract/payments/catalogue.ts";
import { getMessage } from "../../kit/error.ts";
import { checkReplaceable } from "../../kit/replace-file.ts";
import { createAccountTarget } from "../../platform/import/accounts.ts";
import { createClosureTarget } from "../../platform/import/closures.ts";
import { DISPUTE_ROLES, DisputeValues } from "../../platform/import/disputes/values.ts";
import { createDocumentTarget } from "../../platform/import/documents.ts";
import { detectEncoding, toUtf8 } from "../../platform/import/encoding.ts";
import { collectFields, type Fields } from "../../platform/import/fields.ts";
import { collectSourceFields, createRowCheck } from "../../platform/import/payments/row.ts";
import { type Suggestion, suggestMap } from "../../platform/import/suggest.ts";
import { checkValue } from "../../platform/services/ingest/body.ts";
import type { Io } from "../io.ts";
import type { SuggestKind, SuggestOptions } from "../import-options.ts";

/** The fields of a kind, and the check of its rows. */
type Form = { fields: Fields; parse(record: Record<string, unknown>): Checked<unknown> };

// Rows are only checked, so that neither tenant nor clock is used.
const UNUSED = { tenantId: "", clock: () => 0 };

const describeKind = (kind: SuggestKind, source: Source): Form => {
  switch (kind) {
    case "accounts":
      return createAccountTarget(UNUSED);
    case "documents":
      return createDocumentTarget(UNUSED);
    case "closures":
      return createClosureTarget(UNUSED);
    case "disputes":
      return {
        fields: collectFields(DisputeValues, DISPUTE_ROLES),
        parse: (record) => checkValue(DisputeValues, record),
      };
    default:
      return { fields: collectSourceFields(source), parse: createRowCheck(source, "") };
  }
};

const ZIP = "PK";

/** Tells a workbook from text by its first bytes. */
const detectFormat = async (file: string): Promise<"csv" | "xlsx"> => {
  const handle = await open(file).catch((error: unknown) => {
    const message = `The file ${file} cannot be read: ${getMessage(error)}`;
    throw new Problem("not_found", message);
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(ZIP.length), 0, ZIP.length, 0);
    return buffer.subarray(0, bytesRead).toString("latin1") === ZIP ? "xlsx" : "csv";
  } finally {
    await handle.close();
  }
};

const describeResult = ({ map, ...found }: Suggestion, encoding: string | undefined) => ({
  ...found,
  ...(encoding === undefined ? {} : { encoding }),
  map,
});

/** Prints a map for a file of unknown form, with the first rows as they would be read, and writes it to a file. */
export const suggestImport = async (io: Io, options: SuggestOptions): Promise<void> => {
  const { kind, file, source, currency, output } = options;
  if (output !== undefined) checkReplaceable(output);
  const format = options.format ?? (await detectFormat(file));
  const encoding = format === "csv" ? await detectEncoding(createReadStream(file)) : undefined;
  const bytes = () => {
    const stream = createReadStream(file);
    return encoding === undefined ? stream : toUtf8(stream, encoding);
  };
  const form = describeKind(kind, source ?? "cashapp");
  const payments = kind === "payments" ? { source: source ?? "cashapp" } : {};
  const found = await suggestMap({ kind, ...payments, format, bytes, ...form, currency });
  if (found === undefined) {
    throw new Problem("invalid_request", `The file ${file} has no rows of a table.`);
  }
  if (output !== undefined) await writeFile(output, `${JSON.stringify(found.map, undefined, 2)}\n`);
  io.print({
    ...describeResult(found, encoding?.label),
    ...(output === undefined ? {} : { output }),
  });
};
