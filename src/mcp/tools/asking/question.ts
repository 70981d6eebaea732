import { hash } from "node:crypto";
import type { Broker } from "../../../broker/port.ts";
import type { CallOptions, Reply } from "../../../client/port.ts";
import { nameDryRun, toDryRun } from "../../../contract/dry-run.ts";
import { Problem } from "../../../contract/errors.ts";
import {
  findSideEffects,
  type Operation,
  parsePathParameters,
} from "../../../contract/operation.ts";
import {
  ABSENT,
  type Arguments,
  type Confirmation,
  type ConfirmationRead,
  type OperationTool,
  type Records,
} from "../../../../tools/tool.ts";
import { sanitizeBeginning, type Step } from "../../results/budget.ts";
import { isRecord } from "../../../kit/json.ts";
import { sanitizeLine } from "../../results/sanitize.ts";
import { canonical } from "../binding.ts";
import { checkTexts } from "./stored-text.ts";
import { type Bound, toBound } from "./bound.ts";

/** Longest question, in characters. No question reaches it, so that every effect of a call is shown. */
export const MAX_QUESTION = 4000;
/** More than any question shows of a text. */
const MOST_SHOWN = 600;

/** More than any question shows of a record, or searches in a list. */
const MOST_READ: Step = [MOST_SHOWN, 10_000, 200];

/** The version of the record that a call may act on; `absent`: it does not exist, and the call may only create it. */
export type Version = { etag: string | null; absent: boolean };

/** A question, or null where no person needs to be asked, and the versions that it is about. */
export type Asking = Version & {
  summary: string | null;
  /** The ids of the records in the question, in place of their codes. */
  bound: Bound;
  /** Differs if the question, the arguments or the version of a record in the question differs. */
  print: string;
};

/** The print of a question about several changes, which the tool compares one by one before it makes each. */
export const ONE_BY_ONE = "";

/** Returns the print of a question: a confirmation holds only as long as it stays the same. */
export const printOf = (...parts: readonly unknown[]): string =>
  hash("sha256", canonical(parts), "base64url").slice(0, 22);

type Needs = {
  broker: Broker;
  tool: OperationTool;
  args: Arguments;
  options: CallOptions;
};

/** The version of the record that the call names, and the records that its question is about. */
type Prepared = Version & {
  records: Records;
  args: Arguments;
  /** The version of each record that the question names. */
  versions: readonly (string | null)[];
};

type Found = { name: string; reply?: Reply | undefined; missing?: boolean };

const recordIn = (reply: Reply | undefined): Arguments | undefined => {
  const output = reply && sanitizeBeginning(reply.output, MOST_READ);
  if (Array.isArray(output)) return { items: output };
  return isRecord(output) ? output : undefined;
};

const argumentsFor = ({ path }: Operation, args: Arguments): Arguments =>
  Object.fromEntries(
    parsePathParameters(path).flatMap((name) => (name in args ? [[name, args[name]]] : [])),
  );

/** Returns the reply, the refusal where the record does not exist, and undefined where it cannot be read. */
const readOne = async (
  { broker, options }: Needs,
  operation: Operation,
  args: Arguments,
): Promise<Reply | Problem | undefined> => {
  try {
    return await broker.call(operation, { ...args }, options);
  } catch (error) {
    if (!(error instanceof Problem) || options.signal?.aborted === true) throw error;
    // Another platform may lack the route of an extension, so the record may exist.
    return error.status === 404 && !operation.extension ? error : undefined;
  }
};

/** Returns the rows of a list; undefined if the answer is not one. */
const rowsOf = (reply: Reply | Problem | undefined): Arguments[] | undefined => {
  if (reply === undefined || reply instanceof Problem) return undefined;
  const { output } = reply;
  const rows = isRecord(output) ? (output["data"] ?? output["items"]) : output;
  return Array.isArray(rows) ? rows.filter(isRecord) : undefined;
};

/** Returns the reply with the row of the list that is the record. */
const chooseRow = (
  reply: Reply | undefined,
  isSought: (row: Arguments) => boolean,
): Reply | undefined => {
  const rows = rowsOf(reply);
  if (reply === undefined || rows === undefined) return undefined;
  const output = rows.find(isSought);
  if (output === undefined) throw new Problem("not_found", "There is no record with this id.");
  return { ...reply, output };
};

const readFor = async (needs: Needs, name: string, reading: ConfirmationRead): Promise<Found> => {
  const { isRecord: isSought } = reading;
  const args = reading.args(needs.args);
  if (args === undefined) return { name };
  const reply = await readOne(needs, reading.operation, args);
  if (reply instanceof Problem) return { name };
  return isSought === undefined
    ? { name, reply }
    : { name, reply: chooseRow(reply, (row) => isSought(row, needs.args)) };
};

