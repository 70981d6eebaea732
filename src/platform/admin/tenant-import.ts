import { createReadStream } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { Problem } from "../../contract/errors.ts";
import type { FileStore } from "../files/port.ts";
import { claimFiles } from "../files/unclaimed.ts";
import { type AuditKey, findSigner } from "../store/audit-key.ts";
import { advanceEnd, type ChainEnd } from "../store/audit-links.ts";
import { insertAll } from "../store/bulk-writes.ts";
import type { Db, Snapshot, Store } from "../store/port.ts";
import { ACCESS_TABLES, RECORD_TABLES } from "../store/tenant-tables.ts";
import type { AuditHeadRow, AuditLogRow, Tables, TenantRow } from "../store/tables.ts";
import { findTenant, findTenantOfConnection } from "../store/tenants.ts";
import { findUser, findUserByEmail } from "../store/users.ts";
import { listFiles, type MoveNeeds } from "./tenant-export.ts";
import { filePath, type Manifest, readManifest, readTable, type Row } from "./tenant-folder.ts";
import { deleteTenant } from "./tenant-removal.ts";

export type ImportedTenant = {
  tenantId: string;
  rows: number;
  files: number;
  /** People who are new to this store. */
  people: number;
  /** API keys of people whom this store knew already. They are not imported. */
  keysLeftOut: number;
  /**
   * The audit log: `kept` with its codes, where both stores have the same master key; `signed_again` with this store's
   * key otherwise. `wasValid` is false if the log did not verify before.
   */
  audit: { entries: number; chain: "kept" | "signed_again"; wasValid: boolean };
};

const ROWS_AT_ONCE = 200;

type Table = keyof Tables;

/** Writes rows that must have exactly the table's columns. */
const insertRows = async (
  tx: Db,
  table: Table,
  rows: readonly Row[],
  columns: readonly string[],
): Promise<void> => {
  for (const row of rows) {
    const names = Object.keys(row);
    if (names.length === columns.length && names.every((name) => columns.includes(name))) continue;
    throw new Problem("invalid_request", `A row of ${table} has other columns than this store.`);
  }
  await insertAll(tx, table, rows as readonly never[]);
};

/** One import: its folder, and the columns of this store's tables. */
type Import = MoveNeeds & {
  folder: string;
  manifest: Manifest;
  columns: ReadonlyMap<string, readonly string[]>;
};

const readColumns = async ({ read }: Store): Promise<Import["columns"]> => {
  const tables = await read.introspection.getTables();
  return new Map(tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]));
};

const sealSecret = ({ secrets }: MoveNeeds, table: string, row: Row): Row =>
  table === "webhooks" || table === "webhook_deliveries"
    ? { ...row, secret: secrets.seal(row["secret"]) }
    : row;

const checkOwner = ({ manifest: { tenantId } }: Import, table: string, rows: Row[]): void => {
  if (rows.every((row) => row["tenant_id"] === tenantId)) return;
  throw new Problem("invalid_request", `A row of ${table} belongs to another tenant.`);
};

const writeTable = async (task: Import, table: Table): Promise<number> => {
  let count = 0;
  for await (const rows of readTable(task.folder, table, ROWS_AT_ONCE)) {
    checkOwner(task, table, rows);
    const sealed = rows.map((row) => sealSecret(task, table, row));
    await task.store.transaction((tx) =>
      insertRows(tx, table, sealed, task.columns.get(table) ?? []),
    );
    count += rows.length;
    // An embedded store awaits nothing that would let signals in.
    await setImmediate();
  }
  return count;
};

const readOne = async (folder: string, table: string): Promise<Row> => {
  for await (const [row, ...others] of readTable(folder, table, 2)) {
    if (row !== undefined && others.length === 0) return row;
  }
  throw new Problem("invalid_request", `${table}.ndjson must have exactly one row.`);
};

/** Returns those of the people that this store does not know; every other one must be the same person here. */
const findNewPeople = async (db: Db, rows: readonly Row[]): Promise<Row[]> => {
  const unknown: Row[] = [];
  for (const row of rows) {
    const known = await findUser(db, String(row["id"]));
    const holder = await findUserByEmail(db, String(row["email"]));
    if (known?.id !== holder?.id) {
      throw new Problem(
        "conflict",
        `${String(row["email"])} is another user in this store. Change or delete that user first; nothing was imported.`,
      );
    }
    if (known === undefined) unknown.push(row);
  }
  return unknown;
};

