import type { Broker, StoredSecret } from "../../broker/port.ts";
import type { CallOptions } from "../../client/port.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Fields } from "../answer/fit.ts";
import type { Kept } from "../http/secret-pages.ts";

/** An operation that answers with a secret, which no model may see. */
type Keeping = {
  made: Operation;
  kind: StoredSecret["kind"];
  /** The answer's fields with the secret and with its record's id. */
  secret: string;
  id: string;
  /** What the answer says instead. */
  as: string;
  /** Takes back what nobody can use without its secret. */
  undo: Operation;
};

const KEEPINGS: readonly Keeping[] = [
  {
    made: contract.api_keys.create,
    kind: "api-key",
    secret: "apiKey",
    id: "keyId",
    as: "storedAs",
    undo: contract.api_keys.delete,
  },
  {
    made: contract.webhooks.create,
    kind: "webhook-secret",
    secret: "secret",
    id: "id",
    as: "secretStoredAs",
    undo: contract.webhooks.delete,
  },
];

export const keepingOf = ({ id }: Operation): Keeping | undefined =>
  KEEPINGS.find(({ made }) => made.id === id);

/** What an answer says was put away, if anything was. */
export const keptIn = (operation: Operation, output: Fields): Kept | undefined => {
  const keeping = keepingOf(operation);
  const name = keeping && output[keeping.as];
  return keeping && typeof name === "string" ? { name, kind: keeping.kind } : undefined;
};

/** Also any other field that repeats the secret, should a platform answer with one. */
const without = (output: Fields, name: string, secret: string): Fields =>
  Object.fromEntries(
    Object.entries(output).filter(
      ([field, value]) => field !== name && !String(value).includes(secret),
    ),
  );

/** A record as a model may see it: its secret, if it has one, goes to the person's store, and the answer names where. */
export const withoutSecret = async (
  { vault, tenantId, call }: Broker,
  operation: Operation,
  output: Fields,
  options: CallOptions,
): Promise<Fields> => {
  const keeping = keepingOf(operation);
  if (keeping === undefined) return output;
  const { kind, undo, as } = keeping;
  const { [keeping.secret]: value, [keeping.id]: keyId } = output;
  if (typeof value !== "string" || typeof keyId !== "string") {
    throw new Problem("unavailable", "The platform's answer does not have the documented form.");
  }
  try {
    const storedAs = await vault.put({ kind, keyId, tenantId, value });
    return { ...without(output, keeping.secret, value), [as]: storedAs };
  } catch (error) {
    // What nobody has the secret of is worth nothing, and still does what it does.
    const args = { [keeping.id]: keyId };
    await call(undo, args, { ...options, idempotencyKey: undefined }).catch(() => {});
    throw error;
  }
};
