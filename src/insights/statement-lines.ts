import Big from "big.js";
import type { Calendar } from "../contract/insights/calendar.ts";
import { type Paper, standPaperAt } from "./past-balances.ts";
import type { Moment } from "./standing.ts";

/** What a line of a statement stands for, in the order of lines of one day. */
export const LINE_KINDS = [
  "invoice",
  "credit note",
  "payment applied",
  "write-off",
  "adjustment",
  "closure",
  "change",
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

const isClosedAt = (paper: Paper, at: number, moment: Moment): boolean =>
  standPaperAt(paper, { ...moment, at, isPast: true })?.status === "closed";

/** A balance that was stated before the payment that explains it. */
type Announced = { amount: Big; left: Big[] };

/** Returns what a change leaves to explain, after a later payment of just this amount. */
const explain = (delta: Big, later: readonly Big[], announced: Announced): Big => {
  const place = later.findIndex(
    (amount) => amount.eq(delta.neg()) && !announced.left.includes(amount),
  );
  const payment = later[place];
  if (payment === undefined || delta.eq(0)) return delta;
  announced.left.push(payment);
  announced.amount = announced.amount.plus(payment);
  return new Big(0);
};

/** Returns the lines of a document in a period, and its balances before and at the end. */
export const listLines = (paper: Paper, period: Period, calendar: Calendar) => {
  const { from, to } = period;
  const opening = standPaperAt(paper, period.opening);
  const closing = standPaperAt(paper, period.closing);
  const lines: Line[] = [];
  const { documentNumber: number, currencyCode } = paper;
  const add = (line: Pick<Line, "day" | "kind" | "amount"> & { paymentId?: string | null }) =>
    lines.push({ number, currencyCode, paymentId: null, ...line });
  if (closing === undefined) return { opening, closing, lines };
  let balance = opening?.balance ?? new Big(0);
  if (opening === undefined) {
    const billed = new Big(paper.original ?? paper.balances[0]?.balance ?? paper.balance ?? 0);
    const kind = paper.type === "credit_note" ? "credit note" : "invoice";
    add({ day: paper.issuedOn, kind, amount: billed });
    balance = billed;
  }
  const payments = paper.payments
    .filter(({ day }) => day <= to && (day >= from || opening === undefined))
    .map((one) => ({ ...one, day: one.day < from ? paper.issuedOn : one.day }))
    .toSorted((a, b) => (a.day < b.day ? -1 : 1));
  const announced: Announced = { amount: new Big(0), left: [] };
  let paid = 0;
  const payUntil = (day: string): void => {
    for (let next = payments[paid]; next !== undefined && next.day <= day; next = payments[paid]) {
      paid += 1;
      const { amount, paymentId } = next;
      add({ day: next.day, kind: "payment applied", amount: amount.neg(), paymentId });
      balance = balance.minus(amount);
      const place = announced.left.indexOf(amount);
      if (place === -1) continue;
      announced.left.splice(place, 1);
      announced.amount = announced.amount.minus(amount);
    }
  };
  for (const { day, kind, balance: stated } of listChanges(paper, period, calendar)) {
    payUntil(day);
    const delta = stated.minus(balance.minus(announced.amount));
    const later = payments.slice(paid).map(({ amount }) => amount);
    const left = explain(delta, later, announced);
    if (left.eq(0)) continue;
    add({ day, kind, amount: left });
    balance = balance.plus(left);
  }
  payUntil(to);
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
