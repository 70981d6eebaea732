import { setImmediate } from "node:timers/promises";
import { Problem } from "../../contract/errors.ts";
import { isRecord, parseIfJson } from "../../kit/json.ts";
import type { Seal } from "../../kit/seal.ts";
import type { FileStore } from "../files/port.ts";
import { claimFiles, isConnectionId } from "../files/unclaimed.ts";
import { pauseChain } from "../store/audit/chain.ts";
import { startLinks } from "../store/audit/retained-link.ts";
import { toSignerId } from "../store/audit-key.ts";
import { planJobs } from "../services/waiting-jobs.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import type { Db, Snapshot } from "../store/port.ts";
import { computeTotals } from "../store/queries/dispute-totals.ts";
import { streamFiles } from "../store/queries/stored-files.ts";
import {
  ACCESS_TABLES,
  findTakenId,
  readColumns,
  RECORD_TABLES,
} from "../store/queries/tenant-tables.ts";
import type { AuditHeadRow, Tables, TenantRow } from "../store/tables/schema.ts";
import { findTenant, findTenantOfConnection, updateTenant } from "../store/queries/tenants.ts";
import { findUser, findUserByEmail } from "../store/queries/users.ts";
import { type ImportedAudit, writeAuditLog } from "./tenant-audit.ts";
import type { MoveNeeds } from "./tenant-export.ts";
import {
  filePath,
  isOwnFolder,
  openExported,
  readManifest,
  readTable,
  type Row,
} from "./tenant-folder.ts";
import { deleteTenant } from "./tenant-removal.ts";
import { completeRows, distrustRows } from "./tenant-rows.ts";
import { checkTenantId } from "./tenants.ts";
import { checkOwner, type Import, insertRows, ROWS_AT_ONCE } from "./tenant-writes.ts";

/** Counts of the people and credentials that an import left out. */
type LeftOut = {
  /** People in the folder who are no members of the tenant. */
  peopleLeftOut: number;
  /** New people whose password was not taken over: each needs a link of `admin user reset-link`. */
  passwordsLeftOut: number;
  /** API keys of people whom this store knew already, or from a folder of another installation. */
  keysLeftOut: number;
  /** Export keys from a folder of another installation. */
  exportKeysLeftOut: number;
};

export type ImportedTenant = LeftOut & {
  tenantId: string;
  /** `paused`: the tenant was paused when it was exported, and takes changes once it is resumed. */
  phase: "paused" | null;
  rows: number;
  files: number;
  /** `own`: a program with this store's master key wrote the folder, and it was not changed since. */
  origin: "own" | "unknown";
  /** People who are new to this store. */
  people: number;
  audit: ImportedAudit;
};

type Table = keyof Tables;

const sealAnswer = (answers: Seal, text: Row[string] | undefined): string | null => {
  if (text === null) return null;
  const answer = parseIfJson(String(text));
  if (isRecord(answer)) return answers.seal(answer);
  throw new Problem("invalid_request", "The answer to a repeated request cannot be read.");
};

const sealRow = ({ secrets, answers }: MoveNeeds, table: string, row: Row): Row => {
  if (table === "webhooks" || table === "webhook_deliveries") {
    return { ...row, secret: secrets.seal(row["secret"]) };
  }
  return table === "idempotency_keys"
    ? { ...row, answer: sealAnswer(answers, row["answer"]) }
    : row;
};

/** @throws {Problem} conflict, where another tenant has an id that must be free */
const checkFreeIds = async ({ owner }: Import, tx: Db, table: Table, rows: Row[]) => {
  const ids = rows.map((row) => String(row["id"]));
  const taken = await findTakenId(tx, table, owner.tenantId, ids);
  if (taken === undefined) return;
  throw new Problem("conflict", `Another tenant has the id ${taken} of ${table}.`);
};

