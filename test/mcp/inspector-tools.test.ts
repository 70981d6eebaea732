import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startInspector } from "../support/inspector.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { type Door, type Driver, DOORS } from "./doors.ts";
import { brokerOn, BY_URL, callEach, type Tenant, tools } from "./each-tool.ts";
import { needsOf, problemIn, type Result } from "./hosts.ts";
import { verifies } from "../support/verifies.ts";

/** The inspector's command line as a host. It cannot ask, so it confirms by token. */
const inspectorDriver = async (door: Door, era: string): Promise<Driver> => {
  const inspector = await startInspector(await door.target(), era);
  const listed = (await inspector.ask("tools/list")) as { tools: { name: string }[] };
  const once = async (name: string, args: object): Promise<Result> => {
    const flags = ["--tool-name", name, "--tool-args-json", JSON.stringify(args)];
    return (await inspector.ask("tools/call", ...flags)) as Result;
  };
  return {
    toolNames: listed.tools.map(({ name }) => name),
    async call(name, args) {
      const first = await once(name, args);
      if (problemIn(first)?.code !== "confirmation_required") return first;
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
    async (door, era) => {
      const tenantId = `${door}-${era}`.toLowerCase();
      const tenant: Tenant = { at, tenantId, admin: await at.tenant(tenantId) };
      const broker = await brokerOn(tenant);
      const open = DOORS.find(([name]) => name === door)?.[1];
      if (open === undefined) throw new Error(`no door ${door}`);
      const server = await open(await needsOf(broker));
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
