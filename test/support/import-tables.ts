import { writeXlsx } from "hucre/xlsx";
import type { Source } from "../../src/contract/payments/catalogue.ts";
import { createAccountTarget } from "../../src/platform/import/accounts.ts";
import { DISPUTE_ROLES, DisputeValues } from "../../src/platform/import/disputes/values.ts";
import { createDocumentTarget } from "../../src/platform/import/documents.ts";
import { detectEncoding, toUtf8 } from "../../src/platform/import/encoding.ts";
import { collectFields, type Fields } from "../../src/platform/import/fields.ts";
import { type ImportMap, parseImportMap } from "../../src/platform/import/map.ts";
import { createMapping, findSummedField, type Mapped } from "../../src/platform/import/mapping.ts";
import { collectSourceFields } from "../../src/platform/import/payments/row.ts";
import { NOTE_FORM } from "../../src/platform/import/notes.ts";
import { USER_FORM } from "../../src/platform/import/users.ts";
import { isRow, type Unreadable } from "../../src/platform/import/rows.ts";
import { suggestMap } from "../../src/platform/import/suggest.ts";
import { createSums } from "../../src/platform/import/sums.ts";
import { openTable } from "../../src/platform/import/table.ts";
import { pieces } from "./importing.ts";

const NEEDS = { tenantId: "t", clock: () => 0 };

export type Kind = Source | "documents" | "accounts" | "disputes" | "notes" | "users";

/** The fields of a kind of records, or of a source of payments. */
export const fieldsOf = (kind: Kind): Fields => {
  if (kind === "documents") return createDocumentTarget(NEEDS).fields;
  if (kind === "accounts") return createAccountTarget(NEEDS).fields;
  if (kind === "notes") return NOTE_FORM.fields;
  if (kind === "users") return USER_FORM.fields;
  return kind === "disputes"
    ? collectFields(DisputeValues, DISPUTE_ROLES)
    : collectSourceFields(kind);
};

/** A file as bytes: text in an encoding, or the rows of a workbook. */
export type TableFile = { format: "csv" | "xlsx"; bytes: Buffer };

/** Encodes text as Windows-1252, of which it may have the characters of Latin-1 and the euro sign. */
export const windows1252 = (text: string): Buffer =>
  Buffer.from([...text].map((one) => (one === "€" ? 0x80 : (one.codePointAt(0) ?? 0))));

export const csv = (
  text: string,
  encode: (from: string) => Buffer = (from) => Buffer.from(from),
): TableFile => ({
  format: "csv",
  bytes: encode(text),
});

export const workbook = async (
  rows: readonly (readonly (string | number | boolean | Date | null)[])[],
): Promise<TableFile> => ({
  format: "xlsx",
  bytes: Buffer.from(
    await writeXlsx({ sheets: [{ name: "Sheet", rows: rows.map((row) => [...row]) }] }),
  ),
});

const open = async ({ format, bytes }: TableFile) => {
  const read = () => pieces(bytes, 997);
  if (format === "xlsx") return read;
  const encoding = await detectEncoding(read());
  return () => toUtf8(read(), encoding);
};

/** Reads a table with a map as an import does, up to the records of its kind. */
export const readTable = async (kind: Kind, file: TableFile, given?: object) => {
  const fields = fieldsOf(kind);
  const map: ImportMap | undefined =
    given === undefined ? undefined : parseImportMap(JSON.stringify(given), fields);
  const bytes = await open(file);
  const results: (Mapped | Unreadable)[] = [];
  const summed = findSummedField(fields, map);
  const sums = createSums();
  let layout: unknown;
  for (const pass of summed === undefined ? ["read"] : ["sum", "read"]) {
    const table = openTable(file.format, bytes, { fields, map });
    let mapRow: ((cells: Record<string, unknown>) => Mapped) | undefined;
    for await (const items of table.items()) {
      if (items.length === 0) continue;
      mapRow ??= createMapping(fields, map, table.columns(), pass === "sum" ? {} : { sums });
      for (const item of items) {
        const found = isRow(item) ? mapRow(item.cells) : item;
        if (pass === "read") results.push(found);
        else if (summed !== undefined && "as" in found && found.as === "record") {
          sums.add(String(found.record[summed.key]), found.record[summed.amount]);
        }
      }
    }
    layout = table.layout();
  }
  sums.close();
  return {
    layout,
    records: results.flatMap((one) => ("as" in one && one.as === "record" ? [one.record] : [])),
    leftOut: results.flatMap((one) => ("as" in one && one.as === "leftOut" ? [one.type] : [])),
    refused: results.flatMap((one) => {
      if (!("as" in one)) return [`${one.fault.code} ${one.fault.message}`];
      return one.as === "refused"
        ? one.faults.map(({ field, message }) => `${field} ${message}`)
        : [];
    }),
  };
};

const SOURCES: readonly string[] = ["cashapp", "iandp", "bpn"];

/** Suggests a map for a file. */
export const suggest = async (kind: Kind, file: TableFile, currency?: string) => {
  const payments = SOURCES.includes(kind) ? { kind: "payments", source: kind } : { kind };
  const found = await suggestMap({
    ...payments,
    format: file.format,
    bytes: await open(file),
    fields: fieldsOf(kind),
    currency,
  });
  if (found === undefined) throw new Error("nothing is suggested");
  return found;
};
