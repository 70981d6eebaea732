import { z } from "zod";
import { Problem } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import { brokenLimit, parseJson } from "../kit/json.ts";
import type { Log } from "../kit/log.ts";
import { isSuccess } from "./body.ts";
import { describeFile } from "./file.ts";
import type { Reply, WireReply } from "./port.ts";
import { isChanging, isJson, problemOf, requestIdOf } from "./problem.ts";

const MAX_IGNORED = 20;
/** No record is nested so deep; what is deeper would break whoever walks it. */
const LIMITS = { depth: 64, arrayLength: Infinity };

export type ReplyNeeds = { operation: Operation; log: Log; now: () => number };

const unexpected = ({ operation, log }: ReplyNeeds, reply: WireReply, why: string): Problem => {
  const requestId = requestIdOf(reply.headers["x-request-id"]);
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

// A key may be text of the other side.
const placeOf = (path: readonly PropertyKey[]): string =>
  path
    .map(String)
    .map((name) => (/^\w{1,40}$/.test(name) ? name : "…"))
    .slice(0, 8)
    .join(".");

const outputOf = (needs: ReplyNeeds, reply: WireReply): unknown => {
  const { output } = needs.operation;
  if (output === null && reply.body === "") return null;
  if (!isJson(reply)) throw unexpected(needs, reply, "it is not JSON");
  if (output === null) return null;
  let value: unknown;
  try {
    value = parseJson(reply.body);
  } catch {
    throw unexpected(needs, reply, "its JSON is broken");
  }
  if (brokenLimit(value, LIMITS) !== undefined) throw unexpected(needs, reply, "it is too deep");
  const { error } = output.safeParse(value);
  if (error === undefined) return value;
  const at = placeOf(error.issues[0]?.path ?? []);
  throw unexpected(needs, reply, at === "" ? "it has another shape" : `${at} is not as documented`);
};

/** What the headers say of a file that came, or that is too large to have come. */
const fileOf = (needs: ReplyNeeds, reply: WireReply): unknown => {
  const file = describeFile(reply);
  const { error } = z.safeParse(needs.operation.output ?? z.never(), file);
  if (error === undefined) return file;
  throw unexpected(needs, reply, "its headers tell of no file");
};

// Whoever sends it back means one version of one record.
const etagOf = (text: string | undefined): string | null =>
  text !== undefined && /^(W\/)?"[\x21\x23-\x7e]{0,200}"$/.test(text) ? text : null;

const totalOf = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;

const ignoredOf = (text: string | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((name) => name.trim().slice(0, 200))
    .filter((name) => name !== "")
    .slice(0, MAX_IGNORED);

/** Reads an answer: the operation's output, checked and with whatever fields it has beyond, or the Problem it tells. */
export const replyOf = (needs: ReplyNeeds, reply: WireReply): Reply => {
  const { operation, now } = needs;
  if (!isSuccess(reply.status)) throw problemOf(operation, reply, now());
  return {
    status: reply.status,
    output: operation.file ? fileOf(needs, reply) : outputOf(needs, reply),
    etag: etagOf(reply.headers["etag"]),
    requestId: requestIdOf(reply.headers["x-request-id"]) ?? null,
    total: totalOf(reply.headers["x-total-count"]),
    ignoredFields: ignoredOf(reply.headers["x-ignored-fields"]),
    ...(reply.bytes === undefined ? {} : { bytes: reply.bytes }),
  };
};
