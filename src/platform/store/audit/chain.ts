import { sql } from "kysely";
import {
  type AuditHead,
  type AuditKey,
  findSigner,
  PAUSED,
  type StoreAuditKey,
} from "../audit-key.ts";
import { toSearchColumns, type NewEntry } from "./entries.ts";
import { getDialect } from "../engine/dialect.ts";
import { type Db, StoreUnavailable, TenantPaused } from "../port.ts";
import { prepareChange, prepareQuery } from "../engine/prepared.ts";
import type { AuditLogRow } from "../tables/schema.ts";
import { ofTenant, removeRows, rowsOfTenant } from "../engine/rows.ts";

const toRow = (key: AuditKey, entry: NewEntry, seq: number, prevHash: string): AuditLogRow => {
  const row = {
    tenant_id: entry.tenantId,
    seq,
    id: entry.id,
    at: entry.at,
    method: entry.method,
    endpoint: entry.endpoint,
    action: entry.action,
    status_code: entry.statusCode,
    metadata: JSON.stringify(entry.metadata),
    ...toSearchColumns(entry),
    prev_hash: prevHash,
    hash: "",
  };
  row.hash = key.link(row);
  return row;
};

const COLUMNS = [
  "tenant_id",
  "seq",
  "id",
  "at",
  "method",
  "endpoint",
  "action",
  "status_code",
  "metadata",
  "schedule_id",
  "search",
  "prev_hash",
  "hash",
] as const satisfies (keyof AuditLogRow)[];

type Value = string | number | null;

const toRows = (values: readonly Value[], size: number): AuditLogRow[] =>
  Array.from({ length: size }, (_, row) =>
    Object.fromEntries(
      COLUMNS.map((column, index) => [column, values[row * COLUMNS.length + index]]),
    ),
  ) as AuditLogRow[];

const createInsert = (size: number) =>
  prepareQuery((db: Db, ...values: Value[]) =>
    db.insertInto("audit_logs").values(toRows(values, size)),
  );

// Few statement shapes, each compiled once; larger batches are split into them.
const INSERTS = [32, 16, 8, 4, 2, 1].map((size) => ({ size, insert: createInsert(size) }));

const insertRows = async (tx: Db, rows: readonly AuditLogRow[]): Promise<void> => {
  let done = 0;
  for (const { size, insert } of INSERTS) {
    for (; rows.length - done >= size; done += size) {
      const values: Value[] = [];
      for (const row of rows.slice(done, done + size)) {
        for (const column of COLUMNS) values.push(row[column]);
      }
      await insert(tx, ...values);
    }
  }
};

