import { type RawBuilder, sql } from "kysely";
import { type PaymentQueries, ROW_SEPARATOR } from "../engine/dialect.ts";
import { type Column, findColumn, TABLES } from "../queries/payments/columns.ts";
import { matches } from "../queries/payments/filter.ts";
import { findCandidates, hasSeq, isBetween, sliceSeqs } from "../queries/payments/scan.ts";

// A query holds the event loop or a reader thread until it ends, so each reads few rows.
const ROWS_PER_READ = 500;
// As many as a chunk of an export has. The reader thread reads nothing else for about 30 ms.
const ROWS_PER_STRETCH = 10_000;
const SEQS_PER_SCAN = 5000;
// Fewer are joined with others before they are compressed.
const LEAST_ROWS_OF_FRAME = ROWS_PER_STRETCH / 2;

const toJson = ({ name, storage }: Column): RawBuilder<unknown> => {
  const column = sql.ref(name);
  if (storage === "flag") {
    return sql`json(case ${column} when 1 then 'true' when 0 then 'false' end)`;
  }
  return storage === "decimal" || storage === "integer" ? sql`json(${column})` : column;
};

/** A row as JSON text built by SQLite, which takes a third of the time that JSON.stringify of rows takes. */
const rowToJson = (columns: readonly Column[]): RawBuilder<string> =>
  sql`json_object(${sql.join(columns.flatMap((column) => [sql.lit(column.field.name), toJson(column)]))})`;

export const paymentQueries: PaymentQueries = {
  rowsPerRead: ROWS_PER_READ,
  seqsPerScan: SEQS_PER_SCAN,
  createRowReader(db, { tenantId, source, fields, framed = false }) {
    const json = rowToJson(fields.map(findColumn));
    // Compiled once: compiling so many parts takes as long as reading a hundred rows.
    const row = sql.raw(json.compile(db).sql);
    // Bytes are sent and compressed as they are; text would become a string and then bytes again.
    const joined = sql`cast(group_concat(row, ${sql.lit(ROW_SEPARATOR)}) as blob)`;
    const isFrame = (rowCount: number): boolean => framed && rowCount >= LEAST_ROWS_OF_FRAME;
    const result = framed
      ? sql`case when count(*) < ${sql.lit(LEAST_ROWS_OF_FRAME)} then ${joined} else zstd(${joined}) end`
      : joined;
    return async (where) => {
      const { rows } = await sql<{ rowCount: number; bytes: Uint8Array | null }>`
        select count(*) as "rowCount", ${result} as bytes
        from (select ${row} as row from ${sql.table(TABLES[source])}
          where tenant_id = ${tenantId} and ${where} order by seq)`.execute(db);
      const [{ rowCount, bytes } = { rowCount: 0, bytes: null }] = rows;
      return { rowCount, bytes: bytes ?? new Uint8Array(), isFrame: isFrame(rowCount) };
    };
  },
  // SQLite filters while it reads the rows, so their numbers are not found first.
  async *findStretches(db, scan) {
    const few = await findCandidates(db, scan);
    const filter = matches(db, scan.filter);
    if (few !== undefined) {
      for (const some of sliceSeqs(few, ROWS_PER_STRETCH)) {
        yield sql<boolean>`${hasSeq(db, some)} and ${filter}`;
      }
      return;
    }
    for (let { after } = scan; after < scan.upTo; after += ROWS_PER_STRETCH) {
      const upTo = Math.min(scan.upTo, after + ROWS_PER_STRETCH);
      yield sql<boolean>`${isBetween(after, upTo)} and ${filter}`;
    }
  },
};
