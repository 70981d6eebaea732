import { once } from "node:events";
import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { createHttpServer } from "../../src/mcp/http/http-server.ts";
import { startStdio } from "../../src/mcp/stdio/stdio.ts";
import { startChild } from "../support/child.ts";
import { BEFORE_THE_CUT_MS } from "../support/cli.ts";
import { createOptions, OPEN, withoutAbout } from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { createOriginCheck } from "../../src/kit/cors.ts";
import { ADDRESS, FORM, HELLO, META } from "./messages.ts";
import { openStdio } from "./opened.ts";
import { verifies } from "../support/verifies.ts";

const CHILD = new URL("./stdio-child.ts", import.meta.url);
const HANGING = {
  jsonrpc: "2.0",
  id: 2,
  method: "tools/call",
  params: { name: "departments_get", arguments: { departmentCode: "A" } },
};

describe("stdio", () => {
  it("ends the process when the host sends SIGTERM, even during a call", async () => {
    const child = startChild(CHILD, []);
    let printed = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
    });
    child.stdin?.write(`${JSON.stringify(HELLO)}\n`);
    await expect.poll(() => printed, { timeout: 15_000 }).toContain('"serverInfo"');
    child.stdin?.write(`${JSON.stringify(HANGING)}\n`);
    await delay(100);
    const left = performance.now();
    child.kill("SIGTERM");
    const [code] = (await once(child, "close")) as [number | null];
    expect(performance.now() - left).toBeLessThan(BEFORE_THE_CUT_MS);
    expect(code).toBe(0);
    for (const line of printed.trim().split("\n")) {
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    }
  });

  it("resolves `closed` when its input ends and when it is closed", async () => {
    const needs = await createOptions(scriptBroker({}));
    const input = new PassThrough();
    const first = startStdio(needs, { input, output: new PassThrough() });
    input.end();
    await expect(first.closed).resolves.toBeUndefined();
    const second = startStdio(needs, { input: new PassThrough(), output: new PassThrough() });
    await second.close();
    await expect(second.closed).resolves.toBeUndefined();
  });

  it("answers a request of 2026 and then a handshake of 2025 on one pipe", async () => {
    const needs = await createOptions(scriptBroker({}));
    const { input, server, lines } = openStdio(needs);
    const probe = { jsonrpc: "2.0", id: 0, method: "server/discover", params: { _meta: META } };
    input.write(`${JSON.stringify(probe)}\n${JSON.stringify(HELLO)}\n`);
    await expect.poll(() => lines().length).toBe(2);
    const [discovered, initialized] = lines().map((line) => JSON.parse(line));
    expect(discovered.result.supportedVersions).toContain("2026-07-28");
    expect(discovered.result.instructions).toContain("receivables://guide");
    expect(initialized.result).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "receivables-mcp", version: "1.2.3", icons: expect.any(Array) },
    });
    await server.close();
  });
});

describe("HTTP", () => {
  const serve = async (accepted: Partial<Parameters<typeof createHttpServer>[1]> = {}) => {
    const broker = scriptBroker({
      "departments.get": () => ({ departmentId: "d" }),
      "departments.get_by_id": () => ({ departmentId: "d" }),
      "departments.delete": () => null,
    });
    const http = createHttpServer(await createOptions(broker), { ...OPEN, ...accepted });
    const fetch = (url: string | URL | Request, init?: RequestInit) => {
      const request = new Request(url, init);
      request.headers.set("host", new URL(request.url).host);
      return http.fetch(request);
    };
    return { broker, http, fetch };
  };

  it.each(["legacy", "auto"] as const)("serves a 2.x client (%s)", async (mode) => {
    const { http, fetch } = await serve();
    const client = new Client(
      { name: "test", version: "1" },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode },
      },
    );
    client.setRequestHandler("elicitation/create", () => ({
      action: "accept",
      content: { confirm: true },
    }));
    await client.connect(new StreamableHTTPClientTransport(new URL(ADDRESS), { fetch }));
    expect((await client.listTools()).tools.length).toBeGreaterThan(40);
    const read = await client.callTool({
      name: "departments_get",
      arguments: { departmentCode: "A" },
    });
    expect(withoutAbout(read)).toEqual({ departmentId: "d" });
    const args = { departmentId: "d" };
    const gone = await client.callTool({ name: "departments_delete", arguments: args });
    expect(gone.structuredContent).toMatchObject({ deleted: true });
    await client.close();
    await http.close();
  });

  it("serves a 1.x client", async () => {
    const { http, fetch } = await serve();
    const client = new OldClient({ name: "test", version: "1" });
    await client.connect(new OldTransport(new URL(ADDRESS), { fetch }));
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(40);
    await client.close();
    await http.close();
  });

  const post = (headers: Record<string, string>) =>
    new Request(ADDRESS, {
      method: "POST",
      body: JSON.stringify(HELLO),
      headers: { ...FORM, ...headers },
    });

  verifies("C-64");
  it.each([
    [{ host: "127.0.0.1:8765" }, 200],
    [{ host: "localhost:1" }, 200],
    [{ host: "[::1]:8765" }, 200],
    [{ host: "127.0.0.1", origin: "http://localhost:3000" }, 200],
    [{ host: "evil.example" }, 403],
    [{ host: "127.0.0.1.evil.example" }, 403],
    [{}, 403],
    [{ host: "127.0.0.1", origin: "https://evil.example" }, 403],
    [{ host: "127.0.0.1", origin: "null" }, 403],
    [{ host: "127.0.0.1", origin: "http://localhost.evil.example" }, 403],
  ] as [Record<string, string>, number][])("%j answers %i", async (headers, status) => {
    const { http } = await serve();
    const response = await http.fetch(post(headers));
    await response.text();
    expect(response.status).toBe(status);
    await http.close();
  });

  verifies("C-64");
  it("accepts the configured names with any port, and origins by scheme, name and port", async () => {
    const isOrigin = createOriginCheck(["https://app.example", "tauri://localhost"]);
    const accepted = { hosts: ["mcp.example:8443"], isOrigin };
    const { http } = await serve(accepted);
    const status = async (headers: Record<string, string>) => {
      const response = await http.fetch(post(headers));
      await response.text();
      return response.status;
    };
    expect(await status({ host: "mcp.example", origin: "https://app.example" })).toBe(200);
    expect(await status({ host: "mcp.example", origin: "https://mcp.example" })).toBe(200);
    expect(await status({ host: "mcp.example", origin: "tauri://localhost" })).toBe(200);
    expect(await status({ host: "mcp.example", origin: "app://localhost" })).toBe(403);
    expect(await status({ host: "mcp.example", origin: "https://mcp.example:444" })).toBe(403);
    expect(await status({ host: "mcp.example", origin: "http://app.example" })).toBe(403);
    expect(await status({ host: "mcp.example", origin: "https://app.example:444" })).toBe(403);
    expect(await status({ host: "127.0.0.1" })).toBe(403);
    await http.close();
  });
});
