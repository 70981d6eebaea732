import { randomUUID } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMcpListener, serve } from "../../src/server/serve.ts";
import type { Vault } from "../../src/broker/port.ts";
import { withClientAddress } from "../../src/kit/client-address.ts";
import { MINUTE, SECOND, systemClock } from "../../src/kit/clock.ts";
import { createLog, silentLog } from "../../src/kit/log.ts";
import { Secret } from "../../src/kit/secret.ts";
import { createBearerGate, type Verify } from "../../src/mcp/http/bearer.ts";
import { FAILURE_LIMITS } from "../../src/mcp/http/failure-limiter.ts";
import { createIssuerVerifier } from "../../src/mcp/http/issuer.ts";
import { createSecretPageHandler } from "../../src/mcp/http/secret-page-handler.ts";
import { createSecretPages, OWN_KEY } from "../../src/mcp/tools/secret-pages.ts";
import { createAddressOf } from "../../src/platform/http/address.ts";
import { askFrom, behindProxy } from "../support/addresses.ts";
import { fakeClock } from "../support/clock.ts";
import { CLIENT, startIssuer, BEARER } from "../support/issuer.ts";
import { TRUSTED_PROXY } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const RESOURCE = new URL("https://mcp.example/mcp");
const KEY = Buffer.alloc(32, 7);
const MOST = FAILURE_LIMITS.perMinute;

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

const tally = (statuses: number[]): Record<number, number> =>
  Object.fromEntries(
    [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => [status, all.length]),
  );

/** Serves a handler on a socket and passes the client's address on, as the command `http` does. */
const serveFor = async (fetch: (request: Request) => Promise<Response>) => {
  const addressOf = createAddressOf([TRUSTED_PROXY]);
  const listener = createMcpListener({ fetch });
  const served = await serve(
    (request, response) => withClientAddress(addressOf(request), () => listener(request, response)),
    { host: "127.0.0.1", port: 0 },
  );
  onTestFinished(() => served.close());
  return served.url;
};

const serveGate = async (verify: Verify) => {
  const clock = fakeClock();
  const logged: string[] = [];
  const gate = createBearerGate({
    verify,
    resource: RESOURCE,
    issuers: [],
    now: clock,
    log: createLog("warn", (line) => logged.push(line)),
  });
  const url = await serveFor(async (request) => {
    const answer = await gate.admit(request);
    return answer instanceof Response ? answer : Response.json({ caller: answer.clientId });
  });
  const ask = (token: string | undefined, client = "203.0.113.1") => {
    const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const proxied = behindProxy(client);
    return askFrom(url, { ...proxied, headers: { ...proxied.headers, ...authorization } });
  };
  const flood = async (count: number, clientAt?: (index: number) => string) => {
    const answers = range(count).map((index) => ask(`wrong-${randomUUID()}`, clientAt?.(index)));
    return tally((await Promise.all(answers)).map(({ status }) => status));
  };
  return { ask, flood, clock, logged };
};

