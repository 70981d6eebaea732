import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Problem } from "../../contract/errors.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { makeFolder } from "../../kit/make-folder.ts";
import type { Seal } from "../../kit/seal.ts";
import type { FileStore } from "../files/port.ts";
import type { Snapshot } from "../store/port.ts";
import type { IdempotencyKeyRow } from "../store/tables/schema.ts";
import { streamFiles } from "../store/queries/stored-files.ts";
import {
  ACCESS_TABLES,
  RECORD_TABLES,
  selectTenantRows,
  type TenantTable,
} from "../store/queries/tenant-tables.ts";
import { selectTenant } from "../store/queries/tenants.ts";
import { selectUsersOf } from "../store/queries/users.ts";
import { verifyAudit } from "./audit.ts";
import {
  createManifest,
  filePath,
  type Manifest,
  manifestPath,
  writeTable,
} from "./tenant-folder.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

export type ExportedTenant = {
  tenantId: string;
  folder: string;
  rows: number;
  files: number;
  bytes: number;
  /** Keys of files that the store should have, but does not. */
  missingFiles: string[];
  /** Whether the audit log verifies. */
  auditOk: boolean;
};

/** An export contains as text what `secrets` opens of webhooks, and `answers` of repeated requests. */
export type MoveNeeds = AdminNeeds & { files: FileStore; secrets: Seal; answers: Seal };

/** The tables of a tenant's rows, in the order in which an export has them. */
const SELECTED = [
  ...Object.keys({ ...RECORD_TABLES, ...ACCESS_TABLES }),
  "audit_logs",
  "audit_heads",
] as readonly TenantTable[];

const SEALED: readonly string[] = ["webhooks", "webhook_deliveries"] satisfies TenantTable[];

async function* openSecrets(rows: AsyncIterable<object>, secrets: Seal): AsyncGenerator<object> {
  for await (const row of rows) {
    const { secret } = row as { secret: string };
    const text = secrets.open(secret);
    if (typeof text !== "string") {
      throw new Problem("conflict", "A webhook's secret does not open with this master key.");
    }
    yield { ...row, secret: text };
  }
}

/** Leaves out answers of a former master key, which this installation cannot repeat either. */
async function* openAnswers(rows: AsyncIterable<object>, answers: Seal): AsyncGenerator<object> {
  for await (const row of rows) {
    const { answer: sealed } = row as Pick<IdempotencyKeyRow, "answer">;
    const answer = sealed === null ? null : answers.open(sealed);
    if (answer !== undefined) yield { ...row, answer: answer && JSON.stringify(answer) };
  }
}

const openRows = (
  { secrets, answers }: MoveNeeds,
  table: string,
  rows: AsyncIterable<object>,
): AsyncIterable<object> => {
  if (table === "idempotency_keys") return openAnswers(rows, answers);
  return SEALED.includes(table) ? openSecrets(rows, secrets) : rows;
};

const writeTables = async (
  needs: MoveNeeds,
  { db, stream }: Snapshot,
  { tenantId, folder }: { tenantId: string; folder: string },
): Promise<Manifest["tables"]> => {
  const tables: Manifest["tables"] = {};
  const write = async (table: string, rows: AsyncIterable<object>): Promise<void> => {
    tables[table] = await writeTable(folder, table, rows);
  };
  await write("tenants", stream(selectTenant(db, tenantId)));
  await write("users", stream(selectUsersOf(db, tenantId)));
  for (const table of SELECTED) {
    const rows: AsyncIterable<object> = stream(selectTenantRows(db, table, tenantId));
    await write(table, openRows(needs, table, rows));
  }
  return tables;
};

const copyFile = async (
  files: FileStore,
  folder: string,
  { key, sha256 }: { key: string; sha256: string | null },
): Promise<number | undefined> => {
  const stored = await files.open(key);
  if (stored === undefined) return undefined;
  const path = filePath(folder, key);
  await makeFolder(dirname(path));
  const hash = createHash("sha256");
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const file = createWriteStream(path, { flags: "wx", mode: 0o600, flush: true });
  await pipeline(Readable.fromWeb(stored.bytes as never), hashing, file);
  if (sha256 === null || hash.digest("hex") === sha256) return stored.size;
  throw new Problem(
    "conflict",
    `The stored file ${key} is damaged: its hash is not the recorded one.`,
  );
};

const copyFiles = async (
  { files }: MoveNeeds,
  view: Snapshot,
  { tenantId, folder }: { tenantId: string; folder: string },
): Promise<Manifest["files"]> => {
  const copied: Manifest["files"] = { count: 0, bytes: 0, missing: [] };
  for await (const file of streamFiles(view, tenantId)) {
    const size = await copyFile(files, folder, file);
    if (size === undefined) copied.missing.push(file.key);
    else {
      copied.count += 1;
      copied.bytes += size;
    }
  }
  return copied;
};

const createFolder = async (path: string): Promise<string> => {
  const folder = resolve(path);
  await makeFolder(folder);
  if ((await readdir(folder)).length === 0) return folder;
  throw new Problem("conflict", `${folder} is not empty. Name a new folder.`);
};

/** Writes everything of a tenant to a folder, as of one moment and in bounded memory. The manifest is written last. */
export const exportTenant = async (
  needs: MoveNeeds,
  { tenantId, folder: path }: { tenantId: string; folder: string },
): Promise<ExportedTenant> => {
  const { store, clock, record } = needs;
  const { phase } = await checkTenantExists(store.read, tenantId);
  const folder = await createFolder(path);
  const exportedAt = formatTimestamp(clock());
  await using view = await store.snapshot({ owner: tenantId });
  const tables = await writeTables(needs, view, { tenantId, folder });
  await makeFolder(join(folder, "files"));
  const files = await copyFiles(needs, view, { tenantId, folder });
  const { ok } = await verifyAudit(needs, tenantId);
  const audit = { keyId: store.auditKey.id, ok };
  const manifest = createManifest(store.auditKey, { exportedAt, tenantId, audit, tables, files });
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`;
  await writeFile(manifestPath(folder), text, { flag: "wx", mode: 0o600, flush: true });
  const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0);
  const { count, bytes, missing: missingFiles } = files;
  // The log of a paused tenant ends with the pause, so that the folder has all of it.
  if (phase === null) {
    await store.transaction(async (tx) => {
      const change = { tenantId, resourceId: tenantId, metadata: { rows, files: count } };
      await record?.(tx, { ...change, action: "admin.tenant_exported" });
    });
  }
  return { tenantId, folder, rows, files: count, bytes, missingFiles, auditOk: ok };
};
