import Big from "big.js";
import { contract } from "../contract/index.ts";
import {
  findReopened,
  MOST_REOPENED,
  ONLY_SOME_REOPENED,
  type Reopened,
} from "../contract/insights/reopened.ts";
import { STATUS_NUMBERS } from "../contract/insights/dispute-filters.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { type DatedReopening, readReopenings as readLog } from "./audit-entries.ts";
import { addToList } from "./groups.ts";
import type { InsightContext } from "./insight.ts";
import { type AccountGrouping, type Cell, readKeys, toCellId } from "./kpi-groups.ts";
import type { KpiPeriod } from "./kpi-periods.ts";
import { type DisputeArguments, readDisputes } from "./read-disputes.ts";
import { readPart } from "./read-part.ts";
import { standAt, type Standing } from "./standing.ts";

const { audit_logs: auditLogs, disputes } = contract;

/** A dispute that was closed as not valid. */
export type Rejected = Pick<Dispute, "disputeId" | "documentNumber" | "currencyCode" | "amount"> & {
  closedAt: number;
};

/** The disputes of a group in a period. */
export type PeriodDisputes = {
  /** Open at the end. */
  open: { amount: Big; rows: number };
  /** Opened in the period and not canceled by its end. */
  opened: { amount: Big; rows: number };
  /** Days from the opening to the closing of each that was closed in the period. */
  daysToClose: number[];
  /** Closed in the period with a known decision. */
  decided: number;
  valid: number;
  rejected: Rejected[];
  rejectedAmount: Big;
  /** Closed in the period, once or more often; and those of them that were opened again since. */
  closed: number;
  reopened: number;
};

export type DisputeFacts = {
  /** Figures of groups by period. */
  periods: ReadonlyMap<KpiPeriod, ReadonlyMap<string, PeriodDisputes>>;
  cells: ReadonlyMap<string, Cell>;
  rows: number;
  /** Why reopenings are unknown, by period; absent where they are known. */
  unknownReopenings: (period: KpiPeriod) => string | undefined;
  truncated: boolean;
  notes: readonly string[];
};

const ZERO = new Big(0);
const DISPUTES_PER_TURN = 500;
const FILTERS = `${disputes.list.id}.${disputes.list.additions?.name}`;

/** Reopenings, oldest first, and what is unknown about them. */
type Reopenings = {
  entries: readonly DatedReopening[];
  /** The closings that reopenings ended, by dispute. */
  closings: ReadonlyMap<string, readonly number[]>;
  unknown: DisputeFacts["unknownReopenings"];
  notes: readonly string[];
};

const UNREADABLE =
  "Disputes that were reopened count as they stand now, because the audit log cannot be read:";

const describeBeginning = (day: string): string =>
  `The audit log does not reach back to ${day}: disputes that were closed and reopened before it begins count as they stand now.`;

/** Returns the start of the first period to which the audit log reaches back. */
const findReach = async (context: InsightContext, periods: readonly KpiPeriod[]) => {
  for (const { start } of periods) {
    const before = { to: formatTimestamp(start), limit: 1 };
    const part = await readPart(context, auditLogs.list, before);
    if (part.refused === undefined && part.value.data.length > 0) return start;
  }
  return Infinity;
};

const listClosings = (entries: Reopenings["entries"]) => {
  const closings = new Map<string, number[]>();
  let undated = 0;
  for (const { disputeId, ended } of entries) {
    if (ended === undefined) undated += 1;
    if (ended?.status !== STATUS_NUMBERS.Closed) continue;
    addToList(closings, disputeId, ended.closedAt);
  }
  return { closings, undated };
};

