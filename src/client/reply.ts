import { setImmediate } from "node:timers/promises";
import { Problem } from "../contract/errors.ts";
import type { Operation, OutputOf } from "../contract/operation.ts";
import { parseJsonInTurns } from "../kit/parse-json.ts";
import type { Log } from "../kit/log.ts";
import { isSuccess } from "./body.ts";
import { checkOutput } from "./check-output.ts";
import { describeFile } from "./file.ts";
import type { Reply, WireReply } from "./port.ts";
import { isChanging, isJson, toReplyProblem, parseRequestId } from "./problem.ts";

const MAX_IGNORED = 20;
/** Beyond any record: a deeper value could overflow the stack of recursive code, more names take long to parse. */
const LIMITS = { depth: 64, names: 10_000, longNames: 10 };

/** The characters of a body from which its records are checked in a turn of their own. */
const LONG = 65_536;

export type ReplyNeeds<O extends Operation = Operation> = {
  operation: O;
  log: Log;
  now: () => number;
};

const unexpectedAnswer = (
  { operation, log }: ReplyNeeds,
  reply: WireReply,
  why: string,
): Problem => {
  const requestId = parseRequestId(reply.headers["x-request-id"]);
  log.warn("platform.unexpected_answer", {
    operation: operation.id,
    status: reply.status,
    why,
    requestId,
  });
  return new Problem("unavailable", `The platform answered in an unexpected form: ${why}.`, {
    ...(requestId === undefined ? {} : { requestId }),
    ...(isChanging(operation) ? { uncertain: true } : {}),
  });
};

// Keys may be foreign text, so only plain identifiers are shown.
const formatPath = (path: readonly PropertyKey[]): string =>
  path
    .map(String)
    .map((name) => (/^\w{1,40}$/.test(name) ? name : "…"))
    .slice(0, 8)
    .join(".");

const readJson = async (needs: ReplyNeeds, reply: WireReply): Promise<unknown> => {
  const { output } = needs.operation;
  if (output === null && reply.body === "") return null;
  if (!isJson(reply)) throw unexpectedAnswer(needs, reply, "it is not JSON");
  if (output === null) return null;
  const parsed = await parseJsonInTurns(reply.body, LIMITS).catch(() => {
    throw unexpectedAnswer(needs, reply, "its JSON is broken");
  });
  if ("value" in parsed) return parsed.value;
  const why = parsed.exceeded === "depth" ? "it is too deep" : "it has too many different fields";
  throw unexpectedAnswer(needs, reply, why);
};

/** Reads the output; a file is described by its headers, also when it was too large to read. */
const parseOutput = async <O extends Operation>(
  needs: ReplyNeeds<O>,
  reply: WireReply,
): Promise<OutputOf<O>> => {
  const { operation } = needs;
  const value = operation.file ? describeFile(reply) : await readJson(needs, reply);
  if (reply.body.length > LONG) await setImmediate();
  return checkOutput(operation, value, (path) => {
    const at = formatPath(path);
    const shape = at === "" ? "it has another shape" : `${at} is not as documented`;
    throw unexpectedAnswer(needs, reply, operation.file ? "its headers describe no file" : shape);
  });
};

// An entity tag as RFC 9110 has it: it identifies one version of one record.
const parseEtag = (text: string | undefined): string | null =>
  text !== undefined && /^(W\/)?"[\x21\x23-\x7e]{0,200}"$/.test(text) ? text : null;

const parseTotal = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;

const parseIgnoredFields = (text: string | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((name) => name.trim().slice(0, 200))
    .filter((name) => name !== "")
    .slice(0, MAX_IGNORED);

/**
 * Parses a response. The output is checked against the operation's schema; undocumented fields are kept. A long one is
 * read with turns of the event loop in between.
 *
 * @throws {Problem} the platform's refusal, or `unavailable` for an answer that is not as documented
 */
export const parseReply = async <O extends Operation>(
  needs: ReplyNeeds<O>,
  reply: WireReply,
): Promise<Reply<O>> => {
  const { operation, now } = needs;
  if (!isSuccess(reply.status)) throw toReplyProblem(operation, reply, now());
  return {
    status: reply.status,
    output: await parseOutput(needs, reply),
    etag: parseEtag(reply.headers["etag"]),
    requestId: parseRequestId(reply.headers["x-request-id"]) ?? null,
    total: parseTotal(reply.headers["x-total-count"]),
    ignoredFields: parseIgnoredFields(reply.headers["x-ignored-fields"]),
    ...(reply.bytes === undefined ? {} : { bytes: reply.bytes }),
  };
};
