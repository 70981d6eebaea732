import { hash } from "node:crypto";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { toRecordKey } from "../store/queries/imports.ts";
import type { Db } from "../store/port.ts";
import type { ImportChangeRow, Tables } from "../store/tables/schema.ts";
import type { Counts } from "./report.ts";
import type { Doubt, Journal, Settled } from "./target.ts";

/** Stores the import's record and an audit entry within a transaction. */
export type RecordImport = (
  tx: Db,
  run: Counts & { status: "running" | "completed" | "stopped" },
) => Promise<void>;

type Row = Record<string, unknown>;

/** Columns of entries that the service sets when it finds the payment of a return: no change of what was imported. */
const LINKS: ReadonlySet<string> = new Set(["waits"]);

/** Returns text that shows whether a row has changed: its version, the hash of what was sent, or its own hash. */
export const stampRow = (row: Row): string => {
  if ("version" in row) return `version ${String(row["version"])}`;
  if ("sent_hash" in row) return `sent ${String(row["sent_hash"])}`;
  const names = Object.keys(row)
    .filter((name) => !LINKS.has(name))
    .toSorted();
  const sorted = names.map((name) => [name, row[name]]);
  return hash("sha256", JSON.stringify(sorted), "base64url").slice(0, 22);
};

/** The stamp of a row that the import removed. */
export const REMOVED = "removed";

type OpenJournal = Journal & {
  doubts: readonly Doubt[];
  settled: readonly Settled[];
  /** The e-mail addresses of new users. */
  invited: readonly string[];
  /** The number of changes so far. */
  number(): number;
  save(tx: Db): Promise<void>;
};

/** Collects what a batch changes, so that the import can be taken back. */
export const createJournal = (
  begin: Pick<Journal, "importId"> & { tenantId: string; number: number },
): OpenJournal => {
  const { tenantId, importId } = begin;
  const doubts: Doubt[] = [];
  const settled: Settled[] = [];
  const invited: string[] = [];
  const changes: ImportChangeRow[] = [];
  let { number } = begin;
  const add = (
    table: keyof Tables,
    before: Row | undefined,
    after: Row,
    stamp = stampRow(after),
  ): void => {
    number += 1;
    changes.push({
      tenant_id: tenantId,
      import_id: importId,
      number,
      table_name: table,
      record_key: toRecordKey(table, after),
      before: before === undefined ? null : JSON.stringify(before),
      after: stamp,
    });
  };
  return {
    importId,
    doubts,
    settled,
    invited,
    created(table, rows) {
      for (const row of rows) add(table, undefined, row);
    },
    changed: (table, before, after) => add(table, before, after),
    removed(table, before) {
      add(table, before, before, REMOVED);
    },
    doubt: (doubt) => void doubts.push(doubt),
    settle: (doubt) => void settled.push(doubt),
    invite: (email) => void invited.push(email),
    number: () => number,
    save: (tx) => insertAll(tx, "import_changes", changes),
  };
};
