/** Bank file formats, which contain customers' payments. */
export const BANK_FORMATS = ["bai2", "camt", "edi820", "mt940"] as const;
export type BankFormat = (typeof BANK_FORMATS)[number];

/** The formats of tables with rows of named values. */
export const TABLE_FORMATS = ["csv", "ndjson", "xlsx"] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

export const FORMATS = [...TABLE_FORMATS, ...BANK_FORMATS] as const;
export type Format = (typeof FORMATS)[number];

export const isBankFormat = (format: Format): format is BankFormat =>
  BANK_FORMATS.some((known) => known === format);
