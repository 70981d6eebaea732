import { sql } from "kysely";
import type { Db } from "../port.ts";

const ROWS_PER_STEP = 1000;

/** A document without most of its columns; `fields` is JSON. */
export type StoredFields = {
  tenant_id: string;
  document_number: string;
  updated_at: number | string;
  fields: string;
};

/** Reads the next documents in the order of their key. */
const readNext = async (db: Db, after: StoredFields | undefined): Promise<StoredFields[]> => {
  const start =
    after === undefined
      ? sql`1 = 1`
      : sql`(tenant_id, document_number) > (${after.tenant_id}, ${after.document_number})`;
  const { rows } = await sql<StoredFields>`
    select tenant_id, document_number, updated_at, fields from documents where ${start}
    order by tenant_id, document_number limit ${ROWS_PER_STEP}`.execute(db);
  return rows;
};

/** Calls `act` with each document, a bounded number in memory at a time. */
export const eachDocument = async (
  db: Db,
  act: (row: StoredFields) => Promise<void>,
): Promise<void> => {
  let after: StoredFields | undefined;
  for (;;) {
    const rows = await readNext(db, after);
    for (const row of rows) await act(row);
    after = rows.at(-1);
    if (after === undefined || rows.length < ROWS_PER_STEP) return;
  }
};
