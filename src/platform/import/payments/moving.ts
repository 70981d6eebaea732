import { findChange } from "../../store/queries/imports.ts";
import { putEntries } from "../../store/queries/payment-entries.ts";
import { findRowsOfPayments } from "../../store/queries/payments.ts";
import { TABLES } from "../../store/queries/payments/columns.ts";
import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import { omitEmpty } from "../bank/file.ts";
import type { Journal } from "../target.ts";
import { getText, parsePaymentIds } from "./entry-facts.ts";
import type { Judged } from "./judged.ts";
import { findMisjoined, getReference, type Misjoined } from "./joining.ts";
import { relinkReturns } from "./returns.ts";
import type { SaveNeeds } from "./save.ts";

/** A deposit that came after an advice about it had been joined to another one of the same payer, day and amount. */
type Move = Misjoined & { deposit: Judged };

/** The entry that has the payment of an advice and its deposit: the one that came first. */
const rootOf = ({ advice, twin }: Misjoined): PaymentEntryRow =>
  advice.joined_to === null ? advice : twin;

const findMoves = (judged: readonly Judged[], candidates: readonly PaymentEntryRow[]): Move[] => {
  const moved = new Set<string>();
  return judged.flatMap((deposit) => {
    const { known, verdict, facts, payments } = deposit;
    if (known !== undefined || verdict.as !== "new" || payments.length !== 1) return [];
    const found = findMisjoined(facts, candidates);
    if (found === undefined || moved.has(found.advice.id)) return [];
    if (parsePaymentIds(rootOf(found)).length !== 1) return [];
    moved.add(found.advice.id);
    return [{ deposit, ...found }];
  });
};

/**
 * The texts by which a bank tells equal deposits apart: as they were before the advice replaced them, else as they are
 * compared.
 */
const readTwinTexts = async (
  tx: Db,
  { tenantId, source }: SaveNeeds,
  move: Move,
): Promise<Record<string, unknown>> => {
  const { twin, advice } = move;
  const rows = await findRowsOfPayments(tx, tenantId, source, parsePaymentIds(rootOf(move)));
  for (const row of rows) {
    const place = { tenantId, table: TABLES[source], row };
    const before = await findChange(tx, advice.import_id, place);
    if (before === undefined) continue;
    const { payment_reference: paymentReference, remittance_text: remittanceText } = before;
    return { paymentReference, remittanceText };
  }
  return { paymentReference: getReference(twin), remittanceText: getText(twin) };
};

const replaceTexts = (
  deposit: Judged,
  { paymentReference, remittanceText }: Record<string, unknown>,
): Judged => ({
  ...deposit,
  payments: deposit.payments.map((one) => ({
    ...one,
    rows: one.rows.map((row) => omitEmpty({ ...row, paymentReference, remittanceText })),
  })),
});

/** The moves of a batch, by the ids of their deposits. */
export type Moves = {
  /** The entries, of which those that advices are moved to bring the money of their twins. */
  judged: readonly Judged[];
  /** Stores the moves after the payments, and finds the returns of both deposits again. */
  save(created: ReadonlyMap<string, PaymentEntryRow>, journal: Journal): Promise<void>;
};

/**
 * Moves advices to their own deposits where these come after others of the same payer, day and amount, to which the
 * advices were joined. The payments keep their ids: the deposit takes the one with the documents of the advice, and its
 * twin a new one.
 */
export const moveAdvices = async (
  tx: Db,
  needs: SaveNeeds,
  judged: readonly Judged[],
  candidates: readonly PaymentEntryRow[],
): Promise<Moves> => {
  const moves = new Map<string, Move>();
  const replaced = new Map<Judged, Judged>();
  for (const move of findMoves(judged, candidates)) {
    moves.set(move.deposit.facts.id, move);
    replaced.set(move.deposit, replaceTexts(move.deposit, await readTwinTexts(tx, needs, move)));
  }
  return {
    judged: judged.map((one) => replaced.get(one) ?? one),
    async save(created, journal) {
      const changed: PaymentEntryRow[] = [];
      const change = (before: PaymentEntryRow, part: Partial<PaymentEntryRow>): void => {
        const after = { ...before, ...part };
        journal.changed("payment_entries", before, after);
        changed.push(after);
      };
      for (const [id, move] of moves) {
        const { twin, advice, others } = move;
        const row = created.get(id);
        if (row === undefined) continue;
        const { payment_ids, detail } = rootOf(move);
        // The details stay as they were, so that a bank message that is repeated replaces nothing.
        if (advice.joined_to === null) {
          change(row, { joined_to: advice.id, payment_ids: "[]" });
          change(twin, { joined_to: null, payment_ids: row.payment_ids, detail });
          for (const other of others) change(other, { joined_to: twin.id });
        } else {
          change(row, { payment_ids, detail });
          change(twin, { payment_ids: row.payment_ids });
          change(advice, { joined_to: row.id });
        }
      }
      await putEntries(tx, changed);
      for (const move of moves.values()) await relinkReturns(tx, needs, rootOf(move), journal);
    },
  };
};
