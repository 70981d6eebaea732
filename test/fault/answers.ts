import { expect } from "vitest";
import { z } from "zod";
import { ERRORS, isCode, SHARED_ERRORS } from "../../src/contract/errors.ts";
import { EXPORT_CODES } from "../../src/contract/errors.ts";
import type { Operation } from "../../src/contract/operation.ts";
import type { Reply } from "../support/platform.ts";

const Refusal = z.strictObject({
  type: z.string(),
  title: z.string().min(1),
  status: z.int(),
  detail: z.string().min(1),
  instance: z.string(),
  code: z.string(),
  requestId: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  permission: z.string().optional(),
  errors: z.array(z.strictObject({ field: z.string(), code: z.string(), message: z.string() })),
});

const ExportRefusal = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string().min(1),
    requestId: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  }),
});

const IngestRefusal = z.looseObject({
  error: z.string().min(1),
  message: z.string().min(1),
  errors: Refusal.shape.errors.optional(),
});

const LONGEST = 64 * 1024;
// Words of what is inside: no refusal may let them out.
const INSIDE =
  /node_modules|\.ts:\d|SQLITE|sqlite3|constraint failed|syntax error at|pg_|select \*/;

const checkGateway = (operation: Operation | undefined, reply: Reply): void => {
  expect(reply.headers.get("content-type")).toBe("application/problem+json");
  const body = Refusal.parse(reply.body);
  expect(body.type).toBe(`urn:problem:${body.code}`);
  expect(body.status).toBe(reply.status);
  expect(body.requestId).toBe(reply.headers.get("x-request-id"));
  if (!isCode(body.code)) throw new Error(`there is no code ${body.code}`);
  expect(ERRORS[body.code].status).toBe(reply.status);
  const own: readonly string[] = operation?.errors ?? [];
  expect([...Object.keys(SHARED_ERRORS), ...own]).toContain(body.code);
};

/** A refusal says what it must, in the words of its service, and nothing else. */
export const checkRefusal = (operation: Operation | undefined, reply: Reply): void => {
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(reply.status).toBeLessThan(500);
  expect(reply.text.length).toBeLessThan(LONGEST);
  expect(reply.text).not.toMatch(INSIDE);
  expect(reply.headers.get("x-injected")).toBeNull();
  if (reply.status === 401) expect(reply.headers.get("www-authenticate")).not.toBeNull();
  if (operation?.service === "ingest") {
    const { error, errors } = IngestRefusal.parse(reply.body);
    return expect(errors !== undefined || error !== "validation_failed").toBe(true);
  }
  if (operation?.service !== "export") return checkGateway(operation, reply);
  const { error } = ExportRefusal.parse(reply.body);
  expect(error.code).toBe(EXPORT_CODES[reply.status]);
};

/** A success is what the operation declares. */
export const checkSuccess = (operation: Operation, reply: Reply): void => {
  // A PUT of the ingest API also says whether it made the record.
  const made = operation.service === "ingest" && operation.method === "PUT" ? [201] : [];
  expect([operation.status, ...made]).toContain(reply.status);
  if (operation.file) return expect(reply.headers.get("content-disposition")).not.toBeNull();
  if (operation.output === null) return expect(reply.text).toBe("");
  expect(operation.output.parse(reply.body)).toEqual(reply.body);
};
