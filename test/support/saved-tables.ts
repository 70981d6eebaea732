import { openCalendar } from "../../src/contract/insights/calendar.ts";
import type { Column, Row } from "../../src/mcp/files/saved/cells.ts";
import { writeCsv } from "../../src/mcp/files/saved/csv.ts";
import type { Table } from "../../src/mcp/files/saved/table.ts";
import { writeXlsx } from "../../src/mcp/files/saved/xlsx.ts";

const { zone } = openCalendar("Europe/Berlin");

const column = (name: string): Column => ({ name, path: name.split(".") });

export const tableOf = (names: readonly string[], rows: readonly Row[]): Table => ({
  columns: names.map(column),
  rows: (async function* () {
    yield rows;
  })(),
  zone,
  facts: () => [
    ["tool", "disputes_list"],
    ["accountName", "=1+1"],
    ["rows", rows.length],
  ],
});

const collect = async (bytes: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
};

export const toCsv = async (table: Table, about = false): Promise<string> =>
  (await collect(writeCsv(table, about))).toString("utf8");

export const toXlsx = (table: Table): Promise<Buffer> => collect(writeXlsx(table, new Date(0)));

/** Texts that a spreadsheet may compute, in the forms by which filters are passed. */
export const HOSTILE = [
  "=1+1",
  "+1+1",
  "-2+3",
  "@SUM(A1)",
  "\t=1+1",
  "\r=1+1",
  "\n=1+1",
  " =1+1",
  "\u00a0=1+1",
  "\u200b=1+1",
  "\ufeff=1+1",
  "\u3000＝1+1",
  "＝1+1",
  "＋1+1",
  "－1+1",
  "＠SUM(A1)",
  "﹦1+1",
  "\u2212cmd",
  '=HYPERLINK("https://example.com")',
  "=cmd|'/c calc'!A0",
  "-1,5+cmd|' /C calc'!A0",
  "+4912345x",
  "-",
  "=",
];

export const ROWS: Row[] = [
  {
    code: "D-1",
    amount: 80.5,
    createDate: "2026-03-29T00:30:00.000Z",
    due: { dueDate: "2026-01-31" },
  },
  { code: 'quote " and, comma', amount: -0.1, note: "two\nlines", isValid: true, tags: ["a", "b"] },
  { code: "_x003D_1+1", amount: "123456789012345.67", note: "😀 & <b>", due: { dueDate: "soon" } },
  ...HOSTILE.map((note, place) => ({ code: `H-${place}`, note })),
];
export const NAMES = ["code", "amount", "createDate", "due.dueDate", "isValid", "tags", "note"];
