import type { Warn } from "./bank/file.ts";
import { createCsvReader } from "./csv.ts";
import type { Fields } from "./fields.ts";
import type { TableFormat } from "./formats.ts";
import { readLines } from "./lines.ts";
import { collectColumns, type ImportMap } from "./map.ts";
import { createNdjsonReader } from "./ndjson.ts";
import type { Item } from "./rows.ts";
import { openWorkbook } from "./xlsx.ts";

/** The place of the rows in a file. */
export type TableLayout = { header: number; delimiter?: string; sheet?: string };

/** An open table; `columns` and `layout` are valid after the first items were read. */
export type TableReading = {
  /** The names of the columns; null for NDJSON, whose rows have names of their own. */
  columns(): readonly string[] | null;
  layout(): TableLayout | undefined;
  items(): AsyncIterable<Item[]>;
};

/** Opens a table: text as UTF-8, or a workbook. A header below other lines is found by the map, else by the fields. */
export const openTable = (
  format: TableFormat,
  bytes: () => AsyncIterable<Uint8Array>,
  { fields, map, warn }: { fields: Fields; map: ImportMap | undefined; warn?: Warn },
): TableReading => {
  const { header, delimiter, sheet } = map ?? {};
  const isEachExpected = map !== undefined;
  const expected = map === undefined ? new Set(fields.keys()) : collectColumns(map);
  if (format === "xlsx")
    return openWorkbook(bytes, { header, sheet, expected, isEachExpected, warn });
  const reader =
    format === "csv"
      ? createCsvReader({ header, delimiter, expected, isEachExpected })
      : createNdjsonReader();
  return {
    columns: () => reader.columns() ?? null,
    layout: () => reader.layout?.(),
    async *items() {
      for await (const lines of readLines(bytes())) yield reader.push(lines);
      yield reader.end();
    },
  };
};
