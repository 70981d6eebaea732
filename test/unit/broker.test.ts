import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBroker } from "../../src/broker/broker.ts";
import { derivePrincipal } from "../../src/broker/credentials.ts";
import type { Credentials } from "../../src/config/settings.ts";
import type { Broker, Vault } from "../../src/broker/port.ts";
import { createClient } from "../../src/client/client.ts";
import type { Client } from "../../src/client/port.ts";
import { createRemoteTransport } from "../../src/client/remote.ts";
import { contract } from "../../src/contract/index.ts";
import { createLog } from "../../src/kit/log.ts";
import { Secret } from "../../src/kit/secret.ts";
import { json, problem, type Seen, wildServer, type WildServer } from "../support/wild-server.ts";
import { verifies } from "../support/verifies.ts";

const MINUTE = 60_000;
const PASSWORD = "canary-password";
const API_KEY = "canary-api-key";
const EXT_KEY = "canary-ext-key";
const options = { tool: "a_tool" };

const noVault: Vault = {
  put: async () => "",
  list: async () => [],
  show: async () => undefined,
  remove: async () => false,
};

let server: WildServer;
let client: Client;
let logged: string;
let now: number;
/** Tokens that the platform of these tests still takes. */
let live: Set<string>;
let logins: number;
/** The body of refusals. */
let refusal: string;
let timers: { at: number; act: () => void }[];

const page = { data: [], pagination: { cursor: null, hasMore: false, rowCount: 0 } };

const authentication = (seen: Seen, response: Parameters<typeof json>[0]): void => {
  const sent = JSON.parse(seen.body) as Record<string, string>;
  if (seen.url.endsWith("/login")) {
    logins++;
    if (sent["password"] !== PASSWORD) {
      problem(response, 401, { code: "invalid_credentials", detail: "Wrong." });
      return;
    }
    const accessToken = `canary-token-${logins}`;
    live.add(accessToken);
    json(response, 200, {
      status: "LOGIN_SUCCESS",
      userId: "u",
      email: sent["email"],
      accessToken,
      refreshToken: "canary-refresh",
      expiresIn: 3600,
      createdDate: "2026-01-02T03:04:05.678Z",
      tenants: [],
      defaultTenantId: null,
    });
  } else if (seen.url.endsWith("/verify-session")) {
    const verified = live.has(sent["accessToken"] ?? "");
    const status = verified ? "ACCESSTOKEN_VERIFIED" : "ACCESSTOKEN_EXPIRED";
    json(response, 200, { verified, status });
  } else {
    live.delete(sent["accessToken"] ?? "");
    json(response, 200, { status: "LOGOUT_SUCCESS" });
  }
};

const platform = (seen: Seen, response: Parameters<typeof json>[0]): void => {
  if (/\/(login|verify-session|logout)$/.test(seen.url)) {
    authentication(seen, response);
    return;
  }
  const { "x-platform-auth": token, "x-platform-api-key": key } = seen.headers;
  if (seen.url.startsWith("/api/v1/")) json(response, 200, page);
  else if (key !== API_KEY && !live.has(String(token))) {
    problem(response, 401, { code: refusal, detail: "Too late." });
  } else if (seen.url.endsWith("/api-key")) {
    const times = { createDateInMillis: 1, expiresAtInMills: 0 };
    json(response, 201, { keyId: "k", apiKey: "canary-new-key", ...times });
  } else json(response, 200, []);
};

