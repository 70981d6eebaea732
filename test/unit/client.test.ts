import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { createInProcessTransport } from "../../src/client/in-process.ts";
import { createRemoteTransport } from "../../src/client/remote.ts";
import { contract, operations } from "../../src/contract/index.ts";
import { mergeArguments, type Operation } from "../../src/contract/operation.ts";
import { silentLog } from "../../src/kit/log.ts";
import { json } from "../support/wild-server.ts";
import { verifies } from "../support/verifies.ts";
import { CANARY, key, noteArgs, options, readNote, useWildClient } from "../support/wild-client.ts";

const wild = useWildClient();
const { disputes, audit_logs } = contract;

describe("the request of a call", () => {
  verifies("ID-20");
  it("encodes path parameters with slash, space, percent and unicode", async () => {
    wild.server.behave((_request, response) => {
      json(response, 200, []);
    });
    const accountNumber = "A/1 50%?#ä語";
    await wild.client.call(
      disputes.list_by_document_numbers,
      { tenantId: "t", accountNumber, documentNumbers: ["x"] },
      key,
      options,
    );
    const path = wild.server.seen[0]?.url ?? "";
    expect(path.split("/")).toHaveLength(9);
    expect(decodeURIComponent(path.split("/")[6] ?? "")).toBe(accountNumber);
  });

  verifies("C-67");
  it.each([".", "..", ""])(
    "refuses %j as a path parameter: it would name another resource",
    async (disputeId) => {
      const error = await wild.refusal(disputes.get, { tenantId: "t", disputeId });
      expect(error.code).toBe("invalid_parameter");
      expect(error.details.errors?.[0]?.field).toBe("disputeId");
      expect(wild.server.seen).toHaveLength(0);
    },
  );

  it("refuses half a surrogate pair", async () => {
    const error = await wild.refusal(disputes.get, { tenantId: "t", disputeId: "\ud800" });
    expect(error.code).toBe("invalid_parameter");
  });

  verifies("DR-12");
  it("repeats a query parameter for each value of an array", async () => {
    wild.server.behave((_request, response) => {
      json(response, 200, []);
    });
    const args = { tenantId: "t", ReasonName: "50% & more", Page: 1 };
    await wild.client.call(disputes.list, { ...args, Status: [0, 2] }, key, options);
    const query = new URL(wild.server.seen[0]?.url ?? "", "http://x").searchParams;
    expect(query.getAll("Status")).toEqual(["0", "2"]);
    expect(query.get("ReasonName")).toBe("50% & more");
    expect(query.get("Page")).toBe("1");
    expect(wild.server.seen[0]?.body).toBe("");
    expect(wild.server.seen[0]?.headers["content-type"]).toBeUndefined();
  });

  verifies("CONV-03");
  it("sends the body's fields as JSON, with null and without undefined", async () => {
    wild.server.behave((_request, response) => {
      json(response, 401, {});
    });
    const args = {
      tenantId: "t",
      disputeId: "d",
      assigneeId: null,
      poNumber: undefined,
      amount: 5,
    };
    await wild.refusal(disputes.update, args);
    expect(JSON.parse(wild.server.seen[0]?.body ?? "")).toEqual({ assigneeId: null, amount: 5 });
    expect(wild.server.seen[0]?.headers["content-type"]).toBe("application/json");
    expect(wild.server.seen[0]?.headers["accept"]).toBe("application/json");
  });

  verifies("T-01");
  it("sends a GET with its body if the transport can", async () => {
    wild.server.behave((_request, response) => {
      json(response, 200, []);
    });
    await wild.client.call(
      disputes.list_by_ids,
      { tenantId: "t", disputeIds: ["a"] },
      key,
      options,
    );
    expect(wild.server.seen[0]).toMatchObject({ method: "GET", body: '{"disputeIds":["a"]}' });
  });

  verifies("T-01");
  it("uses the POST alias if it cannot", async () => {
    const sent: string[] = [];
    const inside = createClient({
      transport: createInProcessTransport({
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
  it("names the tool and the MCP client in headers with the configured word", async () => {
    await wild.client.call(readNote, noteArgs, key, options);
    expect(wild.server.seen[0]?.headers).toMatchObject({
      "x-platform-mcp-tool": "dispute_notes_get",
      "x-platform-client": "mcp",
      "x-platform-api-key": CANARY,
    });
    const acme = createClient({
      transport: createRemoteTransport({
        baseUrls: { gateway: wild.server.url, export: wild.server.url },
        requestMs: 1000,
      }),
      headerWord: "Acme",
      log: silentLog,
    });
    await acme.call(readNote, noteArgs, {}, options);
    expect(wild.server.seen[1]?.headers["x-acme-mcp-tool"]).toBe("dispute_notes_get");
    await acme.close();
  });

  it("sends Idempotency-Key and If-Match, and refuses values that could break a header", async () => {
    await wild.client.call(readNote, noteArgs, key, {
      ...options,
      idempotencyKey: "k1",
      ifMatch: '"3"',
    });
    expect(wild.server.seen[0]?.headers).toMatchObject({
      "idempotency-key": "k1",
      "if-match": '"3"',
    });
    await wild.client.call(readNote, noteArgs, key, { ...options, ifAbsent: true });
    expect(wild.server.seen[1]?.headers).toMatchObject({ "if-none-match": "*" });
    for (const idempotencyKey of ["a\r\nX-Evil: 1", "", "ü", "x".repeat(256), " x"]) {
      const call = wild.client.call(readNote, noteArgs, key, { ...options, idempotencyKey });
      await expect(call).rejects.toMatchObject({ code: "invalid_request" });
    }
    expect(wild.server.seen).toHaveLength(2);
  });

  it("sends each service's requests to its own base URL and keeps a path in it", async () => {
    wild.server.behave((_request, response) => {
      json(response, 200, { data: [], pagination: { cursor: null, hasMore: false, rowCount: 0 } });
    });
    await wild.client.call(audit_logs.list, { limit: 1 }, key, options);
    expect(wild.server.seen[0]?.url).toBe("/ext/api/v1/remittance-export/audit-logs?limit=1");
  });

  it("treats an unknown argument as a bug, not as the caller's fault", async () => {
    const call = wild.client.call<Operation>(
      disputes.list,
      { tenantId: "t", baseUrl: "http://x" },
      key,
      options,
    );
    await expect(call).rejects.toBeInstanceOf(TypeError);
    expect(wild.server.seen).toHaveLength(0);
  });

  it("has distinct names for all parts of each operation", () => {
    const twice = operations.filter((operation) => {
      const parts = [operation.params, operation.query, operation.body];
      const names = parts.flatMap((part) => Object.keys(part?.shape ?? {}));
      return names.length !== Object.keys(mergeArguments(operation)).length;
    });
    expect(twice.map(({ id }) => id)).toEqual([]);
  });
});
