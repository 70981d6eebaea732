import type { Broker } from "../../broker/port.ts";
import type { CallOptions, Reply } from "../../client/port.ts";
import type { CallArguments, Operation } from "../../contract/operation.ts";
import { isRecord } from "../../kit/json.ts";
import type { Fields } from "../results/budget.ts";
import { malformedResponse } from "../results/refusal.ts";
import { formOf } from "../results/record-form.ts";
import { deletedKeys } from "./listing/output-schema.ts";
import type { StoredName } from "./secret-pages.ts";

/** Returns the name and kind of the secret that an answer was stored under, if it had one. */
export const storedSecretIn = (
  { returnsSecret }: Operation,
  output: Fields,
): StoredName | undefined => {
  const name = returnsSecret && output[returnsSecret.storedAs];
  return returnsSecret && typeof name === "string" ? { name, kind: returnsSecret.kind } : undefined;
};

/** Removes the secret, and any other field that repeats it. */
const without = (output: Fields, name: string, secret: string): Fields =>
  Object.fromEntries(
    Object.entries(output).filter(
      ([field, value]) => field !== name && !String(value).includes(secret),
    ),
  );

/** Puts the secret in an answer into the person's store, and returns the answer with the secret's name in its place. */
const storeSecret = async (
  { vault, tenantId, call }: Broker,
  { returnsSecret }: Operation,
  output: Fields,
  options: CallOptions,
): Promise<Fields> => {
  if (returnsSecret === null) return output;
  const { kind, field, id, storedAs, undo } = returnsSecret;
  const { [field]: value, [id]: keyId } = output;
  if (typeof value !== "string" || typeof keyId !== "string") throw malformedResponse();
  try {
    const name = await vault.put({ kind, keyId, tenantId, value });
    return { ...without(output, field, value), [storedAs]: name };
  } catch (error) {
    // Without its secret the record is of no use, but it is active: delete it again.
    const args = { [id]: keyId };
    await call(undo, args, { ...options, idempotencyKey: undefined }).catch(() => {});
    throw error;
  }
};

const record = ({ output }: Reply): Fields => {
  if (isRecord(output)) return output;
  throw malformedResponse();
};

const SESSION = {
  opens: "login",
  verifies: "verify",
  closes: "logout",
} as const satisfies Record<NonNullable<Operation["session"]>, keyof Broker>;

/** Carries out an operation for one person and returns its record without secrets and masked answers. */
export const act = async (
  broker: Broker,
  operation: Operation,
  args: CallArguments,
  options: CallOptions,
): Promise<{ output: Fields; reply: Reply }> => {
  if (operation.session !== null) {
    const reply = await broker[SESSION[operation.session]](options);
    const { accessToken: _hidden, ...output } = record(reply);
    return { output, reply };
  }
  const reply = await broker.call(operation, args, options);
  if (operation.output === null) {
    const keys = deletedKeys(operation).map((name) => [name, args[name]]);
    return { output: { deleted: true, ...Object.fromEntries(keys) }, reply };
  }
  if (operation.mask !== null) return { output: operation.mask(reply.output), reply };
  const output = formOf(operation)(record(reply));
  return { output: await storeSecret(broker, operation, output, options), reply };
};
