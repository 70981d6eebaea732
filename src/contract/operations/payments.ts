import { z } from "zod";
import { Pagination } from "../fields.ts";
import { type CallArguments, defineOperations } from "../operation.ts";
import { briefFields, shortenSchema } from "../payments/brief-schema.ts";
import {
  CATALOGUE,
  CATALOGUE_VERSION,
  getSourceMetadata,
  isSource,
  SOURCES,
} from "../payments/catalogue.ts";
import { FIELD_TYPES, type FieldType, OPERATOR_NAMES } from "../payments/operators.ts";
import type { Field } from "../payments/field.ts";
import { FAMILY_ADDITIONS } from "../insights/families.ts";
import { PaymentSummaryBody, PaymentSummaryResult } from "../insights/payment-summary.ts";
import { PaymentQueryBody } from "../payments/query.ts";

/** A field in the published payment schema. */
export const PaymentField = z.object({
  name: z.string(),
  type: z.enum(FIELD_TYPES),
  format: z.string().optional(),
  nullable: z.boolean(),
  core: z.boolean().meta({ description: "returned when a query names no fields" }),
  filterable: z.boolean(),
  indexed: z.boolean().meta({ description: "filters on it are fast" }),
  operators: z.array(z.enum(OPERATOR_NAMES)),
  description: z.string(),
  enum: z.array(z.string()).optional(),
});

/** A payment source that can be queried. */
export const PaymentSource = z.object({
  source: z.enum(SOURCES),
  description: z.string(),
  fields: z.array(PaymentField),
});

/** The published payment schema: every source with its fields. */
export const PaymentSchema = z.object({ version: z.string(), sources: z.array(PaymentSource) });
export type PaymentSchema = z.infer<typeof PaymentSchema>;

/** A payment row: exactly the requested fields, in schema order. */
export const PaymentRow = z.record(z.string(), z.unknown());

const FORMATS: Partial<Record<FieldType, string>> = {
  money: "decimal, at most 6 decimal places",
  date: "YYYY-MM-DD",
  datetime: "date-time, UTC",
};

const toPaymentField = (field: Field): z.infer<typeof PaymentField> => {
  const { name, type, nullable, core, indexed, operators, description, values } = field;
  const format = FORMATS[type];
  return {
    name,
    type,
    ...(format === undefined ? {} : { format }),
    nullable,
    core,
    filterable: true,
    indexed,
    operators: [...operators],
    description,
    ...(values.length === 0 ? {} : { enum: [...values] }),
  };
};

/** The catalogue in the form that GET /schema returns. */
export const paymentSchema: PaymentSchema = {
  version: CATALOGUE_VERSION,
  sources: SOURCES.map((source) => {
    const { description, fields } = CATALOGUE[source];
    return { source, description, fields: fields.map(toPaymentField) };
  }),
};

/** The fields of a payment row in a tool's answer, as far as the source has them. */
const DEFAULT_FIELDS = [
  "paymentId",
  "networkPaymentId",
  "paymentDate",
  "payerName",
  "accountNumber",
  "documentNumber",
  "invoiceNumber",
  "paymentAmount",
  "appliedAmount",
  "amountPaid",
  "currencyCode",
  "applicationStatus",
  "paymentStatus",
  "deliveryStatus",
] as const;

const fieldsOf = ({ source }: CallArguments): readonly string[] =>
  isSource(source) ? CATALOGUE[source].fields.map(({ name }) => name) : [];

export const payments = defineOperations("export", "payments", {
  schema: {
    method: "GET",
    path: "/api/v1/remittance-export/schema",
    access: "public",
    summary: "List the payment sources, their fields and each field's operators.",
    output: PaymentSchema,
    brief: { shorten: shortenSchema, fields: briefFields },
    cacheSeconds: 300,
    audit: "schema.read",
  },
  query: {
    method: "POST",
    path: "/api/v1/remittance-export/payments/query",
    access: "export:read",
    effect: "read",
    summary: "Query the payment rows of one source.",
    body: PaymentQueryBody,
    lateValidation: true,
    output: z.object({ data: z.array(PaymentRow), pagination: Pagination }),
    list: { anonymous: true, defaultFields: DEFAULT_FIELDS, fieldsOf },
    audit: "payments.queried",
    auditMetadata: getSourceMetadata,
  },
  summary: {
    method: "POST",
    path: "/api/v1/remittance-export/payments/summary",
    access: "export:read",
    effect: "read",
    summary: "Count and add up the payments of one source, in groups.",
    body: PaymentSummaryBody,
    lateValidation: true,
    output: PaymentSummaryResult,
    additions: { name: "groups", query: FAMILY_ADDITIONS },
    extension: true,
    audit: "payments.summarized",
    auditMetadata: getSourceMetadata,
  },
});
