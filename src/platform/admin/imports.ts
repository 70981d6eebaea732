import { Problem } from "../../contract/errors.ts";
import { type Clock, formatIfAny, formatTimestamp } from "../../kit/clock.ts";
import { REMOVED, stampRow } from "../import/journal.ts";
import { parsePaymentIds } from "../import/payments/entry-facts.ts";
import type { Value } from "../store/engine/dialect.ts";
import { removeDispute, updateDispute } from "../store/queries/disputes.ts";
import {
  findImport,
  findLaterImports,
  findReferringTable,
  listImports as readImports,
  putImport,
  putRecord,
  readChangesBackwards,
  readRecord,
  removeChanges,
  type RecordPlace,
  removeRecord,
} from "../store/queries/imports.ts";
import { restoreDocument } from "../services/documents/restore.ts";
import { settleRestored } from "../services/payments/matching/settle.ts";
import {
  findEntries,
  findEntriesAbout,
  findEntriesOfImport,
} from "../store/queries/payment-entries.ts";
import {
  readPaymentRows,
  readReturnsOf,
  removeFurtherRows,
} from "../store/queries/payment-matching.ts";
import type { Db, Store } from "../store/port.ts";
import type { DocumentRow, ImportChangeRow, ImportRow } from "../store/tables/schema.ts";
import type { RecordChange } from "./changes.ts";
import { findSignIn, readImported, removeImportedMember } from "./imported-members.ts";
import { type Finder, FOUND_AGAIN, markFinders } from "./later-imports.ts";

const BATCH = 500;
const MOST_REASONS = 100;

const showImport = (row: ImportRow): object => ({
  importId: row.id,
  tenantId: row.tenant_id,
  kind: row.kind,
  file: row.file,
  status: row.status,
  startedAt: formatTimestamp(row.started_at),
  endedAt: formatIfAny(row.ended_at),
  actor: row.actor,
  ...(JSON.parse(row.report) as object),
});

/** Lists a tenant's imports, the newest first. */
export const listImports = async (db: Db, tenantId: string): Promise<object[]> =>
  (await readImports(db, tenantId)).map(showImport);

type Needs = { store: Pick<Store, "transaction" | "read">; clock: Clock; record: RecordChange };

type Kept = { record: string; reason: string };

/** The entries that messages of other imports repeat, and their payments; and those that later messages completed. */
const findShared = async (tx: Db, row: ImportRow): Promise<ReadonlySet<string>> => {
  const { tenant_id: tenantId, id: importId, started_at: startedAt } = row;
  const own = await findEntriesOfImport(tx, tenantId, importId);
  const roots = own.map(({ id, joined_to: root }) => root ?? id);
  const batches = own.flatMap(({ part_of: batch }) => batch ?? []);
  const about = await findEntriesAbout(tx, tenantId, [
    ...new Set([...own.map(({ id }) => id), ...roots]),
  ]);
  const others = about.filter(({ import_id: id }) => id !== importId);
  const later = await findLaterImports(tx, tenantId, startedAt);
  const used = new Set(others.flatMap(({ joined_to: root, doubt_of: like }) => [root, like]));
  // A later message has the payments of a batch, or has a batch for payments; an earlier one gets its own back.
  for (const { import_id: id, part_of: batch } of others) if (later.has(id)) used.add(batch);
  const found = await findEntries(tx, tenantId, [...new Set(batches)]);
  const covering = found.filter(({ import_id: id }) => later.has(id)).map(({ id }) => id);
  for (const { id, part_of: batch } of own) if (covering.includes(batch ?? "")) used.add(id);
  const completed = others.filter(
    ({ import_id: id, joined_to: root }) => root !== null && later.has(id),
  );
  return new Set([
    ...own.flatMap((entry) => (used.has(entry.id) ? [entry.id, ...parsePaymentIds(entry)] : [])),
    ...completed.flatMap(parsePaymentIds),
  ]);
};

