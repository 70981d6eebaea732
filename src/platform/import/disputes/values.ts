import { code as currencyByCode } from "currency-codes";
import { z } from "zod";
import {
  CodeText,
  DisputeStatus,
  Email,
  PositiveAmount,
  RecordNumber,
  parseStatusWord,
  text,
} from "../../../contract/fields.ts";
import type { Roles } from "../fields.ts";
import { SourceTimestamp } from "../source-values.ts";

const Currency = z
  .string()
  .trim()
  .toUpperCase()
  .refine((value) => currencyByCode(value)?.code === value, "must be an ISO 4217 currency code");

const trimText = (value: unknown): unknown => (typeof value === "string" ? value.trim() : value);

/** A dispute's row in an import file; absent fields leave the stored values unchanged. */
export const DisputeValues = z.object({
  accountNumber: RecordNumber,
  accountName: text(200).optional(),
  documentNumber: RecordNumber,
  amount: PositiveAmount,
  currencyCode: Currency.optional(),
  categoryCode: CodeText.optional(),
  reasonCode: CodeText.optional(),
  poNumber: text(128).optional(),
  status: z.preprocess((value) => parseStatusWord(trimText(value)), DisputeStatus).optional(),
  createDate: SourceTimestamp.optional(),
  updateDate: SourceTimestamp.optional(),
  closedDate: SourceTimestamp.optional(),
  assigneeEmail: Email.optional(),
  resolutionCode: CodeText.optional(),
});
/** The meaning of the fields in an import file. */
export const DISPUTE_ROLES: Roles = {
  documentNumber: { role: "key", required: "documentNumber" },
  amount: { role: "amount", required: "amount", currency: "currencyCode", negativeMark: "CR" },
  currencyCode: { role: "currency" },
  createDate: { role: "day" },
  updateDate: { role: "day" },
  closedDate: { role: "day" },
};
export type DisputeValues = z.output<typeof DisputeValues>;
export type DisputeField = keyof DisputeValues;
