import type { Broker } from "../broker/port.ts";
import type { CallOptions, Reply } from "../client/port.ts";
import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import type { Operation } from "../contract/operation.ts";
import type { CreditApplicationDetail } from "../contract/operations/credit-applications.ts";
import { withoutSensitiveAnswers } from "../contract/sensitive-answers.ts";
import { fileRecord } from "./file-answer.ts";
import type { Fields } from "./fit.ts";
import { deletedKeys } from "./schemas.ts";

type Args = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const record = ({ output }: Reply): Fields => {
  if (isFields(output)) return output;
  throw new Problem("unavailable", "The platform's answer does not have the documented form.");
};

/** Also any other field that repeats the secret, should a platform answer with one. */
const withoutSecret = (output: Fields, secret: string): Fields =>
  Object.fromEntries(
    Object.entries(output).filter(
      ([name, value]) => name !== "apiKey" && !String(value).includes(secret),
    ),
  );

/** A key that nobody can read any more is worth nothing and still opens the door. */
const revoke = (broker: Broker, keyId: string, options: CallOptions): Promise<unknown> =>
  broker
    .call(contract.api_keys.delete, { keyId }, { ...options, idempotencyKey: undefined })
    .catch(() => {});

const createKey = async (broker: Broker, reply: Reply, options: CallOptions): Promise<Fields> => {
  const output = record(reply);
  const { apiKey, keyId } = output;
  if (typeof apiKey !== "string" || typeof keyId !== "string") {
    throw new Problem("unavailable", "The platform's answer does not have the documented form.");
  }
  const { tenantId, vault } = broker;
  try {
    const storedAs = await vault.put({ kind: "api-key", keyId, tenantId, value: apiKey });
    return { ...withoutSecret(output, apiKey), storedAs };
  } catch (error) {
    await revoke(broker, keyId, options);
    throw error;
  }
};

const session = (broker: Broker, operation: Operation, options: CallOptions): Promise<Reply> => {
  if (operation.id === contract.auth.login.id) return broker.login(options);
  return operation.id === contract.auth.logout.id ? broker.logout(options) : broker.verify(options);
};

/** Does what an operation does for one person, and gives its record without what no model may see. */
export const act = async (
  broker: Broker,
  operation: Operation,
  args: Args,
  options: CallOptions,
): Promise<{ output: Fields; reply: Reply }> => {
  if (operation.effect === "session") {
    const reply = await session(broker, operation, options);
    const { accessToken: _hidden, ...output } = record(reply);
    return { output, reply };
  }
  const reply = await broker.call(operation, args, options);
  if (operation.output === null) {
    const keys = deletedKeys(operation).map((name) => [name, args[name]]);
    return { output: { deleted: true, ...Object.fromEntries(keys) }, reply };
  }
  if (operation.file) return { output: fileRecord(args, record(reply)), reply };
  if (operation.id === contract.credit_applications.get.id) {
    return { output: withoutSensitiveAnswers(reply.output as CreditApplicationDetail), reply };
  }
  const isKey = operation.id === contract.api_keys.create.id;
  return { output: isKey ? await createKey(broker, reply, options) : record(reply), reply };
};
