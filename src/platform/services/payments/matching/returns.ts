import { createHash } from "node:crypto";
import type Big from "big.js";
import {
  addPayments,
  type NewPayment,
  removePayments,
  replacePayments,
  takeSeqs,
} from "../../../store/queries/payments.ts";
import { readPaymentRows, readReturnsOf } from "../../../store/queries/payment-matching.ts";
import type { Db } from "../../../store/port.ts";
import { amountOf, atLeastZero, smallest, sum, textOf, type Values, ZERO } from "./values.ts";

export type Settling = { tenantId: string; now: string };

/** The part of a row that a return takes back; `isWhole`: with its discount and deduction. */
type Taken = { values: Values; applied: Big; isWhole: boolean };

/** Marks rows that a return has beside the one of its file. */
const FURTHER = JSON.stringify({ isFurther: true });

const isFurther = ({ matching }: NewPayment): boolean => matching?.said === FURTHER;

const VERSION = 8;

/** Derives the id of a further row of a return: a UUID version 8 (RFC 9562). */
const deriveFurtherId = (id: string, place: number): string => {
  const hex = createHash("sha256")
    .update(JSON.stringify([id, place]))
    .digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    VERSION + hex.slice(13, 16),
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
};

/** A payment after earlier returns: its rows with the amounts that are still applied, and its unapplied money. */
type Left = { rows: { values: Values; applied: Big }[]; unapplied: Big };

const findLeft = (payment: readonly NewPayment[], before: readonly NewPayment[]): Left => {
  const taken = before.map(({ values }) => ({
    number: textOf(values, "documentNumber"),
    amount: amountOf(values, "appliedAmount"),
  }));
  const rows = payment
    .filter(({ values }) => !amountOf(values, "appliedAmount").eq(0))
    .map(({ values }) => {
      let applied = amountOf(values, "appliedAmount");
      for (const one of taken) {
        if (one.number !== textOf(values, "documentNumber") || applied.eq(0)) continue;
        // Both have opposite signs.
        const back = applied.gt(0)
          ? smallest(applied, one.amount.times(-1))
          : smallest(applied.abs(), one.amount).times(-1);
        applied = applied.minus(back);
        one.amount = one.amount.plus(back);
      }
      return { values, applied };
    });
  const byReturn = Map.groupBy(before, ({ values }) => textOf(values, "paymentId"));
  const unapplied = sum([
    amountOf(payment[0]?.values ?? {}, "unappliedAmount"),
    ...[...byReturn.values()].map(([one]) => amountOf(one?.values ?? {}, "unappliedAmount")),
  ]);
  return { rows, unapplied: atLeastZero(unapplied) };
};

/** Takes unapplied money first, then that of the last documents. A return of all that is left takes back every row. */
const takeBack = ({ rows, unapplied }: Left, amount: Big): Taken[] => {
  const all = unapplied.plus(sum(rows.map(({ applied }) => applied)));
  if (amount.gte(all)) {
    return rows
      .filter(({ applied }) => !applied.eq(0))
      .map(({ values, applied }) => ({ values, applied, isWhole: true }));
  }
  let left = atLeastZero(amount.minus(unapplied));
  const taken: Taken[] = [];
  for (const { values, applied } of rows.toReversed()) {
    if (left.lte(0)) break;
    if (applied.lte(0)) continue;
    const part = smallest(left, applied);
    taken.push({ values, applied: part, isWhole: part.eq(amountOf(values, "appliedAmount")) });
    left = left.minus(part);
  }
  return taken.toReversed();
};

const OF_DOCUMENT = [
  "documentNumber",
  "invoiceNumber",
  "accountNumber",
  "accountName",
  "invoiceAmount",
] as const;

const REVERSED_WITH_WHOLE = ["discountTaken", "deductionAmount"] as const;

/** Returns the values of a row of a return, which undo those of a row of its payment. */
const toReversal = (base: Values, taken: Taken | undefined, unapplied: Big): Values => {
  const values: Record<string, unknown> = { ...base };
  for (const name of [...OF_DOCUMENT, ...REVERSED_WITH_WHOLE]) delete values[name];
  for (const name of OF_DOCUMENT) {
    const value = taken?.values[name];
    if (value !== undefined) values[name] = value;
  }
  for (const name of taken?.isWhole === true ? REVERSED_WITH_WHOLE : []) {
    const amount = amountOf(taken?.values ?? {}, name);
    if (!amount.eq(0)) values[name] = amount.times(-1).toNumber();
  }
  return {
    ...values,
    appliedAmount: (taken?.applied ?? ZERO).times(-1).toNumber(),
    unappliedAmount: unapplied.toNumber(),
    shortPay: false,
    applicationStatus: "reversed",
    ...(taken === undefined ? {} : { matchMethod: "auto", matchConfidence: 1 }),
  };
};

