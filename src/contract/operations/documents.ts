import { z } from "zod";
import { boundFaults } from "../faults.ts";
import { Amount, Pagination, RecordNumber, shownProperties, text, Timestamp } from "../fields.ts";
import {
  AnyObject,
  clearable,
  Comment,
  CountryCode,
  CurrencyCode,
  CustomFields,
  IngestAmount,
  IngestDate,
  IngestNumber,
  optional,
  pages,
  SearchText,
} from "../ingest-fields.ts";
import { Day } from "../insights/arguments.ts";
import {
  DOCUMENT_SUMMARY_ADDITIONS,
  DocumentSummaryBody,
  DocumentSummaryResult,
} from "../insights/document-summary.ts";
import {
  type CallArguments,
  defineOperations,
  type Outcome,
  type SideEffect,
} from "../operation.ts";

export const DOCUMENT_TYPES = ["other", "invoice", "credit_note"] as const;
export const CLOSURE_REASONS = ["paid", "write_off", "contra", "adjustment", "other"] as const;

const requiredFields = {
  account_number: IngestNumber.describe("of the customer"),
  invoice_date: IngestDate,
  due_date: IngestDate,
};

const LineItem = z
  .object(
    optional({
      line_number: z.union([z.int(), text(64)]).describe("position"),
      product_code: text(64).describe("article"),
      description: text(500).describe("of the article"),
      quantity: Amount.describe("in units"),
      unit_of_measure: text(64).describe("such as EA"),
      unit_price: Amount.describe("of one unit"),
      amount: IngestAmount.meta({ description: "line total" }),
      tax_amount: IngestAmount.describe("of the line"),
    }),
  )
  .register(shownProperties, { amount: { type: "number", description: "line total" } });

const optionalFields = {
  applies_to_invoice: text(128).meta({ description: "required for a credit note" }),
  invoice_num: text(128).describe("if different"),
  po_number: text(128).describe("purchase order"),
  pdf_name: text(255).describe("file name"),
  ship_to_account_num: text(128).describe("recipient"),
  ship_to_address_street: text(200).describe("delivery address"),
  ship_to_address_suite: text(200).describe("unit"),
  ship_to_address_city: text(200).describe("town"),
  ship_to_address_state: text(200).describe("or province"),
  ship_to_address_zip: text(200).describe("postal code"),
  ship_to_address_country: CountryCode,
  currency: CurrencyCode,
  original_denomination: IngestAmount.describe("total when issued"),
  denomination: IngestAmount.meta({ description: "balance; 0 closes it" }),
  original_currency: CurrencyCode.describe("of the document"),
  base_currency: CurrencyCode.describe("of the books"),
  original_denomination_in_original_currency: IngestAmount.describe("when issued"),
  original_denomination_in_base_currency: IngestAmount.describe("when issued"),
  denomination_in_original_currency: IngestAmount.describe("open balance"),
  denomination_in_base_currency: IngestAmount.meta({ description: "0 closes it" }),
  description: text(500).describe("for people"),
  comment: Comment.describe("remark"),
  line_items: z
    .array(boundFaults(LineItem))
    .max(10_000)
    .describe(`of ${Object.keys(LineItem.shape).join(", ")}`),
  discount_date: IngestDate.describe("last day"),
  discount_amount: IngestAmount.describe("for early payment"),
  freight_amount: IngestAmount.describe("within the total"),
  tax_amount: IngestAmount.describe("within the total"),
  payment_terms: text(200).describe("such as NET30"),
  branch_name: text(200).describe("of the customer"),
  custom_fields: CustomFields,
  invoicing_detail: AnyObject,
};

const documentType = {
  document_type: z.literal([...DOCUMENT_TYPES, 1, 2, 3]).meta({ description: "default invoice" }),
};

/** The fields of a document that requests send. */
export const DocumentFields = z.object({
  ...requiredFields,
  ...optional({ ...documentType, ...optionalFields }),
});

/** The stored fields of a document. */
export const StoredDocument = z.object({
  ...requiredFields,
  document_type: z.enum(DOCUMENT_TYPES),
  ...optional(optionalFields),
});
export type StoredDocument = z.infer<typeof StoredDocument>;

