import { z } from "zod";
import { BALANCES } from "../../contract/document-amounts.ts";
import { DisputeStatus } from "../../contract/fields.ts";
import { DISPUTE_STATUSES } from "../../contract/insights/dispute-filters.ts";
import { findRowSchema, type Operation } from "../../contract/operation.ts";
import type { Fields } from "./budget.ts";

/** Returns the fields of an operation's records. */
const fieldsOf = ({ output }: Operation): Readonly<Record<string, unknown>> => {
  const record = findRowSchema(output) ?? output;
  return record instanceof z.ZodObject ? record.shape : {};
};

/** Returns a record with the word of its status. A number without a word becomes text, as the output schema says. */
const withWord = (record: Fields): Fields => {
  const { status } = record;
  if (typeof status !== "number") return record;
  return { ...record, status: DISPUTE_STATUSES[status] ?? String(status) };
};

/**
 * Returns a document whose balance is 0 if it is closed. The platform keeps the balance that it had before, and sent
 * back, that balance would reopen the document.
 */
const withBalance = (record: Fields): Fields => {
  if (record["status"] !== "closed") return record;
  const balances = BALANCES.filter((name) => typeof record[name] === "number");
  return { ...record, ...Object.fromEntries(balances.map((name) => [name, 0])) };
};

const unchanged = (record: Fields): Fields => record;

/**
 * Returns the form of an operation's records in answers: disputes with the words of the status that arguments and filters
 * take, which is a number in the interface documents; closed documents with a balance of 0.
 */
export const formOf = (operation: Operation): ((record: Fields) => Fields) => {
  const { status, denomination } = fieldsOf(operation);
  if (status === DisputeStatus) return withWord;
  return status !== undefined && denomination !== undefined ? withBalance : unchanged;
};
