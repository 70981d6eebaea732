import { hash } from "node:crypto";
import { type Clock, SECOND } from "../kit/clock.ts";
import { type NewId, randomToken } from "../kit/ids.ts";
import { toErrorFields, type Log } from "../kit/log.ts";
import { insertAll } from "./store/engine/bulk-writes.ts";
import type { Db, Store } from "./store/port.ts";
import { recordUse } from "./store/queries/sessions.ts";

/** Hashes a random secret for the store. 256 random bits need no salt and no work factor. */
export const hashSecret = (secret: string): string => hash("sha256", secret, "base64url");

const CHECKSUM_CHARACTERS = 6;
export const PREFIX_CHARACTERS = 8;

/** Creates a key: prefix, 43 random characters, 6 characters of checksum that reveal typing errors. */
export const makeKey = (prefix: "rcvg_" | "rcvx_"): string => {
  const body = prefix + randomToken();
  return body + hashSecret(body).slice(0, CHECKSUM_CHARACTERS);
};

/** Creates a gateway API key of a user. Its text is returned only here. */
export const insertApiKey = async (
  tx: Db,
  { newId, clock }: { newId: NewId; clock: Clock },
  { tenantId, userId }: { tenantId: string; userId: string },
): Promise<{ keyId: string; apiKey: string }> => {
  const apiKey = makeKey("rcvg_");
  const [keyId, now] = [newId(), clock()];
  await insertAll(tx, "api_keys", [
    {
      id: keyId,
      hash: hashSecret(apiKey),
      prefix: apiKey.slice(0, PREFIX_CHARACTERS),
      user_id: userId,
      tenant_id: tenantId,
      created_at: now,
      used_at: now,
    },
  ]);
  return { keyId, apiKey };
};

export const hasKeyForm = (key: string, prefix: "rcvg_" | "rcvx_"): boolean =>
  key.startsWith(prefix) &&
  key.length === prefix.length + 43 + CHECKSUM_CHARACTERS &&
  hashSecret(key.slice(0, -CHECKSUM_CHARACTERS)).startsWith(key.slice(-CHECKSUM_CHARACTERS));

/** Last uses of sessions and keys, written to the store within a second. */
export type Uses = {
  note(table: "sessions" | "api_keys", id: string, at: number): void;
  last(id: string): number;
  flush(): Promise<void>;
  close(): Promise<void>;
};

const FLUSH_MS = SECOND / 2;

export const createUses = (store: Store, log: Log): Uses => {
  const pending = { sessions: new Map<string, number>(), api_keys: new Map<string, number>() };
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    timer = undefined;
    // A copy, because uses noted during the transaction belong to the next batch.
    const batch = { sessions: [...pending.sessions], api_keys: [...pending.api_keys] };
    if (batch.sessions.length + batch.api_keys.length === 0) return;
    await store.transaction(async (tx) => {
      for (const table of ["sessions", "api_keys"] as const) {
        for (const [id, at] of batch[table]) await recordUse(tx, table, id, at);
      }
    });
    for (const table of ["sessions", "api_keys"] as const) {
      for (const [id, at] of batch[table]) {
        if (pending[table].get(id) === at) pending[table].delete(id);
      }
    }
  };
  // Failed batches stay pending. If the process dies, a session expires slightly sooner.
  const tryFlush = (): Promise<void> =>
    flush().catch((error: unknown) => log.warn("uses.flush_failed", toErrorFields(error)));
  const flushLater = (): void => {
    timer ??= setTimeout(tryFlush, FLUSH_MS);
    timer.unref();
  };
  return {
    note(table, id, at) {
      pending[table].set(id, at);
      flushLater();
    },
    last: (id) => Math.max(pending.sessions.get(id) ?? 0, pending.api_keys.get(id) ?? 0),
    flush,
    async close() {
      clearTimeout(timer);
      await tryFlush();
    },
  };
};

/** Lifetimes of sessions and keys, in milliseconds. */
export type Lifetimes = {
  sessionIdle: number;
  sessionNominal: number;
  sessionLongest: number;
  keyInactivity: number;
};

/** Tells whether a session is valid at `now`. */
export const isSessionAlive = (
  session: { created_at: number; verified_at: number; used_at: number },
  now: number,
  lifetimes: Lifetimes,
): boolean =>
  now - session.used_at <= lifetimes.sessionIdle &&
  now - session.verified_at <= lifetimes.sessionNominal &&
  now - session.created_at <= lifetimes.sessionLongest;

export type CredentialNeeds = { store: Store; uses: Uses; lifetimes: Lifetimes };
