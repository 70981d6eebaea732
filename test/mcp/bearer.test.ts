import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/kit/clock.ts";
import { createLog, silentLog } from "../../src/kit/log.ts";
import { type BearerNeeds, createBearerGate } from "../../src/mcp/http/bearer.ts";
import { BEARER as ANN } from "../support/issuer.ts";
import { verifies } from "../support/verifies.ts";

const RESOURCE = new URL("https://mcp.example/receivables/mcp");
const METADATA = "https://mcp.example/.well-known/oauth-protected-resource/receivables/mcp";

const gateOf = (more: Partial<BearerNeeds> = {}) =>
  createBearerGate({
    verify: async (token) => {
      if (token === "good") return ANN;
      if (token === "ended") return { ...ANN, expiresAt: 1 };
      if (token === "broken") throw new Error("no answer from canary-host");
      return token === "forbidden" ? "forbidden" : "invalid";
    },
    resource: RESOURCE,
    issuers: ["https://issuer.example"],
    now: systemClock,
    log: silentLog,
    ...more,
  });

const asked = (authorization?: string, url = RESOURCE.href): Request =>
  new Request(url, {
    method: "POST",
    body: "{}",
    headers: authorization === undefined ? {} : { authorization },
  });

const refusal = async (request: Request, more: Partial<BearerNeeds> = {}): Promise<Response> => {
  const answer = await gateOf(more).admit(request);
  if (!(answer instanceof Response)) throw new Error("it was admitted");
  return answer;
};

describe("a caller with a bearer token", () => {
  verifies("C-60");
  it("is admitted as its owner, and the token is not passed on", async () => {
    const request = asked("Bearer good");
    const admitted = await gateOf().admit(request);
    expect(admitted).toMatchObject({ token: "", clientId: "ann", scopes: ["read"] });
    expect(JSON.stringify(admitted)).not.toContain("good");
    expect(request.bodyUsed).toBe(false);
  });

  verifies("C-61");
  it.each([
    ["none", undefined],
    ["an unknown one", "Bearer unknown"],
    ["one that has ended", "Bearer ended"],
    ["another scheme", "Basic good"],
    ["nothing after the scheme", "Bearer"],
    ["one in the address", undefined, `${RESOURCE.href}?access_token=good`],
  ])("gets a challenge for %s", async (_what, authorization, url?: string) => {
    const { status, headers } = await refusal(asked(authorization, url));
    expect(status).toBe(401);
    const challenge = headers.get("www-authenticate") ?? "";
    expect(challenge).toMatch(/^Bearer /);
    expect(challenge).toContain(`resource_metadata="${METADATA}"`);
    expect(challenge).toContain('scope="read"');
    expect(challenge).not.toMatch(/write|admin/);
  });

  it("gets 403 without a challenge if the owner has no profile", async () => {
    const { status, headers } = await refusal(asked("Bearer forbidden"));
    expect([status, headers.get("www-authenticate")]).toEqual([403, null]);
  });

  it("gets 503 if tokens cannot be checked, and the reason appears only in the log", async () => {
    const lines: string[] = [];
    const log = createLog("info", (line) => lines.push(line));
    const response = await refusal(asked("Bearer broken"), { log });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "10"]);
    expect(await response.text()).not.toContain("canary");
    expect(lines.join("")).toContain("canary-host");
  });
});

describe("the protected resource metadata", () => {
  const at = (path: string, method = "GET") =>
    gateOf().describe(new Request(new URL(path, RESOURCE), { method }));

  verifies("C-63");
  it.each([
    "/.well-known/oauth-protected-resource/receivables/mcp",
    "/.well-known/oauth-protected-resource",
  ])("is at %s and names the issuer and the scope read", async (path) => {
    const response = at(path);
    expect(response?.headers.get("access-control-allow-origin")).toBe("*");
    expect(await response?.json()).toEqual({
      resource: RESOURCE.href,
      authorization_servers: ["https://issuer.example"],
      scopes_supported: ["read"],
      bearer_methods_supported: ["header"],
      resource_name: "Receivables",
    });
  });

  it("can be read by pages of every origin", () => {
    const path = "/.well-known/oauth-protected-resource";
    expect(at(path, "HEAD")?.status).toBe(200);
    expect(at(path, "OPTIONS")?.headers.get("access-control-allow-methods")).toContain("GET");
    expect(at(path, "POST")?.status).toBe(405);
    expect(at("/.well-known/oauth-protected-resource/elsewhere")).toBeUndefined();
    expect(at("/mcp")).toBeUndefined();
  });

  it("names no issuer if tokens are static", async () => {
    const gate = gateOf({ issuers: [] });
    const response = gate.describe(new Request(METADATA));
    expect(await response?.json()).not.toHaveProperty("authorization_servers");
  });
});
