import { afterAll, beforeAll, expect, it } from "vitest";
import { createPlatformListener, serve } from "../../src/server/serve.ts";
import type { Broker } from "../../src/broker/port.ts";
import { createRemoteTransport } from "../../src/client/remote.ts";
import { platformOperations } from "../../src/contract/index.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { createReplayFolder } from "../../src/mcp/tools/asking/replay-guard.ts";
import { insightTools } from "../../tools/insights.ts";
import { INSIGHT_SAMPLES } from "../support/insight-samples.ts";
import { load as loadPayment } from "../support/payment-rows.ts";
import { onEveryStore, type TestPlatform } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { verifies } from "../support/verifies.ts";
import { readConfirmation } from "./confirming.ts";
import { createRecords, createTenantBroker } from "./each-tool.ts";
import {
  connectModern,
  connectOldSdk,
  createOptions,
  type Host,
  readProblem,
  readText,
} from "./hosts.ts";
import { answerIn } from "./insight-host.ts";
import { replayFolder } from "./replay-folder.ts";

const TENANT = "documented";

const swapCase = (text: string): string =>
  [...text]
    .map((one) => (one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase()))
    .join("");

const NEEDS_EXTENSION = new Set(["documents_summary"]);

const routes = platformOperations
  .filter(({ extension }) => extension)
  .map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));

/** A platform with the documented operations alone, and the requests that it has refused. */
const createDocumented = ({ platform }: TestPlatform) => {
  const refused: string[] = [];
  const fetch: TestPlatform["platform"]["fetch"] = async (request, env) => {
    const { pathname } = new URL(request.url);
    const isExtension = routes.some(
      ({ method, pattern }) => method === request.method && pattern.test(pathname),
    );
    if (isExtension) {
      refused.push(`${request.method} ${pathname}`);
      return new Response(null, { status: 404 });
    }
    const response = await platform.fetch(request, env);
    if (!pathname.endsWith("/health")) return response;
    const { extensions: _extensions, ...health } = (await response.json()) as Record<
      string,
      unknown
    >;
    return Response.json(health);
  };
  return { refused, fetch };
};

onEveryStore("insights on a platform with the documented operations alone", (open) => {
  let at: TestPlatform;
  let broker: Broker;
  let host: Host;
  let oldHost: Host;
  let records: Records;
  let refused: string[];
  let closeServer: () => Promise<void>;

  beforeAll(async () => {
    at = open();
    const tenant = { at, tenantId: TENANT, admin: await at.tenant(TENANT) };
    records = await createRecords(tenant, "documented");
    const documented = createDocumented(at);
    ({ refused } = documented);
    const served = await serve(createPlatformListener(documented), {
      host: "127.0.0.1",
      port: 0,
    });
    closeServer = () => served.close();
    const baseUrls = { gateway: served.url, export: served.url };
    broker = await createTenantBroker(
      tenant,
      createRemoteTransport({ baseUrls, requestMs: MINUTE }),
    );
    const replayGuard = createReplayFolder(await replayFolder(), at.clock);
    const options = await createOptions(broker, { now: at.clock, replayGuard });
    host = await connectModern(options);
    oldHost = await connectOldSdk(options);
  });
  afterAll(async () => {
    await host?.close();
    await oldHost?.close();
    await broker?.close();
    await closeServer?.();
  });

  it("announces and serves no extension", async () => {
    expect(await broker.extensions(new AbortController().signal)).toEqual(new Set());
    const { fetch, refused: seen } = createDocumented(at);
    const request = new Request("http://localhost/api/v1/ingest/documents");
    expect((await fetch(request)).status).toBe(404);
    expect(seen).toEqual(["GET /api/v1/ingest/documents"]);
  });

  const working = insightTools.map(({ name }) => name).filter((name) => !NEEDS_EXTENSION.has(name));

  verifies("IN-06");
  it.each(working)("%s answers hosts of both eras alike, and calls no extension", async (name) => {
    const args = INSIGHT_SAMPLES[name]?.(records);
    const answer = answerIn(await host.call(name, args));
    expect(answer).toMatchObject({ truncated: false, items: expect.any(Array) });
    expect(answerIn(await oldHost.call(name, args))).toEqual({
      ...answer,
      asOf: expect.any(String),
    });
    expect(refused).toEqual([]);
  });

  verifies("IN-20");
  it("finds numbers in another letter case where payments have them", async () => {
    await loadPayment(at, TENANT, "cashapp", [
      {
        id: "spelt",
        paymentId: "spelt",
        documentNumber: records.dispute.documentNumber,
        paymentAmount: 1,
        currencyCode: "USD",
      },
    ]);
    const text = swapCase(records.dispute.documentNumber);
    const found = answerIn(await host.call("find_records", { text, types: ["document"] }));
    expect(found).toMatchObject({ items: [{ id: records.dispute.documentNumber }] });
    const filter = { DocumentNumber: swapCase("INV-none") };
    const none = readText(await host.call("disputes_list", filter));
    expect(none).toMatch(/This platform compares numbers in their letter case/);
    expect(refused).toEqual([]);
  });

  verifies("WK-41");
  it("opens claims, and names what is wrong with them", async () => {
    const { account, document, used } = records;
    const claim = {
      accountNumber: account.account_number,
      documentNumber: document.document_number,
      amount: 3,
      reasonId: used.reasonId,
      note: "by mail",
    };
    const bad = [claim, { ...claim, amount: 1000 }, { ...claim, reasonId: "none" }];
    expect(readText(await host.call("disputes_open", { claims: bad }))).toMatch(
      /Nothing was opened: claims\[1\]\.amount must not be above the 99\.00 .*; claims\[2\]\.reasonId names no reason\./,
    );
    for (const by of [host, oldHost]) {
      const args = { claims: [claim], ...(by === host ? {} : { idempotencyKey: "old" }) };
      const { confirmationToken } = readConfirmation(await by.call("disputes_open", args));
      const done = await by.call("disputes_open", { ...args, confirmationToken });
      expect(done.structuredContent).toMatchObject({
        opened: 1,
        results: [{ outcome: "opened", note: "added", dispute: { amount: 3 } }],
      });
      const again = await by.call("disputes_open", args);
      expect(again.structuredContent).toMatchObject({ opened: 0, openedBefore: 1 });
    }
    expect(refused).toEqual([]);
  });

  verifies("IN-47");
  it.each(["documents_summary", "documents_list", "accounts_list"])(
    "%s says what is missing and what helps instead",
    async (name) => {
      const { code, message } = readProblem(await host.call(name));
      expect(code).toBe("method_not_allowed");
      expect(message).toMatch(/This platform does not (list|offer) .*(documents_get|find_records)/);
      expect(refused).toEqual([]);
    },
  );
});
