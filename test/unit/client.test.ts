import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { inProcessTransport } from "../../src/client/in-process.ts";
import type { Client } from "../../src/client/port.ts";
import { createRemoteTransport } from "../../src/client/remote.ts";
import { contract, operations } from "../../src/contract/index.ts";
import { Problem } from "../../src/contract/errors.ts";
import { mergeArguments, type Operation } from "../../src/contract/operation.ts";
import { silentLog } from "../../src/kit/log.ts";
import type { Wait } from "../../src/kit/wait.ts";
import { json, problem, wildServer, type WildServer } from "../support/wild-server.ts";
import { verifies } from "../support/verifies.ts";

const CANARY = "canary-9f1c-never-shown";
const key = { "x-platform-api-key": CANARY };
const options = { tool: "a_tool" };
const { disputes, departments, audit_logs, assignees } = contract;

const note = {
  disputeNoteId: "n",
  tenantId: "t",
  disputeId: "d",
  content: "c",
  visibility: "All",
  createUser: "u",
  createDate: "2026-01-02T03:04:05.678Z",
  updateUser: "u",
  updateDate: "2026-01-02T03:04:05.678Z",
};
const readNote = contract.dispute_notes.get;
const noteArgs = { tenantId: "t", disputeId: "d", noteId: "n" };

let server: WildServer;
let client: Client;
let waits: number[];
const closing: Client[] = [];

const clientFor = (url: string, more: { requestMs?: number; maxAnswerBytes?: number } = {}) => {
  const wait: Wait = {
    sleep: async (ms) => {
      waits.push(ms);
    },
    chance: () => 0,
  };
  const made = createClient({
    transport: createRemoteTransport({
      baseUrls: { gateway: url, export: `${url}/ext/` },
      requestMs: 30_000,
      ...more,
    }),
    headerWord: "Platform",
    log: silentLog,
    wait,
  });
  closing.push(made);
  return made;
};

const refusal = async (
  operation: Operation = readNote,
  args: Record<string, unknown> = noteArgs,
  through: Client = client,
): Promise<Problem> => {
  const error: unknown = await through.call(operation, args, key, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Problem)) throw new Error("no Problem", { cause: error });
  expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain(CANARY);
  return error;
};

beforeEach(async () => {
  waits = [];
  server = await wildServer((_request, response) => {
    json(response, 200, note);
  });
  client = clientFor(server.url);
});

afterEach(async () => {
  await Promise.all(closing.splice(0).map((one) => one.close()));
  await server.close();
});

