import Big from "big.js";
import type { Calendar } from "../contract/insights/calendar.ts";
import { type Paper, standPaperAt } from "./past-balances.ts";
import type { Moment } from "./standing.ts";

/** The kinds of lines of a statement, in the order of lines of one day. */
export const LINE_KINDS = [
  "invoice",
  "credit note",
  "payment applied",
  "change",
  "write-off",
  "adjustment",
  "closure",
  "unexplained",
] as const;
export type LineKind = (typeof LINE_KINDS)[number];

export type Line = {
  day: string;
  kind: LineKind;
  number: string | null;
  paymentId: string | null;
  currencyCode: string | null;
  amount: Big;
};

/** A time with its first and last day, and the moments before it and at its end. */
export type Period = { from: string; to: string; opening: Moment; closing: Moment };

type Change = { day: string; kind: LineKind; balance: Big };

const REASONS: Readonly<Record<string, LineKind>> = {
  write_off: "write-off",
  adjustment: "adjustment",
};

const toKind = (paper: Paper, at: number, cause: string): LineKind => {
  if (cause !== "closed") return "change";
  const closure = paper.closures.findLast((one) => one.at === at);
  return REASONS[closure?.reason ?? ""] ?? "closure";
};

/** The balances of a document that held at some moment of the period, oldest first, and closings without a record. */
const listChanges = (paper: Paper, { opening, closing }: Period, calendar: Calendar): Change[] => {
  const { balances, closures, issuedOn } = paper;
  const isWithin = (at: number): boolean => at > opening.at && at <= closing.at;
  const dayOf = (at: number): string => {
    const day = calendar.formatDay(at);
    return day < issuedOn ? issuedOn : day;
  };
  const effective = balances.filter(
    (one, place) => !balances.slice(place + 1).some(({ at }) => at <= one.at),
  );
  const before = closures.filter(
    ({ at }) =>
      isWithin(at) && !balances.some((one) => one.at <= at) && isClosedAt(paper, at, closing),
  );
  const changes = [
    ...effective.map(({ at, balance, cause }) => ({ at, balance: balance ?? 0, cause })),
    ...before.map(({ at }) => ({ at, balance: 0, cause: "closed" })),
  ];
  return changes
    .filter(({ at }) => isWithin(at) || (at <= opening.at && calendar.formatDay(at) < issuedOn))
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, balance, cause }) => ({
      day: dayOf(at),
      kind: toKind(paper, at, cause),
      balance: new Big(balance),
    }));
};

const isClosedAt = (paper: Paper, at: number, asOf: Moment): boolean =>
  standPaperAt(paper, { ...asOf, at, isPast: true })?.status === "closed";

type Running = {
  /** The balance after the lines so far. */
  balance: Big;
  /** The balance that was stated last; it may lack payments so far, or have some of later days. */
  stated: Big;
};

/**
 * Returns what a stated balance changes beyond payments: a decrease is first explained by payments that the balance
 * before lacked, then by a later payment of just the rest, which `take` removes from those to come.
 */
const findRest = ({ balance, stated }: Running, next: Big, take: (amount: Big) => boolean): Big => {
  const change = next.minus(stated);
  if (change.gte(0)) return change;
  const lacking = stated.minus(balance);
  const rest = lacking.gt(0) ? change.plus(lacking) : change;
  return rest.gte(0) || take(rest.neg()) ? new Big(0) : rest;
};

/** The payments of a document in a period; those before it count on the day of the issue. */
const listPayments = ({ payments, issuedOn }: Paper, { from, to }: Period, isIssued: boolean) =>
  payments
    .filter(({ day }) => day <= to && (day >= from || !isIssued))
    .map((one) => ({ ...one, day: one.day < from ? issuedOn : one.day }))
    .toSorted((a, b) => (a.day < b.day ? -1 : Number(a.day > b.day)));

const toBilled = ({ original, balances, balance }: Paper): Big =>
  new Big(original ?? balances[0]?.balance ?? balance ?? 0);

/** Returns the lines of a document in a period, and how it stood before and at the end. */
export const listLines = (paper: Paper, period: Period, calendar: Calendar) => {
  const opening = standPaperAt(paper, period.opening);
  const closing = standPaperAt(paper, period.closing);
  const lines: Line[] = [];
  if (closing === undefined) return { opening, closing, lines };
  const { documentNumber: number, currencyCode } = paper;
  const add = (day: string, kind: LineKind, amount: Big, paymentId: string | null = null): void => {
    lines.push({ day, kind, number, paymentId, currencyCode, amount });
  };
  const first = opening?.balance ?? toBilled(paper);
  const running: Running = { balance: first, stated: first };
  if (opening === undefined) {
    add(paper.issuedOn, paper.type === "credit_note" ? "credit note" : "invoice", first);
  }
  const payments = listPayments(paper, period, opening !== undefined);
  const announced = new Set<object>();
  let paid = 0;
  const payUntil = (day: string): void => {
    for (let next = payments[paid]; next !== undefined && next.day <= day; next = payments[paid]) {
      paid += 1;
      add(next.day, "payment applied", next.amount.neg(), next.paymentId);
      running.balance = running.balance.minus(next.amount);
    }
  };
  const takeLater = (amount: Big): boolean => {
    const later = payments.slice(paid).find((one) => one.amount.eq(amount) && !announced.has(one));
    if (later !== undefined) announced.add(later);
    return later !== undefined;
  };
  for (const { day, kind, balance } of listChanges(paper, period, calendar)) {
    payUntil(day);
    const rest = findRest(running, balance, takeLater);
    running.stated = balance;
    if (rest.eq(0)) continue;
    add(day, kind, rest);
    running.balance = running.balance.plus(rest);
  }
  payUntil(period.to);
  return { opening, closing, lines };
};

const placeOf = ({ kind }: Line): number => LINE_KINDS.indexOf(kind);

/** Compares lines by day, kind and number. */
export const compareLines = (a: Line, b: Line): number => {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1;
  if (a.kind !== b.kind) return placeOf(a) - placeOf(b);
  const [one, other] = [a.number ?? "", b.number ?? ""];
  return one === other ? 0 : one < other ? -1 : 1;
};
