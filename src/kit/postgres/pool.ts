import pg from "pg";
import { SECOND } from "../clock.ts";
import { HostClient, type HostConfig } from "./client.ts";
import { APPLICATION_NAME, destroyConnection, Hosts } from "./hosts.ts";

/** Time limit for opening a connection or waiting for a free one. */
export const CONNECT_MS = 10_000;

/** Interval between checks of connections in use, in ms. */
const LOOK_MS = 3 * SECOND;
/** Failed checks of a server in a row after which its connections are closed. A busy server may miss one. */
const MISSES = 2;

const INT8 = 20;

// All integers of the stores fit a double; pg returns bigint as text by default.
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as never,
};

// The pool creates no other clients.
const asHostClient = (client: unknown): HostClient => client as HostClient;

const countReceived = (client: HostClient): number => {
  const { connection } = client as unknown as { connection: { stream: { bytesRead: number } } };
  return connection.stream.bytesRead;
};

/** Closes connections of servers that no longer answer, or no longer accept writes. */
class Watch {
  readonly #hosts: Hosts;
  readonly #clients = new Set<HostClient>();
  /** Connections in use, and the bytes that each had received at the last look. */
  readonly #busy = new Map<HostClient, number>();
  readonly #misses = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  static start(pool: pg.Pool, hosts: Hosts): Watch {
    return new Watch(pool, hosts);
  }

  private constructor(pool: pg.Pool, hosts: Hosts) {
    this.#hosts = hosts;
    const on = (event: "connect" | "acquire" | "remove", act: (client: HostClient) => void) =>
      pool.on(event, (client) => act(asHostClient(client)));
    on("connect", (client) => this.#add(client));
    on("remove", (client) => this.#clients.delete(client));
    on("acquire", (client) => {
      this.#busy.set(client, -1);
      this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    });
    pool.on("release", (_error, client) => {
      const released = asHostClient(client);
      this.#busy.delete(released);
      // The pool does not keep a connection that is ending.
      if (released.isReadOnly) void released.end();
    });
  }

  #add(client: HostClient): void {
    this.#clients.add(client);
    client.onReadOnly = () => this.#retire(client.url);
    for (const { url } of this.#clients) if (url !== client.url) this.#close(url);
  }

  /** Closes idle connections of a server now, and those in use when they are released. */
  #retire(url: string): void {
    for (const client of this.#clients) {
      if (client.url !== url) continue;
      if (this.#busy.has(client)) client.isReadOnly = true;
      else destroyConnection(client);
    }
  }

  #close(url: string): void {
    for (const client of this.#clients) if (client.url === url) destroyConnection(client);
  }

  async #look(): Promise<void> {
    if (this.#busy.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const silent = new Set<string>();
    for (const [client, before] of this.#busy) {
      const received = countReceived(client);
      if (received === before) silent.add(client.url);
      this.#busy.set(client, received);
    }
    for (const url of this.#misses.keys()) if (!silent.has(url)) this.#misses.delete(url);
    await Promise.all([...silent].map((url) => this.#check(url)));
  }

  async #check(url: string): Promise<void> {
    const state = await this.#hosts.check(url);
    const misses = state === "silent" ? (this.#misses.get(url) ?? 0) + 1 : 0;
    this.#misses.set(url, misses);
    if (state === "replaced" || misses >= MISSES) this.#close(url);
  }
}

/** Creates a pool of connections to the server of a URL, or to the one of its hosts that accepts writes. */
export const createPool = (
  database: string | Hosts,
  options: pg.PoolConfig & Pick<HostConfig, "prepare"> = {},
): pg.Pool => {
  const hosts = typeof database === "string" ? new Hosts(database) : database;
  const config = {
    hosts,
    fallback_application_name: APPLICATION_NAME,
    types,
    connectionTimeoutMillis: CONNECT_MS,
    Client: HostClient,
    ...options,
  };
  const pool = new pg.Pool(config);
  // A lost connection rejects its query. Without listeners, the error events would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  Watch.start(pool, hosts);
  return pool;
};
