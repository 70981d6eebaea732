import type { Broker } from "../../broker/port.ts";
import type { CallOptions, Reply } from "../../client/port.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import type { Operation } from "../../contract/operation.ts";
import type { CreditApplicationDetail } from "../../contract/operations/credit-applications.ts";
import { withoutSensitiveAnswers } from "../../contract/sensitive-answers.ts";
import { fileRecord } from "../files/file-answer.ts";
import type { Fields } from "../answer/fit.ts";
import { withoutSecret } from "./keep.ts";
import { deletedKeys } from "./schemas.ts";

type Args = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const record = ({ output }: Reply): Fields => {
  if (isFields(output)) return output;
  throw new Problem("unavailable", "The platform's answer does not have the documented form.");
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
  return { output: await withoutSecret(broker, operation, record(reply), options), reply };
};
