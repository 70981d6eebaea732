/** Exported tenants, and how an attacker changes them. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomId } from "../../src/kit/ids.ts";
import { createSeal } from "../../src/kit/seal.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { SEALS } from "../../src/platform/store/sealed-columns.ts";
import type { TestPlatform } from "./platform.ts";

/** Dependencies of the commands that export and import; the master key consists of this byte. */
export const needsOf = (at: TestPlatform, key = 7) => {
  const needs = { store: at.store, clock: at.clock, newId: randomId };
  return {
    ...needs,
    files: createDiskFiles(at.files),
    secrets: createSeal(Buffer.alloc(32, key), SEALS.webhook),
    answers: createSeal(Buffer.alloc(32, key), SEALS.answer),
    record: createRecordChange({ ...needs, operator: "op" }),
  };
};

/** The rows of a table of an exported tenant. */
export const linesOf = (folder: string, table: string): Record<string, unknown>[] =>
  readFileSync(join(folder, `${table}.ndjson`), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Replaces tables of an exported tenant, and their hashes in its manifest. */
export const rewrite = (folder: string, tables: Record<string, object[]>): void => {
  const path = join(folder, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as { tables: Record<string, object> };
  for (const [table, rows] of Object.entries(tables)) {
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    writeFileSync(join(folder, `${table}.ndjson`), text);
    const sha256 = createHash("sha256").update(text).digest("hex");
    manifest.tables[table] = { rows: rows.length, sha256 };
  }
  writeFileSync(path, JSON.stringify(manifest));
};