const PAYMENTS = "cashapp_payments";
const DOCUMENTS = "documents";
const ENTRIES = "payment_entries";
const PAYMENT_COLUMNS: Readonly<Record<string, string>> = {
  [PAYMENTS]: "payment_id",
  iandp_payments: "payment_id",
  bpn_payments: "network_payment_id",
};

type StoredRecord = Record<string, Value>;

/** Returns the id of a row's payment; undefined for rows of other tables. */
const readPaymentId = (table: string, record: StoredRecord | undefined): string | undefined => {
  const id = record?.[PAYMENT_COLUMNS[table] ?? ""];
  return typeof id === "string" ? id : undefined;
};

/** Returns a record as it was before a change; it is of the tenant of the import, regardless of what is stored. */
const parseBefore = ({ tenant_id, before }: ImportChangeRow): StoredRecord | undefined =>
  before === null ? undefined : { ...(JSON.parse(before) as StoredRecord), tenant_id };

const isChangedSince = ({ after }: ImportChangeRow, current: StoredRecord | undefined): boolean =>
  after === REMOVED ? current !== undefined : current === undefined || stampRow(current) !== after;

/** Finds payments of which a row has changed since: their other rows stay, too. */
const findChangedPayments = async (
  db: Db,
  { tenant_id: tenantId, id }: ImportRow,
): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  /** The rows that the import changed again later: only its last change tells whether they have changed since. */
  const later = new Set<string>();
  let below = Number.MAX_SAFE_INTEGER;
  while (below > 0) {
    const changes = await readChangesBackwards(db, tenantId, id, below, BATCH);
    for (const change of changes) {
      const { table_name: table, record_key: key } = change;
      const row = `${table} ${key}`;
      if (PAYMENT_COLUMNS[table] === undefined || later.has(row)) continue;
      if (change.before !== null) later.add(row);
      const current = await readRecord(db, { table, tenantId, key });
      if (!isChangedSince(change, current)) continue;
      const paymentId = readPaymentId(table, current ?? parseBefore(change));
      if (paymentId !== undefined) found.add(paymentId);
    }
    below = changes.length < BATCH ? 0 : (changes.at(-1)?.number ?? 0);
  }
  return found;
};

/** Whether a payment has rows from before an import, so that its further rows can go. */
const isOlder = async (tx: Db, row: ImportRow, paymentId: string): Promise<boolean> => {
  const began = formatTimestamp(row.started_at);
  const rows = await readPaymentRows(tx, row.tenant_id, [paymentId]);
  return rows.some(({ values }) => String(values["createdAt"]) < began);
};

/** Names the table that refers to a record. A return refers to a payment by its id, not to its rows or entries. */
const findReference = async (
  tx: Db,
  row: ImportRow,
  table: string,
  current: StoredRecord,
): Promise<string | undefined> => {
  if (table !== ENTRIES) {
    const found = await findReferringTable(tx, table, current);
    const isKept = table === PAYMENTS && found !== undefined;
    return isKept && (await isOlder(tx, row, String(current["payment_id"]))) ? undefined : found;
  }
  if (current["joined_to"] !== null) return undefined;
  const ids = parsePaymentIds({ payment_ids: String(current["payment_ids"]) });
  const returns = await readReturnsOf(tx, row.tenant_id, ids);
  return returns.length > 0 ? PAYMENTS : undefined;
};

/** The payments that an undo leaves as they are. */
type Fixed = { shared: ReadonlySet<string>; changed: ReadonlySet<string> };

const findObstacle = async (
  tx: Db,
  row: ImportRow,
  change: ImportChangeRow,
  current: StoredRecord | undefined,
  { shared, changed }: Fixed,
): Promise<string | undefined> => {
  const { table_name: table, before, after } = change;
  const paymentId = readPaymentId(table, current ?? parseBefore(change));
  const isShared = [current?.["id"], paymentId].some((id) => shared.has(String(id)));
  if (isShared) return "a file of another import is about the same payment";
  if (isChangedSince(change, current)) {
    if (after === REMOVED) return "its place is taken";
    return current === undefined ? "it was removed since" : "it has changed since";
  }
  if (changed.has(paymentId ?? "")) return "another row of its payment has changed since";
  if (before !== null || current === undefined) return undefined;
  const referring = await findReference(tx, row, table, current);
  return referring === undefined ? undefined : `${referring} refer to it`;
};

