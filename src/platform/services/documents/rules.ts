import type { z } from "zod";
import type { Fault } from "../../../contract/errors.ts";
import type { Checked } from "../../../contract/faults.ts";
import { IngestNumber } from "../../../contract/ingest-fields.ts";
import {
  ClosureFields,
  DOCUMENT_TYPES,
  DocumentFields,
  type StoredDocument,
} from "../../../contract/operations/documents.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import { isRecord } from "../../../kit/json.ts";
import {
  checkCode,
  checkValue,
  createNarrowing,
  toDateText,
  type Fields,
  mergeBody,
  type Write,
} from "../ingest/body.ts";
import type { Amounts } from "./status.ts";

/** The facts that the rules use beside the body. */
export type KnownDocument = {
  documentNumber: string;
  write: Write;
  before: StoredDocument | undefined;
  /** Whether a credit note without an invoice is taken: credit on account. A stored one may stay without. */
  acceptsCreditOnAccount?: boolean;
};

type Parsed = z.output<typeof DocumentFields>;
type Type = NonNullable<Parsed["document_type"]>;

const toTypeName = (type: Type | undefined): StoredDocument["document_type"] =>
  (typeof type === "number" ? DOCUMENT_TYPES[type - 1] : type) ?? "invoice";

export const isOfType = ({ document_type: sent }: Fields, name: Type): boolean =>
  sent === name || (typeof sent === "number" && DOCUMENT_TYPES[sent - 1] === name);

const isCreditOnAccount = (document: Fields): boolean =>
  isOfType(document, "credit_note") && (document["applies_to_invoice"] ?? "") === "";

const checkCreditNote = (
  result: Fields,
  { acceptsCreditOnAccount = false, before }: KnownDocument,
): Fault[] => {
  const field = "applies_to_invoice";
  if (!isCreditOnAccount(result) || acceptsCreditOnAccount) return [];
  if (before !== undefined && isCreditOnAccount(before)) return [];
  return [{ field, code: "conditional_required", message: "is required for a credit note" }];
};

const DATES = ["invoice_date", "due_date", "discount_date"] as const;

const documentFields = createNarrowing(DocumentFields);

const toStored = (parsed: Parsed, { documentNumber }: KnownDocument): StoredDocument => {
  const document: StoredDocument = { ...parsed, document_type: toTypeName(parsed.document_type) };
  document.pdf_name ??= `${documentNumber}.pdf`;
  for (const name of DATES) {
    const date = document[name];
    if (date !== undefined) document[name] = toDateText(date);
  }
  return document;
};

/** Validates a document. Returns the document after the write, or the faults including those in `found`. */
export const checkDocument = (
  sent: unknown,
  known: KnownDocument,
  found: readonly Fault[] = [],
): Checked<StoredDocument> => {
  const result = isRecord(sent) ? mergeBody(known.write, sent, known.before) : sent;
  const { value, faults = [] } = checkValue(documentFields(result), result, (fields) => [
    ...checkCode("currency", "currency", fields["currency"]),
    ...checkCode("currency", "original_currency", fields["original_currency"]),
    ...checkCode("currency", "base_currency", fields["base_currency"]),
    ...checkCode("country", "ship_to_address_country", fields["ship_to_address_country"]),
    ...checkCreditNote(fields, known),
    ...found,
  ]);
  return value === undefined ? { faults } : { value: toStored(value, known) };
};

/** Checks that the account in a body exists. */
export const checkAccount = async (
  sent: unknown,
  find: (number: string) => Promise<unknown>,
): Promise<Fault[]> => {
  const field = "account_number";
  const named = IngestNumber.safeParse(isRecord(sent) ? sent[field] : undefined);
  if (!named.success || (await find(named.data)) !== undefined) return [];
  return [{ field, code: "unknown_reference", message: "names no account" }];
};

/** Returns the amounts in a validated body. */
export const pickAmounts = (sent: unknown): Amounts => {
  const number = (name: keyof Amounts): Amounts => {
    const value = isRecord(sent) ? sent[name] : undefined;
    return typeof value === "number" ? { [name]: value } : {};
  };
  return { ...number("denomination"), ...number("denomination_in_base_currency") };
};

export type AskedClosure = {
  closure_reason: ClosureFields["closure_reason"];
  closed_at: number;
  notes: string | null;
};

/** Returns the fault of a closure that is to be dated after `now`; undefined if the date is allowed or is none. */
const findClosureDateFault = ({ closure_date: sent }: Fields, now: number): Fault | undefined => {
  // May not be validated yet: an object of JSON may have a field `toString`, which is no function.
  const at = typeof sent === "string" ? Date.parse(sent) : NaN;
  if (!(at > now)) return undefined;
  const message = `must not be after ${formatTimestamp(now)}`;
  return { field: "closure_date", code: "range", message };
};

/** Validates a requested closure. */
export const checkClosure = (sent: unknown, now: number): Checked<AskedClosure> => {
  const result = isRecord(sent) ? mergeBody("create", sent) : sent;
  const { value, faults = [] } = checkValue(ClosureFields, result, (fields) =>
    [findClosureDateFault(fields, now)].filter((fault) => fault !== undefined),
  );
  if (value === undefined) return { faults };
  const { closure_reason, closure_date, notes = null } = value;
  const closed_at = closure_date === undefined ? now : Date.parse(closure_date);
  return { value: { closure_reason, closed_at, notes } };
};
