import { Problem } from "../contract/errors.ts";
import type { CallArguments, Operation, Service } from "../contract/operation.ts";
import { isSuccess } from "./body.ts";
import { TransportFault } from "./fault.ts";
import type { Reply, WireReply } from "./port.ts";
import { isJson } from "./problem.ts";
import type { LookupForm } from "./request.ts";
import type { Repeatable } from "./retry.ts";

export type LookUp<O extends Operation = Operation> = {
  operation: O;
  args: CallArguments;
  ask: (form: LookupForm, repeatable: Repeatable) => Promise<WireReply>;
  /** Parses a response. @throws {Problem} the platform's refusal */
  read: (wire: WireReply) => Promise<Reply<O>>;
};

type Failure = { error: unknown; wire: WireReply | undefined };
type Outcome<O extends Operation> = { reply: Reply<O> } | Failure;
type Row = Record<string, unknown>;

const fold = (value: unknown): string => String(value).normalize("NFC").trim().toLowerCase();

/** The names of the numbers that records have as their status. */
const STATUSES = ["open", "closed", "cancel"];

/** Creates the check of whether a record matches the arguments of a lookup. */
const createMatcher = ({
  operation,
  args,
}: Pick<LookUp, "operation" | "args">): ((row: Row) => boolean) => {
  const { field = "", argument = "" } = operation.lookup ?? {};
  const { [argument]: listed, accountNumber, status } = args;
  const folded = Array.isArray(listed) ? new Set(listed.map(fold)) : undefined;
  const state = STATUSES.indexOf(fold(status));
  return (row) =>
    (folded === undefined || folded.has(fold(row[field]))) &&
    (accountNumber === undefined || fold(row["accountNumber"]) === fold(accountNumber)) &&
    (state === -1 || row["status"] === state);
};

// If a proxy drops the body of a GET, the platform returns other records than those that were requested.
const checkMatches = (
  lookUp: Pick<LookUp, "operation" | "args">,
  { output }: { output: unknown },
): void => {
  if (!Array.isArray(output)) return;
  const { pageSize } = lookUp.args;
  const isTooMany = typeof pageSize === "number" && output.length > pageSize;
  if (!isTooMany && output.every(createMatcher(lookUp))) return;
  throw new Problem("unavailable", "The platform answered with records that were not requested.");
};

const attempt = async <O extends Operation>(
  lookUp: LookUp<O>,
  form: LookupForm,
  repeatable: Repeatable,
): Promise<Outcome<O>> => {
  let wire: WireReply | undefined;
  try {
    wire = await lookUp.ask(form, repeatable);
    const reply = await lookUp.read(wire);
    checkMatches(lookUp, reply);
    return { reply };
  } catch (error) {
    return { error, wire };
  }
};

const unwrap = <O extends Operation>(outcome: Outcome<O>): Reply<O> => {
  if ("reply" in outcome) return outcome.reply;
  throw outcome.error;
};

const isEmpty = ({ output }: { output: unknown }): boolean =>
  Array.isArray(output) && output.length === 0;

const isFault = ({ error }: Failure, ...kinds: TransportFault["kind"][]): boolean =>
  error instanceof TransportFault && kinds.includes(error.kind);

/** Statuses about the method or the body, from the platform or a proxy. */
const BODY_STATUSES = [405, 411, 413, 415, 501];
/** Statuses of pages with which proxies refuse a GET that has a body. */
const PROXY_STATUSES = [400, 403, 404, 500];
/** Statuses with which the platform itself refuses a lookup whose body did not arrive. */
const MISSING_BODY_STATUSES = [400, 404];

const refusesBody = (failure: Failure, proven: boolean): boolean => {
  const { wire } = failure;
  if (wire === undefined) return !proven && isFault(failure, "lost", "garbled");
  if (isSuccess(wire.status) || BODY_STATUSES.includes(wire.status)) return true;
  if (!isJson(wire)) return PROXY_STATUSES.includes(wire.status);
  return !proven && MISSING_BODY_STATUSES.includes(wire.status);
};

const lacksPostAlias = ({ wire }: Failure): boolean => [404, 405, 501].includes(wire?.status ?? 0);

/**
 * Creates the sender of lookups, which are documented as a GET with a body. Proxies may refuse such a request, cut it
 * off or drop its body; then the POST alias is sent, and the service's next lookups begin with it. Until a GET has
 * returned a record, its body may have been dropped, so an empty result is requested again by POST.
 */
export const createLookups = () => {
  /** Services that have answered a GET with a record. */
  const proven = new Set<Service>();
  /** Services whose lookups begin with the POST alias. */
  const byPostAlias = new Set<Service>();

  const confirmEmpty = async <O extends Operation>(
    lookUp: LookUp<O>,
    reply: Reply<O>,
  ): Promise<Reply<O>> => {
    const second = await attempt(lookUp, "postAlias", "always");
    if (!("reply" in second) || isEmpty(second.reply)) return reply;
    byPostAlias.add(lookUp.operation.service);
    return second.reply;
  };

  const sendDocumented = async <O extends Operation>(lookUp: LookUp<O>): Promise<Reply<O>> => {
    const { service } = lookUp.operation;
    const isProven = proven.has(service);
    const first = await attempt(lookUp, "documented", isProven ? "always" : "answered");
    if ("reply" in first) {
      if (!isProven && isEmpty(first.reply)) return confirmEmpty(lookUp, first.reply);
      proven.add(service);
      return first.reply;
    }
    // No time is left to send the POST alias now.
    if (!isProven && isFault(first, "timeout")) byPostAlias.add(service);
    if (!refusesBody(first, isProven)) throw first.error;
    const second = await attempt(lookUp, "postAlias", "always");
    if (!("reply" in second)) throw lacksPostAlias(second) ? first.error : second.error;
    byPostAlias.add(service);
    return second.reply;
  };

  return async <O extends Operation>(lookUp: LookUp<O>): Promise<Reply<O>> => {
    const { service } = lookUp.operation;
    if (!byPostAlias.has(service)) return sendDocumented(lookUp);
    const first = await attempt(lookUp, "postAlias", "always");
    if ("reply" in first || !lacksPostAlias(first)) return unwrap(first);
    byPostAlias.delete(service);
    return unwrap(await attempt(lookUp, "documented", "answered"));
  };
};
