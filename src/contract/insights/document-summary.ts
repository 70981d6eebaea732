import { z } from "zod";
import type { Fault } from "../errors.ts";
import type { Checked } from "../faults.ts";
import { RecordNumber } from "../fields.ts";
import {
  AgeBuckets,
  chooseOrder,
  Day,
  Flag,
  MAX_GROUPINGS,
  oneOrMore,
  ordering,
  parseArguments,
  type Summary,
  wordAmong,
  wordInAnyCase,
} from "./arguments.ts";
import { UNITS } from "./calendar.ts";
import { FAMILY_ADDITIONS, FAMILY_GROUPINGS, familyFilters } from "./families.ts";
import { AccountName, CurrencyTotal, ExactNumber, GroupKey, insightResult } from "./result.ts";

const DATES = ["due", "invoice"] as const;

/** The groupings of documents; `age` counts days past due. */
export const DOCUMENT_GROUPINGS = [
  "age",
  "account",
  ...FAMILY_GROUPINGS,
  "currency",
  "type",
  "status",
  "closureReason",
  ...DATES.flatMap((date) => UNITS.map((unit) => `${date}:${unit}` as const)),
] as const;
export type DocumentGrouping = (typeof DOCUMENT_GROUPINGS)[number];

export const DOCUMENT_FIGURES = ["count", "amount", "disputedAmount"] as const;
export type DocumentFigure = (typeof DOCUMENT_FIGURES)[number];

const STATUSES = ["open", "closed", "all"] as const;
const TYPES = ["invoice", "credit_note", "other"] as const;

export const documentFilters = {
  accountNumber: oneOrMore(RecordNumber).optional().describe("any of"),
  ...familyFilters,
  status: wordInAnyCase(STATUSES)
    .optional()
    .describe("default open; closed with a closing day or closureReason"),
  type: wordInAnyCase(TYPES).optional().describe("absent: all"),
  dueFrom: Day.optional(),
  dueTo: Day.optional().describe("inclusive"),
  invoiceFrom: Day.optional(),
  invoiceTo: Day.optional().describe("inclusive"),
  closedFrom: Day.optional(),
  closedTo: Day.optional().describe("inclusive"),
  asOf: Day.optional().meta({
    description: "balances and days past due at the end of this day; default now",
  }),
  overLimit: Flag.optional().describe(
    "true: accounts, or families of a parent, whose open balance is above the credit limit",
  ),
};

export const DOCUMENT_MEASURES = ["balance", "originalAmount"] as const;

/** Arguments and groupings that the first version of the operation did not have. */
export const DOCUMENT_SUMMARY_ADDITIONS = [
  ...FAMILY_ADDITIONS,
  "invoiceFrom",
  "invoiceTo",
  "closedFrom",
  "closedTo",
  "closureReason",
  "overLimit",
  "measure",
] as const;

export const DocumentSummaryBody = z.strictObject({
  ...documentFilters,
  groupBy: z
    .array(wordAmong(DOCUMENT_GROUPINGS), 'must be a list, such as ["account", "age"]')
    .max(MAX_GROUPINGS)
    .optional()
    .meta({
      description: `default age; up to 3 of ${DOCUMENT_GROUPINGS.filter((name) => !name.includes(":")).join(", ")}, due:UNIT, invoice:UNIT (${UNITS.join(", ")})`,
    }),
  measure: z.enum(DOCUMENT_MEASURES).optional().describe("default balance"),
  ageBuckets: AgeBuckets.default([0, 30, 60, 90]).meta({
    description: "last day past due of each group; default 0, 30, 60, 90",
  }),
  ...ordering(`a grouping, ${DOCUMENT_FIGURES.join(", ")}`),
});

type Body = z.output<typeof DocumentSummaryBody>;

export type DocumentFilters = Omit<
  Body,
  "status" | "groupBy" | "measure" | "ageBuckets" | "orderBy" | "order" | "limit" | "offset"
> & { status: (typeof STATUSES)[number] };

export type DocumentSummary = Summary<DocumentFilters, DocumentGrouping, DocumentFigure> & {
  measure: (typeof DOCUMENT_MEASURES)[number];
};

/** The conditions and groupings that regard closed documents. */
const chooseStatus = ({ status, closedFrom, closedTo, groupBy }: Body): Body["status"] => {
  const isClosing = closedFrom ?? closedTo ?? groupBy?.find((name) => name === "closureReason");
  return status ?? (isClosing === undefined ? "open" : "closed");
};

const OF_LIMITS = "with overLimit, which compares the open balances of now with credit limits";

/** Finds arguments that do not go with `overLimit`. */
const findLimitFaults = ({ overLimit, groupBy, measure, status, asOf }: Body): Fault[] => {
  const refuse = (field: string, message: string): Fault => ({ field, code: "conflict", message });
  if (overLimit !== true) return [];
  return [
    ...(groupBy === undefined ? [] : [refuse("groupBy", `must be absent ${OF_LIMITS}`)]),
    ...((measure ?? "balance") === "balance"
      ? []
      : [refuse("measure", `must be balance ${OF_LIMITS}`)]),
    ...((status ?? "open") === "open" ? [] : [refuse("status", `must be open ${OF_LIMITS}`)]),
    ...(asOf === undefined ? [] : [refuse("asOf", `must be absent ${OF_LIMITS}`)]),
  ];
};

/** Validates the arguments of a document summary. */
export const parseDocumentSummary = (sent: unknown): Checked<DocumentSummary> => {
  const { value, faults } = parseArguments(DocumentSummaryBody, sent);
  if (value === undefined) return { faults };
  const { groupBy: names, ageBuckets, orderBy, order, limit, offset, ...conditions } = value;
  const { measure = "balance", ...filters } = conditions;
  const limitFaults = findLimitFaults(value);
  if (limitFaults.length > 0) return { faults: limitFaults };
  const groupBy = [...new Set(names ?? ["age"])] as DocumentGrouping[];
  const by = chooseOrder([...groupBy, ...DOCUMENT_FIGURES], orderBy);
  if (by.faults !== undefined) return by;
  const status = chooseStatus(value) ?? "open";
  const rest = { measure, ageBuckets, orderBy: by.value, order, limit, offset };
  return { value: { filters: { ...filters, status }, groupBy, ...rest } };
};

export const DocumentSummaryItem = z.object({
  key: GroupKey,
  accountName: AccountName,
  currencyCode: z.string().nullable(),
  count: z.int(),
  amount: ExactNumber.meta({ description: "open balance, or the measure asked for" }),
  disputedAmount: ExactNumber.meta({ description: "amount of the open disputes on them" }),
  oldest: z
    .object({ documentNumber: z.string(), dueDate: z.string() })
    .nullable()
    .meta({ description: "the document that fell due first" }),
  creditLimit: ExactNumber.optional(),
  overBy: ExactNumber.optional().meta({ description: "amount above the credit limit" }),
  otherCurrencies: z
    .array(CurrencyTotal)
    .optional()
    .meta({ description: "open balances that the limit's currency does not count" }),
});
export type DocumentSummaryItem = z.infer<typeof DocumentSummaryItem>;

export const DocumentSummaryResult = insightResult(DocumentSummaryItem, {});
export type DocumentSummaryResult = z.infer<typeof DocumentSummaryResult>;
