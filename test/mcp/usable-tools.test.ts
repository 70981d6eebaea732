import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import type { Broker } from "../../src/broker/port.ts";
import { Problem } from "../../src/contract/errors.ts";
import { createHttpServer } from "../../src/mcp/http/http-server.ts";
import { everyTool } from "../../src/mcp/tools/listing/every-tool.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { updateUser } from "../../src/platform/admin/users.ts";
import { createRightsRecord } from "../../src/broker/held-rights.ts";
import { fakeClock } from "../support/clock.ts";
import { onEveryStore, type Person, type TestPlatform, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { createTenantBroker } from "./each-tool.ts";
import { ALL, createOptions, readProblem, type Result, ERAS } from "./hosts.ts";
import { ADDRESS, META, requestOf } from "./messages.ts";
import { scriptBroker } from "./script.ts";
import { TRANSPORTS } from "./transports.ts";
import { trustingGate } from "./trusting-gate.ts";

const INFO = { name: "test", version: "1" };
const TENANT = "offered";

type Mode = (typeof ERAS)[number][1];

/** Tools that need no right at the platform, or an insight that reads as far as it may. */
const FREE = everyTool.filter(({ rights }) => rights.length === 0).map(({ tool }) => tool.name);

const namesOf = async (client: Client): Promise<string[]> =>
  (await client.listTools(undefined, { cacheMode: "refresh" })).tools.map(({ name }) => name);

/** Counts the notifications that the list of tools has changed. */
const countChanges = async (client: Client, mode: Mode): Promise<() => number> => {
  let count = 0;
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    count += 1;
  });
  if (mode === "auto") await client.listen({ toolsListChanged: true });
  return () => count;
};

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })) as unknown as Result;

onEveryStore("tools that a caller may use", (at) => {
  const admin = useTenant(at, TENANT);

  const brokerOf = (platform: TestPlatform, person: Person): Promise<Broker> =>
    createTenantBroker({ at: platform, tenantId: TENANT, admin: person });

  verifies("WK-04");
  describe.each(TRANSPORTS)("over %s", (door, serve) => {
    const connect = async (broker: Broker, mode: Mode) => {
      const served = await serve(await createOptions(broker));
      const client = new Client(INFO, { capabilities: {}, versionNegotiation: { mode } });
      await client.connect(served.transport());
      const close = async (): Promise<void> => {
        await client.close();
        await served.close();
        await broker.close();
      };
      return { client, close };
    };

    it.each(ERAS)("are those of a person who may only read (%s)", async (_era, mode) => {
      const viewer = await at().person(TENANT, { roles: ["Viewer"] });
      const { client, close } = await connect(await brokerOf(at(), viewer), mode);
      if (door === "stdio") await call(client, "reasons_list");
      const names = await namesOf(client);
      expect(names).toEqual(expect.arrayContaining(["disputes_list", "disputes_triage", ...FREE]));
      const changing = everyTool
        .filter(({ rights }) => rights.some((right) => / : (CREATE|UPDATE|DELETE)$/.test(right)))
        .map(({ tool }) => tool.name);
      expect(changing.length).toBeGreaterThan(20);
      expect(names.filter((name) => changing.includes(name))).toEqual([]);
      // A tool that is called all the same is refused by the platform.
      const refused = await call(client, "departments_create", { code: "A", description: "A" });
      expect(readProblem(refused).code).toBe("forbidden_permission");
      await close();
    });

    it.each(ERAS)(
      "change with the person's role, and the host hears of it (%s)",
      async (_era, mode) => {
        const person = await at().person(TENANT, { roles: ["Viewer"] });
        const { client, close } = await connect(await brokerOf(at(), person), mode);
        await call(client, "reasons_list");
        const before = await namesOf(client);
        expect(before).not.toContain("disputes_create");
        const changes = await countChanges(client, mode);
        const { store } = at();
        await updateUser(
          { store },
          { tenantId: TENANT, email: person.email, roles: ["AR Manager"] },
        );
        await call(client, "reasons_list");
        await expect.poll(changes).toBeGreaterThan(0);
        expect(await namesOf(client)).toEqual(
          expect.arrayContaining([...before, "disputes_create", "departments_delete"]),
        );
        const heard = changes();
        await call(client, "reasons_list");
        expect(changes()).toBe(heard);
        await close();
      },
    );

    it("are all of an administrator's, with every key", async () => {
      const { client, close } = await connect(await brokerOf(at(), admin), "legacy");
      await call(client, "reasons_list");
      expect(await namesOf(client)).toEqual(toolList(ALL).map(({ name }) => name));
      await close();
    });
  });

  it("names rights to the MCP server alone", async () => {
    const viewer = await at().person(TENANT, { grants: ["Dispute Management : READ"] });
    const path = "/dispute/v1/tenants/{t}/disputes";
    const plain = await viewer.call("GET", path);
    expect(plain.headers.get("x-held-rights")).toBeNull();
    const headers = { "X-Platform-Client": "mcp" };
    const told = await viewer.call("GET", path, { headers });
    expect(told.headers.get("x-held-rights")).toBe("Dispute Management : READ");
    const refused = await viewer.call("DELETE", `${path}/x`, { headers });
    expect([refused.status, refused.headers.get("x-held-rights")]).toEqual([
      403,
      "Dispute Management : READ",
    ]);
  });
});