/** Reads the record that the call names; throws where there is none, unless the call creates it. */
const readNamed = async (needs: Needs, name: string, operation: Operation): Promise<Found> => {
  const args = argumentsFor(operation, needs.args);
  const reply = await readOne(needs, operation, args);
  if (!(reply instanceof Problem)) return { name, reply };
  if (!needs.tool.operation.upsert) throw reply;
  return { name, missing: true };
};

const recordsOf = (found: readonly Found[], absent: boolean): Records =>
  Object.fromEntries([
    ...found.map(({ name, reply }) => [name, recordIn(reply)] as const),
    ...(absent ? [[ABSENT, {}] as const] : []),
  ]);

/** Reads the records that a confirmation names. */
const readAll = ({ reads }: Confirmation, needs: Needs): Promise<Found[]> =>
  Promise.all(
    Object.entries(reads).map(([name, read]) =>
      "path" in read ? readNamed(needs, name, read) : readFor(needs, name, read),
    ),
  );

/** Returns the name of the read whose version the change is bound to. */
const nameBound = ({ etagFrom, reads }: Confirmation): string | undefined =>
  etagFrom ?? Object.entries(reads).find(([, read]) => "path" in read)?.[0];

/** The version of a record that was read. A platform without ETags has that of its content. */
const versionOf = ({ reads }: Confirmation, { name, reply }: Found): string | null => {
  const read = reads[name];
  if (reply === undefined || read === undefined) return null;
  // The rows of a list are in the question, or their ids in the arguments.
  if (!("path" in read)) return reply.etag;
  return reply.etag ?? printOf(reply.output);
};

const checkVersion = (ifMatch: string | undefined, etag: string | null): void => {
  if (ifMatch === undefined || etag === null) return;
  const versions = ifMatch.split(",").map((version) => version.trim());
  if (versions.includes(etag) || ifMatch.trim() === "*") return;
  throw new Problem("precondition_failed", "The record has changed since it was read.");
};

/**
 * Asks the platform whether it would accept the call, by all of its rules. One without dry runs may refuse what a
 * person has confirmed.
 *
 * @throws {Problem} if the platform would refuse the call
 */
const rehearse = async (
  { broker, tool: { operation }, args, options }: Needs,
  ifMatch: string | undefined,
): Promise<void> => {
  const offered = await broker.extensions(options.signal);
  if (!offered.has(nameDryRun(operation))) return;
  await broker.call(toDryRun(operation), { ...args }, { ...options, ifMatch });
};

/**
 * Checks what can be known beforehand and reads the records of a call: they exist, and ifMatch is their version.
 *
 * @throws {Problem} if the platform would refuse the call
 */
export const prepareCall = async (
  needs: Needs,
  confirm: Confirmation,
  ifMatch?: string,
): Promise<Prepared> => {
  await rehearse(needs, ifMatch);
  const found = await readAll(confirm, needs);
  const bound = nameBound(confirm);
  const etag = found.find(({ name }) => name === bound)?.reply?.etag ?? null;
  const absent = found.some(({ missing }) => missing === true);
  if (absent && ifMatch !== undefined) {
    throw new Problem("precondition_failed", "There is no such record yet, in any version.");
  }
  checkVersion(ifMatch, etag);
  const stored = found.find(({ name }) => name === bound)?.reply?.output;
  if (isRecord(stored)) checkTexts(needs.args, stored);
  const records = recordsOf(found, absent);
  const args = confirm.bind?.(needs.args, records) ?? needs.args;
  const versions = found.map((one) => versionOf(confirm, one));
  return { etag, absent, records, args, versions };
};

/**
 * Prepares the question about a call that the platform would accept, in words about the records themselves.
 *
 * @throws {Problem} where the platform would refuse the call
 */
export const askingOf = async (needs: Needs, ifMatch?: string): Promise<Asking> => {
  const { operation, confirm } = needs.tool;
  const { args } = needs;
  const none = { summary: null, etag: null, absent: false, bound: {}, print: "" };
  if (confirm === undefined) return none;
  const prepared = await prepareCall(needs, confirm, ifMatch);
  const { etag, absent, records, versions } = prepared;
  const createAsking = (text: string | null): Asking => {
    const summary = text === null ? null : sanitizeLine(text, MAX_QUESTION);
    const print = printOf(summary, prepared.args, versions, absent);
    return { summary, etag, absent, bound: toBound(args, prepared.args), print };
  };
  const due = findSideEffects(operation, needs.args).filter(
    ({ kind }) => !absent || kind !== "replaces",
  );
  return createAsking(due.length === 0 ? null : confirm.question(args, records));
};
