/** The form of an exported tenant: a folder with a manifest, a file of JSON lines per table, and the stored files. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { Problem } from "../../contract/errors.ts";
import { getMessage } from "../../kit/error.ts";
import { parseIfJson } from "../../kit/json.ts";
import { parseKey } from "../files/port.ts";
import { escapeControls } from "../../kit/text.ts";
import { listMigrationNames } from "../store/migrate.ts";
import { ACCESS_TABLES, RECORD_TABLES } from "../store/tenant-tables.ts";

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
});
export type Manifest = z.infer<typeof Manifest>;

const Row = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));
export type Row = z.infer<typeof Row>;

const getSchema = (): string => listMigrationNames().at(-1) ?? "";

export const createManifest = (facts: Omit<Manifest, "format" | "schema">): Manifest => ({
  format: FORMAT,
  schema: getSchema(),
  ...facts,
});

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

/** Reads a table's rows in groups of at most `atOnce`. @throws {Problem} invalid_request */
export async function* readTable(
  folder: string,
  table: string,
  atOnce: number,
): AsyncGenerator<Row[]> {
  const lines = createInterface({ input: createReadStream(tablePath(folder, table)) });
  let rows: Row[] = [];
  for await (const line of lines) {
    rows.push(Row.parse(JSON.parse(line)));
    if (rows.length < atOnce) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

const hashFile = async (path: string): Promise<string> => {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
};

/**
 * Reads the manifest of an exported tenant, and checks that its tables are as they were written.
 *
 * @throws {Problem} invalid_request
 */
export const readManifest = async (folder: string): Promise<Manifest> => {
  const path = manifestPath(folder);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
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
    const sha256 = await hashFile(tablePath(folder, table)).catch(() => undefined);
    if (sha256 !== manifest.tables[table]?.sha256) {
      throw createDamaged(`${tablePath(folder, table)} is missing, or was changed.`);
    }
  }
  return manifest;
};
