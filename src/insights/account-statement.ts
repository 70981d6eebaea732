import Big from "big.js";
import { z } from "zod";
import { requiredText } from "../contract/fields.ts";
import { Currency, Day, Flag, ItemLimit } from "../contract/insights/arguments.ts";
import { describeBases } from "../contract/insights/past-balances.ts";
import { ExactNumber } from "../contract/insights/result.ts";
import { contract } from "../contract/index.ts";
import { Problem } from "../contract/errors.ts";
import { readPapers, readPaperPayments } from "./account-papers.ts";
import { omitNulls } from "./brief.ts";
import { formatTotal } from "./decimal.ts";
import { readFamily } from "./families.ts";
import { findOneAccount } from "./find-accounts.ts";
import { forEachInTurns, mapInTurns } from "../kit/in-turns.ts";
import { selectItemsOf } from "./groups.ts";
import { defineInsight, type InsightContext } from "./insight.ts";
import { readReopened } from "./matching-disputes.ts";
import { countBases, type Paper, type Stand } from "./past-balances.ts";
import { readDisputes } from "./read-disputes.ts";
import { attemptPart } from "./read-part.ts";
import { type Moment, standAt, toMoment } from "./standing.ts";
import { compareLines, type Line, LINE_KINDS, listLines, type Period } from "./statement-lines.ts";

const { disputes, documents } = contract;

const PAPERS_PER_TURN = 200;
const ZERO = new Big(0);

const Body = z.strictObject({
  account: requiredText(200).meta({ description: "number, or part of the name" }),
  from: Day.optional().describe("default: the first day of the month of `to`"),
  to: Day.optional().describe("inclusive; default today"),
  includeChildren: Flag.default(false).describe("with all accounts below it"),
  currencyCode: Currency.optional().describe("default: each currency by itself"),
  limit: ItemLimit,
});

type Totals = { opening: Big; closing: Big; disputed: Big; lines: Line[]; count: number };

const createTotals = () => {
  const totals = new Map<string | null, Totals>();
  return {
    of(currencyCode: string | null): Totals {
      const found = totals.get(currencyCode) ?? {
        opening: ZERO,
        closing: ZERO,
        disputed: ZERO,
        lines: [],
        count: 0,
      };
      totals.set(currencyCode, found);
      return found;
    },
    list: () => [...totals].toSorted(([, a], [, b]) => b.count - a.count),
  };
};

/** Returns the moments before and at the end of a time; the end is never after now. */
const toPeriod = (context: InsightContext, from?: string, to?: string): Period => {
  const { calendar, now } = context;
  const last = to === undefined ? calendar.formatDay(now()) : calendar.toDay(to);
  const first = from === undefined ? `${last.slice(0, "2026-01".length)}-01` : calendar.toDay(from);
  if (first > last) {
    throw new Problem("invalid_request", `from ${first} must not be after to ${last}.`);
  }
  const momentOf = (at: number, name: string): Moment => ({
    at,
    name,
    isPast: at < now(),
    calendar,
  });
  return {
    from: first,
    to: last,
    opening: momentOf(calendar.startOf(first) - 1, first),
    closing: momentOf(calendar.endOf(last), last),
  };
};

/**
 * Adds up what was disputed at the end, of documents that were open then, in their currencies. Returns sentences about
 * what is unknown.
 */
const addDisputes = async (
  context: InsightContext,
  currencies: ReadonlyMap<string, string | null>,
  accountNumbers: readonly string[],
  { to }: Period,
  totals: ReturnType<typeof createTotals>,
) => {
  const asOf = toMoment(to, context);
  const reopened = await readReopened(context, asOf);
  const part = await attemptPart(context, disputes.list, async () => {
    let stopped: string | undefined;
    for (const number of accountNumbers) {
      const reading = await readDisputes(context, { AccountNumber: number }, (rows) =>
        forEachInTurns(rows, (dispute) => {
          const standing = standAt(dispute, asOf, reopened);
          const currency = currencies.get(dispute.documentNumber);
          if (standing?.status !== "Open" || currency !== dispute.currencyCode) return;
          const total = totals.of(dispute.currencyCode);
          total.disputed = total.disputed.plus(dispute.amount);
        }),
      );
      stopped ??= reading.stopped;
    }
    return stopped;
  });
  if (part.refused !== undefined) return { isKnown: false, notes: [part.refused.reason] };
  return {
    isKnown: true,
    notes: [...reopened.notes, ...(part.value === undefined ? [] : [part.value])],
  };
};

/** Reads the documents of accounts with their payments. */
const readAll = async (context: InsightContext, accountNumbers: readonly string[]) => {
  const papers = new Map<string, Paper>();
  const stopped: string[] = [];
  const notes = new Set<string>();
  for (const number of accountNumbers) {
    const read = await readPapers(context, number);
    await forEachInTurns(read.papers, (paper) => void papers.set(paper.documentNumber, paper));
    stopped.push(...read.stopped);
    for (const note of read.notes) notes.add(note);
  }
  const part = await attemptPart(context, contract.payments.query, () =>
    readPaperPayments(context, [...papers.values()]),
  );
  if (part.refused === undefined) stopped.push(...part.value);
  else stopped.push(`Payments are missing: ${part.refused.reason}`);
  return { papers, stopped, notes: [...notes] };
};

/** A line with the balance after it. */
type Balanced = { line: Line; balance: Big };

const showLine = ({ line: { amount, ...line }, balance }: Balanced) =>
  omitNulls({
    ...line,
    amount: formatTotal(amount),
    balance: formatTotal(balance),
  });

