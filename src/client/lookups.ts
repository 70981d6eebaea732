import { Problem } from "../contract/errors.ts";
import type { Operation, Service } from "../contract/operation.ts";
import { isSuccess } from "./body.ts";
import { TransportFault } from "./fault.ts";
import type { Reply, WireReply } from "./port.ts";
import { isJson } from "./problem.ts";
import type { LookupForm } from "./request.ts";
import type { Repeatable } from "./retry.ts";

export type LookUp = {
  operation: Operation;
  args: Record<string, unknown>;
  ask: (way: LookupForm, repeatable: Repeatable) => Promise<WireReply>;
  /** The reply in an answer; throws the Problem that it tells. */
  read: (wire: WireReply) => Reply;
};

type Failure = { error: unknown; wire: WireReply | undefined };
type Outcome = { reply: Reply } | Failure;
type Row = Record<string, unknown>;

const folded = (value: unknown): string => String(value).normalize("NFC").trim().toLowerCase();

/** By the number that a record has for each. */
const STATUSES = ["open", "closed", "cancel"];

const isAskedFor = ({ operation, args }: LookUp): ((row: Row) => boolean) => {
  const { field = "", argument = "" } = operation.lookup ?? {};
  const { [argument]: listed, accountNumber, status } = args;
  const wanted = Array.isArray(listed) ? new Set(listed.map(folded)) : undefined;
  const state = STATUSES.indexOf(folded(status));
  return (row) =>
    (wanted === undefined || wanted.has(folded(row[field]))) &&
    (accountNumber === undefined || folded(row["accountNumber"]) === folded(accountNumber)) &&
    (state === -1 || row["status"] === state);
};

// A proxy that drops the body of a GET has the platform answer for other records than those that were named.
const checkAsked = (lookUp: LookUp, { output }: Reply): void => {
  if (!Array.isArray(output)) return;
  const { pageSize } = lookUp.args;
  const isTooMany = typeof pageSize === "number" && output.length > pageSize;
  if (!isTooMany && output.every(isAskedFor(lookUp))) return;
  throw new Problem("unavailable", "The platform answered with records that nobody asked for.");
};

const attempt = async (
  lookUp: LookUp,
  way: LookupForm,
  repeatable: Repeatable,
): Promise<Outcome> => {
  let wire: WireReply | undefined;
  try {
    wire = await lookUp.ask(way, repeatable);
    const reply = lookUp.read(wire);
    checkAsked(lookUp, reply);
    return { reply };
  } catch (error) {
    return { error, wire };
  }
};

const settled = (outcome: Outcome): Reply => {
  if ("reply" in outcome) return outcome.reply;
  throw outcome.error;
};

const isEmpty = ({ output }: Reply): boolean => Array.isArray(output) && output.length === 0;

const isFault = ({ error }: Failure, ...kinds: TransportFault["kind"][]): boolean =>
  error instanceof TransportFault && kinds.includes(error.kind);

/** Statuses about the method or the body, from the platform or a proxy. */
const OF_THE_BODY = [405, 411, 413, 415, 501];
/** Statuses of pages with which proxies refuse a GET that has a body. */
const OF_A_PROXY = [400, 403, 404, 500];
/** The platform's own words when the body did not arrive. */
const OF_NO_BODY = [400, 404];

const refusesBody = (failure: Failure, proven: boolean): boolean => {
  const { wire } = failure;
  if (wire === undefined) return !proven && isFault(failure, "lost", "garbled");
  if (isSuccess(wire.status) || OF_THE_BODY.includes(wire.status)) return true;
  if (!isJson(wire)) return OF_A_PROXY.includes(wire.status);
  return !proven && OF_NO_BODY.includes(wire.status);
};

const lacksPostAlias = ({ wire }: Failure): boolean => [404, 405, 501].includes(wire?.status ?? 0);

/**
 * Lookups are a GET with a body, which much of what stands between us and a platform refuses, cuts off or robs of its
 * body. Where that happens they go by POST, and each service is remembered by what it took. Until a GET has shown that
 * its body arrives, an empty answer to it proves nothing and is asked for again by POST.
 */
export const createLookups = () => {
  const proven = new Set<Service>();
  const byTwin = new Set<Service>();

  const emptyHanded = async (lookUp: LookUp, reply: Reply): Promise<Reply> => {
    const second = await attempt(lookUp, "postAlias", "always");
    if (!("reply" in second) || isEmpty(second.reply)) return reply;
    byTwin.add(lookUp.operation.service);
    return second.reply;
  };

  const asDocumented = async (lookUp: LookUp): Promise<Reply> => {
    const { service } = lookUp.operation;
    const isProven = proven.has(service);
    const first = await attempt(lookUp, "documented", isProven ? "always" : "answered");
    if ("reply" in first) {
      if (!isProven && isEmpty(first.reply)) return emptyHanded(lookUp, first.reply);
      proven.add(service);
      return first.reply;
    }
    // No time is left for another try; the next call begins with it.
    if (!isProven && isFault(first, "timeout")) byTwin.add(service);
    if (!refusesBody(first, isProven)) throw first.error;
    const second = await attempt(lookUp, "postAlias", "always");
    if (!("reply" in second)) throw lacksPostAlias(second) ? first.error : second.error;
    byTwin.add(service);
    return second.reply;
  };

  return async (lookUp: LookUp): Promise<Reply> => {
    const { service } = lookUp.operation;
    if (!byTwin.has(service)) return asDocumented(lookUp);
    const first = await attempt(lookUp, "postAlias", "always");
    if ("reply" in first || !lacksPostAlias(first)) return settled(first);
    byTwin.delete(service);
    return settled(await attempt(lookUp, "documented", "answered"));
  };
};
