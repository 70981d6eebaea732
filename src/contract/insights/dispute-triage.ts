import { z } from "zod";
import { DeadlineDays, oneOrMore } from "./arguments.ts";
import { disputeFilters } from "./dispute-filters.ts";
import { CurrencyTotal } from "./result.ts";

/** The orders of a worklist. `daysLeft`: the deadline that comes or came first, then disputes without one. */
export const TRIAGE_ORDERS = ["priority", "amount", "age", "daysLeft"] as const;
export type TriageOrder = (typeof TRIAGE_ORDERS)[number];

/**
 * Marks of disputes that need attention. `stale`: no activity for {@link STALE_DAYS} days; `due`: at most
 * {@link DUE_DAYS} days are left, where there are deadlines.
 */
export const TRIAGE_FLAGS = ["documentClosed", "duplicate", "unassigned", "stale", "due"] as const;
export type TriageFlag = (typeof TRIAGE_FLAGS)[number];

export const STALE_DAYS = 10;
export const DUE_DAYS = 7;

/** Points of the score; those of age and amount count by degrees. */
export const TRIAGE_POINTS = {
  documentClosed: 30,
  duplicate: 20,
  unassigned: 15,
  stale: 10,
  due: 10,
  mostAge: 15,
  amount: 10,
  most: 100,
} as const;
export const DAYS_PER_AGE_POINT = 6;

const MAX_OFFSET = 1_000_000;

/** Conditions and order of a worklist. */
export const TriageBody = z.strictObject({
  ...disputeFilters,
  status: disputeFilters.status.default(["Open"]).meta({ description: "default Open" }),
  flags: oneOrMore(z.enum(TRIAGE_FLAGS)).optional().describe("all of these marks"),
  deadlineDays: DeadlineDays.optional(),
  limit: z
    .int("must be a whole number, such as 15")
    .min(1)
    .max(100)
    .default(15)
    .describe("items; default 15"),
  orderBy: z
    .enum(TRIAGE_ORDERS)
    .default("priority")
    .describe("default priority; daysLeft: nearest deadline first"),
});
export type Triage = z.output<typeof TriageBody>;

/** The conditions of a worklist, and the place where a part of it begins. */
export const TriagePageBody = TriageBody.extend({
  offset: z
    .int()
    .min(0)
    .max(MAX_OFFSET)
    .default(0)
    .meta({ description: "items of earlier answers to leave out" }),
});
export type TriagePage = z.output<typeof TriagePageBody>;

/** The facts by which a dispute was ranked, beside its record and its latest events. */
export const TriageFacts = z.object({
  isOpen: z.boolean().meta({ description: "as of the day asked for" }),
  isAssigneeInactive: z.boolean(),
  disputeDays: z
    .int()
    .nullable()
    .meta({ description: "days to decide from creation; null: no deadline" }),
  amountPoints: z.int().meta({ description: "0 to 10: the largest amount of a currency has 10" }),
  amountPercent: z
    .int()
    .meta({ description: "the amount is among the largest so many percent of its currency" }),
  duplicate: z
    .object({ disputeCode: z.string(), reasonName: z.string(), poNumber: z.string().nullable() })
    .nullable()
    .meta({ description: "another open dispute with the same document and amount" }),
});
export type TriageFacts = z.infer<typeof TriageFacts>;

/** Figures over all disputes of a worklist. */
export const TriageFigures = z.object({
  asOf: z.string().meta({ description: "when the data was read, or the day asked for" }),
  rowCount: z.int().meta({ description: "disputes that matched" }),
  currencyTotals: z.array(CurrencyTotal),
  flags: z.record(z.enum(TRIAGE_FLAGS), z.int()).meta({ description: "disputes with each mark" }),
  hasDeadlines: z.boolean().meta({ description: "whether any dispute can have a deadline" }),
  isConfigurationRead: z.boolean().meta({
    description: "false: the caller may not read assignees and deadlines, so none of them counted",
  }),
  notes: z.array(z.string()).meta({ description: "what limits the answer" }),
});
