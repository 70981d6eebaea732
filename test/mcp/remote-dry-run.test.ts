import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Broker } from "../../src/broker/port.ts";
import { createRemoteTransport } from "../../src/client/remote.ts";
import { DRY_RUN } from "../../src/contract/dry-run.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { createPlatformListener, serve } from "../../src/server/serve.ts";
import { onEveryStore, type TestPlatform } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { verifies } from "../support/verifies.ts";
import { createRecords, createTenantBroker } from "./each-tool.ts";
import { connectModern, createOptions, type Host, readProblem, YES } from "./hosts.ts";

type Fetch = TestPlatform["platform"]["fetch"];

/** A platform of a version that has no dry runs: its /health names none, and their paths do not exist. */
const withoutDryRuns =
  ({ platform }: TestPlatform): Fetch =>
  async (request, env) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith(DRY_RUN.path)) throw new Error(`unexpected ${pathname}`);
    const response = await platform.fetch(request, env);
    if (!pathname.endsWith("/health")) return response;
    const health = (await response.json()) as { extensions: string[] };
    const extensions = health.extensions.filter((name) => name !== DRY_RUN.name);
    return Response.json({ ...health, extensions });
  };

onEveryStore("a category in use on a remote platform", (open) => {
  let records: Records;
  beforeAll(async () => {
    const tenant = { at: open(), tenantId: "rehearsed", admin: await open().tenant("rehearsed") };
    records = await createRecords(tenant, "rehearsed");
  });

  describe.each([
    ["with dry runs", true],
    ["without dry runs", false],
  ])("%s", (_name, hasDryRuns) => {
    const questions: string[] = [];
    let broker: Broker;
    let host: Host;
    let close: () => Promise<void>;
    beforeAll(async () => {
      const at = open();
      const fetch: Fetch = hasDryRuns ? at.platform.fetch : withoutDryRuns(at);
      const listener = createPlatformListener({ fetch });
      const served = await serve(listener, { host: "127.0.0.1", port: 0 });
      close = () => served.close();
      const baseUrls = { gateway: served.url, export: served.url };
      const admin = await at.person("rehearsed", { roles: ["Administrator"] });
      broker = await createTenantBroker(
        { at, tenantId: "rehearsed", admin },
        createRemoteTransport({ baseUrls, requestMs: MINUTE }),
      );
      host = await connectModern(await createOptions(broker, { now: at.clock }), (question) => {
        questions.push(question);
        return YES(question);
      });
    });
    afterAll(async () => {
      await host?.close();
      await broker?.close();
      await close?.();
    });

    verifies("IN-54");
    it("is kept; a person is asked where nothing else can tell", async () => {
      const { categoryCode } = records.shelf;
      const problem = readProblem(await host.call("categories_delete", { categoryCode }));
      expect(problem).toMatchObject({ code: "in_use", message: expect.stringContaining("has") });
      expect(questions).toHaveLength(hasDryRuns ? 0 : 1);
    });
  });
});