const writeTable = async (task: Import, table: Table): Promise<number> => {
  let count = 0;
  for await (const rows of readTable(task.folder, table, ROWS_AT_ONCE)) {
    checkOwner(task, table, rows);
    const trusted = task.isOwn ? rows : distrustRows(table, rows);
    const complete = completeRows(table, trusted, task.owner);
    const sealed = complete.map((row) => sealRow(task, table, row));
    await task.store.transaction(async (tx) => {
      await checkFreeIds(task, tx, table, sealed);
      await insertRows(task, tx, table, sealed);
    });
    count += sealed.length;
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

const writeFile = async (
  files: FileStore,
  folder: string,
  { key, size, sha256 }: { key: string; size: number; sha256: string | null },
): Promise<void> => {
  const content = await openExported(folder, filePath(folder, key));
  const stored = await files.put(key, content, size);
  if (stored.sha256 === sha256) return;
  throw new Problem("invalid_request", `The exported file ${filePath(folder, key)} was changed.`);
};

const writeFiles = async (task: Import): Promise<number> => {
  const { store, files, folder, manifest, owner } = task;
  await using view: Snapshot = await store.snapshot({ owner: owner.tenantId });
  let count = 0;
  for await (const file of streamFiles(view, owner.tenantId)) {
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
    all.push(...completeRows(table, rows, task.owner));
  }
  return all;
};

/** Members, roles and keys in the folder. */
type Access = {
  members: Row[];
  peopleLeftOut: number;
  rows: Record<keyof typeof ACCESS_TABLES, Row[]>;
};

/** Reads people, roles and keys. People who are no members of the tenant are left out. */
const readAccess = async (task: Import): Promise<Access> => {
  const users = await readAll(task, "users");
  const names = Object.keys(ACCESS_TABLES) as (keyof typeof ACCESS_TABLES)[];
  const tables: [string, Row[]][] = [];
  for (const table of names) tables.push([table, await readAll(task, table)]);
  const rows = Object.fromEntries(tables) as Access["rows"];
  const memberIds = new Set(rows.memberships.map((row) => row["user_id"]));
  const members = users.filter(({ id }) => memberIds.has(id ?? null));
  const known = new Set(members.map(({ id }) => id));
  // A member whom the folder does not describe is left out: it may be another person of this store.
  const named = (some: Row[]): Row[] => some.filter((row) => known.has(row["user_id"] ?? null));
  const [memberships, membership_roles] = [named(rows.memberships), named(rows.membership_roles)];
  const peopleLeftOut = users.length - members.length;
  return { members, peopleLeftOut, rows: { ...rows, memberships, membership_roles } };
};

/**
 * Writes people, roles and keys. A password or key comes in only from a folder that this installation wrote: nothing
 * proves who else knows it. A key acts for its person at all of their tenants, so none is added to a known person.
 */
const writeAccess = async (task: Import, tx: Db, { members, peopleLeftOut, rows }: Access) => {
  const people = await findNewPeople(tx, members);
  const isNew = new Set(people.map(({ id }) => id));
  const own = (keys: Row[]): Row[] => (task.isOwn ? keys : []);
  const ready: Record<string, Row[]> = {
    users: task.isOwn ? people : people.map((row) => ({ ...row, password_hash: null })),
    ...rows,
    api_keys: own(rows.api_keys).filter((row) => isNew.has(row["user_id"] ?? null)),
    export_keys: own(rows.export_keys),
  };
  let written = 0;
  for (const table of ["users", ...Object.keys(ACCESS_TABLES)] as Table[]) {
    await insertRows(task, tx, table, ready[table] ?? []);
    written += ready[table]?.length ?? 0;
  }
  const hadPassword = people.filter((row) => row["password_hash"] !== null).length;
  return {
    people: people.length,
    written,
    peopleLeftOut,
    passwordsLeftOut: task.isOwn ? 0 : hadPassword,
    keysLeftOut: rows.api_keys.length - (ready["api_keys"]?.length ?? 0),
    exportKeysLeftOut: rows.export_keys.length - (ready["export_keys"]?.length ?? 0),
  };
};

/** Lets the tenant work; one that was paused when it was exported waits until it is resumed. */
const begin = async (tx: Db, { owner: { tenantId }, phase, clock }: Import): Promise<void> => {
  await updateTenant(tx, tenantId, { phase });
  await (phase === null ? planJobs(tx, { tenantId, now: clock() }) : pauseChain(tx, tenantId));
};

/** Gives the tenant its people, keys and jobs in one transaction, with which it exists. */
const open = async (
  task: Import,
  head: AuditHeadRow,
  done: Pick<ImportedTenant, "rows" | "files" | "audit">,
): Promise<ImportedTenant> => {
  const { tenantId } = task.owner;
  const access = await readAccess(task);
  return task.store.transaction(async (tx) => {
    const { written, ...given } = await writeAccess(task, tx, access);
    const rows = done.rows + written + 1;
    await computeTotals(tx, tenantId);
    await insertAll(tx, "audit_heads", [head]);
    await startLinks(tx, task.store.auditKey, head);
    const { files, audit } = done;
    const { entries, chain, wasValid } = audit;
    const former = { formerKeyId: task.manifest.audit.keyId, entries, chain, wasValid };
    const origin = task.isOwn ? "own" : "unknown";
    const metadata = { rows, files, ...former, origin };
    const change = { tenantId, resourceId: tenantId, metadata };
    await task.record?.(tx, { ...change, action: "admin.tenant_imported" });
    await begin(tx, task);
    return { tenantId, phase: task.phase, origin, ...done, rows, ...given };
  }, tenantId);
};

const write = async (task: Import, head: AuditHeadRow): Promise<ImportedTenant> => {
  let rows = 1;
  for (const table of Object.keys(RECORD_TABLES) as Table[]) {
    rows += await writeTable(task, table);
  }
  const { audit, head: signed } = await writeAuditLog(task, head);
  const files = await writeFiles(task);
  return open(task, signed, { rows: rows + audit.entries, files, audit });
};

/** Checks that the tenant can be imported. @throws {Problem} conflict, invalid_request */
const checkFree = async ({ store, files, folder, owner }: Import): Promise<void> => {
  const { tenantId, connectionId } = owner;
  checkTenantId(tenantId);
  if ((await findTenant(store.read, tenantId)) !== undefined) {
    throw new Problem("conflict", `There is a tenant ${tenantId} already. Delete it first.`);
  }
  if (!isConnectionId(connectionId)) {
    throw new Problem("invalid_request", `${connectionId} is no id of a connection.`);
  }
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
  for await (const rows of readTable(folder, "users", ROWS_AT_ONCE)) {
    await findNewPeople(store.read, rows);
  }
};

/**
 * Restores a tenant that `exportTenant` wrote to a store that does not have it, in short transactions. There is no access
 * before the last one; a failure removes what was written. Nothing that acts is read from the folder: jobs, totals and
 * columns that follow from others are computed from its records.
 *
 * @throws {Problem} invalid_request, conflict
 */
export const importTenant = async (needs: MoveNeeds, folder: string): Promise<ImportedTenant> => {
  const { store } = needs;
  const manifest = await readManifest(folder);
  const tenant = (await readOne(folder, "tenants")) as TenantRow;
  const signed = (await readOne(folder, "audit_heads")) as AuditHeadRow;
  const head = { ...signed, key_id: toSignerId(signed.key_id) };
  if (tenant.id !== manifest.tenantId || head.tenant_id !== manifest.tenantId) {
    throw new Problem("invalid_request", "The tenant's own rows belong to another tenant.");
  }
  const owner = { tenantId: tenant.id, connectionId: tenant.connection_id };
  const columns = await readColumns(store.read);
  const isOwn = isOwnFolder(store.auditKey, manifest);
  const phase = tenant.phase === "paused" ? "paused" : null;
  const task: Import = { ...needs, folder, manifest, isOwn, owner, columns, phase };
  await checkFree(task);
  const [row = tenant] = completeRows("tenants", [tenant], owner);
  await store.transaction(async (tx) => {
    await insertRows(task, tx, "tenants", [{ ...row, phase: "importing" }]);
    // Where the tenant was deleted within the last hour, the removal of its files is still planned.
    await claimFiles(tx, owner.connectionId);
  });
  try {
    return await write(task, head);
  } catch (error) {
    // Without an entry in a log that goes too.
    const { record: _record, ...quiet } = needs;
    await deleteTenant(quiet, { tenantId: tenant.id, confirm: tenant.id });
    throw error;
  }
};