/** Returns the entry with the code of this store's key. */
const signAgain = (key: AuditKey, prev_hash: string, row: AuditLogRow): AuditLogRow => {
  const linked = { ...row, prev_hash };
  return { ...linked, hash: key.link(linked) };
};

/** Whether the chain verifies with this store's keys from its beginning to its signed end. */
const isVerifiable = async ({ store: { auditKey }, folder }: Import, head: AuditHeadRow) => {
  let end: ChainEnd | undefined = { seq: head.purged_seq, hash: head.purged_hash, era: undefined };
  for await (const rows of readTable(folder, "audit_logs", ROWS_AT_ONCE)) {
    for (const row of rows) end &&= advanceEnd(auditKey, end, row as AuditLogRow);
    if (end === undefined) return false;
  }
  const mac = findSigner(auditKey, head.key_id)?.head(head.tenant_id, head);
  return end.seq === head.seq && end.hash === head.hash && head.mac === mac;
};

/**
 * Writes the log as it is where this store's keys verify it, or could have and it was changed; otherwise each entry gets
 * a code of this store's key. Returns the log's head for this store.
 */
const writeAuditLog = async (
  task: Import,
  head: AuditHeadRow,
): Promise<{ audit: ImportedTenant["audit"]; head: AuditHeadRow }> => {
  const { auditKey: key } = task.store;
  const { keyId, ok } = task.manifest.audit;
  const isKept = (await isVerifiable(task, head)) || (!ok && findSigner(key, keyId) !== undefined);
  let [entries, hash] = [0, head.purged_hash];
  for await (const rows of readTable(task.folder, "audit_logs", ROWS_AT_ONCE)) {
    checkOwner(task, "audit_logs", rows);
    const signed = (rows as AuditLogRow[]).map((row) => {
      const entry = signAgain(key, hash, row);
      ({ hash } = entry);
      return entry;
    });
    const written = isKept ? rows : (signed as Row[]);
    await task.store.transaction((tx) =>
      insertRows(tx, "audit_logs", written, task.columns.get("audit_logs") ?? []),
    );
    entries += rows.length;
    await setImmediate();
  }
  const chain = isKept ? "kept" : "signed_again";
  const next = { ...head, hash, key_id: key.id };
  return {
    audit: { entries, chain, wasValid: ok },
    head: isKept ? head : { ...next, mac: key.head(head.tenant_id, next) },
  };
};

const writeFile = async (
  files: FileStore,
  folder: string,
  { key, size, sha256 }: { key: string; size: number; sha256: string | null },
): Promise<void> => {
  const kept = await files.put(key, createReadStream(filePath(folder, key)), size);
  if (kept.sha256 === sha256) return;
  throw new Problem("invalid_request", `The exported file ${filePath(folder, key)} was changed.`);
};

const writeFiles = async (task: Import, connectionId: string): Promise<number> => {
  const { store, files, folder, manifest } = task;
  await using view: Snapshot = await store.snapshot({ owner: manifest.tenantId });
  let count = 0;
  for await (const file of listFiles(view, manifest.tenantId)) {
    if (!file.key.startsWith(`${connectionId}/`)) {
      throw new Problem("invalid_request", `The file ${file.key} is not one of the tenant's.`);
    }
    if (manifest.files.missing.includes(file.key)) continue;
    await writeFile(files, folder, file);
    count += 1;
  }
  return count;
};

const readAll = async (task: Import, table: Table): Promise<Row[]> => {
  const all: Row[] = [];
  for await (const rows of readTable(task.folder, table, ROWS_AT_ONCE)) {
    if (table !== "users") checkOwner(task, table, rows);
    all.push(...rows);
  }
  return all;
};