/** Reads the reopenings since the start of the first period, as far as the audit log tells them. */
const readReopenings = async (
  context: InsightContext,
  periods: readonly KpiPeriod[],
): Promise<Reopenings> => {
  const part = await readLog(context, periods[0]?.start ?? 0);
  if (part.refused !== undefined) {
    const { reason } = part.refused;
    const notes = [`${UNREADABLE} ${reason}`];
    return { entries: [], closings: new Map(), unknown: () => reason, notes };
  }
  const { reopenings: entries, unnamed, isCut } = part.value;
  const { closings, undated } = listClosings(entries);
  const unknown = undated + unnamed;
  const reach = await findReach(context, periods);
  const explain = (period: KpiPeriod): string | undefined => {
    if (isCut) return `Only the ${MOST_REOPENED} newest reopenings were read.`;
    if (unknown > 0) return `${unknown} reopenings do not tell when the dispute had been closed.`;
    return period.start < reach ? "The audit log does not reach back to that day." : undefined;
  };
  const [first] = periods;
  const notes = [
    ...(isCut ? [ONLY_SOME_REOPENED] : []),
    ...(first === undefined || first.start >= reach ? [] : [describeBeginning(first.from)]),
  ];
  return { entries, closings, unknown: explain, notes };
};

export const createDisputeFigures = (): PeriodDisputes => ({
  open: { amount: ZERO, rows: 0 },
  opened: { amount: ZERO, rows: 0 },
  daysToClose: [],
  decided: 0,
  valid: 0,
  rejected: [],
  rejectedAmount: ZERO,
  closed: 0,
  reopened: 0,
});

const addAmount = (sum: { amount: Big; rows: number }, amount: number | Big, rows = 1): void => {
  sum.amount = sum.amount.plus(amount);
  sum.rows += rows;
};

type Closing = {
  /** The decision at that closing is unknown, because the dispute was reopened since. */
  isUndecided: boolean;
  reopenedClosings: readonly number[];
};

/** Adds a dispute, as it stood at the end of a period, to the figures of its group. */
const addStanding = (
  figures: PeriodDisputes,
  { dispute, status, createdAt, closedAt, daysToClose }: Standing,
  { start, end }: KpiPeriod,
  { isUndecided, reopenedClosings }: Closing,
): void => {
  const isWithin = (at: number): boolean => at >= start && at <= end;
  if (status === "Open") addAmount(figures.open, dispute.amount);
  if (status !== "Canceled" && isWithin(createdAt)) addAmount(figures.opened, dispute.amount);
  const isClosed = status === "Closed" && closedAt !== null && isWithin(closedAt);
  const isReopened = reopenedClosings.some(isWithin);
  if (isClosed || isReopened) figures.closed += 1;
  if (isReopened) figures.reopened += 1;
  if (!isClosed || daysToClose === null) return;
  figures.daysToClose.push(daysToClose);
  if (isUndecided) return;
  figures.decided += 1;
  if (dispute.isValid) figures.valid += 1;
  else {
    const { disputeId, documentNumber, currencyCode, amount } = dispute;
    figures.rejected.push({ disputeId, documentNumber, currencyCode, amount, closedAt });
    figures.rejectedAmount = figures.rejectedAmount.plus(amount);
  }
};

const merge = (into: PeriodDisputes, one: PeriodDisputes): void => {
  addAmount(into.open, one.open.amount, one.open.rows);
  addAmount(into.opened, one.opened.amount, one.opened.rows);
  for (const days of one.daysToClose) into.daysToClose.push(days);
  for (const rejected of one.rejected) into.rejected.push(rejected);
  into.rejectedAmount = into.rejectedAmount.plus(one.rejectedAmount);
  into.decided += one.decided;
  into.valid += one.valid;
  into.closed += one.closed;
  into.reopened += one.reopened;
};

type OfAccount = { accountNumber: string; currencyCode: string; figures: PeriodDisputes };

/** Figures of each account and currency in a period, by both. */
type Accounts = Map<string, OfAccount>;

const figuresOf = (accounts: Accounts, dispute: Dispute): PeriodDisputes => {
  const { accountNumber, currencyCode } = dispute;
  const id = JSON.stringify([accountNumber, currencyCode]);
  const found = accounts.get(id) ?? {
    accountNumber,
    currencyCode,
    figures: createDisputeFigures(),
  };
  accounts.set(id, found);
  return found.figures;
};

/** Adds a dispute to the figures of its account in a period, if it existed then. */
const addDispute = (
  accounts: Accounts,
  dispute: Dispute,
  { period, reopened, closings }: Ending,
  { calendar }: InsightContext,
): void => {
  const end = { at: period.end, name: period.to, isPast: true, calendar };
  const standing = standAt(dispute, end, reopened);
  if (standing === undefined) return;
  addStanding(figuresOf(accounts, dispute), standing, period, {
    isUndecided: reopened.ended.has(dispute.disputeId),
    reopenedClosings: closings.get(dispute.disputeId) ?? [],
  });
};