const brokerWith = (given: Credentials, tenantId = "t"): Broker =>
  createBroker({
    client,
    vault: noVault,
    headerWord: "Platform",
    tenantId,
    principal: derivePrincipal(given),
    credentials: async () => given,
    log: createLog("debug", (line) => {
      logged += line;
    }),
    clock: () => now,
    schedule: (ms, act) => {
      const timer = { at: now + ms, act };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
  });

const login = { email: "Ann@Example.com", password: new Secret(PASSWORD) };
const both = { ...login, apiKey: new Secret(API_KEY), extApiKey: new Secret(EXT_KEY) };

const list = (broker: Broker) => broker.call(contract.departments.list, {}, options);
const paths = () => server.seen.map(({ url }) => url.split("/").at(-1));

/** Lets time pass, and the timers that fall due in it act one after the other. */
const pass = async (ms: number) => {
  const end = now + ms;
  for (;;) {
    const next = timers.toSorted((a, b) => a.at - b.at)[0];
    if (next === undefined || next.at > end) break;
    now = next.at;
    timers = timers.filter((timer) => timer !== next);
    const before = server.seen.length;
    next.act();
    await expect.poll(() => server.seen.length).toBeGreaterThan(before);
    await expect.poll(() => timers.length).toBeGreaterThan(0);
  }
  now = end;
};

beforeEach(async () => {
  logged = "";
  now = Date.UTC(2026, 10, 20);
  live = new Set();
  logins = 0;
  refusal = "token_expired";
  timers = [];
  server = await wildServer(platform);
  client = createClient({
    transport: createRemoteTransport({
      baseUrls: { gateway: server.url, export: server.url },
      requestMs: 2000,
    }),
    headerWord: "Platform",
    log: createLog("debug", (line) => {
      logged += line;
    }),
  });
});

afterEach(async () => {
  await client.close();
  await server.close();
  if (logged.includes("canary")) throw new Error("a secret stands in the log");
});

describe("the credential of a call", () => {
  verifies("KEY-04");
  it("prefers the API key and opens no session", async () => {
    await list(brokerWith(both));
    expect(server.seen[0]?.headers["x-platform-api-key"]).toBe(API_KEY);
    expect(server.seen[0]?.headers["x-platform-auth"]).toBeUndefined();
    expect(logins).toBe(0);
  });

  verifies("AUTH-05");
  it("opens a session where there is no API key, once for many calls", async () => {
    const broker = brokerWith(login);
    await Promise.all(Array.from({ length: 20 }, () => list(broker)));
    expect(logins).toBe(1);
    expect(server.seen.at(-1)?.headers["x-platform-auth"]).toBe("canary-token-1");
  });

  verifies("CONV-11");
  it("sends the export service its own key and no other", async () => {
    await brokerWith(both).call(contract.audit_logs.list, {}, options);
    const { headers } = server.seen[0] ?? {};
    expect(headers?.["x-api-key"]).toBe(EXT_KEY);
    expect(headers?.["x-platform-api-key"]).toBeUndefined();
  });

  verifies("D-MCP-7", "C-67");
  it("sets the tenant, also if the arguments name another one", async () => {
    const broker = brokerWith(both);
    await broker.call(contract.departments.list, { tenantId: "other" }, options);
    expect(server.seen[0]?.url).toContain("/tenants/t/");
    await broker.call(contract.audit_logs.list, {}, options);
    expect(server.seen[1]?.url).not.toContain("tenant");
  });

  verifies("KEY-03");
  it("makes an API key with a session even where it has a key", async () => {
    const reply = await brokerWith(both).call(contract.api_keys.create, {}, options);
    expect(reply.status).toBe(201);
    expect(server.seen.at(-1)?.headers["x-platform-auth"]).toBe("canary-token-1");
    expect(server.seen.at(-1)?.headers["x-platform-api-key"]).toBeUndefined();
  });

  it.each<[string, Credentials, string, () => Parameters<Broker["call"]>[0]]>([
    ["nothing at all", {}, "RECEIVABLES_API_KEY", () => contract.departments.list],
    ["no password", { email: "a@b.c" }, "RECEIVABLES_PASSWORD", () => contract.departments.list],
    ["no export key", login, "RECEIVABLES_EXT_API_KEY", () => contract.audit_logs.list],
    [
      "a key alone for making keys",
      { apiKey: new Secret(API_KEY) },
      "RECEIVABLES_EMAIL",
      () => contract.api_keys.create,
    ],
  ])("names the setting where there is %s", async (_what, given, setting, operation) => {
    await expect(brokerWith(given).call(operation(), {}, options)).rejects.toMatchObject({
      code: "unauthenticated",
      message: expect.stringContaining(setting) as string,
    });
    expect(server.seen).toHaveLength(0);
  });

  it("names the setting where there is no tenant", async () => {
    await expect(list(brokerWith(both, ""))).rejects.toMatchObject({
      message: expect.stringContaining("RECEIVABLES_TENANT_ID") as string,
    });
  });

  it("names the setting of a key that the platform refuses, and not the key", async () => {
    const broker = brokerWith({ apiKey: new Secret("canary-dead") });
    const error: unknown = await list(broker).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "token_expired",
      message: expect.stringMatching(/RECEIVABLES_API_KEY/),
    });
    expect(String(error)).not.toContain("canary");
  });

  it("has a stable principal that is not secret", () => {
    expect(derivePrincipal(both)).toBe("ann@example.com");
    const key = derivePrincipal({ apiKey: new Secret(API_KEY) });
    expect(key).toBe(derivePrincipal({ apiKey: new Secret(API_KEY) }));
    expect(key).not.toContain(API_KEY);
    expect(key).not.toBe(derivePrincipal({ apiKey: new Secret("another") }));
    expect(derivePrincipal({})).toBe("nobody");
  });
});

