import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { createInProcessTransport } from "../../src/client/in-process.ts";
import { contract } from "../../src/contract/index.ts";
import { respondWithText } from "../../src/kit/known-text.ts";
import { silentLog } from "../../src/kit/log.ts";
import { json, problem, wildServer } from "../support/wild-server.ts";
import { verifies } from "../support/verifies.ts";
import {
  CANARY,
  key,
  note,
  noteArgs,
  options,
  readNote,
  useWildClient,
} from "../support/wild-client.ts";

const wild = useWildClient();
const { departments, audit_logs, assignees } = contract;

const embed = (fetch: (request: Request) => Promise<Response>, requestMs = 5000) =>
  createClient({
    transport: createInProcessTransport({ requestMs, fetch }),
    headerWord: "Platform",
    log: silentLog,
  });

describe("the result of a call", () => {
  it("keeps fields that the schema does not name, and reads the headers that matter", async () => {
    wild.server.behave((_request, response) => {
      json(
        response,
        200,
        { ...note, novelty: { deep: 1 } },
        {
          etag: '"7"',
          "x-request-id": "r-1",
          "x-total-count": "41",
          "x-ignored-fields": "foo, person.bar",
        },
      );
    });
    expect(await wild.client.call(readNote, noteArgs, key, options)).toEqual({
      status: 200,
      output: { ...note, novelty: { deep: 1 } },
      etag: '"7"',
      requestId: "r-1",
      total: 41,
      ignoredFields: ["foo", "person.bar"],
    });
  });

  verifies("D-GEN-4");
  it("converts a DELETE's empty response to null", async () => {
    wild.server.behave((_request, response) => response.writeHead(204).end());
    const reply = await wild.client.call(
      departments.delete,
      { tenantId: "t", departmentId: "d" },
      key,
      options,
    );
    expect(reply).toMatchObject({ status: 204, output: null });
  });

  const WRONG: [string, number, string, string][] = [
    ["HTML in place of JSON", 200, "text/html", `<h1>${CANARY}</h1>`],
    ["broken JSON", 200, "application/json", `{"content":"${CANARY}`],
    ["an empty body", 200, "application/json", ""],
    ["another shape", 200, "application/json", JSON.stringify({ ...note, content: [CANARY] })],
    ["an array for a record", 200, "application/json", `["${CANARY}"]`],
    ["an HTML 502", 502, "text/html", `<h1>${CANARY}</h1>`],
    ["an HTML 404 of a proxy", 404, "text/html", `<h1>${CANARY}</h1>`],
    ["an HTML 403 of a proxy", 403, "text/html", `<h1>${CANARY}</h1>`],
    ["a text 503", 503, "text/plain", CANARY],
    ["a redirect", 302, "text/html", CANARY],
  ];
  verifies("D-ERR-8");
  it.each(WRONG)("repeats nothing of %s", async (_what, status, type, body) => {
    wild.server.behave((_request, response) => {
      response.writeHead(status, {
        "content-type": type,
        location: `${wild.server.url}/${CANARY}`,
      });
      response.end(body);
    });
    const error = await wild.refusal();
    expect(error.code).toBe("unavailable");
    expect(wild.server.seen.every(({ url }) => !url.includes(CANARY))).toBe(true);
  });

  it("refuses a number with more digits than a double has", async () => {
    wild.server.behave((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"data":[],"pagination":{"cursor":null,"hasMore":false,"rowCount":1e400}}');
    });
    expect((await wild.refusal(audit_logs.list, {})).code).toBe("unavailable");
  });

  it("stops reading an answer that is too large", async () => {
    const small = wild.clientFor(wild.server.url, { maxAnswerBytes: 1000 });
    let ended = false;
    wild.server.behave((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.on("close", () => {
        ended = true;
      });
      const more = () => {
        if (!ended) response.write(`"${CANARY.repeat(100)}"`, more);
      };
      more();
    });
    const error = await wild.refusal(readNote, noteArgs, small);
    expect(error).toMatchObject({ code: "unavailable" });
    expect(error.message).toMatch(/too large/);
    await expect.poll(() => ended).toBe(true);
  });

  it("times out if a platform never responds, or stops in the middle", async () => {
    const hasty = wild.clientFor(wild.server.url, { requestMs: 150 });
    wild.server.behave(() => {});
    expect((await wild.refusal(readNote, noteArgs, hasty)).message).toMatch(/in time/);
    wild.server.behave((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("[");
    });
    expect((await wild.refusal(readNote, noteArgs, hasty)).message).toMatch(/in time/);
    expect(wild.waits).toEqual([]);
  });

  it("times out if an embedded platform ignores its signal", async () => {
    const inside = embed(() => new Promise(() => {}), 50);
    expect((await wild.refusal(readNote, noteArgs, inside)).message).toMatch(/in time/);
  });

  verifies("C-87");
  it("aborts the request to an embedded platform when the caller cancels", async () => {
    const stop = new AbortController();
    const aborted = Promise.withResolvers<void>();
    const inside = embed((request) => {
      request.signal.addEventListener("abort", () => aborted.resolve());
      stop.abort();
      return new Promise(() => {});
    });
    const call = inside.call(readNote, noteArgs, key, { ...options, signal: stop.signal });
    await expect(call).rejects.toMatchObject({ code: "unavailable" });
    await aborted.promise;
  });

  it("asks an embedded platform again whose answer ends midway, and says so", async () => {
    let requests = 0;
    const inside = embed(async () => {
      requests += 1;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(Buffer.from("{"));
          controller.error(new Error("the view was released"));
        },
      });
      return new Response(body);
    });
    const { code, message } = await wild.refusal(readNote, noteArgs, inside);
    expect([code, message, requests]).toEqual([
      "unavailable",
      "The connection to the platform was lost before its whole answer arrived.",
      3,
    ]);
  });

  it.each([
    ["takes a short text of an embedded platform without its stream", 10, false],
    ["reads a long text of an embedded platform from its stream", 100_000, true],
  ])("%s", async (_title, length, isRead) => {
    const text = JSON.stringify({ ...note, novelty: "x".repeat(length) });
    const headers = { "Content-Type": "application/json", ETag: '"7"' };
    const response = respondWithText(text, { headers });
    const reply = await embed(async () => response).call(readNote, noteArgs, key, options);
    expect(reply).toMatchObject({ status: 200, etag: '"7"', output: JSON.parse(text) });
    expect(response.bodyUsed).toBe(isRead);
  });

  verifies("C-87");
  it("ends the exchange when the caller cancels", async () => {
    const stop = new AbortController();
    let closed = false;
    wild.server.behave((_request, response) => {
      response.on("close", () => {
        closed = true;
      });
      stop.abort();
    });
    const call = wild.client.call(readNote, noteArgs, key, { ...options, signal: stop.signal });
    await expect(call).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/canceled/),
    });
    await expect.poll(() => closed).toBe(true);
    expect(wild.server.seen).toHaveLength(1);
  });
});

