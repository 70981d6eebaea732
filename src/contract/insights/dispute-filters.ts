import { z } from "zod";
import { Amount, parseStatusWord, RecordNumber, requiredText } from "../fields.ts";
import { Currency, Day, DayCount, Flag, oneOrMore, wordInAnyCase } from "./arguments.ts";

/** Dispute statuses by their documented numbers. */
export const DISPUTE_STATUSES = ["Open", "Closed", "Canceled"] as const;
export type DisputeStatusWord = (typeof DISPUTE_STATUSES)[number];
export const STATUS_NUMBERS = { Open: 0, Closed: 1, Canceled: 2 } as const satisfies Record<
  DisputeStatusWord,
  number
>;

const toStatusWord = (sent: unknown): unknown => {
  const number = parseStatusWord(sent);
  return DISPUTE_STATUSES.find((_word, at) => number === at || number === String(at)) ?? sent;
};

/** A dispute status as a word; the documented numbers are accepted too. */
export const StatusWord = z.preprocess(toStatusWord, z.enum(DISPUTE_STATUSES));

export const DOCUMENT_STATES = ["open", "closed", "missing"] as const;

const NamePart = requiredText(500).meta({ description: "part of it" });
const CodeOrName = requiredText(500).meta({ description: "code or name" });

/** Conditions on disputes, all of which must hold; a list means any of its values, and letter case does not matter. */
export const disputeFilters = {
  status: oneOrMore(StatusWord).optional().meta({ description: "any of" }),
  accountNumber: oneOrMore(RecordNumber).optional().describe("any of"),
  documentNumber: oneOrMore(RecordNumber).optional().describe("any of"),
  disputeCode: oneOrMore(RecordNumber).optional().describe("such as D-4711-01"),
  currencyCode: oneOrMore(Currency).optional().describe("such as USD"),
  accountName: NamePart.optional(),
  reason: CodeOrName.optional(),
  category: CodeOrName.optional(),
  department: CodeOrName.optional(),
  assignee: requiredText(500).meta({ description: "e-mail or name" }).optional(),
  resolution: CodeOrName.optional(),
  unassigned: Flag.optional().describe("without an assignee"),
  amountMin: Amount.optional().describe("inclusive"),
  amountMax: Amount.optional().describe("inclusive"),
  createdFrom: Day.optional().describe("YYYY-MM-DD, or a time with its offset"),
  createdTo: Day.optional().describe("inclusive"),
  closedFrom: Day.optional(),
  closedTo: Day.optional().describe("inclusive"),
  updatedBefore: Day.optional().describe("not changed since"),
  olderThanDays: DayCount.optional().describe("since creation"),
  /** `missing`: the platform has no such document. */
  documentStatus: wordInAnyCase(DOCUMENT_STATES)
    .optional()
    .describe("missing: the platform has no such document"),
  asOf: Day.optional().meta({ description: "as they stood that day" }),
};

export const DisputeFilters = z.strictObject(disputeFilters);
export type DisputeFilters = z.output<typeof DisputeFilters>;