/** Lists the lines of a currency with their running balance; what they do not explain is one line at the end. */
const balanceLines = async (
  currencyCode: string | null,
  { lines, opening, closing }: Totals,
  { to }: Period,
): Promise<Balanced[]> => {
  const ordered = await selectItemsOf(lines, { limit: lines.length }, compareLines);
  let balance = opening;
  const balanced = await mapInTurns(ordered, (line) => {
    balance = balance.plus(line.amount);
    return { line, balance };
  });
  const amount = closing.minus(balance);
  if (amount.eq(0)) return balanced;
  const nothing = { number: null, paymentId: null, currencyCode };
  return [
    ...balanced,
    { line: { day: to, kind: "unexplained", ...nothing, amount }, balance: closing },
  ];
};

const describeStands = (name: string, stands: readonly Stand[], asOf: Moment): string[] =>
  asOf.isPast ? describeBases(countBases(stands)).map((note) => `${name}: ${note}`) : [];

const describeFuture = ({ calendar, now }: InsightContext, { to }: Period): string[] =>
  calendar.startOf(to) > now() ? [`${to} has not come: the closing balance is that of now.`] : [];

const findAccountsOf = async (context: InsightContext, account: string, withChildren: boolean) => {
  const { hit, notes: own } = await findOneAccount(context, account);
  if (!withChildren) return { hit, numbers: [hit.accountNumber], notes: own, isPartial: false };
  const { members, isPartial, notes } = await readFamily(context, hit.accountNumber);
  const numbers = members.map(({ accountNumber }) => accountNumber);
  return {
    hit,
    numbers: [...new Set([hit.accountNumber, ...numbers])],
    notes: [...own, ...notes],
    isPartial,
  };
};

/** Adds the balances and lines of each document to those of its currency. */
const addPapers = async (
  { calendar }: InsightContext,
  papers: Iterable<Paper>,
  period: Period,
  totals: ReturnType<typeof createTotals>,
) => {
  const stands: Record<"opening" | "closing", Stand[]> = { opening: [], closing: [] };
  const currencies = new Map<string, string | null>();
  await forEachInTurns(
    papers,
    (paper) => {
      const { opening, closing, lines } = listLines(paper, period, calendar);
      if (closing === undefined) return;
      const total = totals.of(closing.currencyCode);
      total.count += 1;
      total.closing = total.closing.plus(closing.balance);
      total.lines.push(...lines);
      stands.closing.push(closing);
      if (closing.status === "open") currencies.set(paper.documentNumber, closing.currencyCode);
      if (opening === undefined) return;
      const before = totals.of(opening.currencyCode);
      before.opening = before.opening.plus(opening.balance);
      stands.opening.push(opening);
    },
    PAPERS_PER_TURN,
  );
  return { ...stands, currencies };
};

const Balances = z.object({
  currencyCode: z.string().nullable(),
  openingBalance: ExactNumber.meta({ description: "at the end of the day before `from`" }),
  closingBalance: ExactNumber.meta({ description: "at the end of `to`" }),
  disputed: ExactNumber.nullable().meta({
    description: "in open disputes on documents that are open at the end of `to`",
  }),
});

/** A statement of an account: what it owed before and after a time, and each line between that adds up to it. */
export const accountStatement = defineInsight({
  name: "account_statement",
  title: "Statement of an account",
  input: Body,
  item: z.object({
    day: z.string(),
    kind: z.enum(LINE_KINDS).meta({ description: "unexplained: what records do not tell" }),
    number: z.string().optional().meta({ description: "of the document" }),
    paymentId: z.string().optional(),
    currencyCode: z.string().optional(),
    amount: ExactNumber,
    balance: ExactNumber.meta({ description: "after the line" }),
  }),
  figures: z.object({
    accountNumber: z.string(),
    accountName: z.string().nullable(),
    balances: z.array(Balances).meta({ description: "one per currency" }),
  }),
  needs: [documents.get],
  async run(context, { account, from, to, includeChildren, currencyCode, limit }) {
    const period = toPeriod(context, from, to);
    const found = await findAccountsOf(context, account.trim(), includeChildren);
    const { papers, stopped, notes } = await readAll(context, found.numbers);
    const totals = createTotals();
    const stands = await addPapers(context, papers.values(), period, totals);
    const disputed = await addDisputes(context, stands.currencies, found.numbers, period, totals);
    const shown = totals
      .list()
      .filter(([code]) => currencyCode === undefined || code === currencyCode);
    const lines: Balanced[] = [];
    for (const [code, total] of shown) {
      for (const line of await balanceLines(code, total, period)) lines.push(line);
    }
    return {
      asOf: period.to,
      filter: {
        ...omitNulls({ account, from: period.from, to: period.to, includeChildren, currencyCode }),
        timeZone: context.calendar.zone.name,
      },
      rowCount: stands.closing.length,
      truncated: stopped.length > 0 || found.isPartial,
      currencyTotals: shown.map(([code, { count, closing }]) => ({
        currencyCode: code,
        count,
        amount: formatTotal(closing),
      })),
      itemsTotal: lines.length,
      accountNumber: found.hit.accountNumber,
      accountName: found.hit.name,
      balances: shown.map(([code, total]) => ({
        currencyCode: code,
        openingBalance: formatTotal(total.opening),
        closingBalance: formatTotal(total.closing),
        disputed: disputed.isKnown ? formatTotal(total.disputed) : null,
      })),
      notes: [
        ...stopped,
        ...found.notes,
        ...notes,
        ...describeStands("Opening", stands.opening, period.opening),
        ...describeStands("Closing", stands.closing, period.closing),
        ...describeFuture(context, period),
        ...disputed.notes,
      ],
      items: await mapInTurns(lines.slice(context.skip, context.skip + limit), showLine),
    };
  },
});