describe("refusals of the platform", () => {
  verifies("D-ERR-1");
  it("reads a problem with its code, fields, request id and Retry-After", async () => {
    wild.server.behave((_request, response) => {
      problem(
        response,
        400,
        {
          code: "invalid_request",
          detail: "The\nbody is\u0007 wrong.",
          requestId: "r-9",
          errors: [{ field: "amount", code: "range", message: "must be greater than 0" }],
        },
        { "retry-after": "7" },
      );
    });
    const error = await wild.refusal();
    expect(error.code).toBe("invalid_request");
    expect(error.message).toBe("The body is wrong.");
    expect(error.details).toEqual({
      requestId: "r-9",
      retryAfterSeconds: 7,
      errors: [{ field: "amount", code: "range", message: "must be greater than 0" }],
    });
  });

  verifies("D-MCP-8");
  it("names the permission that is missing", async () => {
    wild.server.behave((_request, response) => {
      problem(response, 403, { code: "forbidden_permission", detail: "No." });
    });
    const error = await wild.refusal(assignees.list, { tenantId: "t" });
    expect(error.details.permission).toBe("Dispute Configuration : READ");
  });

  const UNKNOWN: [number, string][] = [
    [400, "invalid_request"],
    [401, "unauthenticated"],
    [403, "forbidden_permission"],
    [404, "not_found"],
    [409, "conflict"],
    [410, "gone"],
    [412, "precondition_failed"],
    [418, "invalid_request"],
    [422, "invalid_request"],
    [429, "rate_limited"],
    [500, "internal"],
    [502, "unavailable"],
    [503, "unavailable"],
  ];
  verifies("D-ERR-2");
  it.each(UNKNOWN)("takes a %i with an unknown code for %s", async (status, code) => {
    wild.server.behave((_request, response) => {
      problem(response, status, { code: "novel_code", detail: "Words." }, { "retry-after": "99" });
    });
    expect(await wild.refusal()).toMatchObject({ code, message: "Words." });
    wild.server.behave((_request, response) => {
      response.writeHead(status, { "retry-after": "99" }).end();
    });
    expect((await wild.refusal()).code).toBe(code);
  });

  const EXPORT: [number, string, string][] = [
    [400, "BAD_REQUEST", "invalid_request"],
    [404, "constructor", "not_found"],
    [401, "UNAUTHORIZED", "unauthenticated"],
    [403, "FORBIDDEN", "forbidden_permission"],
    [404, "NOT_FOUND", "not_found"],
    [405, "METHOD_NOT_ALLOWED", "method_not_allowed"],
    [409, "CONFLICT", "conflict"],
    [410, "GONE", "gone"],
    [413, "PAYLOAD_TOO_LARGE", "payload_too_large"],
    [415, "UNSUPPORTED_MEDIA_TYPE", "unsupported_media_type"],
    [429, "RATE_LIMITED", "rate_limited"],
    [500, "INTERNAL", "internal"],
    [503, "UNAVAILABLE", "unavailable"],
    [404, "SOMETHING_NEW", "not_found"],
  ];
  verifies("D-ERR-5");
  it.each(EXPORT)("reads the export dialect: %i %s is %s", async (status, word, code) => {
    wild.server.behave((_request, response) => {
      const body = { error: { code: word, message: "Words.", requestId: "r-2" } };
      json(response, status, body, { "retry-after": "99" });
    });
    const error = await wild.refusal(audit_logs.list, {});
    expect(error).toMatchObject({ code, message: "Words." });
    expect(error.details.requestId).toBe("r-2");
  });

  it("limits the text of a hostile platform", async () => {
    wild.server.behave((_request, response) => {
      const errors = Array.from({ length: 5000 }, () => ({ field: "f", code: "c", message: "m" }));
      problem(response, 400, { code: "invalid_request", detail: "x".repeat(1e6), errors });
    });
    const error = await wild.refusal();
    expect(error.message.length).toBeLessThanOrEqual(500);
    expect(error.details.errors?.length).toBeLessThanOrEqual(50);
  });
});

