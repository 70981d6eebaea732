import type { CallArguments } from "../../src/contract/operation.ts";
import type { DatabaseSync } from "node:sqlite";
import type { InsightResult } from "../../src/insights/insight.ts";
import { DAY } from "../../src/kit/clock.ts";
import type { Invoice } from "./ledger.ts";

export type Tool =
  | "payments_summarize"
  | "disputes_summary"
  | "disputes_triage"
  | "account_overview"
  | "documents_summary"
  | "payments_match_disputes";

/** A question, the call that answers it, the figures in its result, and the SQL that gives the same rows. */
export type Question = readonly [
  question: string,
  tool: Tool,
  args: CallArguments,
  read: (result: InsightResult) => unknown[][],
  sql: string,
];

const dayText = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Adds the ledger's disputed invoices as they stood on a day: `l`, amounts in cents, days as text. */
export const addLedger = (
  database: DatabaseSync,
  ledger: readonly Invoice[],
  seen: string,
): void => {
  database.exec("create table l (number, customer, cents, created, closed, age)");
  const insert = database.prepare(
    `insert into l values (?, ?, ?, ?, ?, julianday('${seen}') - julianday(?))`,
  );
  for (const one of ledger) {
    const [created, settled] = [dayText(one.invoiced), dayText(one.settled)];
    if (!one.disputed || created > seen) continue;
    const cents = Math.round(Number(one.amount) * 100);
    insert.run(one.number, one.customer, cents, created, settled > seen ? null : settled, created);
  }
};

/** Adds the ledger's invoices: `closedDocuments` were settled by a day, and `openDocuments` were not. */
export const addDocuments = (
  database: DatabaseSync,
  ledger: readonly Invoice[],
  by: string,
): void => {
  database.exec(
    "create table closedDocuments (number); create table openDocuments (number, customer, cents)",
  );
  const insertClosed = database.prepare("insert into closedDocuments values (?)");
  const insertOpen = database.prepare("insert into openDocuments values (?, ?, ?)");
  const end = Date.parse(by) + DAY - 1;
  for (const { number, customer, amount, settled } of ledger) {
    if (settled <= end) insertClosed.run(number);
    else insertOpen.run(number, customer, Math.round(Number(amount) * 100));
  }
};

export const totalsOf = ({ currencyTotals }: InsightResult): unknown[][] =>
  currencyTotals
    .filter(({ currencyCode }) => currencyCode !== null)
    .map((one) => [one.currencyCode, one.count, one.amount])
    .toSorted();

/** Reads values of the items by path: `key.payerName`, `sum.paymentAmount`. */
export const itemsBy =
  (...paths: string[]) =>
  ({ items }: InsightResult): unknown[][] =>
    items.map((item) =>
      paths.map((path) =>
        path
          .split(".")
          .reduce<unknown>((value, name) => (value as CallArguments | undefined)?.[name], item),
      ),
    );
