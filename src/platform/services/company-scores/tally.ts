import Big from "big.js";
import type { CompanyScore } from "../../../contract/operations/company-scores.ts";
import { DAY } from "../../../kit/clock.ts";
import { findCurrencyDecimals } from "../../money.ts";

/** The part of an invoice that the score depends on. Times are epoch milliseconds. */
export type Invoice = {
  currency: string;
  amount: number;
  invoicedAt: number;
  dueAt: number;
  /** Null while it is open. */
  closedAt: number | null;
  writtenOff: boolean;
};

/** Average days late, weighted by amount, at which the payment outlook is 0. */
const HOPELESS_DAYS = 90;
const POINTS_PER_INVOICE = 5;
const BEST = 100;
const LIMIT_SHARE = "0.1";
const YEAR = 365 * DAY;

type Sums = {
  invoices: number;
  /** Of all invoices, and of those that were due. */
  billed: Big;
  due: Big;
  /** Amounts due, each times the days that it was late. */
  lateness: Big;
  /** Amounts due that were written off or paid more than 90 days late. */
  lost: Big;
};

const NOTHING = new Big(0);
const createSums = (): Sums => ({
  invoices: 0,
  billed: NOTHING,
  due: NOTHING,
  lateness: NOTHING,
  lost: NOTHING,
});

const toDay = (timestamp: number): number => Math.floor(timestamp / DAY);

const addInvoice = (sums: Sums, invoice: Invoice, now: number): Sums => {
  const amount = new Big(invoice.amount);
  const billed = sums.billed.plus(amount);
  const { dueAt, closedAt, writtenOff } = invoice;
  const days = Math.max(0, toDay(closedAt ?? now) - toDay(dueAt));
  // An open invoice that is not yet due says nothing about payment behaviour.
  if (closedAt === null && days === 0) return { ...sums, billed };
  return {
    invoices: sums.invoices + 1,
    billed,
    due: sums.due.plus(amount),
    lateness: sums.lateness.plus(amount.times(days)),
    lost: writtenOff || days > HOPELESS_DAYS ? sums.lost.plus(amount) : sums.lost,
  };
};

/** Rounds to whole points, half up. */
const roundPoints = (value: Big): number => {
  const whole = value.round(0, Big.roundHalfUp).toNumber();
  return Math.min(BEST, Math.max(0, whole));
};

const computeScore = (sums: Sums, currency: string): CompanyScore => {
  const best = new Big(BEST);
  const confidence = Math.min(BEST, POINTS_PER_INVOICE * sums.invoices);
  const hopeless = sums.due.times(HOPELESS_DAYS);
  const outlook = roundPoints(best.minus(sums.lateness.times(BEST).div(hopeless)));
  const viability = roundPoints(best.minus(sums.lost.times(BEST).div(sums.due)));
  const limit = sums.billed.times(LIMIT_SHARE).times(outlook).div(BEST);
  return {
    fibs: { fibs_score: outlook, fibs_confidence: confidence },
    dibs: { dibs_score: viability, dibs_confidence: confidence },
    creditLimit: limit.round(findCurrencyDecimals(currency), Big.roundDown).toNumber(),
    bankruptcyFlag: 0,
    outOfBusinessFlag: 0,
  };
};

/**
 * Scores from how a company has paid the invoices of the last 365 days, exactly and the same for the same invoices:
 * - payment outlook: 100, less the days late on average, weighted by amount, where 90 days cost everything;
 * - business viability: the share of what was due that was neither written off nor more than 90 days late;
 * - confidence of both: 5 for each invoice that was due, at most 100;
 * - credit limit: a tenth of all that was billed, times the outlook's hundredth, rounded down to the currency's decimals.
 *
 * Amounts of different currencies are never added: the score is of one of them.
 */
export const createTally = (now: number) => {
  const byCurrency = new Map<string, Sums>();
  return {
    add(invoice: Invoice): void {
      const { currency, amount, invoicedAt } = invoice;
      if (amount <= 0 || invoicedAt > now || invoicedAt <= now - YEAR) return;
      byCurrency.set(currency, addInvoice(byCurrency.get(currency) ?? createSums(), invoice, now));
    },
    /** Of the preferred currency if anything was due in it, else of the one with the most invoices; undefined where nothing was due. */
    score(preferred: string | null): CompanyScore | undefined {
      const known = [...byCurrency].filter(([, { invoices }]) => invoices > 0);
      const [most] = known.toSorted(
        ([a, one], [b, other]) => other.invoices - one.invoices || (a < b ? -1 : 1),
      );
      const [currency, sums] = known.find(([name]) => name === preferred) ?? most ?? [];
      return currency === undefined || sums === undefined
        ? undefined
        : computeScore(sums, currency);
    },
  };
};
