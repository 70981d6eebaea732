import { type NewPayment, replacePayments } from "../../../store/queries/payments.ts";
import {
  readPaymentRows,
  readReturnsOf,
  readWaiting,
} from "../../../store/queries/payment-matching.ts";
import type { Db } from "../../../store/port.ts";
import { settleDeductions } from "./deductions.ts";
import { isReturn } from "./lines.ts";
import { matchRows } from "./match.ts";
import type { Settling } from "./returns.ts";
import { isMatchable, textsOf } from "./values.ts";

/** Rows that are read at once. */
const MOST_ROWS = 500;

const isEqual = (a: NewPayment, b: NewPayment): boolean => {
  const names = new Set([...Object.keys(a.values), ...Object.keys(b.values)]);
  names.delete("updatedAt");
  return (
    [...names].every((name) => (a.values[name] ?? null) === (b.values[name] ?? null)) &&
    a.matching?.waitingKey === b.matching?.waitingKey &&
    a.matching?.said === b.matching?.said
  );
};

const isApplied = (before: NewPayment, after: NewPayment): boolean =>
  before.values["appliedAmount"] !== after.values["appliedAmount"] ||
  (before.values["matchMethod"] !== "auto" && after.values["matchMethod"] === "auto");

/** Payments whose rows changed, and those of them that were applied. */
export type Rematched = { changed: string[]; applied: string[] };

/** Matches stored payments again. Those that were returned, and rows that say themselves what they pay, stay. */
export const rematchPayments = async (
  tx: Db,
  settling: Settling,
  paymentIds: readonly string[],
): Promise<Rematched> => {
  const { tenantId, now } = settling;
  const all = await readPaymentRows(tx, tenantId, paymentIds);
  const returns = await readReturnsOf(tx, tenantId, paymentIds);
  const fixed = new Set<unknown>([
    ...returns.map(({ values }) => values["returnedPaymentId"]),
    ...all.flatMap((row) =>
      isMatchable(row) && !isReturn(row.values) ? [] : [row.values["paymentId"]],
    ),
  ]);
  const rows = all.filter(({ values }) => !fixed.has(values["paymentId"]));
  if (rows.length === 0) return { changed: [], applied: [] };
  const dated = rows.map((row) => ({ ...row, values: { ...row.values, updatedAt: now } }));
  const matched = await matchRows(tx, tenantId, dated, { isStored: true });
  const changed: NewPayment[] = [];
  const applied: NewPayment[] = [];
  for (const [place, before] of rows.entries()) {
    const after = matched[place];
    if (after === undefined || isEqual(before, after)) continue;
    changed.push(after);
    if (isApplied(before, after)) applied.push(after);
  }
  await replacePayments(tx, "cashapp", changed);
  await settleDeductions(tx, settling, textsOf(changed, "documentNumber"));
  return { changed: textsOf(changed, "paymentId"), applied: textsOf(applied, "paymentId") };
};

/** A part of the payments that wait: the number of its last row, or undefined after the last part. */
export type Part = Rematched & { next: number | undefined };

/** Matches some of the payments that wait for documents with one of the keys. */
export const matchSomeWaiting = async (
  tx: Db,
  settling: Settling,
  keys: readonly string[],
  { after, most }: { after: number; most: number },
): Promise<Part> => {
  const rows = await readWaiting(tx, settling.tenantId, keys, { after, most });
  const done = await rematchPayments(tx, settling, textsOf(rows, "paymentId"));
  return { ...done, next: rows.length < most ? undefined : rows.at(-1)?.seq };
};

/** Matches all payments that wait for documents with one of the keys. */
export const matchWaitingFor = async (
  tx: Db,
  settling: Settling,
  keys: readonly string[],
): Promise<Rematched> => {
  const done: Rematched = { changed: [], applied: [] };
  let after: number | undefined = 0;
  while (after !== undefined) {
    const part: Part = await matchSomeWaiting(tx, settling, keys, { after, most: MOST_ROWS });
    done.changed.push(...part.changed);
    done.applied.push(...part.applied);
    after = part.next;
  }
  return done;
};
