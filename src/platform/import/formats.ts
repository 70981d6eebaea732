/** Every format that can be imported: tables have rows of named values, bank files have customers' payments. */
const NAMES = {
  csv: ["table", "CSV"],
  ndjson: ["table", "NDJSON, one JSON object per line"],
  xlsx: ["table", "Excel workbook"],
  bai2: ["bank", "BAI2"],
  camt: ["bank", "ISO 20022 camt.052, camt.053, camt.054"],
  edi820: ["bank", "X12 820"],
  mt940: ["bank", "SWIFT MT940"],
} as const;

export type Format = keyof typeof NAMES;
type Family = (typeof NAMES)[Format][0];
type FormatOf<F extends Family> = {
  [Name in Format]: (typeof NAMES)[Name][0] extends F ? Name : never;
}[Format];
export type TableFormat = FormatOf<"table">;
export type BankFormat = FormatOf<"bank">;

export const FORMATS = Object.keys(NAMES) as Format[];

export const isBankFormat = (format: Format): format is BankFormat => NAMES[format][0] === "bank";
export const isTableFormat = (format: Format): format is TableFormat =>
  NAMES[format][0] === "table";

export const TABLE_FORMATS = FORMATS.filter(isTableFormat);

export const nameFormat = (format: Format): string => NAMES[format][1];
