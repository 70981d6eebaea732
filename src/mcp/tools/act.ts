import type { Broker } from "../../broker/port.ts";
import type { CallOptions, Reply } from "../../client/port.ts";
import type { Operation } from "../../contract/operation.ts";
import { isRecord } from "../../kit/json.ts";
import { fileRecord } from "../results/file-content.ts";
import type { Fields } from "../results/budget.ts";
import { malformedResponse } from "../results/refusal.ts";
import { storeSecret } from "./stored-secret.ts";
import { deletedKeys } from "./output-schema.ts";

type Args = Record<string, unknown>;

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
  args: Args,
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
  if (operation.file) return { output: fileRecord(args, record(reply)), reply };
  if (operation.mask !== null) return { output: operation.mask(reply.output as never), reply };
  return { output: await storeSecret(broker, operation, record(reply), options), reply };
};
