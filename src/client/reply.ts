import { z } from "zod";
import { Problem } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import { parseJson } from "../kit/json.ts";
import type { Log } from "../kit/log.ts";
import { describeFile } from "./file.ts";
import type { Reply, WireReply } from "./port.ts";
import { isJson, problemOf, requestIdOf } from "./problem.ts";

const MAX_IGNORED = 20;

const unexpected = (log: Log, operation: Operation, reply: WireReply, why: string): Problem => {
  const requestId = requestIdOf(reply.headers["x-request-id"]);
  log.warn("platform.unexpected_answer", {
    operation: operation.id,
    status: reply.status,
    why,
    requestId,
  });
  return new Problem(
    "unavailable",
    "The platform answered in an unexpected form.",
    requestId === undefined ? {} : { requestId },
  );
};

const outputOf = (log: Log, operation: Operation, reply: WireReply): unknown => {
  if (operation.output === null) return null;
  if (!isJson(reply)) throw unexpected(log, operation, reply, "not JSON");
  let value: unknown;
  try {
    value = parseJson(reply.body);
  } catch {
    throw unexpected(log, operation, reply, "broken JSON");
  }
  const { error } = operation.output.safeParse(value);
  if (error === undefined) return value;
  const at = error.issues[0]?.path.map(String).join(".").slice(0, 100);
  throw unexpected(log, operation, reply, `schema: ${at}`);
};

/** What the headers say of a file that came, or that is too large to have come. */
const fileOf = (log: Log, operation: Operation, reply: WireReply): unknown => {
  const file = describeFile(reply);
  const { error } = z.safeParse(operation.output ?? z.never(), file);
  if (error === undefined) return file;
  throw unexpected(log, operation, reply, "headers of no file");
};

const totalOf = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;

const ignoredOf = (text: string | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((name) => name.trim().slice(0, 200))
    .filter((name) => name !== "")
    .slice(0, MAX_IGNORED);

/** Reads an answer: the operation's output, checked and with whatever fields it has beyond, or the Problem it tells. */
export const replyOf = (log: Log, operation: Operation, reply: WireReply): Reply => {
  if (reply.status < 200 || reply.status > 299) throw problemOf(operation, reply);
  return {
    status: reply.status,
    output: operation.file ? fileOf(log, operation, reply) : outputOf(log, operation, reply),
    etag: reply.headers["etag"] ?? null,
    requestId: requestIdOf(reply.headers["x-request-id"]) ?? null,
    total: totalOf(reply.headers["x-total-count"]),
    ignoredFields: ignoredOf(reply.headers["x-ignored-fields"]),
    ...(reply.bytes === undefined ? {} : { bytes: reply.bytes }),
  };
};
