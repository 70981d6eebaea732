/** Reads the records that claims name, each once. */
import pMap from "p-map";
import { contract } from "../../../contract/index.ts";
import type { Calendar } from "../../../contract/insights/calendar.ts";
import type { Account } from "../../../contract/operations/accounts.ts";
import type { Dispute } from "../../../contract/operations/disputes.ts";
import type { Document } from "../../../contract/operations/documents.ts";
import type { Reason } from "../../../contract/operations/reasons.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { DeductionRow } from "../../../insights/deduction-match.ts";
import { readDeductionRows } from "../../../insights/deduction-rows.ts";
import type { InsightContext } from "../../../insights/insight.ts";
import { readDisputes } from "../../../insights/read-disputes.ts";
import { attemptPart, type Part, readPart } from "../../../insights/read-part.ts";
import type { Claim } from "../../../../tools/dispute-operations.ts";
import { readByNumber } from "../arguments/known-numbers.ts";
import { printOf } from "../asking/question.ts";
import { toReading } from "../reading.ts";
import type { Working } from "../tool-context.ts";

const AT_ONCE = 8;
const MOST_ENDED = 100;

/** A record with its version, which changes with its content. */
export type Versioned<T> = { value: T; version: string };

export type Facts = {
  /** By number, as claims have it. */
  documents: ReadonlyMap<string, Part<Versioned<Document>>>;
  accounts: ReadonlyMap<string, Part<Versioned<Account>>>;
  /** Open disputes by account number, as claims have it. */
  disputes: ReadonlyMap<string, Part<{ open: readonly Dispute[]; isPartial: boolean }>>;
  /** Disputes that have ended, by document number, as the platform has it. */
  ended: ReadonlyMap<string, Part<readonly Dispute[]>>;
  calendar: Calendar;
  /** Rows of cash application by document number, as the platform has it. */
  payments: Part<ReadonlyMap<string, readonly DeductionRow[]>>;
  reasons: Part<readonly Reason[]>;
};

const listDistinct = (values: readonly string[]): string[] => [...new Set(values)];

const readMap = async <T>(keys: readonly string[], read: (key: string) => Promise<T>) => {
  const entries = await pMap(listDistinct(keys), async (key) => [key, await read(key)] as const, {
    concurrency: AT_ONCE,
  });
  return new Map(entries);
};

type Reply<T> = { output: T; etag: string | null };

const toVersioned = <T>({ output, etag }: Reply<T>): Versioned<T> => ({
  value: output,
  version: etag ?? printOf(output),
});

const { accounts, disputes, documents, payments, reasons } = contract;

/** Reads the open disputes of an account. */
const readOpen = (reading: InsightContext, AccountNumber: string) =>
  attemptPart(reading, disputes.list, async () => {
    const open: Dispute[] = [];
    const { stopped } = await readDisputes(reading, { AccountNumber, Status: [0] }, (rows) => {
      // Platforms may not know the filter.
      open.push(...rows.filter(({ status }) => status === 0));
    });
    return { open, isPartial: stopped !== undefined };
  });

/** Reads the disputes of a document that have ended, the newest first. */
const readEnded = (reading: InsightContext, DocumentNumber: string) =>
  attemptPart(reading, disputes.list, async () => {
    const { output } = await reading.call(disputes.list, {
      DocumentNumber,
      Status: [1, 2],
      Sort: "-CreateDate",
      Page: 1,
      PageSize: MOST_ENDED,
    });
    // Platforms may not know the filters.
    return output.filter((one) => one.documentNumber === DocumentNumber && one.status !== 0);
  });

/** Returns the account number of a claim as the platform has it, where its document tells. */
export const toAccountNumber = (
  { accountNumber }: Pick<Claim, "accountNumber">,
  document: Part<Versioned<Document>> | undefined,
): string => {
  const own = document?.refused === undefined ? document?.value.value.account_number : undefined;
  return own?.toLowerCase() === accountNumber.toLowerCase() ? own : accountNumber;
};

export const readFacts = async (
  call: Working,
  now: Clock,
  claims: readonly Claim[],
): Promise<Facts> => {
  const reading = await toReading(call, now);
  const { broker, tool, signal } = call;
  const options = { tool: tool.name, signal };
  const readDocument = (document_number: string) =>
    attemptPart(reading, documents.get, async () => {
      const read = (args: { document_number: string }) => reading.call(documents.get, args);
      return toVersioned(await readByNumber({ broker, options }, { document_number }, read));
    });
  const readAccount = (account_number: string) =>
    attemptPart(reading, accounts.get, async () => {
      const read = (args: { account_number: string }) => reading.call(accounts.get, args);
      return toVersioned(await readByNumber({ broker, options }, { account_number }, read));
    });
  const found = await readMap(
    claims.map(({ documentNumber }) => documentNumber),
    readDocument,
  );
  const numbers = claims.map((one) => toAccountNumber(one, found.get(one.documentNumber)));
  const known = [...found.values()].flatMap((part) =>
    part.refused === undefined ? [part.value.value.documentNumber] : [],
  );
  const [ownAccounts, open, ended, rows, reasonList] = await Promise.all([
    readMap(numbers, readAccount),
    readMap(numbers, (number) => readOpen(reading, number)),
    readMap(known, (number) => readEnded(reading, number)),
    attemptPart(
      reading,
      payments.query,
      async () => (await readDeductionRows(reading, known)).rows,
    ),
    readPart(reading, reasons.list, {}),
  ]);
  return {
    documents: found,
    accounts: ownAccounts,
    disputes: open,
    ended,
    calendar: reading.calendar,
    payments: rows,
    reasons: reasonList,
  };
};

/** Returns the contents of the notes of disputes, by dispute id; none of those that cannot be read. */
export const readNotes = async (
  call: Working,
  now: Clock,
  disputeIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const reading = await toReading(call, now);
  return readMap(disputeIds, async (disputeId) => {
    const part = await readPart(reading, contract.dispute_notes.list, { disputeId });
    return part.refused === undefined ? part.value.map(({ content }) => content) : [];
  });
};
