import { Problem } from "../contract/errors.ts";
import {
  type CallArguments,
  type Access,
  type Operation,
  parsePathParameters,
} from "../contract/operation.ts";
import { randomId } from "../kit/ids.ts";
import type { Broker } from "./port.ts";

/** A request that changes nothing for any caller: a read, or a change that must be refused. */
export type Probe = { operation: Operation; args: CallArguments };

const listRecordIds = ({ path }: Operation): string[] =>
  parsePathParameters(path).filter((name) => name !== "tenantId");

const isHarmless = (operation: Operation): boolean => {
  if (operation.effect === "read") return true;
  if (operation.upsert || operation.raw !== null) return false;
  // An unknown record cannot change, and an invalid body creates none.
  if (listRecordIds(operation).length > 0) return operation.effect !== "session";
  return operation.body !== null && !operation.body.safeParse({}).success;
};

const estimateCost = (operation: Operation): number =>
  (operation.effect === "read" ? 0 : 2) + (listRecordIds(operation).length > 0 ? 0 : 1);

/** Finds the cheapest harmless request that shows whether a right is held; undefined if there is none. */
export const findProbe = (access: Access, operations: readonly Operation[]): Probe | undefined => {
  const [operation] = operations
    .filter((one) => one.access === access && isHarmless(one))
    .toSorted((one, other) => estimateCost(one) - estimateCost(other));
  if (operation === undefined) return undefined;
  return {
    operation,
    args: Object.fromEntries(listRecordIds(operation).map((name) => [name, randomId()])),
  };
};

export type Right = { access: Access; held: boolean } | { access: Access; problem: Problem };

/** Checks by a harmless request whether the credential has a right. */
export const checkRight = async (
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