/** An invoice, a credit note or another receivable of an account. */
export const Document = z.object({
  csrId: z.int(),
  documentNumber: z.string(),
  ...StoredDocument.shape,
  status: z.enum(["open", "closed"]),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Document = z.infer<typeof Document>;

/** A document with time and reason of its closing, null while it is open; no reason: its balance was zero. */
export const DocumentWithClosing = z.object({
  ...Document.shape,
  closedAt: Timestamp.nullable().optional(),
  closure_reason: z.enum(CLOSURE_REASONS).nullable().optional(),
});
export type DocumentWithClosing = z.infer<typeof DocumentWithClosing>;

export const BALANCE_CAUSES = ["created", "changed", "closed", "reopened", "imported"] as const;

/** The closings and recorded balances of a document, oldest first. */
export const DocumentHistory = z.object({
  closures: z.array(
    z.object({ closedAt: Timestamp, closure_reason: z.enum(CLOSURE_REASONS).nullable() }),
  ),
  balances: z.array(
    z.object({
      recordedAt: Timestamp,
      status: z.enum(["open", "closed"]),
      balance: z.number().nullable(),
      currency: z.string().nullable(),
      cause: z.enum(BALANCE_CAUSES),
    }),
  ),
});
export type DocumentHistory = z.infer<typeof DocumentHistory>;

/** A document in a list, with its history if the query requests it. */
export const ListedDocument = z.object({
  ...DocumentWithClosing.shape,
  history: DocumentHistory.optional(),
});
export type ListedDocument = z.infer<typeof ListedDocument>;

/** `contra`: offset against what is owed to the customer. */
export const ClosureReason = z
  .enum(CLOSURE_REASONS)
  .describe("contra: offset against what you owe the customer");

export const ClosureFields = z.object({
  closure_reason: ClosureReason,
  closure_date: IngestDate.optional().meta({ description: "YYYY-MM-DD or date-time; default now" }),
  notes: text(2000).optional().describe("why"),
});
export type ClosureFields = z.infer<typeof ClosureFields>;

/** The closure of a document. */
export const Closure = z.object({
  closure_reason: z.enum(CLOSURE_REASONS),
  closedAt: Timestamp,
  status: z.literal("closed"),
  csrId: z.int(),
  documentNumber: z.string(),
  updatedAt: Timestamp,
});

/** Amounts that close the document and its open disputes when either is 0. */
const OPEN_AMOUNTS = ["denomination", "denomination_in_base_currency"] as const;

const isPaidOff = (args: CallArguments): boolean => OPEN_AMOUNTS.some((name) => args[name] === 0);

const PAY_OFF_EFFECTS: readonly SideEffect[] = [
  { kind: "closes", target: "document", when: isPaidOff },
  { kind: "closes", target: "disputes of the document", when: isPaidOff },
];

/** The numbers of one lookup of documents. */
export const MOST_LOOKED_UP = 100;

/** Orders of the list; `-` is descending. */
export const DOCUMENT_SORT = [
  "document_number",
  "due_date",
  "-due_date",
  "invoice_date",
  "-invoice_date",
] as const;

/** The parameter for time and reason of the closing. */
const CLOSURE_QUERY = { closure: z.boolean().optional() };
const CLOSURE_ADDITIONS = { name: "closure", query: ["closure"], always: { closure: true } };

const one = z.object({ document_number: IngestNumber.describe("of the invoice") });
const DOCUMENT = "/api/v1/ingest/documents/{document_number}";

/** The fields of a document in a tool's list, unless the call names others. */
const DEFAULT_FIELDS = [
  "documentNumber",
  "account_number",
  "document_type",
  "status",
  "invoice_date",
  "due_date",
  "currency",
  "denomination",
  "closedAt",
  "closure_reason",
];

export const documents = defineOperations("ingest", "documents", {
  get: {
    method: "GET",
    path: DOCUMENT,
    access: "ingest:read",
    summary: "Read one document with its status.",
    params: one,
    query: z.strictObject(CLOSURE_QUERY),
    additions: CLOSURE_ADDITIONS,
    output: DocumentWithClosing,
    errors: ["document_not_found"],
    audit: "document.read",
  },
  list: {
    method: "GET",
    path: "/api/v1/ingest/documents",
    access: "ingest:read",
    summary: "List or search documents with their status.",
    query: z.strictObject({
      account_number: IngestNumber.optional().describe("of the customer"),
      status: z.enum(["open", "closed"]).optional(),
      document_type: z.enum(DOCUMENT_TYPES).optional(),
      due_from: Day.optional().describe("YYYY-MM-DD"),
      due_to: Day.optional().describe("inclusive"),
      invoice_from: Day.optional().describe("YYYY-MM-DD"),
      invoice_to: Day.optional().describe("inclusive"),
      search: SearchText.meta({ description: "part of document, invoice or PO number" }),
      sort: z
        .enum(DOCUMENT_SORT)
        .optional()
        .describe(`${DOCUMENT_SORT.join(", ")}; - is descending; default document_number`),
      history: z
        .boolean()
        .optional()
        .describe("with the closings and recorded balances of each document"),
      ...CLOSURE_QUERY,
      ...pages,
    }),
    additions: { ...CLOSURE_ADDITIONS, query: ["closure", "history"] },
    output: z.object({ data: z.array(ListedDocument), pagination: Pagination }),
    list: { defaultFields: DEFAULT_FIELDS },
    extension: true,
    audit: "document.listed",
  },
  lookup: {
    method: "POST",
    path: "/api/v1/ingest/document-lookups",
    access: "ingest:read",
    effect: "read",
    summary:
      "Find documents by numbers as customers write them: any letter case, spaces, dashes, zeros.",
    body: z.object({
      numbers: z
        .array(RecordNumber)
        .min(1)
        .max(MOST_LOOKED_UP)
        .meta({ description: "document, invoice or PO numbers" }),
    }),
    output: z.object({
      data: z.array(DocumentWithClosing),
      truncated: z.boolean().optional().describe("whether documents are left out; absent: none is"),
    }),
    extension: true,
    audit: "document.looked_up",
  },
  summary: {
    method: "POST",
    path: "/api/v1/ingest/documents/summary",
    access: "ingest:read",
    effect: "read",
    summary: "Count and add up documents, in groups such as days past due.",
    body: DocumentSummaryBody,
    lateValidation: true,
    output: DocumentSummaryResult,
    additions: { name: "groups", query: DOCUMENT_SUMMARY_ADDITIONS },
    extension: true,
    audit: "document.summarized",
  },
  create: {
    method: "POST",
    path: DOCUMENT,
    access: "ingest:write",
    summary: "Create a document.",
    params: one,
    body: DocumentFields,
    lateValidation: true,
    output: Document,
    errors: ["document_already_exists"],
    effects: PAY_OFF_EFFECTS,
    audit: "document.created",
  },
  replace: {
    method: "PUT",
    path: DOCUMENT,
    access: "ingest:write",
    summary: "Create a document or replace all its fields.",
    params: one,
    body: DocumentFields,
    lateValidation: true,
    upsert: true,
    effects: [{ kind: "replaces", target: "document" }, ...PAY_OFF_EFFECTS],
    output: Document,
    audit: {
      actions: ["document.created", "document.replaced"],
      choose: ({ status }: Outcome) => (status === 201 ? "document.created" : "document.replaced"),
    },
  },
  update: {
    method: "PATCH",
    path: DOCUMENT,
    access: "ingest:write",
    summary: "Update the given fields of a document; null clears a field, lists are replaced.",
    params: one,
    body: z.object({
      ...optional(requiredFields),
      ...clearable({ ...documentType, ...optionalFields }),
    }),
    lateValidation: true,
    output: Document,
    effects: PAY_OFF_EFFECTS,
    errors: ["document_not_found"],
    audit: "document.updated",
  },
  close: {
    method: "POST",
    path: `${DOCUMENT}/closure`,
    access: "ingest:write",
    effect: "change",
    summary: "Close an open document with a reason.",
    params: one,
    body: ClosureFields,
    lateValidation: true,
    output: Closure,
    errors: ["document_not_found", "document_already_closed"],
    effects: [
      { kind: "closes", target: "document" },
      { kind: "closes", target: "disputes of the document" },
    ],
    audit: "document.closed",
  },
});
