import { hash } from "node:crypto";
import { Problem } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { DAY } from "../../kit/clock.ts";
import type { Seal } from "../../kit/seal.ts";
import type { Db } from "../store/port.ts";
import {
  findAnswer,
  insertAnswer,
  removeExpiredAnswers,
} from "../store/queries/idempotency-keys.ts";
import type { IdempotencyKeyRow } from "../store/tables/schema.ts";

const RETENTION_MS = DAY;
const MAX_KEY_LENGTH = 255;

/** The Idempotency-Key of a creating request, with the hash of the request. */
export type Keyed = Pick<
  IdempotencyKeyRow,
  "tenant_id" | "principal" | "operation" | "key" | "request_hash"
> & { now: number; secret: boolean };

/** The stored answer to the first request. */
export type StoredAnswer = { output: unknown; headers: Record<string, string>; recordId: string };

/** Thrown inside a transaction when another process has used the key meanwhile. */
export class AlreadyDone extends Error {}

/** Reads the Idempotency-Key of a request to a creating operation; undefined where none was sent. */
export const keyOf = (
  operation: Operation,
  header: string | null,
  request: { tenantId: string; principal: string; params: unknown; body: unknown; now: number },
): Keyed | undefined => {
  if (header === null || operation.effect !== "create") return undefined;
  if (header === "" || header.length > MAX_KEY_LENGTH) {
    const message = `must have 1 to ${MAX_KEY_LENGTH} characters`;
    throw new Problem("invalid_parameter", `Idempotency-Key ${message}.`, {
      errors: [{ field: "Idempotency-Key", code: "too_long", message }],
    });
  }
  const identity = JSON.stringify([request.params, request.body]);
  return {
    tenant_id: request.tenantId,
    principal: request.principal,
    operation: operation.id,
    key: header,
    request_hash: hash("sha256", identity, "hex"),
    now: request.now,
    secret: operation.returnsSecret !== null,
  };
};

const checkRequestHash = (keyed: Keyed, row: IdempotencyKeyRow): void => {
  if (row.request_hash === keyed.request_hash) return;
  throw new Problem(
    "idempotency_key_reused",
    "This Idempotency-Key was sent with another request. Send a fresh key.",
  );
};

const refuseSecret = (row: IdempotencyKeyRow): never => {
  throw new Problem(
    "idempotency_secret_shown_once",
    `The first request made ${row.record_id}; its secret was shown then and never again. Delete it and create another.`,
    { recordId: row.record_id },
  );
};

/** Stores the answers to creating requests for a day, in the transaction that created the record. */
export const createIdempotency = (seal: Seal) => {
  const inProgress = new Set<string>();
  const nameOf = (keyed: Keyed): string =>
    JSON.stringify([keyed.tenant_id, keyed.principal, keyed.operation, keyed.key]);

  return {
    /**
     * Runs the first request with a key.
     * @throws {Problem} idempotency_in_progress while this process serves another request with the same key
     */
    async once<T>(keyed: Keyed, act: () => Promise<T>): Promise<T> {
      const name = nameOf(keyed);
      if (inProgress.has(name)) {
        throw new Problem("idempotency_in_progress", "The first request is still under way.", {
          retryAfterSeconds: 1,
        });
      }
      inProgress.add(name);
      try {
        return await act();
      } finally {
        inProgress.delete(name);
      }
    },

    /**
     * Returns the answer to the first request with the key, undefined where there was none.
     * @throws {Problem} idempotency_key_reused, idempotency_secret_shown_once
     */
    async find(db: Db, keyed: Keyed): Promise<StoredAnswer | undefined> {
      const row = await findAnswer(db, keyed, keyed.now);
      if (row === undefined) return undefined;
      checkRequestHash(keyed, row);
      if (row.answer === null) return refuseSecret(row);
      const answer = seal.open(row.answer) as Omit<StoredAnswer, "recordId">;
      return { ...answer, recordId: row.record_id };
    },

    /** Stores the answer. @throws {AlreadyDone} where another process has stored one since. */
    async store(tx: Db, keyed: Keyed, { recordId, ...answer }: StoredAnswer): Promise<void> {
      const { now, secret, ...row } = keyed;
      await removeExpiredAnswers(tx, now);
      const stored = {
        ...row,
        answer: secret ? null : seal.seal(answer),
        record_id: recordId,
        expires_at: now + RETENTION_MS,
      };
      if (!(await insertAnswer(tx, stored, now))) throw new AlreadyDone();
    },
  };
};

export type Idempotency = ReturnType<typeof createIdempotency>;
