/** Types and functions that the parts of an import share. */
import { Problem } from "../../contract/errors.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import type { Db } from "../store/port.ts";
import type { Tables } from "../store/tables/schema.ts";
import type { MoveNeeds } from "./tenant-export.ts";
import type { Manifest, Row } from "./tenant-folder.ts";
import type { Owner } from "./tenant-rows.ts";

export const ROWS_AT_ONCE = 200;

/** One import: its folder, and the columns of this store's tables. */
export type Import = MoveNeeds & {
  folder: string;
  manifest: Manifest;
  /** A program with this store's master key wrote the folder, and it was not changed. */
  isOwn: boolean;
  owner: Owner;
  columns: ReadonlyMap<string, readonly string[]>;
  /** Whether the tenant is to wait until it is resumed. */
  phase: "paused" | null;
};

/** Writes rows that must have exactly the table's columns. @throws {Problem} invalid_request */
export const insertRows = async (
  { columns }: Pick<Import, "columns">,
  tx: Db,
  table: keyof Tables,
  rows: readonly Row[],
): Promise<void> => {
  const known = columns.get(table) ?? [];
  for (const row of rows) {
    const names = Object.keys(row);
    if (names.length === known.length && names.every((name) => known.includes(name))) continue;
    throw new Problem("invalid_request", `A row of ${table} has other columns than this store.`);
  }
  await insertAll(tx, table, rows as readonly never[]);
};

/** @throws {Problem} invalid_request */
export const checkOwner = (
  { owner: { tenantId } }: Pick<Import, "owner">,
  table: string,
  rows: readonly Row[],
): void => {
  if (rows.every((row) => row["tenant_id"] === tenantId)) return;
  throw new Problem("invalid_request", `A row of ${table} belongs to another tenant.`);
};
