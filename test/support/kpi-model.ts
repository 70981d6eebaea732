import Big from "big.js";
import { localDay } from "./local-days.ts";

/** The records of a tenant as the documented and further operations give them, each currency and group by itself. */
export type Raw = {
  documents: {
    number: string;
    account: string;
    currency: string;
    isCredit: boolean;
    invoiced: string;
    due: string;
    original: number;
    /** Oldest first. */
    balances: { at: number; balance: number }[];
  }[];
  disputes: {
    id: string;
    account: string;
    document: string;
    currency: string;
    amount: number;
    created: number;
    closed: number | null;
    status: "Open" | "Closed" | "Canceled";
    isValid: boolean;
  }[];
  /** Reopenings with the end that they undid, oldest first. */
  reopened: { id: string; at: number; status: "Closed" | "Canceled"; closed: number }[];
  payments: { document: string; currency: string; day: string; amount: number }[];
};

export type Span = { from: string; to: string };
export type Figures = Record<string, number | null>;
type Group = { currency: string; accounts: ReadonlySet<string> };

const DAY_MS = 86_400_000;
const ZERO = new Big(0);

const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

const daysOf = ({ from, to }: Span): number => (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;

const round = (value: Big, decimals: number): number =>
  Number(value.toFixed(decimals, Big.roundHalfUp));

const divide = (a: Big, b: Big, days?: number): number | null => {
  if (b.lte(0) || a.lt(0) || (days === undefined && a.gt(b))) return null;
  return days === undefined ? round(a.div(b), 4) : round(a.times(days).div(b), 2);
};

const sum = (all: readonly (number | Big)[]): Big =>
  all.reduce((total: Big, one) => total.plus(one), ZERO);

/** The textbook formulas over raw records of one tenant, whose days are those of a zone. */
export const createKpiModel = (raw: Raw, zone: string) => {
  const dayOf = (at: number): string => localDay(zone, at);
  const first = raw.documents.map(({ invoiced }) => invoiced).toSorted()[0] ?? "9999-12-31";

  const paidOf = (number: string, day: string): Big =>
    sum(
      raw.payments
        .filter((one) => one.document === number && one.day <= day)
        .map(({ amount }) => amount),
    );

  /** Open documents at the end of a day with their balances. */
  const openAt = (day: string, { currency, accounts }: Group) =>
    raw.documents
      .filter((one) => one.currency === currency && accounts.has(one.account))
      .filter(({ invoiced }) => invoiced <= day)
      .flatMap(({ number, due, original, balances, isCredit }) => {
        const known = balances.findLast(({ at }) => dayOf(at) <= day);
        const sign = isCredit ? -1 : 1;
        const balance =
          known === undefined
            ? new Big(original).times(sign).minus(paidOf(number, day))
            : new Big(known.balance);
        return balance.eq(0) ? [] : [{ number, balance, isDue: due < day }];
      });

  const salesOf = ({ from, to }: Span, { currency, accounts }: Group): Big =>
    sum(
      raw.documents
        .filter((one) => one.currency === currency && accounts.has(one.account))
        .filter(({ invoiced }) => invoiced >= from && invoiced <= to)
        .map(({ original, isCredit }) => (isCredit ? -original : original)),
    );

  /** The disputes that existed at the end of a day, with status and end as they were then. */
  const disputesAt = (day: string, { currency, accounts }: Group) =>
    raw.disputes
      .filter((one) => one.currency === currency && accounts.has(one.account))
      .filter(({ created }) => dayOf(created) <= day)
      .map((one) => {
        const undone = raw.reopened.find(
          ({ id, at, closed }) => id === one.id && dayOf(at) > day && dayOf(closed) <= day,
        );
        if (undone !== undefined)
          return { ...one, status: undone.status, closed: undone.closed, isKnown: false };
        const isEnded = one.closed !== null && dayOf(one.closed) <= day;
        return { ...one, isKnown: true, ...(isEnded ? {} : { status: "Open", closed: null }) };
      });

  const countBack = (total: Big, { to }: Span, group: Group): number | null => {
    if (total.lt(0)) return null;
    let [left, days, last] = [total, ZERO, to];
    while (left.gt(0)) {
      const from = `${last.slice(0, 8)}01`;
      if (from < first) return null;
      const sales = salesOf({ from, to: last }, group);
      const length = daysOf({ from, to: last });
      days = days.plus(left.gt(sales) ? length : left.times(length).div(sales));
      left = left.minus(sales);
      last = addDays(from, -1);
    }
    return round(days, 2);
  };

  const recover = (rejected: ReturnType<typeof disputesAt>): ReadonlyMap<string, Big> => {
    const left = new Map(raw.payments.map((one) => [one, new Big(one.amount)]));
    const ordered = rejected.toSorted(
      (a, b) => Number(a.closed) - Number(b.closed) || (a.id < b.id ? -1 : 1),
    );
    return new Map(
      ordered.map(({ id, document, currency, amount, closed }) => {
        const from = dayOf(closed ?? 0);
        let open = new Big(amount);
        const later = raw.payments
          .filter((one) => one.document === document && one.currency === currency)
          .filter(({ day }) => day >= from)
          .toSorted((a, b) => (a.day < b.day ? -1 : Number(a.day > b.day)));
        for (const one of later) {
          const rest = left.get(one) ?? ZERO;
          const part = rest.lt(open) ? rest : open;
          left.set(one, rest.minus(part));
          open = open.minus(part);
        }
        return [id, new Big(amount).minus(open)];
      }),
    );
  };

  const closedIn = ({ from, to }: Span, group: Group) =>
    disputesAt(to, group).filter(
      ({ status, closed }) => status === "Closed" && closed !== null && dayOf(closed) >= from,
    );

  const isRejected = ({ isKnown, isValid }: { isKnown: boolean; isValid: boolean }): boolean =>
    isKnown && !isValid;

  const rank = (values: readonly number[], percent: number): number | null =>
    values.toSorted((a, b) => a - b)[Math.ceil((percent / 100) * values.length) - 1] ?? null;

  const measureDisputes = (span: Span, group: Group, recovered: ReadonlyMap<string, Big>) => {
    const days = daysOf(span);
    const stood = disputesAt(span.to, group);
    const closed = closedIn(span, group);
    const durations = closed.map(
      (one) => (Date.parse(dayOf(one.closed ?? 0)) - Date.parse(dayOf(one.created))) / DAY_MS,
    );
    const opened = stood.filter(
      ({ status, created }) => status !== "Canceled" && dayOf(created) >= span.from,
    );
    const again = new Set(
      raw.reopened
        .filter(({ status }) => status === "Closed")
        .filter(({ closed: at }) => dayOf(at) >= span.from && dayOf(at) <= span.to)
        .filter(({ id }) => stood.some((one) => one.id === id))
        .map(({ id }) => id),
    );
    const everClosed = new Set([...again, ...closed.map(({ id }) => id)]);
    const known = closed.filter(({ isKnown }) => isKnown);
    const rejected = closed.filter(isRejected);
    return {
      daysDeductionOutstanding: divide(
        sum(stood.filter(({ status }) => status === "Open").map(({ amount }) => amount)),
        sum(opened.map(({ amount }) => amount)),
        days,
      ),
      medianDaysToClose: rank(durations, 50),
      p90DaysToClose: rank(durations, 90),
      validShare: divide(
        new Big(known.filter(({ isValid }) => isValid).length),
        new Big(known.length),
      ),
      amountRecovered:
        rejected.length === 0
          ? null
          : sum(rejected.map(({ id }) => recovered.get(id) ?? ZERO)).toNumber(),
      reopenedShare: divide(new Big(again.size), new Big(everClosed.size)),
    };
  };

  const measureDocuments = (span: Span, group: Group) => {
    const { from, to } = span;
    const days = daysOf(span);
    const open = openAt(to, group);
    const total = sum(open.map(({ balance }) => balance));
    const current = sum(open.filter(({ isDue }) => !isDue).map(({ balance }) => balance));
    const before = sum(openAt(addDays(from, -1), group).map(({ balance }) => balance));
    const sales = salesOf(span, group);
    const numbers = new Set(open.map(({ number }) => number));
    const disputed = disputesAt(to, {
      ...group,
      accounts: new Set(raw.disputes.map((one) => one.account)),
    })
      .filter(({ status, document }) => status === "Open" && numbers.has(document))
      .map(({ amount }) => amount);
    const due = before.plus(sales);
    return {
      dsoCountback: countBack(total, span, group),
      dsoSimple: divide(total, sales, days),
      bestPossibleDso: divide(current, sales, days),
      averageDaysDelinquent: divide(total.minus(current), sales, days),
      collectionEffectiveness: divide(due.minus(total), due.minus(current)),
      disputedShare: divide(sum(disputed), total),
    };
  };

  /** Computes all measures of a group in a span; `all` are the spans and groups whose payments are divided together. */
  return {
    first,
    measure(span: Span, group: Group, all: readonly (readonly [Span, Group])[]): Figures {
      const rejected = all.flatMap(([one, own]) => closedIn(one, own).filter(isRejected));
      return {
        ...measureDocuments(span, group),
        ...measureDisputes(span, group, recover(rejected)),
      };
    },
  };
};