/** The end of a period with what had ended by then and has been reopened since. */
type Ending = { period: KpiPeriod; reopened: Reopened; closings: Reopenings["closings"] };

const listEndings = (
  periods: readonly KpiPeriod[],
  { entries, closings }: Reopenings,
): Promise<Ending[]> =>
  Promise.all(
    periods.map(async (period) => {
      const since = entries.filter(({ at }) => at > period.end);
      return { period, closings, reopened: await findReopened(since, period.end) };
    }),
  );

/** Returns the filters that select the disputes of periods: those open now, and those closed since the start. */
const selectArguments = (
  { extensions }: InsightContext,
  [first]: readonly KpiPeriod[],
): DisputeArguments[] => {
  if (!extensions.has(FILTERS) || first === undefined) return [{}];
  const { Open, Closed, Canceled } = STATUS_NUMBERS;
  return [
    { Status: [Open] },
    { Status: [Closed, Canceled], ClosedDateFrom: formatTimestamp(first.start) },
  ];
};

/** Reads each dispute once, and adds it to the figures of its account in every period. */
const readAccounts = async (
  context: InsightContext,
  periods: readonly KpiPeriod[],
  endings: readonly Ending[],
) => {
  const accounts = new Map(periods.map((period) => [period, new Map() as Accounts]));
  const seen = new Set<string>();
  let stopped: string | undefined;
  const take = (rows: readonly Dispute[]): Promise<void> =>
    forEachInTurns(
      rows,
      (dispute) => {
        if (seen.has(dispute.disputeId)) return;
        seen.add(dispute.disputeId);
        for (const ending of endings) {
          const own = accounts.get(ending.period);
          if (own !== undefined) addDispute(own, dispute, ending, context);
        }
      },
      DISPUTES_PER_TURN,
    );
  for (const args of selectArguments(context, periods)) {
    const reading = await readDisputes(context, args, take);
    stopped ??= reading.stopped;
  }
  return { accounts, rows: seen.size, stopped };
};

const hasFigures = ({ open, opened, closed, daysToClose }: PeriodDisputes): boolean =>
  open.rows + opened.rows + closed + daysToClose.length > 0;

const AMOUNTS_OF_NOW = "Amounts and accounts of disputes are those of now.";

/**
 * Reads the disputes of periods in groups.
 *
 * @throws {Problem} the platform's refusal
 */
export const readDisputeFacts = async (
  context: InsightContext,
  groupings: readonly AccountGrouping[],
  periods: readonly KpiPeriod[],
): Promise<DisputeFacts> => {
  const reopenings = await readReopenings(context, periods);
  const endings = await listEndings(periods, reopenings);
  const { accounts, rows, stopped } = await readAccounts(context, periods, endings);
  const numbers = new Set<string>();
  for (const own of accounts.values()) {
    await forEachInTurns(own.values(), ({ accountNumber }) => void numbers.add(accountNumber));
  }
  const { keyOf, isPartial, notes } = await readKeys(context, groupings, numbers);
  const cells = new Map<string, Cell>();
  const groups = new Map<KpiPeriod, ReadonlyMap<string, PeriodDisputes>>();
  for (const [period, own] of accounts) {
    const found = new Map<string, PeriodDisputes>();
    await forEachInTurns(own.values(), ({ accountNumber, currencyCode, figures }) => {
      if (!hasFigures(figures)) return;
      const cell = { key: keyOf(accountNumber), currencyCode };
      const id = toCellId(cell);
      const group = found.get(id) ?? createDisputeFigures();
      merge(group, figures);
      found.set(id, group);
      cells.set(id, cell);
    });
    groups.set(period, found);
  }
  const unknown = new Set(endings.flatMap(({ reopened }) => reopened.notes));
  const stops = stopped === undefined ? [] : [stopped];
  return {
    periods: groups,
    cells,
    rows,
    unknownReopenings: reopenings.unknown,
    truncated: isPartial || stopped !== undefined,
    notes: [...stops, ...reopenings.notes, ...unknown, ...notes, AMOUNTS_OF_NOW],
  };
};
