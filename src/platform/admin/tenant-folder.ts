/** The form of an exported tenant: a folder with a manifest, a file of JSON lines per table, and the stored files. */
import { createHash } from "node:crypto";
import { constants, createWriteStream, type ReadStream } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { Problem } from "../../contract/errors.ts";
import { readBoundedLines } from "../../kit/bounded-lines.ts";
import { getMessage } from "../../kit/error.ts";
import { parseIfJson } from "../../kit/json.ts";
import { parseKey } from "../files/port.ts";
import { escapeControls } from "../../kit/text.ts";
import { listMigrationNames } from "../store/migrations/migrate.ts";
import { listAuditKeys, type StoreAuditKey } from "../store/audit-key.ts";
import { ACCESS_TABLES, RECORD_TABLES } from "../store/queries/tenant-tables.ts";

const FORMAT = "receivables-tenant";

/** The tables of an export, in the order in which an import writes them. */
export const TABLES = [
  "tenants",
  "users",
  ...Object.keys(RECORD_TABLES),
  "audit_logs",
  "audit_heads",
].concat(Object.keys(ACCESS_TABLES));

const Manifest = z.object({
  format: z.literal(FORMAT),
  /** The last step of the schema that the rows have. */
  schema: z.string(),
  exportedAt: z.string(),
  tenantId: z.string(),
  /** Names the key of the audit log, and says whether the log verified. */
  audit: z.object({ keyId: z.string(), ok: z.boolean() }),
  tables: z.record(z.string(), z.object({ rows: z.int().min(0), sha256: z.string() })),
  files: z.object({ count: z.int().min(0), bytes: z.int().min(0), missing: z.array(z.string()) }),
  /** The code of everything above under the audit key. Absent in folders of earlier versions. */
  mac: z.string().optional(),
});
export type Manifest = z.infer<typeof Manifest>;

const Row = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));
export type Row = z.infer<typeof Row>;

const getSchema = (): string => listMigrationNames().at(-1) ?? "";

/** The text that the code of a manifest covers; it does not depend on the order of fields. */
const serializeCovered = (manifest: Manifest): string => {
  const { format, schema, exportedAt, tenantId, audit, tables, files } = manifest;
  const hashes = Object.entries(tables)
    .map(([name, { rows, sha256 }]) => [name, rows, sha256])
    .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  const { count, bytes, missing } = files;
  const { keyId, ok } = audit;
  return JSON.stringify([
    [format, schema, exportedAt, tenantId, keyId, ok],
    hashes,
    [count, bytes, missing],
  ]);
};

export const createManifest = (
  key: StoreAuditKey,
  facts: Omit<Manifest, "format" | "schema" | "mac">,
): Manifest => {
  const manifest: Manifest = { format: FORMAT, schema: getSchema(), ...facts };
  return { ...manifest, mac: key.manifest(serializeCovered(manifest)) };
};

/**
 * Whether a program with the store's master key, or a former one, wrote the folder. If not, it is not known who did:
 * it may have been changed, or come from another installation or an earlier version.
 */
export const isOwnFolder = (key: StoreAuditKey, manifest: Manifest): boolean => {
  const text = serializeCovered(manifest);
  return listAuditKeys(key).some((one) => manifest.mac === one.manifest(text));
};

export const manifestPath = (folder: string): string => join(folder, "manifest.json");
const tablePath = (folder: string, table: string): string => join(folder, `${table}.ndjson`);

/** The path of a stored file: its key without the tenant's connection, with which every key begins. */
export const filePath = (folder: string, key: string): string =>
  join(folder, "files", ...parseKey(key).slice(1));

/** Writes rows as they arrive, one a line. */
export const writeTable = async (
  folder: string,
  table: string,
  rows: AsyncIterable<object>,
): Promise<{ rows: number; sha256: string }> => {
  const hash = createHash("sha256");
  let count = 0;
  async function* toLines(): AsyncGenerator<string> {
    for await (const row of rows) {
      // Readers of lines end one at U+2028 and U+2029 too, which JSON leaves as they are.
      const line = `${escapeControls(JSON.stringify(row))}\n`;
      hash.update(line);
      count += 1;
      yield line;
    }
  }
  const file = createWriteStream(tablePath(folder, table), {
    flags: "wx",
    mode: 0o600,
    flush: true,
  });
  await pipeline(Readable.from(toLines()), file);
  return { rows: count, sha256: hash.digest("hex") };
};

const createDamaged = (what: string): Problem =>
  new Problem("invalid_request", `${what} Nothing was imported. Export the tenant again.`);

/**
 * Opens a file of an exported folder. A folder can come from a stranger, so links, which lead to other files of this
 * machine, are refused, and so is what is no file.
 *
 * @throws {Problem} invalid_request for these; {Error} if it cannot be opened
 */
export const openExported = async (folder: string, path: string): Promise<ReadStream> => {
  const own = join(await realpath(folder), relative(folder, path));
  if ((await realpath(path)) !== own) {
    throw createDamaged(`${path} is a link, or in a folder that is one.`);
  }
  // O_NONBLOCK: opening a pipe does not wait for its writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags);
  if ((await file.stat()).isFile()) return file.createReadStream();
  await file.close();
  throw createDamaged(`${path} is no file.`);
};

/** Longer than a row with the largest body that the platform accepts. */
const MAX_ROW_BYTES = 32 * 1024 ** 2;

/** Reads a table's rows in groups of at most `atOnce`. @throws {Problem} invalid_request */
export async function* readTable(
  folder: string,
  table: string,
  atOnce: number,
): AsyncGenerator<Row[]> {
  const path = tablePath(folder, table);
  let rows: Row[] = [];
  let number = 0;
  for await (const line of readBoundedLines(await openExported(folder, path), MAX_ROW_BYTES)) {
    number += 1;
    const { data } = Row.safeParse(parseIfJson(line));
    if (data === undefined) throw createDamaged(`${path} cannot be read at line ${number}.`);
    rows.push(data);
    if (rows.length < atOnce) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

const hashTable = async (folder: string, table: string): Promise<string> => {
  const hash = createHash("sha256");
  await pipeline(await openExported(folder, tablePath(folder, table)), hash);
  return hash.digest("hex");
};

const orUndefined = (error: unknown): undefined => {
  if (error instanceof Problem) throw error;
};

/**
 * Reads the manifest of an exported tenant, and checks that its tables are as they were written.
 *
 * @throws {Problem} invalid_request
 */
export const readManifest = async (folder: string): Promise<Manifest> => {
  const path = manifestPath(folder);
  const text = await openExported(folder, path)
    .then(readText)
    .catch((error: unknown) => {
      if (error instanceof Problem) throw error;
      const reason = getMessage(error);
      throw new Problem("invalid_request", `${folder} is no exported tenant: ${reason}`);
    });
  const { data: manifest } = Manifest.safeParse(parseIfJson(text));
  if (manifest === undefined) throw createDamaged(`${path} is not the manifest of a tenant.`);
  if (manifest.schema !== getSchema()) {
    throw new Problem(
      "invalid_request",
      `The tenant was exported with the schema ${manifest.schema}, and this program has ${getSchema()}. Use the same version for both.`,
    );
  }
  for (const table of TABLES) {
    const sha256 = await hashTable(folder, table).catch(orUndefined);
    if (sha256 !== manifest.tables[table]?.sha256) {
      throw createDamaged(`${tablePath(folder, table)} is missing, or was changed.`);
    }
  }
  return manifest;
};
