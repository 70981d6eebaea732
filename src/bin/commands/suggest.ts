import { writeFile } from "node:fs/promises";
import type { Checked } from "../../contract/faults.ts";
import type { Source } from "../../contract/payments/catalogue.ts";
import { checkReplaceable } from "../../kit/replace-file.ts";
import { createAccountTarget } from "../../platform/import/accounts.ts";
import { createClosureTarget } from "../../platform/import/closures.ts";
import { DISPUTE_ROLES, DisputeValues } from "../../platform/import/disputes/values.ts";
import { createDocumentTarget } from "../../platform/import/documents.ts";
import { collectFields, type Fields } from "../../platform/import/fields.ts";
import { collectSourceFields, createRowCheck } from "../../platform/import/payments/row.ts";
import { suggestFile } from "../../platform/import/suggest-file.ts";
import { checkValue } from "../../platform/services/ingest/body.ts";
import type { Io } from "./io.ts";
import type { SuggestKind, SuggestOptions } from "./import-options.ts";
import { openInput } from "./input-file.ts";

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

/** Prints a map for a file of unknown form, with the first rows as they would be read, and writes it to a file. */
export const suggestImport = async (io: Io, options: SuggestOptions): Promise<void> => {
  const { kind, source = "cashapp", currency, output, format } = options;
  if (output !== undefined) checkReplaceable(output);
  const payments = kind === "payments" ? { source } : {};
  const input = await openInput(options.file);
  try {
    const { name, bytes, path: place } = input;
    const form = describeKind(kind, source);
    const file = { name, bytes, place };
    const found = await suggestFile({ kind, ...payments, format, ...form, currency, input: file });
    const { map, ...others } = found;
    if (output !== undefined) await writeFile(output, `${JSON.stringify(map, undefined, 2)}\n`);
    io.print({ ...others, map, ...(output === undefined ? {} : { output }) });
  } finally {
    await input.close();
  }
};
