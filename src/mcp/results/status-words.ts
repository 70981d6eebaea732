import { z } from "zod";
import { DisputeStatus } from "../../contract/fields.ts";
import { DISPUTE_STATUSES } from "../../contract/insights/dispute-filters.ts";
import { findRowSchema, type Operation } from "../../contract/operation.ts";
import type { Fields } from "./budget.ts";

/** Whether the records of an operation have a dispute's status, which is a number in the interface documents. */
const hasStatus = ({ output }: Operation): boolean => {
  const record = findRowSchema(output) ?? output;
  return record instanceof z.ZodObject && record.shape["status"] === DisputeStatus;
};

/** Returns a record with the word of its status. A number without a word becomes text, as the output schema says. */
const withWord = (record: Fields): Fields => {
  const { status } = record;
  if (typeof status !== "number") return record;
  return { ...record, status: DISPUTE_STATUSES[status] ?? String(status) };
};

const unchanged = (record: Fields): Fields => record;

/** Returns the form of an operation's records in answers: with the words that arguments and filters take. */
export const wordsFor = (operation: Operation): ((record: Fields) => Fields) =>
  hasStatus(operation) ? withWord : unchanged;
