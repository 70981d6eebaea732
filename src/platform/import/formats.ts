/** Bank file formats, which contain customers' payments. */
export const BANK_FORMATS = ["bai2", "camt", "edi820"] as const;
export type BankFormat = (typeof BANK_FORMATS)[number];

export const FORMATS = ["csv", "ndjson", "xlsx", ...BANK_FORMATS] as const;
export type Format = (typeof FORMATS)[number];

export const isBankFormat = (format: Format): format is BankFormat =>
  BANK_FORMATS.some((known) => known === format);
