import { describe, expect, it } from "vitest";
import about from "../../package.json" with { type: "json" };
import { createServerJson, parseRemote } from "../../scripts/build/server-json.ts";
import { createCardHandler } from "../../src/mcp/http/server-card.ts";
import { verifies } from "../support/verifies.ts";

const MCP_URL = "https://receivables.example/ar/mcp";
const answer = createCardHandler({ version: "1.2.3", mcpUrl: MCP_URL });

const ask = (path: string, init: RequestInit = {}): Response =>
  answer(new Request(`https://receivables.example${path}`, init));

const PATHS = ["/mcp/server-card", "/.well-known/ai-catalog.json"];

verifies("RC-04");
describe("the server card", () => {
  it("says who the server is and where, and nothing of tools or tenants", async () => {
    const response = ask("/mcp/server-card");
    expect(response.headers.get("content-type")).toBe("application/mcp-server-card+json");
    const card = await response.json();
    expect(card).toEqual({
      $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
      name: expect.stringMatching(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
      title: "Receivables",
      description: about.mcpSummary,
      version: "1.2.3",
      websiteUrl: about.homepage,
      icons: expect.arrayContaining([expect.objectContaining({ mimeType: "image/png" })]),
      remotes: [{ type: "streamable-http", url: MCP_URL }],
    });
    expect(about.mcpSummary.length).toBeLessThanOrEqual(100);
  });

  it("is named by the catalogue", async () => {
    const response = ask("/.well-known/ai-catalog.json");
    expect(response.headers.get("content-type")).toBe("application/ai-catalog+json");
    expect(await response.json()).toEqual({
      specVersion: "1.0",
      entries: [
        {
          identifier: `urn:air:${new URL(about.homepage).hostname}:mcp:${about.name}`,
          type: "application/mcp-server-card+json",
          url: `${MCP_URL}/server-card`,
        },
      ],
    });
  });

  it.each(PATHS)("%s can be read from any origin and is not sent again unchanged", (path) => {
    const first = ask(path, { headers: { origin: "https://elsewhere.example" } });
    expect(first.headers.get("access-control-allow-origin")).toBe("*");
    const etag = first.headers.get("etag") ?? "";
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      expect(ask(path, { headers: { "if-none-match": tag } }).status).toBe(304);
    }
    expect(ask(path, { headers: { "if-none-match": '"x"' } }).status).toBe(200);
    expect(ask(path, { method: "OPTIONS" }).status).toBe(204);
    expect(ask(path, { method: "POST" }).status).toBe(405);
  });
});

describe("server.json", () => {
  const facts = {
    name: about.name,
    version: about.version,
    summary: about.mcpSummary,
    homepage: about.homepage,
    mcpName: about.mcpName,
  };
  const extension = { url: "https://receivables.example/x.mcpb", sha256: "0".repeat(64) };

  verifies("RC-04");
  it("names the publisher's server if RECEIVABLES_RELEASE_REMOTE does", () => {
    expect(createServerJson(facts, extension)).not.toHaveProperty("remotes");
    expect(createServerJson(facts, extension, parseRemote(` ${MCP_URL} `))).toMatchObject({
      remotes: [{ type: "streamable-http", url: MCP_URL }],
    });
    expect(parseRemote(" ")).toBeUndefined();
    for (const wrong of [
      "receivables.example",
      "http://receivables.example/mcp",
      "https://a:b@c/",
    ]) {
      expect(() => parseRemote(wrong)).toThrow("must be the https address");
    }
  });
});
