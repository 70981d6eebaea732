import { createHash } from "node:crypto";
import { Problem } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { DAY } from "../../kit/clock.ts";
import type { Seal } from "../../kit/seal.ts";
import type { Db } from "../store/port.ts";
import type { IdempotencyKeyRow } from "../store/tables.ts";

const REMEMBERED_MS = DAY;
const LONGEST_KEY = 255;

/** A creating request that named a key: whose it is, what it asks, and until when it is remembered. */
export type Keyed = Pick<
  IdempotencyKeyRow,
  "tenant_id" | "principal" | "operation" | "key" | "request_hash"
> & { now: number; secret: boolean };

/** What the first request was answered. */
export type Remembered = { output: unknown; headers: Record<string, string> };

/** Thrown inside a transaction that finds the key used meanwhile by another process. */
export class AlreadyDone extends Error {}

/** Reads the key of a request to a creating operation; undefined where none was sent. */
export const keyOf = (
  operation: Operation,
  header: string | null,
  request: { tenantId: string; principal: string; params: unknown; body: unknown; now: number },
): Keyed | undefined => {
  if (header === null || operation.effect !== "create") return undefined;
  if (header === "" || header.length > LONGEST_KEY) {
    const message = `must have 1 to ${LONGEST_KEY} characters`;
    throw new Problem("invalid_parameter", `Idempotency-Key ${message}.`, {
      errors: [{ field: "Idempotency-Key", code: "too_long", message }],
    });
  }
  const asked = JSON.stringify([request.params, request.body]);
  return {
    tenant_id: request.tenantId,
    principal: request.principal,
    operation: operation.id,
    key: header,
    request_hash: createHash("sha256").update(asked).digest("hex"),
    now: request.now,
    secret: operation.secret,
  };
};

const find = (db: Db, keyed: Keyed) =>
  db
    .selectFrom("idempotency_keys")
    .selectAll()
    .where("tenant_id", "=", keyed.tenant_id)
    .where("principal", "=", keyed.principal)
    .where("operation", "=", keyed.operation)
    .where("key", "=", keyed.key)
    .where("expires_at", ">", keyed.now)
    .executeTakeFirst();

const checkSame = (keyed: Keyed, row: IdempotencyKeyRow): void => {
  if (row.request_hash === keyed.request_hash) return;
  throw new Problem(
    "idempotency_key_reused",
    "This Idempotency-Key was sent with another request. Send a fresh key.",
  );
};

const shownOnce = (row: IdempotencyKeyRow): never => {
  throw new Problem(
    "idempotency_secret_shown_once",
    `The first request made ${row.record_id}; its secret was shown then and never again. Delete it and create another.`,
    { recordId: row.record_id },
  );
};

/** Remembers answers to creating requests for a day, in the transaction of what they made. */
export const createIdempotency = (seal: Seal) => {
  const underWay = new Set<string>();
  const nameOf = (keyed: Keyed): string =>
    JSON.stringify([keyed.tenant_id, keyed.principal, keyed.operation, keyed.key]);

  return {
    /** Runs the first request with a key; a second one meanwhile is told to wait. */
    async once<T>(keyed: Keyed, act: () => Promise<T>): Promise<T> {
      const name = nameOf(keyed);
      if (underWay.has(name)) {
        throw new Problem("idempotency_in_progress", "The first request is still under way.", {
          retryAfterSeconds: 1,
        });
      }
      underWay.add(name);
      try {
        return await act();
      } finally {
        underWay.delete(name);
      }
    },

    /** The answer to the first request with the key, if there was one. */
    async recall(db: Db, keyed: Keyed): Promise<Remembered | undefined> {
      const row = await find(db, keyed);
      if (row === undefined) return undefined;
      checkSame(keyed, row);
      if (row.answer === null) return shownOnce(row);
      return seal.open(row.answer) as Remembered;
    },

    /** Writes the answer down; refuses when another process has used the key since. */
    async remember(tx: Db, keyed: Keyed, recordId: string, answer: Remembered): Promise<void> {
      await tx.deleteFrom("idempotency_keys").where("expires_at", "<=", keyed.now).execute();
      const { now, secret, ...row } = keyed;
      const made = await tx
        .insertInto("idempotency_keys")
        .values({
          ...row,
          answer: secret ? null : seal.seal(answer),
          record_id: recordId,
          expires_at: now + REMEMBERED_MS,
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      if (made.numInsertedOrUpdatedRows === 0n) throw new AlreadyDone();
    },
  };
};

export type Idempotency = ReturnType<typeof createIdempotency>;
