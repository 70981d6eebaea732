import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { contract } from "../../src/contract/index.ts";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { dispute as sample } from "../mcp/records.ts";
import { problemOf, remoteClient, type RemoteClient } from "../support/remote-client.ts";
import {
  type Answer,
  json,
  problem,
  type Seen,
  wildServer,
  type WildServer,
} from "../support/wild-server.ts";
import { verifies } from "../support/verifies.ts";

const dispute = (disputeId: string, more: Partial<Dispute> = {}): Dispute => ({
  ...sample(1),
  disputeId,
  accountNumber: "A-1",
  documentNumber: `INV-${disputeId}`,
  status: 0,
  ...more,
});
const EVERY = ["1", "2", "3"].map((id) => dispute(id));

const { list_by_ids, list_by_document_numbers } = contract.disputes;
const byIds = { tenantId: "t", disputeIds: ["1"] };
const byDocuments = { tenantId: "t", accountNumber: "a-1", documentNumbers: ["inv-2", "INV-3"] };

let server: WildServer;
let client: RemoteClient;

const lookUp = (
  args: Record<string, unknown> = byIds,
  operation: Operation = list_by_ids,
  through = client,
) => through.call(operation, args, {}, { tool: "a_tool" });

/** A platform that looks up what a body names; without one, as `without` says. */
const platform =
  (without: Answer): Answer =>
  (seen, response) => {
    if (seen.body === "") without(seen, response);
    else {
      const { disputeIds = [], documentNumbers = [] } = JSON.parse(seen.body);
      const wanted = [...disputeIds, ...documentNumbers].map((one: string) => one.toUpperCase());
      const found = EVERY.filter(
        (one) => wanted.includes(one.disputeId) || wanted.includes(one.documentNumber),
      );
      json(response, 200, found);
    }
  };

const honest = platform((_seen, response) => {
  problem(response, 400, { code: "invalid_request", detail: "A body is needed." });
});

/** Something in between that does not let a GET keep its body. */
const behind = (proxy: Answer, inner: Answer = honest): Answer => {
  return (seen, response) => (seen.method === "GET" ? proxy : inner)(seen, response);
};

const page =
  (status: number): Answer =>
  (_seen, response) => {
    response.writeHead(status, { "content-type": "text/html" }).end("<h1>Bad Request");
  };

const methods = (): string[] => server.seen.map(({ method }: Seen) => method);

beforeEach(async () => {
  server = await wildServer(honest);
  client = remoteClient(server.url);
});
afterEach(async () => {
  await client.close();
  await server.close();
});

