import { finished } from "node:stream/promises";
import type pg from "pg";
import { type CopyStreamQuery, from as copyFrom } from "pg-copy-streams";

const COPY = /^copy .* from stdin$/;

/** Lets a client take `copy … from stdin` like any other statement, with the text to copy as its one parameter. */
export const takeCopies = (client: pg.PoolClient): void => {
  const query = client.query.bind(client) as (...asked: unknown[]) => unknown;
  const copy = async (statement: string, text: unknown) => {
    const stream = query(copyFrom(statement)) as CopyStreamQuery;
    stream.end(text);
    await finished(stream);
    return { command: "COPY", rowCount: stream.rowCount, rows: [] };
  };
  client.query = ((...asked: unknown[]) => {
    const [statement, parameters] = asked;
    return typeof statement === "string" && Array.isArray(parameters) && COPY.test(statement)
      ? copy(statement, parameters[0])
      : query(...asked);
  }) as typeof client.query;
};