/** A record that is put back is changed once more, so its version goes on. */
const nextVersion = (
  before: Record<string, Value>,
  current: Record<string, Value> | undefined,
  now: number,
): Record<string, Value> =>
  "version" in before
    ? { ...before, version: Number(current?.["version"] ?? 0) + 1, updated_at: now }
    : before;

type Restoring = {
  place: RecordPlace;
  before: Record<string, Value> | undefined;
  current: Record<string, Value> | undefined;
  now: number;
};

const takeBack = async (tx: Db, { place, before, current, now }: Restoring): Promise<void> => {
  const { table, tenantId } = place;
  if (table === "disputes" && current !== undefined) {
    const id = String(current["id"]);
    if (before === undefined) await removeDispute(tx, tenantId, id);
    else await updateDispute(tx, tenantId, id, before);
  } else if (table === "memberships") {
    await removeImportedMember(tx, tenantId, String(current?.["user_id"]));
  } else if (table === DOCUMENTS && current !== undefined) {
    await restoreDocument(tx, before, current as DocumentRow, now);
  } else if (before === undefined) {
    await removeRecord(tx, place);
    if (table === PAYMENTS) await removeFurtherRows(tx, tenantId, String(current?.["payment_id"]));
  } else await putRecord(tx, table, before);
};

/** The documents and payments of records that were removed or put back. */
type Touched = { documents: Set<string>; paymentIds: Set<string> };

const touch = (
  { documents, paymentIds }: Touched,
  table: string,
  rows: readonly (Record<string, Value> | undefined)[],
): void => {
  if (table !== PAYMENTS && table !== DOCUMENTS) return;
  for (const row of rows) {
    const { document_number: number, payment_id: own, returned_payment_id: returned } = row ?? {};
    if (typeof number === "string") documents.add(number);
    for (const id of [own, returned]) if (typeof id === "string") paymentIds.add(id);
  }
};

/** The result of one transaction: the number of changes that were taken back, and the records that stay. */
type Undone = { undone: number; kept: Kept[] };

const undoChanges = async (
  tx: Db,
  row: ImportRow,
  changes: readonly ImportChangeRow[],
  { now, changed }: { now: number; changed: ReadonlySet<string> },
): Promise<Undone> => {
  const fixed = { shared: await findShared(tx, row), changed };
  const touched: Touched = { documents: new Set(), paymentIds: new Set() };
  const unchanged: Kept[] = [];
  const except: number[] = [];
  for (const change of changes) {
    const { table_name: table, record_key: key } = change;
    const place = { table, tenantId: row.tenant_id, key };
    const current = await readImported(tx, place);
    const reason =
      (await findObstacle(tx, row, change, current, fixed)) ??
      (await findSignIn(tx, place, current, row.started_at));
    if (reason === undefined) {
      const former = parseBefore(change);
      const before = former === undefined ? undefined : nextVersion(former, current, now);
      await takeBack(tx, { place, before, current, now });
      touch(touched, table, [before, current]);
    } else {
      unchanged.push({ record: `${table} ${key}`, reason });
      except.push(change.number);
    }
  }
  const [from, to] = [changes.at(-1)?.number ?? 0, changes[0]?.number ?? 0];
  await removeChanges(tx, row, { from, to, except });
  await settleTouched(tx, row, touched, now);
  return { undone: changes.length - unchanged.length, kept: unchanged };
};

const checkUndoable = (row: ImportRow | undefined, id: string): ImportRow => {
  if (row === undefined) throw new Problem("not_found", `No import has the id ${id}.`);
  if (row.status === "undone") {
    throw new Problem("conflict", `The import ${id} was taken back already.`);
  }
  if (row.kind === "audit-logs") {
    throw new Problem("conflict", "Entries of the audit log are never removed.");
  }
  return row;
};

