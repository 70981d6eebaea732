import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MINUTE, systemClock } from "../../src/kit/clock.ts";
import { createSeal } from "../../src/kit/seal.ts";
import { createAttempts } from "../../src/oauth/attempts.ts";
import { createBoundedFetch } from "../../src/oauth/documents.ts";
import { createFormTokens, type Exchange } from "../../src/oauth/form.ts";
import { createStorage } from "../../src/records/storage.ts";
import { askFrom } from "../support/addresses.ts";
import {
  authorizeUrl,
  REDIRECT,
  register,
  type Running,
  signIn,
  startAuthorization,
} from "../support/oauth.ts";
import { MASTER_KEY, startPlatform, type TestPlatform } from "../support/platform.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";
import { openSignIn } from "./setup.ts";

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

describe.each(dialects)("the built-in sign-in under attack ($name)", (dialect) => {
  let at: TestPlatform;
  let running: Running;
  beforeAll(async () => {
    at = await startPlatform(dialect, { limits: { loginPerMinute: 20 } });
    running = await startAuthorization(at, {
      addressOf: (incoming) => incoming.socket.remoteAddress ?? "",
    });
  });
  afterAll(async () => {
    await running.close();
    await at.close();
  });
  beforeEach(async () => {
    await at.store.counting.deleteFrom("counters").execute();
    const store = await at.oauthStore();
    await store.count((tx) => tx.deleteFrom("sign_in_counters").execute());
  });

  const records = async () =>
    (await at.oauthStore()).read
      .selectFrom("sign_in_records")
      .select("kind")
      .where("kind", "!=", "Client")
      .execute();

  verifies("C-95");
  it("stores nothing for browsers that have not signed in, and limits each address", async () => {
    const client = await register(running);
    const url = authorizeUrl(running, client, { state: "x".repeat(1000) });
    const answers = await Promise.all(range(150).map(() => askFrom(url, { from: "127.0.0.50" })));
    const begun = answers.filter(({ status }) => status === 303);
    expect(begun).toHaveLength(120);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(30);
    for (const { headers } of refused) expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    expect(await records()).toEqual([]);
    const [cookie = ""] = begun[0]?.headers["set-cookie"] ?? [];
    const page = await askFrom(begun[0]?.headers.location ?? "", {
      from: "127.0.0.51",
      headers: { cookie: cookie.split(";")[0] ?? "" },
    });
    expect(page.status).toBe(200);
    expect(await records()).toEqual([]);
  });

  verifies("C-95");
  it.each(["token", "revoke", "jwks", "register"])("limits /oauth/%s by address", async (name) => {
    const statuses: number[] = [];
    for (const _ of range(13)) {
      const some = await Promise.all(
        range(50).map(() => askFrom(`${running.url}/oauth/${name}`, { from: "127.0.0.52" })),
      );
      statuses.push(...some.map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(50);
    const other = await askFrom(`${running.url}/oauth/${name}`, { from: "127.0.0.53" });
    expect(other.status).not.toBe(429);
  });

  verifies("C-95", "C-106");
  it("serves each path in one spelling, so that its limits hold", async () => {
    const body = JSON.stringify({ client_name: "Again", redirect_uris: [REDIRECT] });
    for (const path of [
      "/oauth/Register",
      "/oauth/register/",
      "/oauth/%72egister",
      "/oauth//register",
      "/oauth/TOKEN",
      "/oauth/Authorize",
      "/oauth/authorize/",
      "/oauth/jwks/",
      "/.well-known/OpenID-configuration",
    ]) {
      for (const method of ["GET", "POST"] as const) {
        const headers = { "content-type": "application/json" };
        const sent = method === "GET" ? { method } : { method, headers, body };
        const { status } = await fetch(running.url + path, sent);
        expect([method, path, [400, 404].includes(status)]).toEqual([method, path, true]);
      }
    }
    const clients = (await at.oauthStore()).read.selectFrom("sign_in_records").select("payload");
    expect(JSON.stringify(await clients.execute())).not.toContain("Again");
  });

  verifies("C-89");
  it("counts failed sign-ins for the browser's address, in the platform too", async () => {
    const user = await at.tenant("sign-in-address");
    const client = await register(running);
    const from = async (address: string, email: string, password: string) => {
      const one = await startAuthorization(at, { addressOf: () => address });
      const { browser, shown: first } = await openSignIn(one, { client });
      const shown = await signIn(browser, first, { email, password });
      await one.close();
      return shown;
    };
    for (const index of range(22)) {
      await from("127.0.0.60", index < 10 ? user.email : `no${index}@x.example`, "guess");
    }
    expect((await from("127.0.0.60", "one-more@x.example", "guess")).status).toBe(429);
    const right = await from("127.0.0.61", user.email, user.password);
    expect(right.text).toContain("Allow Test host to connect?");
  });

  verifies("C-89", "C-90");
  it("limits sign-ins from one network, also if each names another account", async () => {
    const attempts = createAttempts(createStorage(await at.oauthStore(), systemClock));
    const count = (index: number, address: string) =>
      attempts.countSignIn(`guess${index}@x.example`, address);
    const ends: (number | undefined)[] = [];
    for (const index of range(42)) {
      ends.push(await count(index, `2001:db8:0:1::${index.toString(16)}`));
    }
    expect(ends.slice(0, 40)).toEqual(Array(40).fill(undefined));
    for (const end of ends.slice(40)) expect(end).toBeGreaterThan(systemClock());
    expect(await count(42, "2001:db8:0:2::1")).toBeUndefined();
  });

  verifies("C-106");
  it("lets others register after one network has reached the maximum of clients", async () => {
    const storage = createStorage(await at.oauthStore(), systemClock);
    const add = (id: string, owner: string) =>
      storage.upsert({
        kind: "Filled",
        id,
        grant_id: null,
        owner,
        payload: "",
        consumed_at: null,
        expires_at: systemClock() + MINUTE + Number(id.replace(/\D/g, "")),
      });
    for (const index of range(8)) await add(`flood${index}`, "flood");
    await add("innocent1", "innocent");
    await storage.makeRoom("Filled", 9);
    const left = async (owner: string) =>
      (await storage.listByOwner("Filled", owner)).map(({ id }) => id);
    expect(await left("flood")).toEqual(range(7).map((index) => `flood${index + 1}`));
    expect(await left("innocent")).toEqual(["innocent1"]);
    await storage.makeRoom("Filled", 9);
    expect(await left("flood")).toHaveLength(7);
  });

  verifies("C-106");
  it("limits registrations by address and records which network a client came from", async () => {
    const post = (from: string) =>
      askFrom(`${running.url}/oauth/register`, {
        method: "POST",
        from,
        body: { client_name: "x", redirect_uris: ["https://host.example/a"] },
      });
    const statuses = [];
    for (const _ of range(21)) statuses.push((await post("127.0.0.70")).status);
    expect(statuses).toEqual([...Array(20).fill(201), 429]);
    expect((await post("127.0.0.71")).status).toBe(201);
    const { read } = await at.oauthStore();
    const rows = await read
      .selectFrom("sign_in_records")
      .select("owner")
      .where("kind", "=", "Client")
      .execute();
    const owners = Map.groupBy(rows, ({ owner }) => owner);
    expect([...owners.values()].map(({ length }) => length)).toContain(20);
    expect(owners.has(null)).toBe(false);
  });
});

describe("forms", () => {
  verifies("C-106");
  it("are valid for 15 minutes", () => {
    let now = 0;
    const forms = createFormTokens(createSeal(MASTER_KEY, "test"), () => now);
    const exchange = { incoming: { headers: {} } } as unknown as Exchange;
    const form = new URLSearchParams({ form: forms.issue("page") });
    now = 15 * MINUTE - 1;
    expect(forms.isValid(exchange, form, "page")).toBe(true);
    expect(forms.isValid(exchange, form, "another page")).toBe(false);
    now = 15 * MINUTE;
    expect(forms.isValid(exchange, form, "page")).toBe(false);
  });
});

describe("metadata documents of clients", () => {
  verifies("C-95");
  it("are not fetched again for a minute after they could not be fetched", async () => {
    let [now, fetched] = [1, 0];
    const fetchDocument = createBoundedFetch(
      async (url) => {
        fetched += 1;
        if (String(url).includes("absent")) return new Response(null, { status: 404 });
        throw new Error("no such host");
      },
      () => now,
    );
    await fetchDocument("https://a.example/absent");
    await expect(fetchDocument("https://b.example/")).rejects.toThrow("no such host");
    for (const url of ["https://a.example/absent", "https://b.example/"]) {
      for (const _ of range(50))
        await expect(fetchDocument(url)).rejects.toThrow("could not be fetched");
    }
    expect(fetched).toBe(2);
    now += MINUTE + 1;
    await expect(fetchDocument("https://b.example/")).rejects.toThrow("no such host");
    expect(fetched).toBe(3);
  });

  verifies("C-95");
  it("are fetched 32 at a time at most", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const fetchDocument = createBoundedFetch(
      () => promise.then(() => new Response("{}")),
      () => 1,
    );
    const pending = range(32).map((index) => fetchDocument(`https://p${index}.example/`));
    await expect(fetchDocument("https://next.example/")).rejects.toThrow("being fetched");
    resolve();
    await Promise.all(pending);
    expect((await fetchDocument("https://next.example/")).status).toBe(200);
  });

  verifies("C-95");
  it("are fetched 20 times a minute from one host and 200 times in all", async () => {
    let now = 1;
    const fetched: string[] = [];
    const fetchDocument = createBoundedFetch(
      async (url) => {
        fetched.push(new URL(url).hostname);
        return new Response("{}");
      },
      () => now,
    );
    const ask = (url: string) => fetchDocument(url).catch(() => undefined);
    for (const index of range(100))
      await ask(`https://one.example${index % 2 ? "." : ""}/${index}`);
    expect(fetched).toHaveLength(20);
    for (const index of range(500)) await ask(`https://h${index}.example/`);
    expect(fetched).toHaveLength(200);
    now += MINUTE + 1;
    await ask("https://one.example/again");
    expect(fetched).toHaveLength(201);
  });
});