/** Starts the chain of a new tenant. A chain without this start never verifies. */
export const startChain = async (tx: Db, key: AuditKey, tenantId: string): Promise<void> => {
  const empty = { seq: 0, hash: "", purged_seq: 0, purged_hash: "" };
  await tx
    .insertInto("audit_heads")
    .values({ tenant_id: tenantId, ...empty, mac: key.head(tenantId, empty), key_id: key.id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
};

const advanceHead = prepareQuery((db: Db, tenantId: string, more: number) =>
  db
    .insertInto("audit_heads")
    .values({
      tenant_id: tenantId,
      seq: more,
      hash: "",
      purged_seq: 0,
      purged_hash: "",
      mac: "",
      key_id: "",
    })
    .onConflict((conflict) =>
      conflict.column("tenant_id").doUpdateSet({ seq: sql`audit_heads.seq + excluded.seq` }),
    )
    .returning(["seq", "hash", "purged_seq", "purged_hash", "mac", "key_id"]),
);

const updateHead = (db: Pick<Db, "updateTable">, hash: string, mac: string, tenantId: string) =>
  db.updateTable("audit_heads").set({ hash, mac }).where("tenant_id", "=", tenantId);

const setHead = prepareQuery(updateHead);

const setHeadAndInsert = prepareQuery(
  (db: Db, hash: string, mac: string, tenantId: string, ...values: Value[]) =>
    db
      .with("head", (parts) => updateHead(parts, hash, mac, tenantId))
      .insertInto("audit_logs")
      .values(toRows(values, 1)),
);

type Head = AuditHead & { mac: string; key_id: string };

const replaceHead = prepareChange(
  (
    db: Db,
    tenantId: string,
    seq: number,
    hash: string,
    mac: string,
    wasSeq: number,
    wasHash: string,
    wasMac: string,
    purgedSeq: number,
    purgedHash: string,
    keyId: string,
  ) =>
    db
      .updateTable("audit_heads")
      .set({ seq, hash, mac })
      .where("tenant_id", "=", tenantId)
      .where("seq", "=", wasSeq)
      .where("hash", "=", wasHash)
      .where("mac", "=", wasMac)
      .where("purged_seq", "=", purgedSeq)
      .where("purged_hash", "=", purgedHash)
      .where("key_id", "=", keyId),
);

const MOST_KEPT_HEADS = 1000;

/** Heads that this process has signed, by tenant. The next entry most often follows one of them. */
const keptHeads = new WeakMap<StoreAuditKey, Map<string, Head>>();

const keepHead = (key: StoreAuditKey, tenantId: string, head: Head): void => {
  const heads = keptHeads.get(key) ?? new Map<string, Head>();
  keptHeads.set(key, heads);
  if (heads.size >= MOST_KEPT_HEADS) heads.clear();
  heads.set(tenantId, head);
};

/** Returns the key that signs a head. @throws {TenantPaused} {StoreUnavailable} for another master key */
export const requireSigner = (key: StoreAuditKey, tenantId: string, keyId: string): AuditKey => {
  if (keyId.startsWith(PAUSED)) throw new TenantPaused(tenantId);
  const signer = findSigner(key, keyId);
  if (signer !== undefined) return signer;
  const reason = "the audit log has a master key that this process does not have: restart it";
  throw new StoreUnavailable(new Error(reason));
};

const linkRows = (
  key: AuditKey,
  entries: readonly NewEntry[],
  { seq, hash }: Pick<AuditHead, "seq" | "hash">,
): AuditLogRow[] => {
  let last = hash;
  return entries.map((entry, index) => {
    const row = toRow(key, entry, seq + 1 + index, last);
    last = row.hash;
    return row;
  });
};

/** Appends to the chain of a head that this process has signed. Returns false where the stored one is another. */
const continueChain = async (
  tx: Db,
  storeKey: StoreAuditKey,
  tenantId: string,
  entries: readonly NewEntry[],
): Promise<boolean> => {
  const head = keptHeads.get(storeKey)?.get(tenantId);
  const key = head === undefined ? undefined : findSigner(storeKey, head.key_id);
  if (head === undefined || key === undefined) return false;
  const { purged_seq, purged_hash, key_id } = head;
  const rows = linkRows(key, entries, head);
  const hash = rows.at(-1)?.hash ?? head.hash;
  const next = { ...head, seq: head.seq + rows.length, hash };
  const mac = key.head(tenantId, next);
  const replaced = await replaceHead(
    tx,
    tenantId,
    next.seq,
    hash,
    mac,
    head.seq,
    head.hash,
    head.mac,
    purged_seq,
    purged_hash,
    key_id,
  );
  if (replaced === 0) return false;
  await insertRows(tx, rows);
  keepHead(storeKey, tenantId, { ...next, mac });
  return true;
};

/**
 * Appends one tenant's entries to its chain. Takes the tenant's head row, so it comes last in a transaction.
 *
 * @throws {TenantPaused} which must roll back the transaction
 */
const appendChain = async (
  tx: Db,
  storeKey: StoreAuditKey,
  tenantId: string,
  entries: readonly NewEntry[],
): Promise<void> => {
  const { changesTwoTables } = getDialect(tx);
  if (!changesTwoTables && (await continueChain(tx, storeKey, tenantId, entries))) return;
  const [advanced] = await advanceHead(tx, tenantId, entries.length);
  if (advanced === undefined) throw new Error("the chain of audit entries has no head");
  const key = requireSigner(storeKey, tenantId, advanced.key_id);
  const before = advanced.seq - entries.length;
  const isSigned = advanced.mac === key.head(tenantId, { ...advanced, seq: before });
  const rows = linkRows(key, entries, { seq: before, hash: advanced.hash });
  const hash = rows.at(-1)?.hash ?? advanced.hash;
  // A head that was changed is not signed again: signing it would hide the change from verification.
  const mac = isSigned ? key.head(tenantId, { ...advanced, hash }) : "";
  const [only] = rows;
  if (rows.length === 1 && only !== undefined && changesTwoTables) {
    await setHeadAndInsert(tx, hash, mac, tenantId, ...COLUMNS.map((column) => only[column]));
    return;
  }
  await insertRows(tx, rows);
  await setHead(tx, hash, mac, tenantId);
  if (isSigned && !changesTwoTables) keepHead(storeKey, tenantId, { ...advanced, hash, mac });
};

/**
 * Appends entries, a chain per tenant; tenants in order, so that two writers never wait for each other.
 *
 * @throws {TenantPaused} which must roll back the transaction
 */
export const appendEntries = async (
  tx: Db,
  key: StoreAuditKey,
  entries: readonly NewEntry[],
): Promise<void> => {
  const [only] = entries;
  if (only !== undefined && entries.length === 1) {
    return appendChain(tx, key, only.tenantId, entries);
  }
  const byTenant = Map.groupBy(entries, (entry) => entry.tenantId);
  for (const tenantId of [...byTenant.keys()].toSorted()) {
    await appendChain(tx, key, tenantId, byTenant.get(tenantId) ?? []);
  }
};

/** Ends all additions to a chain. Waits for the transactions that have taken its head. */
export const pauseChain = async (tx: Db, tenantId: string): Promise<void> => {
  await tx
    .updateTable("audit_heads")
    .set({ key_id: sql`${sql.lit(PAUSED)} || key_id` })
    .where("tenant_id", "=", tenantId)
    .where("key_id", "not like", `${PAUSED}%`)
    .execute();
};

/** Lets a chain that was paused go on. */
export const resumeChain = async (tx: Db, tenantId: string): Promise<void> => {
  await tx
    .updateTable("audit_heads")
    .set({ key_id: sql`substr(key_id, ${sql.lit(PAUSED.length + 1)})` })
    .where("tenant_id", "=", tenantId)
    .where("key_id", "like", `${PAUSED}%`)
    .execute();
};

/** Removes a chain with its entries and its head. */
export const removeChain = async (tx: Db, tenantId: string): Promise<void> => {
  await removeRows(tx, "audit_logs", { tenant_id: tenantId });
  await removeRows(tx, "audit_heads", { tenant_id: tenantId });
  await removeRows(tx, "evidence_heads", { tenant_id: tenantId });
};

/** The head row of a tenant's chain. */
export const findHead = (db: Db, tenantId: string) =>
  ofTenant(db, "audit_heads", tenantId)
    .select(["seq", "hash", "purged_seq", "purged_hash", "mac", "key_id"])
    .executeTakeFirst();

/** Reads a tenant's whole chain from its beginning. */
export const selectChain = (db: Db, tenantId: string) =>
  rowsOfTenant(db, "audit_logs", tenantId).orderBy("seq");