describe("the session", () => {
  verifies("AUTH-07");
  it.each(["token_expired", "unauthenticated"])(
    "is renewed once when the platform says %s, and the call repeated",
    async (code) => {
      refusal = code;
      const broker = brokerWith(login);
      await list(broker);
      live.clear();
      await Promise.all(Array.from({ length: 10 }, () => list(broker)));
      expect(logins).toBe(2);
    },
  );

  it("gives up when a fresh session is refused as well", async () => {
    const broker = brokerWith(login);
    server.behave((seen, response) => {
      platform(seen, response);
      live.clear();
    });
    await expect(list(broker)).rejects.toMatchObject({ code: "token_expired" });
    expect(logins).toBe(2);
  });

  verifies("AUTH-10");
  it("is kept alive by verify-session before the idle clock runs out", async () => {
    const broker = brokerWith(login);
    await list(broker);
    await pass(50 * MINUTE);
    const kept = server.seen.filter(({ url }) => url.endsWith("/verify-session"));
    expect(kept).toHaveLength(5);
    expect(kept[0]?.headers["x-platform-mcp-tool"]).toBe("session.keep_alive");
    await list(broker);
    expect(logins).toBe(1);
  });

  it("lapses an hour after its last use", async () => {
    const asked: string[] = [];
    const { call } = client;
    const noting: Client["call"] = (operation, ...rest) => {
      asked.push(operation.id);
      return call(operation, ...rest);
    };
    client = { ...client, call: noting };
    await list(brokerWith(login));
    const started = now;
    for (let kept = true, step = 0; kept && step < 24; step++) {
      const [timer] = timers.splice(0);
      now = (timer?.at ?? 0) + 1;
      const before = asked.length;
      timer?.act();
      kept = asked.length > before;
      if (kept) await expect.poll(() => timers.length).toBe(1);
    }
    expect(now - started).toBeGreaterThan(60 * MINUTE);
    expect(now - started).toBeLessThan(70 * MINUTE);
  });

  it("is verified on use when its lifetime is running out", async () => {
    const broker = brokerWith(login);
    await list(broker);
    timers = [];
    for (let step = 0; step < 4; step++) {
      now += 10 * MINUTE;
      await list(broker);
    }
    expect(paths()).toContain("verify-session");
    expect(logins).toBe(1);
  });

  verifies("D-AUTH-1");
  it("is not opened again at once after a refusal, so that the account is not locked", async () => {
    const broker = brokerWith({ ...login, password: new Secret("canary-wrong") });
    for (let step = 0; step < 5; step++) {
      await expect(list(broker)).rejects.toMatchObject({ code: "invalid_credentials" });
    }
    expect(logins).toBe(1);
    now += MINUTE;
    await expect(list(broker)).rejects.toMatchObject({ code: "invalid_credentials" });
    expect(logins).toBe(2);
  });

  verifies("D-MCP-4");
  it("shows no token when it is opened, and closes the one before it", async () => {
    const broker = brokerWith(login);
    const first = await broker.login(options);
    expect(first.output).toMatchObject({ status: "LOGIN_SUCCESS", email: "Ann@Example.com" });
    expect(JSON.stringify(first)).not.toContain("canary");
    await broker.login(options);
    await expect.poll(() => [...live]).toEqual(["canary-token-2"]);
  });

  verifies("AUTH-09");
  it("answers verify and logout without the token", async () => {
    const broker = brokerWith(login);
    const verified = await broker.verify(options);
    expect(verified.output).toEqual({ verified: true, status: "ACCESSTOKEN_VERIFIED" });
    live.clear();
    const dead = await broker.verify(options);
    expect(dead.output).toEqual({ verified: false, status: "ACCESSTOKEN_EXPIRED" });
    await list(broker);
    // A session that is known to be invalid is not used.
    expect(paths().filter((path) => path === "departments")).toHaveLength(1);
    const out = await broker.logout(options);
    expect(out.output).toEqual({ status: "LOGOUT_SUCCESS" });
    expect(live.size).toBe(0);
    expect((await broker.logout(options)).output).toEqual({ status: "LOGOUT_SUCCESS" });
  });

  verifies("AUTH-12");
  it("is closed at the end, and only if it was opened", async () => {
    const broker = brokerWith(login);
    await broker.close();
    expect(server.seen).toHaveLength(0);
    await list(broker);
    await broker.close();
    expect(live.size).toBe(0);
    expect(timers).toEqual([]);
  });

  it("does not delay the end if the platform hangs", async () => {
    const broker = brokerWith(login);
    await list(broker);
    server.behave(() => {});
    // A request may take 30 s, which is longer than this test.
    await broker.close();
    expect(timers).toEqual([]);
  });

  it("refuses session operations as ordinary calls", async () => {
    const call = brokerWith(both).call(contract.auth.logout, { accessToken: "x" }, options);
    await expect(call).rejects.toBeInstanceOf(TypeError);
  });

  it("survives the cancellation of one of the callers that wait for the login", async () => {
    const broker = brokerWith(login);
    const stop = new AbortController();
    server.behave((seen, response) => {
      stop.abort();
      setTimeout(() => {
        platform(seen, response);
      }, 20);
    });
    const canceled = broker.call(
      contract.departments.list,
      {},
      { ...options, signal: stop.signal },
    );
    const other = list(broker);
    await expect(canceled).rejects.toMatchObject({ code: "unavailable" });
    expect((await other).status).toBe(200);
    expect(logins).toBe(1);
  });
});