describe("invalid tokens from one address", () => {
  const verify: Verify = async (token) => (token.startsWith("good") ? BEARER : "invalid");

  verifies("C-56", "C-89");
  it("are refused with 429 beyond a limit per minute, and valid tokens never are", async () => {
    const { ask, flood, clock } = await serveGate(verify);
    expect(await flood(MOST + 20)).toEqual({ 401: MOST, 429: 20 });
    clock.advance(15 * SECOND);
    const refused = await ask("wrong");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "45"]);
    for (const token of ["good", "good", "good-2"]) expect((await ask(token)).status).toBe(200);
    expect((await ask("wrong", "203.0.113.2")).status).toBe(401);
    clock.advance(45 * SECOND);
    expect((await ask("wrong")).status).toBe(401);
  });

  verifies("C-89");
  it("are refused for a minute at most, also when the clock is set back", async () => {
    const { ask, flood, clock } = await serveGate(verify);
    await flood(MOST);
    clock.advance(-60 * MINUTE);
    const refused = await ask("wrong");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "60"]);
    clock.advance(MINUTE);
    expect((await ask("wrong")).status).toBe(401);
  });

  verifies("OP-33");
  it("are logged at warn with the address, up to the limit and without the token", async () => {
    const { ask, flood, logged } = await serveGate(verify);
    await ask("good");
    await flood(MOST + 20, () => "203.0.113.9");
    const lines = logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(MOST);
    expect(lines[0]).toEqual({
      time: expect.any(String),
      level: "warn",
      event: "token.refused",
      address: "203.0.113.9",
    });
  });

  verifies("C-89");
  it("count by the /64 of an IPv6 address", async () => {
    const { ask, flood } = await serveGate(verify);
    const siblings = (index: number) => `2001:db8:1:2:${index.toString(16)}::1`;
    expect(await flood(MOST + 5, siblings)).toEqual({ 401: MOST, 429: 5 });
    expect((await ask("wrong", "2001:db8:1:3::1")).status).toBe(401);
  });

  verifies("C-89");
  it("do not limit hosts without a token, or with an expired one", async () => {
    let hasEnded = false;
    const { ask, flood } = await serveGate(async (token) =>
      token === "good" && !hasEnded ? BEARER : "invalid",
    );
    expect((await ask("good")).status).toBe(200);
    await flood(MOST + 1);
    hasEnded = true;
    for (const token of [undefined, "good"]) {
      const answer = await ask(token);
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toContain("resource_metadata=");
    }
    expect((await ask("good")).status).toBe(429);
  });

  verifies("C-89");
  it("do not include tokens that could not be checked", async () => {
    let isDown = true;
    const { ask, flood } = await serveGate(async () => {
      if (isDown) throw new Error("away");
      return "invalid";
    });
    expect(await flood(MOST + 5)).toEqual({ 503: MOST + 5 });
    isDown = false;
    expect((await ask("wrong")).status).toBe(401);
  });
});

describe("invalid tokens of another authorization server", () => {
  verifies("C-89");
  it("are not introspected beyond the limit; cached and signed tokens are admitted", async () => {
    const issuer = await startIssuer();
    onTestFinished(async () => issuer.close());
    const verify = createIssuerVerifier({
      issuer: issuer.issuer,
      audience: RESOURCE.href,
      client: { id: CLIENT.id, secret: new Secret(CLIENT.secret) },
      profileOf: async () => "ann",
      key: KEY,
      fetch,
      now: systemClock,
      log: silentLog,
    });
    const { ask, flood, clock } = await serveGate(verify);
    const asked = () => issuer.seen.filter(({ url }) => url === "/realm/introspect").length;
    const exp = systemClock() / SECOND + 300;
    const content = { active: true, sub: "subject-1", scope: "read", aud: RESOURCE.href, exp };
    for (const token of ["known", "new"]) issuer.addOpaque(token, content);
    expect((await ask("known")).status).toBe(200);
    expect(await flood(MOST + 30)).toEqual({ 401: MOST, 429: 30 });
    expect(asked()).toBe(1 + MOST);
    expect((await ask("known")).status).toBe(200);
    expect((await ask(await issuer.token(RESOURCE.href))).status).toBe(200);
    expect((await ask("new", "203.0.113.2")).status).toBe(200);
    clock.advance(MINUTE);
    expect((await ask("wrong")).status).toBe(401);
  });
});

describe("unknown addresses of secret pages", () => {
  verifies("C-89");
  it("are refused with 429 beyond the limit of their client, and real pages open", async () => {
    const clock = fakeClock();
    const pages = createSecretPages({ key: KEY, base: "", now: clock, signsIn: true });
    const unused = async () => {
      throw new Error("a form needs no stored secret");
    };
    const vault: Pick<Vault, "show" | "remove"> = { show: unused, remove: unused };
    const replayGuard = { claim: unused, read: unused, release: unused };
    const handle = createSecretPageHandler({
      pages,
      vault,
      replayGuard,
      now: clock,
      log: silentLog,
    });
    const url = await serveFor((request) =>
      handle(request, async () => ({ status: 401, message: "Wrong password." })),
    );
    const open = (path: string, client = "203.0.113.1") => askFrom(url + path, behindProxy(client));
    const opened = await Promise.all(range(MOST + 5).map((at) => open(`/secrets/unknown-${at}`)));
    expect(tally(opened.map(({ status }) => status))).toEqual({ 410: MOST, 429: 5 });
    const refused = await open("/secrets/unknown");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "60"]);
    expect((await open(pages.createLink(OWN_KEY, "own").url)).status).toBe(200);
    expect((await open("/secrets/unknown", "203.0.113.2")).status).toBe(410);
    clock.advance(MINUTE);
    expect((await open("/secrets/unknown")).status).toBe(410);
  });
});
