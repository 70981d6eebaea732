import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSharedSessions } from "../../src/records/shared-sessions.ts";
import { createRightsRecord } from "../../src/broker/held-rights.ts";
import { PERMISSIONS } from "../../src/contract/permissions.ts";
import type { Changes } from "../../src/kit/changes.ts";
import { MINUTE, systemClock } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createPostgresChanges } from "../../src/kit/postgres/changes.ts";
import { createHttpServer, type HttpServer } from "../../src/mcp/http/http-server.ts";
import { createStorage } from "../../src/records/storage.ts";
import { updateUser } from "../../src/platform/admin/users.ts";
import { fakeClock } from "../support/clock.ts";
import { onEveryStore } from "../support/platform.ts";
import { type Database, type Dialect, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";
import { createTenantBroker } from "./each-tool.ts";
import { createOptions, KEY } from "./hosts.ts";
import { ADDRESS } from "./messages.ts";
import { trustingGate } from "./trusting-gate.ts";

const [, postgres] = dialects as [Dialect, Dialect];

/** Whether a request opens a stream of changes. */
const isStream = ({ method, headers }: Request): boolean =>
  method === "GET" || headers.get("mcp-method") === "subscriptions/listen";

/** Waits until a node receives announcements: it connects to the database with its first watcher. */
const receivesChanges = async (changes: Changes): Promise<void> => {
  let isReceiving = false;
  const end = changes.watch("test", (detail) => (isReceiving ||= detail === "test"), MINUTE);
  await expect
    .poll(async () => {
      await changes.announce("test", "test");
      return isReceiving;
    })
    .toBe(true);
  end();
};

onEveryStore("rights of a caller at two nodes", (at) => {
  let database: Database;
  let ends: (() => Promise<unknown>)[];
  beforeEach(async () => {
    database = await postgres.create();
    ends = [];
  });
  afterEach(async () => {
    for (const end of ends.toReversed()) await end();
    await database.remove();
  });

  const openNode = async (
    options: Awaited<ReturnType<typeof createOptions>>,
  ): Promise<HttpServer> => {
    const store = await database.openOauth();
    const changes = createPostgresChanges(database.environment["DATABASE_URL"] ?? "", silentLog);
    await receivesChanges(changes);
    const storage = createStorage(store, systemClock);
    const sessions = createSharedSessions({ storage, changes, key: KEY, now: systemClock });
    const node = createHttpServer(options, { gate: trustingGate, shared: { sessions, changes } });
    ends.push(
      () => store.close(),
      () => changes.close(),
      () => node.close(),
    );
    return node;
  };

  verifies("WK-04", "OP-22");
  it.each(["auto", "legacy"] as const)(
    "reach the host whose stream another node has (%s)",
    async (mode) => {
      const tenantId = `rights-${mode}`;
      await at().tenant(tenantId);
      const person = await at().person(tenantId, { roles: ["Viewer"] });
      const createNode = async () => {
        const broker = await createTenantBroker({ at: at(), tenantId, admin: person });
        ends.push(() => broker.close());
        return openNode(await createOptions(broker));
      };
      const [calls, streams] = [await createNode(), await createNode()];
      const stream = Promise.withResolvers<void>();
      const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
        const request = new Request(url, init);
        request.headers.set("host", "127.0.0.1:8765");
        request.headers.set("authorization", "ann read write admin");
        if (!isStream(request)) return calls.fetch(request);
        const response = await streams.fetch(request);
        stream.resolve();
        return response;
      };
      const client = new Client(
        { name: "test", version: "1" },
        { capabilities: {}, versionNegotiation: { mode } },
      );
      let heard = 0;
      client.setNotificationHandler("notifications/tools/list_changed", () => {
        heard += 1;
      });
      await client.connect(new StreamableHTTPClientTransport(new URL(ADDRESS), { fetch }));
      if (mode === "auto") await client.listen({ toolsListChanged: true });
      // A client of 2025 opens its stream by itself, after it has connected.
      await stream.promise;
      await client.callTool({ name: "reasons_list", arguments: {} });
      const { tools } = await client.listTools(undefined, { cacheMode: "refresh" });
      expect(tools.map(({ name }) => name)).not.toContain("disputes_create");
      // The node of the stream may have known the first rights before it opened the stream, or be told of them late. So
      // two changes follow, of which one cannot be taken for the first rights.
      for (const role of ["AR Manager", "Viewer"]) {
        const before = heard;
        await updateUser({ store: at().store }, { tenantId, email: person.email, roles: [role] });
        await client.callTool({ name: "reasons_list", arguments: {} });
        await expect.poll(() => heard, { timeout: 10_000 }).toBeGreaterThan(before);
      }
      await client.close();
    },
  );
});

verifies("WK-04");
describe("a record of rights", () => {
  it("takes over what another one has seen, and tells it apart", () => {
    const clock = fakeClock();
    const [here, there] = [createRightsRecord(clock), createRightsRecord(clock)];
    const changes: string[] = [];
    there.onChange((how) => changes.push(how));
    const [first, second, ...others] = PERMISSIONS;
    if (first === undefined || second === undefined) throw new Error("There are no permissions.");
    here.note([first], "permissions");
    here.noteOutcome("export:read", false);
    there.adopt(here.describe());
    expect(PERMISSIONS.filter(there.mayHave)).toEqual([first]);
    expect([there.mayHave("export:read"), there.mayHave("ingest:read")]).toEqual([false, true]);
    expect(here.describe().length).toBeLessThan(100);
    // Named rights hold until the next ones, refusals for a while.
    clock.advance(11 * 60_000);
    expect([there.mayHave(second), there.mayHave("export:read")]).toEqual([false, true]);
    there.note([first, ...others], "permissions");
    expect(changes).toEqual(["adopted", "adopted", "seen"]);
  });

  it("ignores the description of a version with other rights, and anything else", () => {
    const record = createRightsRecord(fakeClock());
    for (const text of ["", "x", "N1.0 N1.0", "N999.ffff R5.", "N40.zz R5.0", "R5.0 N40.0"]) {
      record.adopt(text);
    }
    expect(PERMISSIONS.every(record.mayHave)).toBe(true);
  });
});
