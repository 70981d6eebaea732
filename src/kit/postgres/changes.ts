import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import type { Changes } from "../changes.ts";
import { MINUTE, SECOND } from "../clock.ts";
import { randomToken } from "../ids.ts";
import { parseIfJson } from "../json.ts";
import { toErrorFields, type Log } from "../log.ts";
import { HostClient } from "./client.ts";
import { APPLICATION_NAME, destroyConnection, Hosts } from "./hosts.ts";
import { CONNECT_MS, createPool } from "./pool.ts";

export const CHANNEL = "receivables_changes";

const RETRY_MS = SECOND;
/** Interval between proofs that the connection still receives, and the time for one. */
const PROOF_EVERY_MS = 15 * SECOND;
const PROOF_MS = 3 * SECOND;
const DEAF_MS = 5 * MINUTE;
/** While announcements arrive, watchers still look this often. */
const SAFETY_MS = 15 * SECOND;

const PROOF = "proof";

type Act = (detail?: string) => void;

/** Any user of the database may send to the channel; what no node has sent is ignored. */
const parsePayload = (payload: string): unknown[] => {
  const parsed = parseIfJson(payload);
  return Array.isArray(parsed) ? parsed : [];
};

/** Receives announcements on a connection of its own, opened with the first watcher and again after each loss. */
class Listener {
  readonly #hosts: Hosts;
  readonly #log: Log;
  readonly #announce: Changes["announce"];
  readonly #watchers = new Map<string, Set<Act>>();
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  isLive = false;

  constructor(hosts: Hosts, log: Log, announce: Changes["announce"]) {
    this.#hosts = hosts;
    this.#log = log;
    this.#announce = announce;
  }

  add(key: string, act: Act): () => void {
    const acts = this.#watchers.get(key) ?? new Set();
    this.#watchers.set(key, acts.add(act));
    if (!this.#closing.signal.aborted) this.#running ??= this.#run();
    return () => {
      acts.delete(act);
      if (acts.size === 0 && this.#watchers.get(key) === acts) this.#watchers.delete(key);
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  #receive(payload: string): void {
    const [key, detail] = parsePayload(payload);
    if (typeof key !== "string" || typeof detail !== "string") return;
    for (const act of this.#watchers.get(key) ?? []) act(detail);
  }

  /** Anything may have been announced while the connection was lost. */
  #lookEverywhere(): void {
    for (const acts of this.#watchers.values()) for (const act of acts) act();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      let pauseMs = RETRY_MS;
      try {
        if (!(await this.#listen())) pauseMs = DEAF_MS;
      } catch (error) {
        if (this.isLive) this.#log.warn("changes.lost", toErrorFields(error));
      }
      this.isLive = false;
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Listens until the connection is lost; returns false if it receives nothing. */
  async #listen(): Promise<boolean> {
    const { signal } = this.#closing;
    const client: pg.Client = new HostClient({
      hosts: this.#hosts,
      fallback_application_name: APPLICATION_NAME,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
    });
    // A query reports the loss of its connection; without a listener the event would end the process.
    client.on("error", () => {});
    const lost = new AbortController();
    client.once("end", () => lost.abort());
    client.on("notification", ({ channel, payload = "" }) => {
      if (channel === CHANNEL) this.#receive(payload);
    });
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      while (!lost.signal.aborted && !signal.aborted) {
        if (!(await this.#prove(lost.signal))) return this.#giveUp(lost.signal);
        if (!this.isLive) this.#lookEverywhere();
        this.isLive = true;
        const either = AbortSignal.any([lost.signal, signal]);
        await delay(PROOF_EVERY_MS, undefined, { signal: either, ref: false }).catch(() => {});
      }
      if (!signal.aborted) throw new Error("the connection that receives changes was lost");
      return true;
    } finally {
      // A server that hangs would never confirm the end.
      destroyConnection(client);
    }
  }

  /** Whether the connection receives what another one announces. */
  async #prove(lost: AbortSignal): Promise<boolean> {
    const token = randomToken();
    const waiting = new AbortController();
    const forget = this.add(PROOF, (detail) => {
      if (detail === token) waiting.abort();
    });
    try {
      await this.#announce(PROOF, token);
      const signal = AbortSignal.any([waiting.signal, lost, this.#closing.signal]);
      await delay(PROOF_MS, undefined, { signal, ref: false }).catch(() => {});
      return waiting.signal.aborted;
    } finally {
      forget();
    }
  }

  #giveUp(lost: AbortSignal): boolean {
    if (lost.aborted || this.isLive || this.#closing.signal.aborted) return true;
    this.#log.warn("changes.polling", {
      reason: "LISTEN receives nothing here, as behind PgBouncer in transaction mode",
    });
    return false;
  }
}

/** Creates announcements by LISTEN and NOTIFY. Where LISTEN receives nothing, watchers poll. */
export const createPostgresChanges = (url: string, log: Log): Changes => {
  const hosts = new Hosts(url);
  const pool = createPool(hosts, { max: 2, allowExitOnIdle: true });
  const announce: Changes["announce"] = async (key, detail = "") => {
    await pool.query("select pg_notify($1, $2)", [CHANNEL, JSON.stringify([key, detail])]);
  };
  const listener = new Listener(hosts, log, announce);
  return {
    announce,
    watch(key, act, pollMs) {
      const forget = listener.add(key, act);
      let silentMs = 0;
      const timer = setInterval(() => {
        silentMs += pollMs;
        if (listener.isLive && silentMs < SAFETY_MS) return;
        silentMs = 0;
        act();
      }, pollMs).unref();
      return () => {
        clearInterval(timer);
        forget();
      };
    },
    async close() {
      await listener.close();
      await pool.end();
    },
  };
};