verifies("T-01");
describe("a lookup", () => {
  it("is a GET with its body, as documented, if that works", async () => {
    expect((await lookUp()).output).toEqual([EVERY[0]]);
    expect((await lookUp(byDocuments, list_by_document_numbers)).output).toEqual(EVERY.slice(1));
    expect(methods()).toEqual(["GET", "GET"]);
  });

  const REFUSALS: [string, Answer][] = [
    ...[400, 403, 404, 405, 411, 413, 415, 500, 501].map((status): [string, Answer] => [
      `a page of status ${status}`,
      page(status),
    ]),
    ["405 in the platform's words", (_, r) => problem(r, 405, { code: "method_not_allowed" })],
    ["404 in the platform's words", (_, r) => problem(r, 404, { code: "not_found" })],
    ["400 in the platform's words", (_, r) => problem(r, 400, { code: "invalid_request" })],
    ["a connection cut", (_, r) => r.destroy()],
    ["what is no HTTP", (_, r) => r.socket?.end("SSH-2.0-OpenSSH_9.7\r\n")],
    ["a page that is no refusal", page(200)],
    ["an answer for everything", (_, r) => json(r, 200, EVERY)],
    ["another account's record", (_, r) => json(r, 200, [dispute("1", { disputeId: "9" })])],
    ["nothing at all", (_, r) => json(r, 200, [])],
  ];
  it.each(REFUSALS)("uses POST if a GET with a body fails with %s", async (_what, proxy) => {
    server.behave(behind(proxy));
    expect((await lookUp()).output).toEqual([EVERY[0]]);
    expect(methods()).toEqual(["GET", "POST"]);
    expect((await lookUp(byDocuments, list_by_document_numbers)).output).toEqual(EVERY.slice(1));
    expect(methods()).toEqual(["GET", "POST", "POST"]);
    expect(server.seen.map(({ body }) => body)[1]).toBe('{"disputeIds":["1"]}');
    expect(client.waits).toEqual([]);
  });

  it("uses POST the next time if a GET with a body times out", async () => {
    const hasty = remoteClient(server.url, { requestMs: 1500 });
    server.behave(behind(() => {}));
    const refusal = await problemOf(lookUp(byIds, list_by_ids, hasty));
    expect(refusal.message).toContain("in time");
    expect((await lookUp(byIds, list_by_ids, hasty)).output).toEqual([EVERY[0]]);
    expect(methods()).toEqual(["GET", "POST"]);
    await hasty.close();
  });

  it.each([403, 401, 429])("is not repeated if the platform answers %i", async (status) => {
    server.behave((_seen, r) => problem(r, status, { code: "x" }, { "retry-after": "60" }));
    await problemOf(lookUp());
    expect(methods()).toEqual(["GET"]);
  });

  it.each([502, 503, 504])("is repeated as GET after a temporary %i", async (status) => {
    let left = 1;
    server.behave((seen, response) => {
      if (left-- > 0) problem(response, status, { code: "x" }, { "retry-after": "1" });
      else honest(seen, response);
    });
    expect((await lookUp()).output).toEqual([EVERY[0]]);
    expect(methods()).toEqual(["GET", "GET"]);
    expect(client.waits).toEqual([1000]);
  });

  it("trusts refusals and empty results once a GET has shown that its body arrives", async () => {
    await lookUp();
    server.seen.length = 0;
    expect((await lookUp({ ...byIds, disputeIds: ["none"] })).output).toEqual([]);
    server.behave((_seen, r) => problem(r, 400, { code: "invalid_request", detail: "Wrong." }));
    expect((await problemOf(lookUp())).message).toBe("Wrong.");
    expect(methods()).toEqual(["GET", "GET"]);
  });

  it("is empty if both methods say so", async () => {
    expect((await lookUp({ ...byIds, disputeIds: ["none"] })).output).toEqual([]);
    expect(methods()).toEqual(["GET", "POST"]);
  });

  it("keeps the GET's response if there is no POST route", async () => {
    const without = (status: number): Answer => {
      return (_seen, r) => problem(r, status, { code: "method_not_allowed" });
    };
    server.behave(behind(honest, without(405)));
    expect((await lookUp({ ...byIds, disputeIds: ["none"] })).output).toEqual([]);
    expect((await lookUp()).output).toEqual([EVERY[0]]);
    const other = remoteClient(server.url);
    server.behave(behind(page(400), without(404)));
    const refusal = await problemOf(lookUp(byIds, list_by_ids, other));
    expect(refusal.code).toBe("unavailable");
    await other.close();
  });

  it("returns to GET if the POST route disappears", async () => {
    server.behave(behind(page(405)));
    await lookUp();
    server.behave(behind(honest, page(405)));
    expect((await lookUp()).output).toEqual([EVERY[0]]);
    expect(methods()).toEqual(["GET", "POST", "POST", "GET"]);
  });
});

describe("the result of a lookup", () => {
  const STRANGE: [string, Record<string, unknown>, unknown[]][] = [
    ["other ids", byIds, EVERY],
    ["other documents", byDocuments, [dispute("1")]],
    ["another account", byDocuments, [dispute("2", { accountNumber: "B-1" })]],
    ["another status", { ...byDocuments, status: "Open" }, [dispute("2", { status: 1 })]],
    ["more than a page", { ...byDocuments, pageSize: 1, page: 1 }, EVERY.slice(1)],
  ];
  it.each(STRANGE)("is a Problem if both methods answer with %s", async (_what, args, found) => {
    server.behave((_seen, response) => json(response, 200, found));
    const operation = "disputeIds" in args ? list_by_ids : list_by_document_numbers;
    const refusal = await problemOf(lookUp(args, operation));
    expect(refusal).toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/not requested/),
    });
    expect(methods()).toEqual(["GET", "POST"]);
  });

  it("matches in any case, with any spaces, and of any status", async () => {
    const found = [dispute("2", { documentNumber: "inv-2 ", accountNumber: "A-1", status: 2 })];
    server.behave((_seen, response) => json(response, 200, found));
    const args = { ...byDocuments, status: "All", page: 1, pageSize: 1 };
    expect((await lookUp(args, list_by_document_numbers)).output).toEqual(found);
  });
});