const buildRows = (own: NewPayment, taken: readonly Taken[], { now }: Settling): NewPayment[] => {
  const amount = amountOf(own.values, "paymentAmount");
  const unapplied = amount.plus(sum(taken.map(({ applied }) => applied)));
  const stated = own.matching?.said ?? "{}";
  return (taken.length === 0 ? [undefined] : taken).map((one, place) => {
    const values = toReversal({ ...own.values, updatedAt: now }, one, unapplied);
    const appliedAt = one === undefined ? null : now;
    if (place === 0) {
      return { ...own, values, matching: { said: stated, appliedAt, waitingKey: null } };
    }
    const id = deriveFurtherId(String(own.values["id"]), place);
    return {
      ...own,
      sentHash: "",
      values: { ...values, id, createdAt: now },
      matching: { said: FURTHER, appliedAt, waitingKey: null },
    };
  });
};

const isSame = (a: NewPayment | undefined, b: NewPayment): boolean => {
  const without = ({ values }: NewPayment) => ({ ...values, updatedAt: "", createdAt: "" });
  if (a === undefined) return false;
  const names = new Set([...Object.keys(a.values), ...Object.keys(b.values)]);
  const [one, other] = [without(a) as Values, without(b) as Values];
  return [...names].every((name) => (one[name] ?? null) === (other[name] ?? null));
};

/** Writes the rows of a return in place of those that it had; returns whether anything changed. */
const writeRows = async (
  tx: Db,
  { tenantId }: Settling,
  before: readonly NewPayment[],
  rows: readonly NewPayment[],
): Promise<boolean> => {
  const known = new Map(before.map((row) => [row.values["id"], row]));
  const isKept = rows.length === before.length;
  if (isKept && rows.every((row) => isSame(known.get(row.values["id"]), row))) return false;
  const unchanged = rows.flatMap((row) => {
    const former = known.get(row.values["id"]);
    const { createdAt = row.values["createdAt"] } = former?.values ?? {};
    return former === undefined
      ? []
      : [{ ...row, seq: former.seq, values: { ...row.values, createdAt } }];
  });
  const added = rows.filter((row) => !known.has(row.values["id"]));
  const ids = new Set(rows.map((row) => row.values["id"]));
  const gone = before.filter((row) => !ids.has(row.values["id"]));
  await removePayments(
    tx,
    "cashapp",
    tenantId,
    gone.map(({ seq }) => seq),
  );
  await replacePayments(tx, "cashapp", unchanged);
  if (added.length === 0) return true;
  const first = await takeSeqs(tx, tenantId, "cashapp", added.length);
  await addPayments(
    tx,
    "cashapp",
    added.map((row, place) => ({ ...row, seq: first + place })),
  );
  return true;
};

/**
 * Has the returns of payments take back what these paid, each after the ones before it. Returns the numbers of the
 * documents that are concerned.
 */
export const applyReturns = async (
  tx: Db,
  settling: Settling,
  paymentIds: readonly string[],
): Promise<{ documents: string[]; returns: string[] }> => {
  const { tenantId } = settling;
  const returns = await readReturnsOf(tx, tenantId, paymentIds);
  if (returns.length === 0) return { documents: [], returns: [] };
  const payments = Map.groupBy(await readPaymentRows(tx, tenantId, paymentIds), ({ values }) =>
    textOf(values, "paymentId"),
  );
  const documents = new Set<string>();
  const changed: string[] = [];
  const done = new Map<string, NewPayment[]>();
  for (const [id, rows] of Map.groupBy(returns, ({ values }) => textOf(values, "paymentId"))) {
    const own = rows.find((row) => !isFurther(row));
    const returned = textOf(own?.values ?? {}, "returnedPaymentId");
    const payment = payments.get(returned) ?? [];
    if (own === undefined || returned === undefined || payment.length === 0) continue;
    const earlier = done.get(returned) ?? [];
    const amount = amountOf(own.values, "paymentAmount").abs();
    const built = buildRows(own, takeBack(findLeft(payment, earlier), amount), settling);
    const { unappliedAmount } = built[0]?.values ?? {};
    // Its file may have several rows of a return; the first one and further ones take back.
    for (const row of rows) {
      if (row === own || isFurther(row)) continue;
      built.push({ ...row, values: { ...row.values, unappliedAmount } });
    }
    done.set(returned, [...earlier, ...built]);
    if (!(await writeRows(tx, settling, rows, built))) continue;
    if (id !== undefined) changed.push(id);
    for (const { values } of [...rows, ...built]) {
      const number = textOf(values, "documentNumber");
      if (number !== undefined) documents.add(number);
    }
  }
  return { documents: [...documents], returns: changed };
};
