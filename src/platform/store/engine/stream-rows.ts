import type { Compilable } from "kysely";
import type { Db } from "../port.ts";

const BATCH_ROWS = 200;

/** The rows of a query, read through a cursor a batch at a time. */
export async function* streamRows<Row>(db: Db, query: Compilable<Row>): AsyncIterable<Row> {
  for await (const batch of db.getExecutor().stream<Row>(query.compile(), BATCH_ROWS)) {
    yield* batch.rows;
  }
}
