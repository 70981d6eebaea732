import { findChange } from "../../store/queries/imports.ts";
import { putEntries } from "../../store/queries/payment-entries.ts";
import { findRowsOfPayments } from "../../store/queries/payments.ts";
import { TABLES } from "../../store/queries/payments/columns.ts";
import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import { omitEmpty } from "../bank/file.ts";
import type { Journal } from "../target.ts";
import {
  derivePaymentIdOf,
  getText,
  isAdvice,
  LEAST_DETAIL,
  parsePaymentIds,
} from "./entry-facts.ts";
import type { Judged } from "./judged.ts";
import { findLonelyAdvice, findMisjoined, getReference, type Misjoined } from "./joining.ts";
import type { Values } from "./row.ts";
import { savePayments, type SaveNeeds } from "./save.ts";

/** A deposit that came after an advice about it had been joined to another one of the same payer, day and amount. */
type Move = Misjoined & {
  deposit: Judged;
  /** The entries that the deposit was joined to, the first one with their payment. */
  joined: readonly PaymentEntryRow[];
};

/** The entry that has the payment of an advice and its deposit: the one that came first. */
const rootOf = ({ advice, equal }: Misjoined): PaymentEntryRow =>
  advice.joined_to === null ? advice : equal;

const listGroup = (
  root: PaymentEntryRow,
  candidates: readonly PaymentEntryRow[],
): PaymentEntryRow[] => [root, ...candidates.filter(({ joined_to: id }) => id === root.id)];

const findMove = (deposit: Judged, candidates: readonly PaymentEntryRow[]): Move | undefined => {
  const { known, verdict, facts, payments } = deposit;
  if (known !== undefined || payments.length !== 1) return undefined;
  if (verdict.as !== "new" && verdict.as !== "joined") return undefined;
  const found = findMisjoined(facts, candidates);
  if (found === undefined || parsePaymentIds(rootOf(found)).length !== 1) return undefined;
  if (verdict.as === "new") return { deposit, joined: [], ...found };
  const { root } = verdict;
  const joined = listGroup(root, candidates);
  // Another advice about which no deposit has come can do without this one.
  if (joined.length === 1 && root.kind === "edi820") return { deposit, joined: [], ...found };
  // The equal deposit takes the payment of these entries, which must be of one deposit without documents.
  const isPlain = root.detail === LEAST_DETAIL && joined.every(({ kind }) => kind !== "edi820");
  return isPlain && root.id !== rootOf(found).id ? { deposit, joined, ...found } : undefined;
};

const findMoves = (judged: readonly Judged[], candidates: readonly PaymentEntryRow[]): Move[] => {
  if (!candidates.some(isAdvice)) return [];
  const moved = new Set<string>();
  return judged.flatMap((deposit) => {
    const move = findMove(deposit, candidates);
    if (move === undefined || moved.has(move.advice.id)) return [];
    moved.add(move.advice.id);
    return [move];
  });
};

/**
 * The texts by which a bank tells equal deposits apart: as they were before the advice replaced them, else as they are
 * compared.
 */
const readEqualTexts = async (
  tx: Db,
  { tenantId, source }: SaveNeeds,
  move: Move,
): Promise<Record<string, unknown>> => {
  const { equal, advice } = move;
  const rows = await findRowsOfPayments(tx, tenantId, source, parsePaymentIds(rootOf(move)));
  for (const row of rows) {
    const place = { tenantId, table: TABLES[source], row };
    const before = await findChange(tx, advice.import_id, place);
    if (before === undefined) continue;
    const { payment_reference: paymentReference, remittance_text: remittanceText } = before;
    return { paymentReference, remittanceText };
  }
  return { paymentReference: getReference(equal), remittanceText: getText(equal) };
};

/** Returns the row of a deposit that equals another one but for its texts, without the documents of the other. */
const buildEqualRow = ({ payments }: Judged, texts: Record<string, unknown>): Values => {
  const [first] = payments;
  const documents = first?.payment.remittances.flatMap(({ cells }) => Object.keys(cells)) ?? [];
  const none = Object.fromEntries(documents.map((name) => [name, undefined]));
  return omitEmpty({ ...first?.rows[0], ...none, ...texts });
};

/** Lists the entries that a move changes, before and after: the group of the advice is divided. */
const divide = (
  move: Move,
  candidates: readonly PaymentEntryRow[],
): (readonly [PaymentEntryRow, PaymentEntryRow])[] => {
  const { advice, equal, others, deposit, joined } = move;
  const [root, lonely] = [rootOf(move), findLonelyAdvice([equal, ...others], candidates)];
  const [former] = joined;
  const own = {
    joined_to: null,
    payment_ids: former?.payment_ids ?? JSON.stringify([derivePaymentIdOf(deposit.facts.id, 0)]),
    detail: equal.id === root.id ? LEAST_DETAIL : equal.detail,
  };
  const left = lonely === undefined ? own : { joined_to: lonely.id, payment_ids: "[]" };
  const { payment_ids, detail } = root;
  const group = { joined_to: (lonely ?? equal).id };
  return [
    [advice, { ...advice, joined_to: null, payment_ids, detail }],
    [equal, { ...equal, ...left }],
    ...others.map((one) => [one, { ...one, ...group }] as const),
    ...(lonely === undefined ? joined : []).map(
      (one) => [one, { ...one, joined_to: advice.id, payment_ids: "[]" }] as const,
    ),
  ];
};

/** Stores the payment that a move leaves to the equal deposit, unless a payment for it is there already. */
const saveEqual = async (
  tx: Db,
  needs: SaveNeeds,
  move: Move,
  after: readonly PaymentEntryRow[],
  journal: Journal,
): Promise<void> => {
  const paymentId = derivePaymentIdOf(move.deposit.facts.id, 0);
  const isNew = after.some((row) => parsePaymentIds(row).includes(paymentId));
  if (!isNew) return;
  const row = buildEqualRow(move.deposit, await readEqualTexts(tx, needs, move));
  await savePayments(tx, needs, [{ paymentId, rows: [row] }], journal);
};

/** The entries of the store after moves. */
export type Moved = {
  candidates: readonly PaymentEntryRow[];
  /** The ids of the deposits whose advices were moved. */
  deposits: ReadonlySet<string>;
  /** The former entries with payments of which returns may be of another deposit now. */
  roots: readonly PaymentEntryRow[];
};

/**
 * Takes advices from deposits to which they were joined because their own, which come now, have the same payer, day and
 * amount. The payment with the documents keeps its id and stays with the advice, which the deposit can then join; the
 * equal deposit gets a payment of its own. Undefined if nothing is moved.
 */
export const moveAdvices = async (
  tx: Db,
  needs: SaveNeeds,
  { judged, candidates }: { judged: readonly Judged[]; candidates: readonly PaymentEntryRow[] },
  journal: Journal,
): Promise<Moved | undefined> => {
  const moves = findMoves(judged, candidates);
  if (moves.length === 0) return undefined;
  const byId = new Map(candidates.map((row) => [row.id, row]));
  for (const move of moves) {
    const changes = divide(move, [...byId.values()]);
    const after = changes.map(([, row]) => row);
    await saveEqual(tx, needs, move, after, journal);
    for (const [before, row] of changes) {
      journal.changed("payment_entries", before, row);
      byId.set(row.id, row);
    }
    await putEntries(tx, after);
  }
  return {
    candidates: [...byId.values()],
    deposits: new Set(moves.map(({ deposit }) => deposit.facts.id)),
    roots: moves.map(rootOf),
  };
};
