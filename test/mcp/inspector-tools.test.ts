import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startInspector } from "../support/inspector.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { type ServedTransport, type Driver, TRANSPORTS } from "./transports.ts";
import { createTenantBroker, BY_URL, callEach, type Tenant, tools } from "./each-tool.ts";
import { createOptions, readProblem, type Result } from "./hosts.ts";
import { verifies } from "../support/verifies.ts";

/** The inspector's command line as a host. It cannot ask, so it confirms by token. */
const inspectorDriver = async (transport: ServedTransport, era: string): Promise<Driver> => {
  const inspector = await startInspector(await transport.target(), era);
  const listed = (await inspector.ask("tools/list")) as { tools: { name: string }[] };
  const once = async (name: string, args: object): Promise<Result> => {
    const flags = ["--tool-name", name, "--tool-args-json", JSON.stringify(args)];
    return (await inspector.ask("tools/call", ...flags)) as Result;
  };
  return {
    toolNames: listed.tools.map(({ name }) => name),
    async call(name, args) {
      const first = await once(name, args);
      if (readProblem(first)?.code !== "confirmation_required") return first;
      const asked = first._meta?.["receivables/confirmation"] as { confirmationToken: string };
      return once(name, { ...args, confirmationToken: asked.confirmationToken });
    },
    close: () => inspector.close(),
  };
};

describe("every tool, by the official inspector", () => {
  let at: TestPlatform;
  beforeAll(async () => {
    at = await startPlatform();
  });
  afterAll(() => at.close());

  verifies("C-80");
  it.each([
    ["stdio", "modern"],
    ["stdio", "legacy"],
    ["HTTP", "modern"],
    ["HTTP", "legacy"],
  ])(
    "each succeeds (%s, %s)",
    async (transport, era) => {
      const tenantId = `${transport}-${era}`.toLowerCase();
      const tenant: Tenant = { at, tenantId, admin: await at.tenant(tenantId) };
      const broker = await createTenantBroker(tenant);
      const open = TRANSPORTS.find(([name]) => name === transport)?.[1];
      if (open === undefined) throw new Error(`no transport ${transport}`);
      const server = await open(await createOptions(broker));
      const driver = await inspectorDriver(server, era);
      try {
        expect(driver.toolNames.length).toBe(tools.length + BY_URL.size);
        expect(await callEach(tenant, driver)).toEqual([]);
      } finally {
        await driver.close();
        await server.close();
        await broker.close();
      }
    },
    240_000,
  );
});
