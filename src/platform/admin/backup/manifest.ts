import { createHash, createHmac } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { z } from "zod";
import { Problem } from "../../../contract/errors.ts";
import { getMessage } from "../../../kit/error.ts";
import { parseIfJson } from "../../../kit/json.ts";
import { keysFor, type MasterKey } from "../../../kit/seal.ts";

const NAME = "manifest.ndjson";
const FORMAT = "receivables-backup-1";

const Header = z.strictObject({
  format: z.literal(FORMAT),
  /** The version of the program that wrote the backup. */
  program: z.string(),
  createdAt: z.string(),
  /** The steps of the store's schema. */
  schema: z.array(z.string()),
  tenants: z.int(),
  /** Files that the store itself lacked. */
  missing: z.int(),
});
export type Header = Omit<z.infer<typeof Header>, "format">;

/** No path leads out of the folder: every part begins with a letter or digit. */
const PATH = /^(?:[a-z0-9][a-z0-9._-]*\/){0,5}[a-z0-9][a-z0-9._-]*$/;

const Entry = z.strictObject({
  path: z.string().max(500).regex(PATH),
  size: z.int(),
  sha256: z.string(),
});
/** One file of a backup. */
/** Paths of the files in a data folder. */
export type DataPaths = Record<"database" | "oauth" | "demo" | "secrets" | "profiles", string>;

export type Entry = z.infer<typeof Entry>;

const End = z.strictObject({ files: z.int(), bytes: z.int(), mac: z.string() });

const PURPOSE = "backup";

/** Writes the manifest, which makes the backup complete. */
export const writeManifest = async (
  folder: string,
  header: Header,
  entries: readonly Entry[],
  masterKey: MasterKey,
): Promise<{ files: number; bytes: number }> => {
  const [key] = keysFor(masterKey, PURPOSE);
  const mac = createHmac("sha256", key);
  const draft = join(folder, `${NAME}.draft`);
  const file = createWriteStream(draft, { mode: 0o600, flags: "wx", flush: true });
  const write = (line: object): void => {
    const text = `${JSON.stringify(line)}\n`;
    mac.update(text);
    file.write(text);
  };
  write({ format: FORMAT, ...header });
  for (const entry of entries) write(entry);
  const totals = {
    files: entries.length,
    bytes: entries.reduce((sum, { size }) => sum + size, 0),
  };
  file.end(`${JSON.stringify({ ...totals, mac: mac.digest("hex") })}\n`);
  await finished(file);
  await rename(draft, join(folder, NAME));
  return totals;
};

const readLines = (path: string): Promise<string[]> =>
  Array.fromAsync(createInterface({ input: createReadStream(path, "utf8") }));

const refuse = (message: string): never => {
  throw new Problem("invalid_request", message);
};

/**
 * Reads the manifest of a backup.
 *
 * @throws {Problem} invalid_request for no backup, half a backup, and one that was changed or has another master key
 */
export const readManifest = async (
  folder: string,
  masterKey: MasterKey,
): Promise<{ header: Header; entries: Entry[] }> => {
  const lines = await readLines(join(folder, NAME)).catch((error: unknown) =>
    refuse(`${folder} has no complete backup: ${getMessage(error)}`),
  );
  const end = End.safeParse(parseIfJson(lines.at(-1) ?? ""));
  const content = lines.slice(0, -1);
  if (!end.success) return refuse(`The manifest of ${folder} is not complete.`);
  const fits = keysFor(masterKey, PURPOSE).some((key) => {
    const mac = createHmac("sha256", key);
    for (const line of content) mac.update(`${line}\n`);
    return mac.digest("hex") === end.data.mac;
  });
  if (!fits) {
    return refuse(
      `The signature of the backup in ${folder} does not fit: it was made with another master key, or changed. Set RECEIVABLES_SECRET_KEY to the key of that time; after a rotation, RECEIVABLES_SECRET_KEY_PREVIOUS.`,
    );
  }
  const [first = "", ...rest] = content;
  const { format: _format, ...header } = Header.parse(parseIfJson(first));
  return { header, entries: rest.map((line) => Entry.parse(parseIfJson(line))) };
};

/** Copies a file, and flushes the copy to disk. */
export const copyFlushed = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to);
  const file = await open(to, "r+");
  await file.sync().finally(() => file.close());
};

/** Computes the size and hash of a file. */
export const measureFile = async (path: string): Promise<Pick<Entry, "size" | "sha256">> => {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.byteLength;
  }
  return { size, sha256: hash.digest("hex") };
};
