import { Problem } from "../../contract/errors.ts";
import { type Clock, formatTimestamp } from "../../kit/clock.ts";
import { REMOVED, stampRow } from "../import/journal.ts";
import type { Value } from "../store/dialect.ts";
import { removeDispute, updateDispute } from "../store/disputes.ts";
import {
  findImport,
  findReferringTable,
  listImports as readImports,
  putImport,
  putRecord,
  readChangesBackwards,
  readRecord,
  type RecordPlace,
  removeRecord,
} from "../store/imports.ts";
import { findEntriesAbout, findEntriesOfImport } from "../store/payment-entries.ts";
import type { Db, Store } from "../store/port.ts";
import type { DisputeRow, ImportChangeRow, ImportRow } from "../store/tables.ts";
import type { RecordChange } from "./changes.ts";

const BATCH = 500;
const MOST_REASONS = 100;

const showImport = (row: ImportRow): object => ({
  importId: row.id,
  tenantId: row.tenant_id,
  kind: row.kind,
  file: row.file,
  status: row.status,
  startedAt: formatTimestamp(row.started_at),
  endedAt: row.ended_at === null ? null : formatTimestamp(row.ended_at),
  actor: row.actor,
  ...(JSON.parse(row.report) as object),
});

/** Lists a tenant's imports, the newest first. */
export const listImports = async (db: Db, tenantId: string): Promise<object[]> =>
  (await readImports(db, tenantId)).map(showImport);

type Needs = { store: Pick<Store, "transaction" | "read">; clock: Clock; record: RecordChange };

type Kept = { record: string; reason: string };

/** The payments that messages of other imports are about, too. */
const findSharedPayments = async (tx: Db, row: ImportRow): Promise<ReadonlySet<string>> => {
  const own = await findEntriesOfImport(tx, row.tenant_id, row.id);
  const about = await findEntriesAbout(
    tx,
    row.tenant_id,
    own.map(({ id }) => id),
  );
  const used = new Set(
    about
      .filter(({ import_id: id }) => id !== row.id)
      .flatMap(({ joined_to: root, doubt_of: like }) => [root, like]),
  );
  return new Set(
    own.flatMap((entry) =>
      used.has(entry.id) ? [entry.id, ...(JSON.parse(entry.payment_ids) as string[])] : [],
    ),
  );
};

const findObstacle = async (
  tx: Db,
  { table_name: table, before, after }: ImportChangeRow,
  current: Record<string, Value> | undefined,
  shared: ReadonlySet<string>,
): Promise<string | undefined> => {
  if (after === REMOVED) return current === undefined ? undefined : "its place is taken";
  if (current === undefined) return "it was removed since";
  const isShared = [current["id"], current["payment_id"]].some((id) => shared.has(String(id)));
  if (isShared) return "a file of another import is about the same payment";
  if (stampRow(current) !== after) return "it has changed since";
  if (before !== null) return undefined;
  const table2 = await findReferringTable(tx, table, current);
  return table2 === undefined ? undefined : `${table2} refer to it`;
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

const takeBack = async (
  tx: Db,
  place: RecordPlace,
  before: Record<string, Value> | undefined,
  current: Record<string, Value> | undefined,
): Promise<void> => {
  const { table, tenantId } = place;
  if (table === "disputes" && current !== undefined) {
    const id = String(current["id"]);
    if (before === undefined) await removeDispute(tx, tenantId, id);
    else await updateDispute(tx, tenantId, id, before);
  } else if (before === undefined) await removeRecord(tx, place);
  else await putRecord(tx, table, before);
};

const undoBatch = async (
  tx: Db,
  row: ImportRow,
  changes: readonly ImportChangeRow[],
  now: number,
): Promise<Kept[]> => {
  const shared = await findSharedPayments(tx, row);
  const kept: Kept[] = [];
  for (const change of changes) {
    const { table_name: table, record_key: key } = change;
    const place = { table, tenantId: row.tenant_id, key };
    const current = await readRecord(tx, place);
    const reason = await findObstacle(tx, change, current, shared);
    if (reason === undefined) {
      const before =
        change.before === null
          ? undefined
          : nextVersion(JSON.parse(change.before) as Record<string, Value>, current, now);
      await takeBack(tx, place, before, current);
    } else kept.push({ record: `${table} ${key}`, reason });
  }
  return kept;
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

/**
 * Takes back what an import wrote, the last change first. Records that have changed since, or that others refer to,
 * stay and are named.
 */
export const undoImport = async ({ store, clock, record }: Needs, id: string): Promise<object> => {
  const row = checkUndoable(await findImport(store.read, id), id);
  const { tenant_id: tenantId, kind } = row;
  let below = Number.MAX_SAFE_INTEGER;
  let undone = 0;
  const kept: Kept[] = [];
  for (let isLast = false; !isLast;) {
    const done = await store.transaction(async (tx) => {
      const changes = await readChangesBackwards(tx, tenantId, id, below, BATCH);
      const stays = await undoBatch(tx, row, changes, clock());
      const counts = {
        undone: undone + changes.length - stays.length,
        kept: kept.length + stays.length,
      };
      const ends = changes.length < BATCH;
      if (ends) {
        await putImport(tx, { ...row, status: "undone" });
        const metadata = { kind, ...counts };
        await record(tx, { tenantId, action: "admin.import_undone", resourceId: id, metadata });
      }
      return { changes, stays, counts, ends };
    }, tenantId);
    below = done.changes.at(-1)?.number ?? 0;
    ({ undone } = done.counts);
    kept.push(...done.stays);
    isLast = done.ends;
  }
  const reasons = kept.slice(0, MOST_REASONS);
  return { importId: id, tenantId, kind, undone, kept: kept.length, reasons };
};