describe.each(ERAS)("tools of a caller over HTTP as of %s", (_era, mode) => {
  const connectAs = async (who: string) => {
    const http = createHttpServer(await createOptions(scriptBroker({})), { gate: trustingGate });
    const fetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const asked = new Request(url, init);
      asked.headers.set("host", "127.0.0.1:8765");
      asked.headers.set("authorization", who);
      return http.fetch(asked);
    };
    const client = new Client(INFO, { capabilities: {}, versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(ADDRESS), { fetch }));
    return { client, close: () => http.close() };
  };

  verifies("WK-04");
  it.each(["read", "read write", "write", "read write admin", ""])(
    'are those of the scopes "%s"',
    async (text) => {
      const scopes = text.split(" ");
      const { client, close } = await connectAs(`ann ${text}`);
      const expected = everyTool
        .filter(({ scope }) => scopes.includes(scope))
        .map(({ tool }) => tool.name);
      expect(await namesOf(client)).toEqual(expected);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.length > 0).toBe(expected.length > 0);
      await close();
    },
  );
});

verifies("WK-04");
describe("a platform that does not name rights", () => {
  it("hides what it refused, for ten minutes", () => {
    const clock = fakeClock();
    const rights = createRightsRecord(clock);
    let changes = 0;
    const stop = rights.onChange(() => {
      changes += 1;
    });
    const right = "Dispute Management : DELETE";
    expect(rights.mayHave(right)).toBe(true);
    rights.noteOutcome(right, false);
    rights.noteOutcome(right, false);
    expect([rights.mayHave(right), changes]).toEqual([false, 1]);
    rights.noteOutcome(right, true);
    expect([rights.mayHave(right), changes]).toEqual([true, 2]);
    rights.noteOutcome(right, false);
    clock.advance(10 * 60_000 + 1);
    expect(rights.mayHave(right)).toBe(true);
    stop();
    rights.note([], "permissions");
    expect([rights.mayHave(right), rights.mayHave("export:read"), changes]).toEqual([
      false,
      true,
      3,
    ]);
  });

  it("offers everything to a caller whose credentials cannot be opened", async () => {
    const options = await createOptions(scriptBroker({}));
    const open = () => Promise.reject(new Problem("unavailable", "not now"));
    const http = createHttpServer({ ...options, open }, { gate: trustingGate });
    const method = "tools/list";
    const sent = requestOf(
      { jsonrpc: "2.0", id: 1, method, params: { _meta: META } },
      {
        authorization: "ann read write admin",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
      },
    );
    const text = await (await http.fetch(sent)).text();
    for (const { name } of toolList(ALL)) expect(text).toContain(`"name":"${name}"`);
    expect(text).toContain('"cacheScope":"private"');
    await http.close();
  });
});