describe("what a call sends", () => {
  verifies("ID-20");
  it("encodes path parameters with slash, space, percent and unicode", async () => {
    server.behave((_request, response) => {
      json(response, 200, []);
    });
    const accountNumber = "A/1 50%?#ä語";
    await client.call(
      disputes.list_by_document_numbers,
      { tenantId: "t", accountNumber, documentNumbers: ["x"] },
      key,
      options,
    );
    const path = server.seen[0]?.url ?? "";
    expect(path.split("/")).toHaveLength(9);
    expect(decodeURIComponent(path.split("/")[6] ?? "")).toBe(accountNumber);
  });

  verifies("C-67");
  it.each([".", "..", ""])(
    "refuses %j as a path parameter: it would name another resource",
    async (disputeId) => {
      const error = await refusal(disputes.get, { tenantId: "t", disputeId });
      expect(error.code).toBe("invalid_parameter");
      expect(error.details.errors?.[0]?.field).toBe("disputeId");
      expect(server.seen).toHaveLength(0);
    },
  );

  it("refuses half a surrogate pair rather than break on it", async () => {
    const error = await refusal(disputes.get, { tenantId: "t", disputeId: "\ud800" });
    expect(error.code).toBe("invalid_parameter");
  });

  verifies("DR-12");
  it("repeats a query parameter for each value of an array", async () => {
    server.behave((_request, response) => {
      json(response, 200, []);
    });
    const args = { tenantId: "t", Status: [0, 2], ReasonName: "50% & more", Page: 1 };
    await client.call(disputes.list, args, key, options);
    const query = new URL(server.seen[0]?.url ?? "", "http://x").searchParams;
    expect(query.getAll("Status")).toEqual(["0", "2"]);
    expect(query.get("ReasonName")).toBe("50% & more");
    expect(query.get("Page")).toBe("1");
    expect(server.seen[0]?.body).toBe("");
    expect(server.seen[0]?.headers["content-type"]).toBeUndefined();
  });

  verifies("CONV-03");
  it("sends the body's fields as JSON, null kept and undefined left out", async () => {
    server.behave((_request, response) => {
      json(response, 401, {});
    });
    const args = {
      tenantId: "t",
      disputeId: "d",
      assigneeId: null,
      poNumber: undefined,
      amount: 5,
    };
    await refusal(disputes.update, args);
    expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ assigneeId: null, amount: 5 });
    expect(server.seen[0]?.headers["content-type"]).toBe("application/json");
    expect(server.seen[0]?.headers["accept"]).toBe("application/json");
  });

  verifies("T-01");
  it("sends a GET with its body where the transport can", async () => {
    server.behave((_request, response) => {
      json(response, 200, []);
    });
    await client.call(disputes.list_by_ids, { tenantId: "t", disputeIds: ["a"] }, key, options);
    expect(server.seen[0]).toMatchObject({ method: "GET", body: '{"disputeIds":["a"]}' });
  });

  verifies("T-01");
  it("takes the POST twin where it cannot", async () => {
    const sent: string[] = [];
    const inside = createClient({
      transport: inProcessTransport({
        requestMs: 1000,
        fetch: async (request) => {
          sent.push(request.method, await request.text());
          return Response.json([]);
        },
      }),
      headerWord: "Platform",
      log: silentLog,
    });
    await inside.call(disputes.list_by_ids, { tenantId: "t", disputeIds: ["a"] }, key, options);
    expect(sent).toEqual(["POST", '{"disputeIds":["a"]}']);
  });

  verifies("C-82");
  it("names the tool and the MCP client, with the configured word", async () => {
    await client.call(readNote, noteArgs, key, options);
    expect(server.seen[0]?.headers).toMatchObject({
      "x-platform-mcp-tool": "a_tool",
      "x-platform-client": "mcp",
      "x-platform-api-key": CANARY,
    });
    const acme = createClient({
      transport: createRemoteTransport({
        baseUrls: { gateway: server.url, export: server.url },
        requestMs: 1000,
      }),
      headerWord: "Acme",
      log: silentLog,
    });
    closing.push(acme);
    await acme.call(readNote, noteArgs, {}, options);
    expect(server.seen[1]?.headers["x-acme-mcp-tool"]).toBe("a_tool");
  });

  it("sends Idempotency-Key and If-Match, and refuses what could break a header", async () => {
    await client.call(readNote, noteArgs, key, {
      ...options,
      idempotencyKey: "k1",
      ifMatch: '"3"',
    });
    expect(server.seen[0]?.headers).toMatchObject({ "idempotency-key": "k1", "if-match": '"3"' });
    await client.call(readNote, noteArgs, key, { ...options, ifAbsent: true });
    expect(server.seen[1]?.headers).toMatchObject({ "if-none-match": "*" });
    for (const idempotencyKey of ["a\r\nX-Evil: 1", "", "ü", "x".repeat(256), " x"]) {
      const call = client.call(readNote, noteArgs, key, { ...options, idempotencyKey });
      await expect(call).rejects.toMatchObject({ code: "invalid_request" });
    }
    expect(server.seen).toHaveLength(2);
  });

  it("reaches each service at its own base URL and keeps a path in it", async () => {
    server.behave((_request, response) => {
      json(response, 200, { data: [], pagination: { cursor: null, hasMore: false, rowCount: 0 } });
    });
    await client.call(audit_logs.list, { limit: 1 }, key, options);
    expect(server.seen[0]?.url).toBe("/ext/api/v1/remittance-export/audit-logs?limit=1");
  });

  it("takes an unknown argument for a fault of ours, not the caller's", async () => {
    const call = client.call(disputes.list, { tenantId: "t", baseUrl: "http://x" }, key, options);
    await expect(call).rejects.toBeInstanceOf(TypeError);
    expect(server.seen).toHaveLength(0);
  });

  it("finds no name twice among the parts of any operation", () => {
    const twice = operations.filter((operation) => {
      const parts = [operation.params, operation.query, operation.body];
      const names = parts.flatMap((part) => Object.keys(part?.shape ?? {}));
      return names.length !== Object.keys(mergeArguments(operation)).length;
    });
    expect(twice.map(({ id }) => id)).toEqual([]);
  });
});

