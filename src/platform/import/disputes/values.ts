import { code as currencyByCode } from "currency-codes";
import { z } from "zod";
import {
  CodeText,
  DisputeStatus,
  Email,
  PositiveAmount,
  RecordNumber,
  statusFromWord,
  text,
} from "../../../contract/fields.ts";
import { iso } from "../../../kit/clock.ts";
import { readMoment } from "../dates.ts";

const Moment = z.string().transform((value, context) => {
  const at = readMoment(value.trim());
  if (at !== undefined) return iso(at);
  context.addIssue({
    code: "custom",
    message: "must be a day as YYYY-MM-DD or a moment with its offset, 2026-01-31T09:30:00Z",
  });
  return z.NEVER;
});

const Currency = z
  .string()
  .trim()
  .toUpperCase()
  .refine((value) => currencyByCode(value)?.code === value, "must be an ISO 4217 currency code");

const trimmed = (value: unknown): unknown => (typeof value === "string" ? value.trim() : value);

/** A dispute as a file may give it; what is absent is not said. */
export const DisputeValues = z.object({
  accountNumber: RecordNumber,
  accountName: text(200).optional(),
  documentNumber: RecordNumber,
  amount: PositiveAmount,
  currencyCode: Currency.optional(),
  categoryCode: CodeText.optional(),
  reasonCode: CodeText.optional(),
  poNumber: text(128).optional(),
  status: z.preprocess((value) => statusFromWord(trimmed(value)), DisputeStatus).optional(),
  createDate: Moment.optional(),
  closedDate: Moment.optional(),
  assigneeEmail: Email.optional(),
  resolutionCode: CodeText.optional(),
});
export type DisputeValues = z.output<typeof DisputeValues>;
export type DisputeField = keyof DisputeValues;