/** Gives the tenant its people, keys and jobs in one transaction, with which it exists. */
const open = async (
  task: Import,
  head: AuditHeadRow,
  written: Omit<ImportedTenant, "people" | "keysLeftOut">,
): Promise<ImportedTenant> => {
  const { tenantId, files, audit } = written;
  const users = await readAll(task, "users");
  const access: [table: Table, rows: Row[]][] = [];
  for (const table of Object.keys(ACCESS_TABLES) as Table[]) {
    access.push([table, await readAll(task, table)]);
  }
  const free = { lease: null, leased_until: 0 };
  return task.store.transaction(async (tx) => {
    const people = await findNewPeople(tx, users);
    const isNew = new Set(people.map(({ id }) => id));
    let rows = written.rows + people.length + 1;
    let keysLeftOut = 0;
    for (const [table, all] of [["users", people] as const, ...access]) {
      let ready = table === "jobs" ? all.map((row) => ({ ...row, ...free })) : all;
      // A key acts for its person at all of their tenants, and nothing proves who wrote the folder.
      if (table === "api_keys") ready = all.filter((row) => isNew.has(row["user_id"] ?? null));
      keysLeftOut += all.length - ready.length;
      await insertRows(tx, table, ready, task.columns.get(table) ?? []);
      if (table !== "users") rows += ready.length;
    }
    await tx.insertInto("audit_heads").values(head).execute();
    await tx.updateTable("tenants").set({ phase: null }).where("id", "=", tenantId).execute();
    const { entries, chain, wasValid } = audit;
    const former = { formerKeyId: task.manifest.audit.keyId, entries, chain, wasValid };
    const metadata = { rows, files, ...former };
    const change = { tenantId, resourceId: tenantId, metadata };
    await task.record?.(tx, { ...change, action: "admin.tenant_imported" });
    return { ...written, rows, people: people.length, keysLeftOut };
  }, tenantId);
};

const write = async (
  task: Import,
  tenant: TenantRow,
  head: AuditHeadRow,
): Promise<ImportedTenant> => {
  let rows = 1;
  for (const table of Object.keys(RECORD_TABLES) as Table[]) {
    rows += await writeTable(task, table);
  }
  const { audit, head: signed } = await writeAuditLog(task, head);
  const files = await writeFiles(task, tenant.connection_id);
  return open(task, signed, { tenantId: tenant.id, rows: rows + audit.entries, files, audit });
};

/** Checks that the tenant can be imported. @throws {Problem} conflict */
const checkFree = async (task: Import, tenant: TenantRow): Promise<void> => {
  const { store, files } = task;
  if ((await findTenant(store.read, tenant.id)) !== undefined) {
    throw new Problem("conflict", `There is a tenant ${tenant.id} already. Delete it first.`);
  }
  const { connection_id: connectionId } = tenant;
  // The names of a tenant's files begin with its connection.
  const holder = await findTenantOfConnection(store.read, connectionId);
  if (holder !== undefined) {
    throw new Problem("conflict", `The tenant ${holder} has the connection ${connectionId}.`);
  }
  for await (const { key } of files.list(connectionId)) {
    throw new Problem(
      "conflict",
      `The file store has files of this tenant, such as ${key}: another database uses it, or an import has failed.`,
    );
  }
  for await (const rows of readTable(task.folder, "users", ROWS_AT_ONCE)) {
    await findNewPeople(store.read, rows);
  }
};

/**
 * Restores a tenant that `exportTenant` wrote to a store that does not have it, in short transactions. There is no access
 * before the last one; a failure removes what was written.
 *
 * @throws {Problem} invalid_request, conflict
 */
export const importTenant = async (needs: MoveNeeds, folder: string): Promise<ImportedTenant> => {
  const { store } = needs;
  const manifest = await readManifest(folder);
  const task: Import = { ...needs, folder, manifest, columns: await readColumns(store) };
  const tenant = (await readOne(folder, "tenants")) as TenantRow;
  const head = (await readOne(folder, "audit_heads")) as AuditHeadRow;
  if (tenant.id !== manifest.tenantId || head.tenant_id !== manifest.tenantId) {
    throw new Problem("invalid_request", "The tenant's own rows belong to another tenant.");
  }
  await checkFree(task, tenant);
  await store.transaction(async (tx) => {
    const columns = task.columns.get("tenants") ?? [];
    await insertRows(tx, "tenants", [{ ...tenant, phase: "importing" }], columns);
    // Where the tenant was deleted within the last hour, the removal of its files is still planned.
    await claimFiles(tx, tenant.connection_id);
  });
  try {
    return await write(task, tenant, head);
  } catch (error) {
    // Without an entry in a log that goes too.
    const { record: _record, ...quiet } = needs;
    await deleteTenant(quiet, { tenantId: tenant.id, confirm: tenant.id });
    throw error;
  }
};