describe("what a call gives", () => {
  it("keeps fields that the schema does not name, and reads the headers that matter", async () => {
    server.behave((_request, response) => {
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
    expect(await client.call(readNote, noteArgs, key, options)).toEqual({
      status: 200,
      output: { ...note, novelty: { deep: 1 } },
      etag: '"7"',
      requestId: "r-1",
      total: 41,
      ignoredFields: ["foo", "person.bar"],
    });
  });

  verifies("D-GEN-4");
  it("reads a DELETE's empty answer as null", async () => {
    server.behave((_request, response) => response.writeHead(204).end());
    const reply = await client.call(
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
    server.behave((_request, response) => {
      response.writeHead(status, { "content-type": type, location: `${server.url}/${CANARY}` });
      response.end(body);
    });
    const error = await refusal();
    expect(error.code).toBe("unavailable");
    expect(server.seen.every(({ url }) => !url.includes(CANARY))).toBe(true);
  });

  it("refuses a number with more digits than a double keeps", async () => {
    server.behave((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"data":[],"pagination":{"cursor":null,"hasMore":false,"rowCount":1e400}}');
    });
    expect((await refusal(audit_logs.list, {})).code).toBe("unavailable");
  });

  it("stops reading an answer that is too large", async () => {
    const small = clientFor(server.url, { maxAnswerBytes: 1000 });
    let ended = false;
    server.behave((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.on("close", () => {
        ended = true;
      });
      const more = () => {
        if (!ended) response.write(`"${CANARY.repeat(100)}"`, more);
      };
      more();
    });
    const error = await refusal(readNote, noteArgs, small);
    expect(error).toMatchObject({ code: "unavailable" });
    expect(error.message).toMatch(/too large/);
    await expect.poll(() => ended).toBe(true);
  });

  it("gives up on a platform that never answers, and on one that stops in the middle", async () => {
    const hasty = clientFor(server.url, { requestMs: 150 });
    server.behave(() => {});
    expect((await refusal(readNote, noteArgs, hasty)).message).toMatch(/in time/);
    server.behave((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("[");
    });
    expect((await refusal(readNote, noteArgs, hasty)).message).toMatch(/in time/);
    expect(waits).toEqual([]);
  });

  it("gives up on an embedded platform that does not heed its signal", async () => {
    const inside = createClient({
      transport: inProcessTransport({ requestMs: 50, fetch: () => new Promise(() => {}) }),
      headerWord: "Platform",
      log: silentLog,
    });
    expect((await refusal(readNote, noteArgs, inside)).message).toMatch(/in time/);
  });

  verifies("C-87");
  it("ends the exchange when the caller cancels", async () => {
    const stop = new AbortController();
    let closed = false;
    server.behave((_request, response) => {
      response.on("close", () => {
        closed = true;
      });
      stop.abort();
    });
    const call = client.call(readNote, noteArgs, key, { ...options, signal: stop.signal });
    await expect(call).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/canceled/),
    });
    await expect.poll(() => closed).toBe(true);
    expect(server.seen).toHaveLength(1);
  });
});

