import type { Socket } from "node:net";
import pg from "pg";
import { SECOND } from "../clock.ts";
import { getCode, getMessage } from "../error.ts";
import { parseDatabaseUrl } from "./url.ts";

/** SQLSTATE read_only_sql_transaction. */
export const READ_ONLY = "25006";

/** Time limit for one server to answer whether it accepts writes. */
const PROBE_MS = 5 * SECOND;

export const APPLICATION_NAME = "receivables-mcp";

/** Whether the server answered, even if it refused. */
const isAnswer = (error: unknown): boolean => error instanceof Error && "severity" in error;

const createReadOnlyError = (): Error =>
  Object.assign(new Error("the server is read-only"), { code: READ_ONLY, severity: "FATAL" });

/** Checks that the server of a connection accepts writes. Standbys and `default_transaction_read_only` do not. */
export const refuseReadOnly = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ transaction_read_only: string }>(
    "show transaction_read_only",
  );
  if (rows[0]?.transaction_read_only !== "off") throw createReadOnlyError();
};

/** Asks over a connection of its own, within {@link PROBE_MS}. */
const probe = async (url: string, mustWrite: boolean): Promise<void> => {
  const client = new pg.Client({
    connectionString: url,
    fallback_application_name: APPLICATION_NAME,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    await (mustWrite ? refuseReadOnly(client) : client.query("select 1"));
    void client.end();
  } catch (error) {
    destroyConnection(client);
    throw error;
  }
};

/** Returns the first of the servers that accepts writes. @throws {AggregateError} the faults of all, in their order */
const findFirst = (urls: readonly string[]): Promise<string> =>
  Promise.any(urls.map((url) => probe(url, true).then(() => url)));

const streamOf = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** Closes the socket without waiting for a server that may not answer; statements of the connection fail at once. */
export const destroyConnection = (client: pg.Client): void => {
  streamOf(client).destroy();
};

/** Whether the socket was closed from this side, even before it was connected. */
export const isDestroyed = (client: pg.Client): boolean => streamOf(client).destroyed;

const CONNECTIVITY = /^(?:08|57|53|E[A-Z])/;

/** A wrong password or name of the database says more than a server that cannot be reached. */
const rank = (error: unknown): number => {
  const code = getCode(error) ?? "";
  if (code === READ_ONLY) return 1;
  return code === "" || CONNECTIVITY.test(code) ? 2 : 0;
};

/** The server that accepts writes among those of a database URL. */
export class Hosts {
  readonly urls: readonly string[];
  readonly #mustWrite: boolean;
  #current: string | undefined;
  #finding: Promise<string> | undefined;

  constructor(url: string) {
    const { urls, mustWrite } = parseDatabaseUrl(url);
    this.urls = urls;
    this.#mustWrite = mustWrite;
    if (!mustWrite) [this.#current] = urls;
  }

  /** Returns the URL of the server to use. The servers are asked at once, so one that hangs delays no other. */
  find(): Promise<string> {
    if (this.#current !== undefined) return Promise.resolve(this.#current);
    this.#finding ??= this.#ask().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  /** Checks a new connection. */
  async verify(client: pg.ClientBase): Promise<void> {
    if (this.#mustWrite) await refuseReadOnly(client);
  }

  /** Lets the next connection look for the server again. */
  forget(url: string): void {
    if (this.#mustWrite && this.#current === url) this.#current = undefined;
  }

  /**
   * Finds out whether a server whose connections are silent still answers. `replaced` means that another one accepts
   * writes now.
   */
  async check(url: string): Promise<"alive" | "silent" | "replaced"> {
    // All at once, because requests wait meanwhile.
    const others = this.#mustWrite ? this.urls.filter((other) => other !== url) : [];
    const finding = findFirst(others).catch(() => undefined);
    const fault = await probe(url, this.#mustWrite).then(
      () => undefined,
      (error: unknown) => error ?? new Error("no answer"),
    );
    if (fault === undefined) return "alive";
    this.forget(url);
    const found = await finding;
    if (found === undefined) return isAnswer(fault) ? "alive" : "silent";
    this.#current ??= found;
    return "replaced";
  }

  async #ask(): Promise<string> {
    try {
      this.#current = await findFirst(this.urls);
      return this.#current;
    } catch (error) {
      const faults = (error as AggregateError).errors as unknown[];
      const reasons = faults.map((fault, place) => `host ${place + 1}: ${getMessage(fault)}`);
      const [telling] = faults.toSorted((one, other) => rank(one) - rank(other));
      throw Object.assign(
        new Error(`no host of DATABASE_URL accepts writes (${reasons.join("; ")})`),
        { code: getCode(telling) ?? "ECONNREFUSED", cause: telling },
      );
    }
  }
}
