import { z } from "zod";
import type { Checked } from "../faults.ts";
import { RecordNumber } from "../fields.ts";
import {
  AgeBuckets,
  chooseOrder,
  Day,
  ItemLimit,
  ItemOffset,
  MAX_GROUPINGS,
  oneOrMore,
  Order,
  parseArguments,
  type Summary,
  wordAmong,
  wordInAnyCase,
} from "./arguments.ts";
import { UNITS } from "./calendar.ts";
import { AccountName, ExactNumber, GroupKey, insightResult } from "./result.ts";

const DATES = ["due", "invoice"] as const;

/** The groupings of documents; `age` counts days past due. */
export const DOCUMENT_GROUPINGS = [
  "age",
  "account",
  "currency",
  "type",
  "status",
  ...DATES.flatMap((date) => UNITS.map((unit) => `${date}:${unit}` as const)),
] as const;
export type DocumentGrouping = (typeof DOCUMENT_GROUPINGS)[number];

export const DOCUMENT_FIGURES = ["count", "amount", "disputedAmount"] as const;
export type DocumentFigure = (typeof DOCUMENT_FIGURES)[number];

const STATUSES = ["open", "closed", "all"] as const;
const TYPES = ["invoice", "credit_note", "other"] as const;

export const documentFilters = {
  accountNumber: oneOrMore(RecordNumber).optional().describe("any of"),
  status: wordInAnyCase(STATUSES).default("open").describe("default open"),
  type: wordInAnyCase(TYPES).optional().describe("absent: all"),
  dueFrom: Day.optional(),
  dueTo: Day.optional().describe("inclusive"),
  asOf: Day.optional().meta({
    description: "balances and days past due at the end of this day; default now",
  }),
};

export const DocumentSummaryBody = z.strictObject({
  ...documentFilters,
  groupBy: z
    .array(wordAmong(DOCUMENT_GROUPINGS), 'must be a list, such as ["account", "age"]')
    .max(MAX_GROUPINGS)
    .default(["age"])
    .meta({
      description: `up to 3 of ${DOCUMENT_GROUPINGS.filter((name) => !name.includes(":")).join(", ")}, due:UNIT, invoice:UNIT (${UNITS.join(", ")})`,
    }),
  ageBuckets: AgeBuckets.default([0, 30, 60, 90]).meta({
    description: "last day past due of each group; default 0, 30, 60, 90",
  }),
  orderBy: z
    .string()
    .optional()
    .meta({ description: `a grouping, ${DOCUMENT_FIGURES.join(", ")}` }),
  order: Order.optional(),
  limit: ItemLimit,
  offset: ItemOffset,
});

export type DocumentFilters = Omit<
  z.output<typeof DocumentSummaryBody>,
  "groupBy" | "ageBuckets" | "orderBy" | "order" | "limit" | "offset"
>;

export type DocumentSummary = Summary<DocumentFilters, DocumentGrouping, DocumentFigure>;

/** Validates the arguments of a document summary. */
export const parseDocumentSummary = (sent: unknown): Checked<DocumentSummary> => {
  const { value, faults } = parseArguments(DocumentSummaryBody, sent);
  if (value === undefined) return { faults };
  const { groupBy: names, ageBuckets, orderBy, order, limit, offset, ...filters } = value;
  const groupBy = [...new Set(names)] as DocumentGrouping[];
  const by = chooseOrder([...groupBy, ...DOCUMENT_FIGURES], orderBy);
  if (by.faults !== undefined) return by;
  return { value: { filters, groupBy, ageBuckets, orderBy: by.value, order, limit, offset } };
};

export const DocumentSummaryItem = z.object({
  key: GroupKey,
  accountName: AccountName,
  currencyCode: z.string().nullable(),
  count: z.int(),
  amount: ExactNumber.meta({ description: "open balance" }),
  disputedAmount: ExactNumber.meta({ description: "amount of the open disputes on them" }),
  oldest: z
    .object({ documentNumber: z.string(), dueDate: z.string() })
    .nullable()
    .meta({ description: "the document that fell due first" }),
});
export type DocumentSummaryItem = z.infer<typeof DocumentSummaryItem>;

export const DocumentSummaryResult = insightResult(DocumentSummaryItem, {});
export type DocumentSummaryResult = z.infer<typeof DocumentSummaryResult>;