describe("refusals of the platform", () => {
  verifies("D-ERR-1");
  it("reads a problem with its code, fields, request id and Retry-After", async () => {
    server.behave((_request, response) => {
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
    const error = await refusal();
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
    server.behave((_request, response) => {
      problem(response, 403, { code: "forbidden_permission", detail: "No." });
    });
    const error = await refusal(assignees.list, { tenantId: "t" });
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
    server.behave((_request, response) => {
      problem(response, status, { code: "novel_code", detail: "Words." }, { "retry-after": "99" });
    });
    expect(await refusal()).toMatchObject({ code, message: "Words." });
    server.behave((_request, response) => {
      response.writeHead(status, { "retry-after": "99" }).end();
    });
    expect((await refusal()).code).toBe(code);
  });

  const EXPORT: [number, string, string][] = [
    [400, "BAD_REQUEST", "invalid_request"],
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
    server.behave((_request, response) => {
      const body = { error: { code: word, message: "Words.", requestId: "r-2" } };
      json(response, status, body, { "retry-after": "99" });
    });
    const error = await refusal(audit_logs.list, {});
    expect(error).toMatchObject({ code, message: "Words." });
    expect(error.details.requestId).toBe("r-2");
  });

  it("bounds what a hostile platform says", async () => {
    server.behave((_request, response) => {
      const errors = Array.from({ length: 5000 }, () => ({ field: "f", code: "c", message: "m" }));
      problem(response, 400, { code: "invalid_request", detail: "x".repeat(1e6), errors });
    });
    const error = await refusal();
    expect(error.message.length).toBeLessThanOrEqual(500);
    expect(error.details.errors?.length).toBeLessThanOrEqual(50);
  });
});

describe("trying again", () => {
  const flaky = (times: number, status: number, headers: Record<string, string>) => {
    let left = times;
    server.behave((_request, response) => {
      if (left-- > 0) problem(response, status, { code: "x" }, headers);
      else json(response, 200, note);
    });
  };

  it.each([429, 503])("a read survives two answers with %i and waits as told", async (status) => {
    flaky(2, status, { "retry-after": "2" });
    await client.call(readNote, noteArgs, key, options);
    expect(waits).toEqual([2000, 2000]);
  });

  it("waits longer each time when it is not told", async () => {
    flaky(2, 503, {});
    await client.call(readNote, noteArgs, key, options);
    expect(waits).toEqual([200, 400]);
  });

  it("stops after two retries", async () => {
    flaky(9, 503, {});
    expect((await refusal()).code).toBe("unavailable");
    expect(server.seen).toHaveLength(3);
  });

  verifies("C-56");
  it("tells of a longer wait and leaves it to the caller", async () => {
    flaky(1, 429, { "retry-after": "6" });
    expect((await refusal()).details.retryAfterSeconds).toBe(6);
    expect(waits).toEqual([]);
  });

  it("reads Retry-After as a date too", async () => {
    flaky(1, 429, {
      date: "Fri, 20 Nov 2026 10:00:00 GMT",
      "retry-after": "Fri, 20 Nov 2026 10:01:00 GMT",
    });
    expect((await refusal()).details.retryAfterSeconds).toBe(60);
  });

  verifies("D-MCP-3");
  it("never repeats a POST or a DELETE", async () => {
    flaky(9, 503, {});
    const create = { tenantId: "t", disputeId: "d", content: "c" };
    await refusal(contract.dispute_notes.create, create);
    await refusal(contract.dispute_notes.delete, noteArgs);
    expect(server.seen).toHaveLength(2);
  });

  it("repeats a PUT, but one with If-Match only when it was not acted upon", async () => {
    const put = contract.dispute_notes.update;
    const args = { ...noteArgs, content: "x" };
    flaky(1, 503, {});
    await client.call(put, args, key, options);
    expect(server.seen).toHaveLength(2);
    flaky(1, 503, {});
    const match = { ...options, ifMatch: '"1"' };
    await expect(client.call(put, args, key, match)).rejects.toMatchObject({ code: "unavailable" });
    flaky(1, 429, {});
    await client.call(put, args, key, match);
    expect(server.seen).toHaveLength(5);
  });

  it("a read survives a connection that is cut", async () => {
    let cut = true;
    server.behave((_request, response) => {
      if (cut) response.destroy();
      else json(response, 200, note);
      cut = false;
    });
    expect((await client.call(readNote, noteArgs, key, options)).status).toBe(200);
  });

  it("tells of a refused connection after three tries, in words of its own", async () => {
    const gone = await wildServer();
    await gone.close();
    const error = await refusal(readNote, noteArgs, clientFor(gone.url));
    expect(error).toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/cannot be reached/),
    });
    expect(waits).toHaveLength(2);
  });
});