const settleTouched = (
  tx: Db,
  { tenant_id: tenantId, started_at: startedAt }: ImportRow,
  { documents, paymentIds }: Touched,
  now: number,
): Promise<void> =>
  settleRestored(
    tx,
    { tenantId, now: formatTimestamp(now) },
    {
      documents: [...documents],
      paymentIds: [...paymentIds],
      since: formatTimestamp(startedAt),
    },
  );

const withUndone = (row: ImportRow, status: "undoing" | "undone", undone: number): ImportRow => ({
  ...row,
  status,
  report: JSON.stringify({ ...(JSON.parse(row.report) as object), undone }),
});

const readUndone = ({ report }: ImportRow): number =>
  (JSON.parse(report) as { undone?: number }).undone ?? 0;

/** The progress of an undo: changes that were taken back in all, and in this pass those and the ones that stay. */
type Progress = {
  undone: number;
  passUndone: number;
  kept: Kept[];
  changed: ReadonlySet<string>;
  finders: Finder[];
};

/** Takes some changes back in one transaction, those below a number; returns the lowest of them. */
const undoSome = (
  { store, clock, record }: Needs,
  row: ImportRow,
  progress: Progress,
  below: number,
): Promise<{ progress: Progress; below: number; ends: "batch" | "pass" | "undo" }> =>
  store.transaction(async (tx) => {
    const { tenant_id: tenantId, id, kind } = row;
    const changes = await readChangesBackwards(tx, tenantId, id, below, BATCH);
    const { changed } = progress;
    const some = await undoChanges(tx, row, changes, { now: clock(), changed });
    const done: Progress = {
      changed,
      undone: progress.undone + some.undone,
      passUndone: progress.passUndone + some.undone,
      kept: [...progress.kept, ...some.kept],
      finders: progress.finders,
    };
    const isPassed = changes.length < BATCH;
    // A record stays in one pass because another one refers to it that the same pass takes back.
    const isDone = isPassed && (done.passUndone === 0 || done.kept.length === 0);
    await putImport(tx, withUndone(row, isDone ? "undone" : "undoing", done.undone));
    if (isDone) {
      if (done.undone > 0) done.finders = await markFinders(tx, row);
      const metadata = { kind, undone: done.undone, kept: done.kept.length };
      await record(tx, { tenantId, action: "admin.import_undone", resourceId: id, metadata });
    }
    const ends = isDone ? "undo" : isPassed ? "pass" : "batch";
    return { progress: done, below: changes.at(-1)?.number ?? 0, ends };
  }, row.tenant_id);

/**
 * Takes back what an import wrote, the last change first. Records that have changed since, or that others refer to,
 * stay and are named. Payments and documents that this changes are matched again. Each transaction is complete by
 * itself: after a crash, the next call goes on.
 */
export const undoImport = async (needs: Needs, id: string): Promise<object> => {
  const row = checkUndoable(await findImport(needs.store.read, id), id);
  const { tenant_id: tenantId, kind } = row;
  const changed = await findChangedPayments(needs.store.read, row);
  let progress: Progress = {
    undone: readUndone(row),
    passUndone: 0,
    kept: [],
    changed,
    finders: [],
  };
  let below = Number.MAX_SAFE_INTEGER;
  for (let isDone = false; !isDone;) {
    const done = await undoSome(needs, row, progress, below);
    ({ progress, below } = done);
    isDone = done.ends === "undo";
    if (done.ends === "pass") {
      progress = { ...progress, passUndone: 0, kept: [] };
      below = Number.MAX_SAFE_INTEGER;
    }
  }
  const { undone, kept, finders } = progress;
  const reasons = kept.slice(0, MOST_REASONS);
  const found = finders.length === 0 ? {} : { note: FOUND_AGAIN, laterImports: finders };
  return { importId: id, tenantId, kind, undone, kept: kept.length, reasons, ...found };
};
