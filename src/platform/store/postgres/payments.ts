import { sql } from "kysely";
import { type PaymentQueries, ROW_SEPARATOR, type Value } from "../engine/dialect.ts";
import { type Column, findColumn, openMember, TABLES } from "../queries/payments/columns.ts";
import { findSeqs, hasSeq, sliceSeqs } from "../queries/payments/scan.ts";

// Rows per query: each query costs a round trip.
const ROWS_PER_READ = 2000;

const toJson = ({ storage }: Column, value: Value | undefined): string => {
  if (value === null || value === undefined) return "null";
  if (storage === "flag") return value === 1 ? "true" : "false";
  return storage === "decimal" || storage === "integer" ? String(value) : JSON.stringify(value);
};

export const paymentQueries: PaymentQueries = {
  rowsPerRead: ROWS_PER_READ,
  seqsPerScan: Infinity,
  createRowReader(db, { tenantId, source, fields }) {
    const columns = fields.map(findColumn);
    const names = columns.map(({ name }) => sql.ref(name));
    const openings = columns.map(openMember);
    const toText = (row: Record<string, Value>): string => {
      let text = "";
      for (const [place, column] of columns.entries()) {
        text += openings[place] + toJson(column, row[column.name]);
      }
      return `${text}}`;
    };
    return async (where) => {
      const { rows } = await sql<Record<string, Value>>`
        select ${sql.join(names)} from ${sql.table(TABLES[source])}
        where tenant_id = ${tenantId} and ${where} order by seq`.execute(db);
      return { rowCount: rows.length, bytes: Buffer.from(rows.map(toText).join(ROW_SEPARATOR)) };
    };
  },
  // One query finds the numbers of many rows, which saves round trips.
  async *findStretches(db, scan) {
    for await (const seqs of findSeqs(db, scan, Infinity)) {
      for (const some of sliceSeqs(seqs, ROWS_PER_READ)) yield hasSeq(db, some);
    }
  },
};
