import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBroker } from "../../src/broker/broker.ts";
import type { Vault } from "../../src/broker/port.ts";
import { createClient } from "../../src/client/client.ts";
import type { Transport, WireRequest } from "../../src/client/port.ts";
import { Problem } from "../../src/contract/errors.ts";
import { silentLog } from "../../src/kit/log.ts";
import { Secret } from "../../src/kit/secret.ts";
import { readArguments } from "../../src/mcp/tools/arguments/arguments.ts";
import { inputSchema } from "../../src/mcp/tools/listing/schemas.ts";
import { activeOperationTools } from "../../src/mcp/tools/listing/active-tools.ts";
import type { OperationTool } from "../../tools/tool.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { verifies } from "../support/verifies.ts";

const [OWN, KEY, EXPORT_KEY] = ["own-tenant", "own-key", "own-export-key"];
const HEADERS =
  /^(accept|content-type|idempotency-key|if-match|if-none-match|x-platform-.+|x-api-key)$/;

/** Values that would change a request if they were not encoded. */
const astray = fc.constantFrom(
  "..",
  "../../other-tenant/disputes",
  "..%2F..%2Fother-tenant",
  "%2e%2e/",
  "x?tenantId=other-tenant",
  "x#fragment",
  "//evil.example/x",
  "https://evil.example/",
  "@evil.example",
  "x\r\nX-Platform-Api-Key: other",
  "x\u0000y",
  "other-tenant",
  "{tenantId}",
);
const value = fc.oneof(
  { weight: 3, arbitrary: astray },
  fc.string({ unit: "binary" }),
  fc.integer(),
  fc.boolean(),
  fc.array(astray, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("tenantId", "__proto__", "eq", "baseUrl"), astray),
);

/** A platform that records requests and has no records. */
const platform = () => {
  const seen: WireRequest[] = [];
  const transport: Transport = {
    requestMs: 1000,
    getWithBody: true,
    async send(request) {
      seen.push(request);
      return { status: 404, headers: { "content-type": "application/json" }, body: "{}" };
    },
    close: async () => {},
  };
  return { seen, client: createClient({ transport, headerWord: "Platform", log: silentLog }) };
};

const noVault = new Proxy({} as Vault, {
  get: () => () => Promise.reject(new Error("unexpected use of the vault")),
});

const segmentsOf = (target: string): string[] => (target.split("?")[0] ?? "").split("/");

const checkReach = (path: string, { target, headers }: WireRequest): void => {
  const [template, segments] = [segmentsOf(path), segmentsOf(target)];
  expect(segments).toHaveLength(template.length);
  for (const [place, part] of template.entries()) {
    const sent = segments[place] ?? "";
    if (part === "{tenantId}") expect(sent).toBe(OWN);
    else if (!part.startsWith("{")) expect(sent).toBe(part);
    else expect(decodeURIComponent(sent)).not.toMatch(/^\.{0,2}$/);
  }
  expect(Object.keys(headers).filter((name) => !HEADERS.test(name))).toEqual([]);
  for (const name of ["x-platform-api-key", "x-api-key"]) {
    expect([undefined, KEY, EXPORT_KEY]).toContain(headers[name]);
  }
};

// Session tools have no arguments; file tools consist of several operations.
const tools = activeOperationTools({ toolsets: toolsetNames, readOnly: false }).filter(
  ({ name, operation }) => operation.effect !== "session" && !/_(up|down)load$/.test(name),
);

/** Calls a tool's operation as the server does, and returns the requests to the platform. */
const requestsOf = async (
  tool: OperationTool,
  args: Record<string, unknown>,
): Promise<WireRequest[]> => {
  const { seen, client } = platform();
  const broker = createBroker({
    client,
    vault: noVault,
    headerWord: "Platform",
    tenantId: OWN,
    principal: "somebody",
    credentials: async () => ({ apiKey: new Secret(KEY), extApiKey: new Secret(EXPORT_KEY) }),
    log: silentLog,
  });
  try {
    const { args: given, ifMatch, idempotencyKey } = readArguments(tool, args);
    await broker.call(tool.operation, given, { tool: tool.name, ifMatch, idempotencyKey });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
  return seen;
};

describe("hostile arguments of a tool", () => {
  const reaching = new Set<string>();

  verifies("C-67");
  it.each(tools.map((tool) => [tool.name, tool] as const))(
    "%s: the tool's own path, tenant and credential, whatever is sent",
    async (name, tool) => {
      const { properties, required = [] } = inputSchema(tool);
      const names = [...Object.keys(properties), "tenantId", "baseUrl"];
      const needed = fc.record(Object.fromEntries(required.map((field) => [field, value])));
      const more = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 });
      const reached = fc.asyncProperty(more, needed, async (some, others) => {
        const requests = await requestsOf(tool, { ...some, ...others });
        if (requests.length > 0) reaching.add(name);
        for (const request of requests) checkReach(tool.operation.path, request);
      });
      await expect(fc.assert(reached, { numRuns: 100 })).resolves.toBeUndefined();
    },
  );

  it("are valid otherwise, so that requests are sent", () => {
    expect(reaching.size).toBeGreaterThan(tools.length / 2);
  });
});
