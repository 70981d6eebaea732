import { Problem } from "../contract/errors.ts";
import { type Access, type Operation, pathParameters } from "../contract/operation.ts";
import { randomId } from "../kit/ids.ts";
import type { Broker } from "./port.ts";

/** A request that an operation's platform refuses or answers without changing anything, whoever sends it. */
export type Probe = { operation: Operation; args: Record<string, unknown> };

const idsOf = ({ path }: Operation): string[] =>
  pathParameters(path).filter((name) => name !== "tenantId");

const harmless = (operation: Operation): boolean => {
  if (operation.effect === "read") return true;
  if (operation.upsert || operation.raw !== null) return false;
  // A record that does not exist cannot change; an empty body makes no record.
  if (idsOf(operation).length > 0) return operation.effect !== "session";
  return operation.body !== null && !operation.body.safeParse({}).success;
};

const cost = (operation: Operation): number =>
  (operation.effect === "read" ? 0 : 2) + (idsOf(operation).length > 0 ? 0 : 1);

/** How to find out whether a right is held: of all operations that need it, the one that costs least. */
export const probeFor = (access: Access, operations: readonly Operation[]): Probe | undefined => {
  const [operation] = operations
    .filter((one) => one.access === access && harmless(one))
    .toSorted((one, other) => cost(one) - cost(other));
  if (operation === undefined) return undefined;
  return {
    operation,
    args: Object.fromEntries(idsOf(operation).map((name) => [name, randomId()])),
  };
};

export type Right = { access: Access; held: boolean } | { access: Access; problem: Problem };

/** Asks the platform, by a request that can change nothing, whether the credential holds a right. */
export const askRight = async (
  broker: Pick<Broker, "call">,
  access: Access,
  { operation, args }: Probe,
): Promise<Right> => {
  try {
    await broker.call(operation, args, { tool: "doctor" });
    return { access, held: true };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === "forbidden_permission") return { access, held: false };
    const decided = error.status !== 401 && error.status !== 403 && error.status < 500;
    return decided && error.status !== 429 ? { access, held: true } : { access, problem: error };
  }
};
