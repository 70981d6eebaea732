import pMap from "p-map";
import type { CallOptions } from "../../../client/port.ts";
import { createFieldProblem, Problem } from "../../../contract/errors.ts";
import type { CallArguments } from "../../../contract/operation.ts";
import type { Broker } from "../../../broker/port.ts";
import { parseDisputeCode } from "../../../insights/dispute-code.ts";
import { findByCode } from "../../../insights/find-dispute.ts";
import { findNamed } from "../../../../tools/record-names.ts";
import { createNumberContext } from "../../results/number-context.ts";
import { sanitizeLine } from "../../results/sanitize.ts";

type Context = { broker: Broker; options: CallOptions };

// The ids of this project's platform. Such a value is an id, so that it costs no read.
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

const MAX_CANDIDATES = 10;

const isSame = (value: string, code: string): boolean =>
  value.trim().toLowerCase() === code.trim().toLowerCase();

/** Refuses a code that several records have; the message names them. */
const refuseAmbiguous = (field: string, code: string, candidates: string[]): never => {
  const shown = candidates.slice(0, MAX_CANDIDATES).join(", ");
  const message = `${JSON.stringify(sanitizeLine(code, 80))} fits several records: ${shown}; send an id`;
  throw createFieldProblem("invalid_request", { field, code: "ambiguous", message });
};

/** Returns what was read; nothing if the platform refuses to, so that it judges the value itself. */
export const readUnlessRefused = async <T>(
  { signal }: CallOptions,
  read: () => Promise<readonly T[]>,
): Promise<readonly T[]> => {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Problem) || signal?.aborted === true) throw error;
    return [];
  }
};

/** Returns the id of the dispute with a code; the value itself if no dispute has this code. */
const toDisputeId = async (context: Context, field: string, value: string): Promise<string> => {
  if (parseDisputeCode(value) === undefined) return value;
  const numbers = await createNumberContext(context.broker, context.options);
  const found = await readUnlessRefused(context.options, () => findByCode(numbers, value));
  if (found.length > 1) {
    const candidates = found.map(
      ({ disputeId, accountNumber }) => `${disputeId} of account ${accountNumber}`,
    );
    refuseAmbiguous(field, value, candidates);
  }
  return found[0]?.disputeId ?? value;
};

/** Returns the id of the configuration entry with a code; the value itself if it is an id or unknown. */
const toConfigurationId = async (
  context: Context,
  field: string,
  value: string,
): Promise<string> => {
  const named = findNamed(field);
  if (named === undefined || value === "" || UUID.test(value)) return value;
  const { broker, options } = context;
  const entries = await readUnlessRefused(options, () =>
    named.read((operation, args) => broker.call(operation, args, options)),
  );
  if (entries.some(({ id }) => id === value)) return value;
  const found = entries.filter(({ name }) => isSame(name, value));
  if (found.length > 1) {
    const candidates = found.map(({ id, parent }) =>
      parent === undefined ? id : `${id} of ${parent}`,
    );
    refuseAmbiguous(field, value, candidates);
  }
  return found[0]?.id ?? value;
};

const MAX_CODES = 100;
const AT_ONCE = 8;

/** Returns ids in place of the codes in a list. Each code costs a read. */
const toDisputeIds = async (context: Context, values: readonly unknown[]): Promise<unknown[]> => {
  const codes = values.filter((one) => parseDisputeCode(String(one)) !== undefined);
  if (codes.length > MAX_CODES) {
    const message = `must have at most ${MAX_CODES} codes; send ids`;
    throw createFieldProblem("invalid_request", { field: "disputeIds", code: "too_long", message });
  }
  return pMap(values, (one, at) => toDisputeId(context, `disputeIds[${at}]`, String(one)), {
    concurrency: AT_ONCE,
  });
};

/** The arguments that take the id of a dispute, `resourceId` that of any record. */
const DISPUTE_IDS: readonly string[] = ["disputeId", "resourceId"];

const resolve = async (context: Context, name: string, value: unknown): Promise<unknown> => {
  if (name === "disputeIds" && Array.isArray(value)) return toDisputeIds(context, value);
  if (typeof value !== "string") return value;
  return DISPUTE_IDS.includes(name)
    ? toDisputeId(context, name, value)
    : toConfigurationId(context, name, value);
};

/**
 * Returns the arguments with ids in place of dispute codes and of codes of the configuration.
 *
 * @throws {Problem} invalid_request if several records have a code
 */
export const resolveNames = async (
  context: Context,
  args: CallArguments,
): Promise<CallArguments> => {
  const resolveEntry = async ([name, value]: [string, unknown]) =>
    [name, await resolve(context, name, value)] as const;
  return Object.fromEntries(await Promise.all(Object.entries(args).map(resolveEntry)));
};
