import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHttpServer, type HttpServer } from "../../src/mcp/http/http-server.ts";
import { trustingGate } from "./trusting-gate.ts";
import { KEY, createOptions, readProblem, connectRaw, type Result } from "./hosts.ts";
import { ADDRESS, requestOf } from "./messages.ts";
import { scriptBroker, type ScriptedBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const ARGS = { departmentId: "dep-1" };
const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";

const newBroker = () =>
  scriptBroker({
    "departments.get_by_id": () => ({ code: "SALES", description: "Sales" }),
    "departments.delete": () => null,
    "disputes.list": ({ Page }) =>
      Page === 1 ? Array.from({ length: 400 }, (_, index) => ({ disputeId: `d-${index}` })) : [],
  });

const deletions = ({ seen }: ScriptedBroker) =>
  seen.filter(({ id }) => id === "departments.delete").length;

const tokenIn = ({ _meta = {} }: Result): string =>
  String((_meta["receivables/confirmation"] as Record<string, unknown>)["confirmationToken"]);

describe.each(["auto", "legacy"] as const)("two programs of one person over HTTP (%s)", (mode) => {
  let broker: ScriptedBroker;
  let http: HttpServer;
  const hosts: Client[] = [];
  beforeEach(async () => {
    broker = newBroker();
    http = createHttpServer(await createOptions(broker, { settings: { answerTokens: 1000 } }), {
      gate: trustingGate,
    });
  });
  afterEach(async () => {
    await Promise.all(hosts.splice(0).map((host) => host.close()));
    await http.close();
  });

  const host = async (who: string, name = "host"): Promise<Client> => {
    const client = new Client({ name, version: "1" }, { versionNegotiation: { mode } });
    const fetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const request = new Request(url, init);
      request.headers.set("host", "127.0.0.1:8765");
      request.headers.set("authorization", `${who} read write admin`);
      return http.fetch(request);
    };
    await client.connect(new StreamableHTTPClientTransport(new URL(ADDRESS), { fetch }));
    hosts.push(client);
    return client;
  };
  const call = async (client: Client, args: object, tool = "departments_delete") =>
    (await client.callTool({ name: tool, arguments: { ...args } })) as unknown as Result;

  verifies("C-105");
  it.each([
    ["another grant of the same person", "ann@two", "host"],
    ["another program under the same grant", "ann@one", "other host"],
  ])("a token is refused to %s, and stays valid for its owner", async (_whom, who, name) => {
    const mine = await host("ann@one");
    const confirmationToken = tokenIn(await call(mine, ARGS));
    const other = await host(who, name);
    const stolen = await call(other, { ...ARGS, confirmationToken });
    expect(readProblem(stolen).code).toBe("confirmation_invalid");
    expect(deletions(broker)).toBe(0);
    const used = await call(mine, { ...ARGS, confirmationToken });
    expect(used.structuredContent).toMatchObject({ deleted: true });
    expect(deletions(broker)).toBe(1);
  });

  verifies("C-66");
  it("a cursor stays valid under a new grant of the person", async () => {
    const { nextCursor: cursor } = (await call(await host("ann@one"), {}, "disputes_list"))
      .structuredContent as { nextCursor: string };
    const next = await call(await host("ann@two"), { cursor }, "disputes_list");
    expect(next.isError).not.toBe(true);
  });
});

const headersOf = (who: string, version: string) => ({
  authorization: `${who} read write admin`,
  "mcp-protocol-version": version,
});

verifies("C-105");
describe("a question to a host over HTTP", () => {
  it("accepts the answer of the asked program only (2026)", async () => {
    const broker = newBroker();
    const http = createHttpServer(await createOptions(broker), { gate: trustingGate });
    const call = async (who: string, more: object = {}) => {
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { name: "host", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
      };
      const params = { name: "departments_delete", arguments: ARGS, ...more, _meta };
      const method = "tools/call";
      const headers = { "mcp-method": method, "mcp-name": "departments_delete" };
      const response = await http.fetch(
        requestOf(
          { jsonrpc: "2.0", id: 1, method, params },
          { ...headersOf(who, MODERN), ...headers },
        ),
      );
      const text = await response.text();
      const json = text.startsWith("{")
        ? text
        : text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
      return (JSON.parse(json) as { result: Result & { requestState?: string } }).result;
    };
    const { requestState } = await call("ann@one");
    expect(requestState).toBeTypeOf("string");
    const answer = {
      requestState,
      inputResponses: { confirm: { action: "accept", content: { confirm: true } } },
    };
    expect(readProblem(await call("ann@two", answer)).code).toBe("confirmation_invalid");
    expect(deletions(broker)).toBe(0);
    expect((await call("ann@one", answer)).structuredContent).toMatchObject({ deleted: true });
    await http.close();
  });

  it("accepts an answer only within the session of one program (2025)", async () => {
    const http = createHttpServer(await createOptions(newBroker()), { gate: trustingGate });
    const send = (who: string, body: object, more: Record<string, string> = {}) =>
      http.fetch(requestOf({ jsonrpc: "2.0", ...body }, { ...headersOf(who, LEGACY), ...more }));
    const opened = await send("ann@one", {
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: LEGACY,
        capabilities: { elicitation: {} },
        clientInfo: { name: "host", version: "1" },
      },
    });
    await opened.text();
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const ping = { id: 2, method: "ping" };
    expect((await send("ann@two", ping, session)).status).toBe(404);
    expect((await send("ann@one", ping, session)).status).toBe(200);
    await http.close();
  });
});

describe("two programs on one machine over stdio", () => {
  verifies("C-105");
  it("do not share a confirmation, even with the same key, person and replay guard", async () => {
    const broker = newBroker();
    const needs = await createOptions(broker, { key: KEY });
    const program = async (name: string) => {
      const { request, close } = await connectRaw(needs, { name, elicitation: {} });
      const call = async (args: object) => {
        const params = { name: "departments_delete", arguments: args };
        return (await request("tools/call", params)).result as Result;
      };
      return { call, close };
    };
    const [mine, other] = [await program("mine"), await program("other")];
    const confirmationToken = tokenIn(await mine.call(ARGS));
    const stolen = await other.call({ ...ARGS, confirmationToken });
    expect(readProblem(stolen).code).toBe("confirmation_invalid");
    // The token stays valid after a restart of the program.
    const again = await program("mine");
    const used = await again.call({ ...ARGS, confirmationToken });
    expect(used.structuredContent).toMatchObject({ deleted: true });
    await Promise.all([mine, other, again].map(({ close }) => close()));
  });
});