describe("retries", () => {
  const flaky = (times: number, status: number, headers: Record<string, string>) => {
    let left = times;
    wild.server.behave((_request, response) => {
      if (left-- > 0) problem(response, status, { code: "x" }, headers);
      else json(response, 200, note);
    });
  };

  it.each([429, 503])(
    "a read survives two responses with %i and waits as long as they say",
    async (status) => {
      flaky(2, status, { "retry-after": "2" });
      await wild.client.call(readNote, noteArgs, key, options);
      expect(wild.waits).toEqual([2000, 2000]);
    },
  );

  it("waits longer each time without a Retry-After", async () => {
    flaky(2, 503, {});
    await wild.client.call(readNote, noteArgs, key, options);
    expect(wild.waits).toEqual([200, 400]);
  });

  it("stops after two retries", async () => {
    flaky(9, 503, {});
    expect((await wild.refusal()).code).toBe("unavailable");
    expect(wild.server.seen).toHaveLength(3);
  });

  verifies("C-56");
  it("reports a longer wait and leaves it to the caller", async () => {
    flaky(1, 429, { "retry-after": "6" });
    expect((await wild.refusal()).details.retryAfterSeconds).toBe(6);
    expect(wild.waits).toEqual([]);
  });

  it("reads Retry-After as a date too", async () => {
    flaky(1, 429, {
      date: "Fri, 20 Nov 2026 10:00:00 GMT",
      "retry-after": "Fri, 20 Nov 2026 10:01:00 GMT",
    });
    expect((await wild.refusal()).details.retryAfterSeconds).toBe(60);
  });

  verifies("D-MCP-3");
  it("never repeats a POST or a DELETE", async () => {
    flaky(9, 503, {});
    const create = { tenantId: "t", disputeId: "d", content: "c" };
    await wild.refusal(contract.dispute_notes.create, create);
    await wild.refusal(contract.dispute_notes.delete, noteArgs);
    expect(wild.server.seen).toHaveLength(2);
  });

  it("repeats a PUT, but one with If-Match only if it was not executed", async () => {
    const put = contract.dispute_notes.update;
    const args = { ...noteArgs, content: "x" };
    flaky(1, 503, {});
    await wild.client.call(put, args, key, options);
    expect(wild.server.seen).toHaveLength(2);
    flaky(1, 503, {});
    const match = { ...options, ifMatch: '"1"' };
    await expect(wild.client.call(put, args, key, match)).rejects.toMatchObject({
      code: "unavailable",
    });
    flaky(1, 429, {});
    await wild.client.call(put, args, key, match);
    expect(wild.server.seen).toHaveLength(5);
  });

  it("a read survives a connection that is cut", async () => {
    let cut = true;
    wild.server.behave((_request, response) => {
      if (cut) response.destroy();
      else json(response, 200, note);
      cut = false;
    });
    expect((await wild.client.call(readNote, noteArgs, key, options)).status).toBe(200);
  });

  it("reports a refused connection after three tries", async () => {
    const gone = await wildServer();
    await gone.close();
    const error = await wild.refusal(readNote, noteArgs, wild.clientFor(gone.url));
    expect(error).toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/cannot be reached/),
    });
    expect(wild.waits).toHaveLength(2);
  });
});
