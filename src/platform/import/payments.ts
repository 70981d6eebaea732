import type { Source } from "../../contract/payments/catalogue.ts";
import { type Clock, formatTimestamp } from "../../kit/clock.ts";
import {
  addPayments,
  findKnown,
  type KnownPayment,
  type NewPayment,
  replacePayments,
  takeSeqs,
} from "../store/payments.ts";
import type { Db } from "../store/port.ts";
import { settlePayments } from "../services/payments/matching/settle.ts";
import { matchDocuments } from "./payments/match.ts";
import { createOccurrences } from "./payments/occurrences.ts";
import {
  createRowCheck,
  collectSourceFields,
  hashValues,
  deriveId,
  buildRowKey,
  type Values,
} from "./payments/row.ts";
import type { Accepted, Outcome, Target } from "./target.ts";

type Needs = {
  tenantId: string;
  clock: Clock;
  source: Source;
  /** Whether to match rows to documents: bank files contain payments only. */
  matching: boolean;
};

/** A row with its id and the hash that shows whether it has changed since an earlier import. */
type IdentifiedRow = { id: string; hash: string; values: Values };

const BATCH_ROWS = 1000;

type Batch = {
  needs: Needs;
  now: string;
  known: Map<string, KnownPayment>;
  fresh: Set<string>;
  /** Payments with a row that changed: each of their rows says what of the payment no document took. */
  changed: Set<unknown>;
};

const writeRow = (
  { needs, now, known, fresh, changed }: Batch,
  sent: IdentifiedRow,
): NewPayment | undefined => {
  const { tenantId } = needs;
  const before = known.get(sent.id);
  if (before?.sent_hash === sent.hash && !changed.has(sent.values["paymentId"])) return undefined;
  if (before === undefined) fresh.add(sent.id);
  const created_at = before?.created_at ?? now;
  known.set(sent.id, { id: sent.id, seq: before?.seq ?? 0, sent_hash: sent.hash, created_at });
  const values = { ...sent.values, id: sent.id, tenantId, createdAt: created_at, updatedAt: now };
  return { tenantId, seq: before?.seq ?? 0, sentHash: sent.hash, values };
};

const writeRows = async (
  needs: Needs,
  tx: Db,
  rows: readonly Accepted<IdentifiedRow>[],
): Promise<Outcome[]> => {
  const { tenantId, source } = needs;
  const ids = rows.map(({ values }) => values.id);
  const found = await findKnown(tx, tenantId, source, ids);
  const known = new Map(found.map((row) => [row.id, row]));
  const unequal = rows.filter(({ values: { id, hash } }) => known.get(id)?.sent_hash !== hash);
  const changed = needs.matching ? unequal.map(({ values }) => values.values["paymentId"]) : [];
  const batch: Batch = {
    needs,
    now: formatTimestamp(needs.clock()),
    known,
    fresh: new Set(),
    changed: new Set(changed),
  };
  const waiting = new Map<string, NewPayment>();
  const outcomes = rows.map(({ values: sent }): Outcome => {
    const made = writeRow(batch, sent);
    if (made !== undefined) waiting.set(sent.id, made);
    return made === undefined ? "unchanged" : "written";
  });
  const { fresh } = batch;
  if (needs.matching) {
    const found = await matchDocuments(tx, tenantId, [...waiting.values()]);
    for (const [place, id] of [...waiting.keys()].entries()) {
      const row = found[place];
      if (row !== undefined) waiting.set(id, row);
    }
  }
  let next = fresh.size === 0 ? 0 : await takeSeqs(tx, tenantId, source, fresh.size);
  const rowsOf = (isNew: boolean) =>
    [...waiting].filter(([id]) => fresh.has(id) === isNew).map(([, row]) => row);
  const added = rowsOf(true).map((row) => ({ ...row, seq: next++ }));
  const replaced = rowsOf(false);
  await addPayments(tx, source, added);
  await replacePayments(tx, source, replaced);
  if (needs.matching) {
    await settlePayments(tx, { tenantId, now: batch.now }, [...added, ...replaced]);
  }
  return outcomes;
};

/** Creates the import target of one payment source: a row creates or replaces the payment row with its key. */
export const createPaymentTarget = (needs: Needs): Target<IdentifiedRow> => {
  const { tenantId, source } = needs;
  const check = createRowCheck(source, tenantId);
  const met = createOccurrences();
  const identify = (values: Values): string => {
    if (typeof values["id"] === "string") return values["id"];
    const key = buildRowKey(source, values);
    return deriveId(tenantId, source, key, met.count(key));
  };
  return {
    kind: "payments",
    fields: collectSourceFields(source),
    batchRows: BATCH_ROWS,
    parse(record) {
      const { value, faults } = check(record);
      if (value === undefined) return { faults };
      return { value: { id: identify(value), hash: hashValues(value), values: value } };
    },
    write: (tx, rows) => writeRows(needs, tx, rows),
    close: () => met.close(),
  };
};
