import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openTokensFile } from "../../src/bin/compose/tokens-file.ts";
import { SECOND, systemClock } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { type Bearer, createBearerGate, type Verify } from "../../src/mcp/http/bearer.ts";
import { SCOPES } from "../../src/mcp/caller.ts";
import { createStaticVerifier } from "../../src/mcp/http/static-tokens.ts";
import { createHttpServer, type HttpServer } from "../../src/mcp/http/http-server.ts";
import { authorize, redeem, revoke, startAuthorization } from "../support/oauth.ts";
import { startPlatform } from "../support/platform.ts";
import { KEY, createOptions } from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { ADDRESS, META, requestOf, START } from "./messages.ts";
import { verifies } from "../support/verifies.ts";

const RUNS = "receivables://export-runs/s-1";
const UNDER_WAY = {
  schedule: { id: "s-1", nextRunAt: "2999-01-01T00:00:00.000Z", deleted: false },
  data: [{ runId: "run-1", scheduleId: "s-1", status: "running" }],
  pagination: { cursor: null, hasMore: false, rowCount: 1 },
};

const serverWith = async (verify: Verify): Promise<HttpServer> => {
  const resource = new URL(ADDRESS);
  const gate = createBearerGate({
    verify,
    resource,
    issuers: [],
    now: systemClock,
    log: silentLog,
  });
  const http = createHttpServer(
    await createOptions(scriptBroker({ "export_runs.status": () => UNDER_WAY })),
    {
      gate,
      revocationCheckMs: 10,
    },
  );
  onTestFinished(() => http.close());
  return http;
};

const ask = (http: HttpServer, token: string, headers: Record<string, string>, body?: object) => {
  const all = { authorization: `Bearer ${token}`, ...headers };
  return http.fetch(requestOf(body, all, body === undefined ? "GET" : "POST"));
};

/** The streams on which hosts receive changes, by protocol era. */
const STREAMS: [string, (http: HttpServer, token: string) => Promise<Response>][] = [
  [
    "2025",
    async (http, token) => {
      const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: START };
      const begun = await ask(http, token, {}, hello);
      await begun.text();
      return ask(http, token, {
        accept: "text/event-stream",
        "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
        "mcp-protocol-version": START.protocolVersion,
      });
    },
  ],
  [
    "2026",
    (http, token) => {
      const method = "subscriptions/listen";
      const params = { notifications: { resourceSubscriptions: [RUNS] }, _meta: META };
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
      return ask(http, token, headers, { jsonrpc: "2.0", id: 1, method, params });
    },
  ],
];

/** Reads a stream until it ends. */
const heard = (response: Response) => {
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    expect.stringContaining("text/event-stream"),
  ]);
  const state = { ended: false };
  const read = async (): Promise<void> => {
    await response.text();
    state.ended = true;
  };
  void read();
  return state;
};

const bearer = (id: string, more: Partial<Bearer> = {}): Bearer => ({
  id,
  client: "client-1",
  grant: "grant-1",
  scopes: SCOPES,
  profile: "default",
  expiresAt: Infinity,
  ...more,
});

verifies("C-61");
describe.each(STREAMS)("an open stream (hosts of %s)", (_era, open) => {
  it.each<[string, Bearer | "invalid" | "forbidden"]>([
    ["was taken back", "invalid"],
    ["is nobody's here any more", "forbidden"],
    ["is another's now", bearer("bob")],
    ["allows less", bearer("ann", { scopes: ["read"] })],
  ])("closes when its token %s; other streams stay open", async (_what, becomes) => {
    let now: Bearer | "invalid" | "forbidden" = bearer("ann");
    const http = await serverWith(async (token) => (token === "hers" ? now : bearer("cy")));
    const [hers, his] = [heard(await open(http, "hers")), heard(await open(http, "his"))];
    now = becomes;
    await expect.poll(() => hers.ended).toBe(true);
    expect(his.ended).toBe(false);
  });

  it("closes when the token expires, even if the issuer is down", async () => {
    let isDown = false;
    const expiresAt = Math.ceil(systemClock() / SECOND) + 4;
    const http = await serverWith(async () => {
      if (isDown) throw new Error("the issuer is away");
      return bearer("ann", { expiresAt });
    });
    const stream = heard(await open(http, "hers"));
    isDown = true;
    await expect.poll(() => stream.ended, { timeout: 20_000 }).toBe(true);
    expect(systemClock() / SECOND).toBeGreaterThanOrEqual(expiresAt);
  });

  it("stays open while the issuer is down, and closes when it answers", async () => {
    let state: "good" | "down" | "bad" = "good";
    let asked = 0;
    const http = await serverWith(async () => {
      asked += 1;
      if (state === "down") throw new Error("the issuer is away");
      return state === "bad" ? "invalid" : bearer("ann");
    });
    const stream = heard(await open(http, "hers"));
    state = "down";
    const before = asked;
    await expect.poll(() => asked).toBeGreaterThan(before + 3);
    expect(stream.ended).toBe(false);
    state = "bad";
    await expect.poll(() => stream.ended).toBe(true);
  });

  it("closes when its line is removed from the tokens file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "leases-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "tokens");
    const lineOf = (name: string): string => `${name.repeat(40)} default read,write\n`;
    await writeFile(path, lineOf("a") + lineOf("b"), { mode: 0o600 });
    const current = await openTokensFile({ path, isProfile: async () => true, log: silentLog });
    const http = await serverWith(createStaticVerifier(current, KEY));
    const [one, other] = [
      heard(await open(http, "a".repeat(40))),
      heard(await open(http, "b".repeat(40))),
    ];
    // Replaced by a rename: a file written in place could be read half written.
    await writeFile(`${path}.new`, lineOf("b"), { mode: 0o600 });
    await rename(`${path}.new`, path);
    await expect.poll(() => one.ended).toBe(true);
    expect(other.ended).toBe(false);
  });

  it("closes when the person disconnects the program", async () => {
    const at = await startPlatform();
    onTestFinished(() => at.close());
    const ann = await at.tenant("acme");
    const running = await startAuthorization(at);
    onTestFinished(() => running.close());
    const http = await serverWith(async (token) => {
      const found = await running.server.verifyToken(token);
      return found === undefined ? "invalid" : bearer(found.personId, found);
    });
    const [one, two] = [await authorize(running, ann), await authorize(running, ann)];
    const [first, second] = [await redeem(running, one), await redeem(running, two)];
    const hears = heard(await open(http, first.body.access_token));
    const stays = heard(await open(http, second.body.access_token));
    await revoke(running, one.client, first.body.refresh_token);
    await expect.poll(() => hears.ended).toBe(true);
    expect(stays.ended).toBe(false);
  });
});
