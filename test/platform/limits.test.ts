import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { platformContract } from "../../src/contract/index.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { MINUTE, SECOND } from "../../src/kit/clock.ts";
import { createRateLimiter } from "../../src/platform/rate-limiter.ts";
import { count, findCounter, giveBack } from "../../src/platform/store/queries/counters.ts";
import { configure, DISPUTES, onEveryStore } from "../support/platform.ts";
import { findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const LOGS = "/api/v1/remittance-export/audit-logs";
const LIMITS = {
  gatewayPerMinute: 5,
  loginPerMinute: 6,
  visitorPerMinute: 2,
  exportPerMinute: 3,
  exportPerHour: 5,
};

const exported: Operation[] = Object.values(platformContract)
  .flatMap((verbs): Operation[] => Object.values(verbs))
  .filter(({ service, access }) => service === "export" && access !== "public");

const pathOf = ({ path }: Operation): string => path.replace(/\{\w+\}/g, "some");

onEveryStore("the export API's first refusals", (at) => {
  verifies("EX-01", "EX-05");
  it("refuses every non-public operation without a valid key", async () => {
    expect(exported.length).toBeGreaterThan(0);
    for (const operation of exported) {
      for (const headers of [undefined, { "X-API-Key": "rcvx_wrong" }]) {
        const reply = await at().call(
          operation.method,
          pathOf(operation),
          headers === undefined ? {} : { headers },
        );
        expect([operation.id, reply.status, reply.body]).toEqual([
          operation.id,
          401,
          {
            error: {
              code: "UNAUTHORIZED",
              message: expect.any(String),
              requestId: expect.any(String),
            },
          },
        ]);
      }
    }
  });

  verifies("AU-01", "D-AUD-2");
  it("records every refusal of every operation once", async () => {
    await at().tenant("refused");
    const [none, all] = [
      await at().exportCaller("refused", ["ingest:read"]),
      await at().exportCaller("refused"),
    ];
    const plain = { "Content-Type": "text/plain" };
    const told: [Operation, number][] = [];
    const tell = async (operation: Operation, sent: ReturnType<typeof all>): Promise<void> => {
      told.push([operation, (await sent).status]);
    };
    for (const operation of exported) {
      const { method } = operation;
      const path = pathOf(operation);
      await tell(operation, none(method, path));
      await tell(operation, all(method, `${path}?colour=red`));
      if (path !== operation.path) await tell(operation, all(method, path));
      if (method !== "POST") continue;
      await tell(operation, all(method, path, { raw: "{", headers: plain }));
      await tell(operation, all(method, path, { raw: "{" }));
      await tell(operation, all(method, path, { raw: JSON.stringify("x".repeat(2 ** 20)) }));
      await tell(operation, all(method, path, { body: { colour: "red" } }));
    }
    expect([...new Set(told.map(([, status]) => status))].toSorted()).toEqual([
      400, 403, 404, 413, 415,
    ]);
    const entries = await at()
      .store.read.selectFrom("audit_logs")
      .select(["action", "status_code"])
      .where("tenant_id", "=", "refused")
      .where("endpoint", "not like", "/authentication/%")
      .orderBy("seq")
      .execute();
    expect(entries.map(({ action, status_code }) => [action, status_code])).toEqual(
      told.map(([{ audit }, status]) => [audit, status]),
    );
  });

  verifies("EX-03");
  it("allows a tenant 1,000 requests a minute and 50,000 an hour", async () => {
    const config = readConfig({ env: {}, readFile: () => "", dataFolder: "." });
    const limiter = createRateLimiter(at().store, config.limits);
    const now = at().clock();
    for (let number = 0; number < 1000; number += 1) await limiter.keyed("export", "busy", now);
    await expect(limiter.keyed("export", "busy", now)).rejects.toMatchObject({
      code: "rate_limited",
      details: { retryAfterSeconds: 60 },
    });
    const { counting } = at().store;
    const hour = counting.updateTable("counters").where("key", "=", "export:busy:hour");
    expect((await hour.set({ count: 49_999 }).executeTakeFirst()).numUpdatedRows).toBe(1n);
    await limiter.keyed("export", "busy", now + 30 * MINUTE);
    await expect(limiter.keyed("export", "busy", now + 30 * MINUTE)).rejects.toMatchObject({
      details: { retryAfterSeconds: 30 * 60 },
    });
  });

  it("undoes a count, and leaves the next window as it is", async () => {
    const { counting } = at().store;
    const first = await count(counting, "undone", 0, MINUTE);
    await count(counting, "undone", MINUTE, MINUTE);
    await giveBack(counting, "undone", first.endsAt);
    expect(await findCounter(counting, "undone", MINUTE)).toMatchObject({ count: 1 });
    await giveBack(counting, "undone", 2 * MINUTE);
    expect(await findCounter(counting, "undone", MINUTE)).toMatchObject({ count: 0 });
  });

  verifies("D-RATE");
  it("ends a window within its length, also when the clock was set back, and keeps its count", async () => {
    const countAt = (now: number) => count(at().store.counting, "set back", now, MINUTE);
    await countAt(9 * MINUTE);
    expect(await countAt(2 * MINUTE)).toEqual({ count: 2, endsAt: 3 * MINUTE });
    expect(await countAt(2.5 * MINUTE)).toEqual({ count: 3, endsAt: 3 * MINUTE });
    expect((await countAt(3 * MINUTE)).count).toBe(1);
  });
});

onEveryStore(
  "rate limits",
  (at) => {
    verifies("D-RATE", "C-43", "C-56");
    it("counts a credential's requests in a window that its first one opens", async () => {
      const admin = await at().tenant("rate");
      const other = await at().person("rate", { roles: ["Viewer"] });
      at().clock.advance(MINUTE);
      for (let left = 4; left >= 0; left--) {
        const { status, headers } = await admin.call("GET", DISPUTES);
        expect(status).toBe(200);
        expect(headers.get("ratelimit-policy")).toBe('"minute";q=5;w=60');
        expect(headers.get("ratelimit")).toBe(`"minute";r=${left};t=60`);
      }
      // A part of a second is a whole one to wait.
      at().clock.advance(20 * SECOND + 1);
      const headers = { "X-Platform-Mcp-Tool": "disputes_list" };
      const refused = await admin.call("GET", DISPUTES, { headers });
      expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
      const logged = at().store.read.selectFrom("audit_logs").select(["action", "status_code"]);
      const listed = logged.where("action", "=", "dispute.listed");
      expect(await listed.where("tenant_id", "=", "rate").execute()).toEqual([
        { action: "dispute.listed", status_code: 429 },
      ]);
      expect(refused.headers.get("retry-after")).toBe("40");
      const created = await admin.call("POST", DISPUTES, { body: {} });
      expect(created.status).toBe(429);
      expect((await other.call("GET", DISPUTES)).status).toBe(200);
      at().clock.advance(40 * SECOND);
      expect((await admin.call("GET", DISPUTES)).status).toBe(200);
    });

    verifies("EX-02", "EX-04", "EX-06", "D-RATE");
    it("limits a tenant's exports in both windows; refused requests do not count", async () => {
      for (const id of ["rate-a", "rate-b"]) {
        at().clock.advance(MINUTE);
        await at().tenant(id);
      }
      const [a, b] = [await at().exportCaller("rate-a"), await at().exportCaller("rate-b")];
      const ask = async () => (await a("GET", LOGS)).status;
      expect([await ask(), await ask(), await ask(), await ask(), await ask()]).toEqual([
        200, 200, 200, 429, 429,
      ]);
      const left = LIMITS.exportPerHour - 3;
      const rates = (await a("GET", LOGS)).headers.get("ratelimit");
      expect(rates).toBe(`"minute";r=0;t=60, "hour";r=${left};t=3600`);
      expect((await b("GET", LOGS)).status).toBe(200);
      at().clock.advance(MINUTE);
      expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
      const refused = await a("GET", LOGS);
      expect(refused.body.error.code).toBe("RATE_LIMITED");
      const policy = `"minute";q=${LIMITS.exportPerMinute};w=60, "hour";q=${LIMITS.exportPerHour};w=3600`;
      expect(refused.headers.get("ratelimit-policy")).toBe(policy);
      expect(refused.headers.get("ratelimit")).toBe(`"hour";r=0;t=${59 * 60}`);
      const seconds = Number(refused.headers.get("retry-after"));
      expect(seconds).toBe(59 * 60);
      at().clock.advance((seconds - 1) * SECOND);
      expect(await ask()).toBe(429);
      at().clock.advance(SECOND);
      expect(await ask()).toBe(200);
      const logged = await findRows(at().store.read, "audit_logs", { tenant_id: "rate-a" });
      expect(logged.filter((row) => row.status_code === 429)).toHaveLength(6);
    });

    verifies("EX-02");
    it("returns Retry-After from every export operation above the limit", async () => {
      at().clock.advance(MINUTE);
      await at().tenant("rate-every");
      const caller = await at().exportCaller("rate-every");
      for (let number = 0; number < 3; number += 1) await caller("GET", LOGS);
      for (const operation of exported) {
        const { status, headers } = await caller(operation.method, pathOf(operation));
        expect([operation.id, status, headers.get("retry-after")]).toEqual([
          operation.id,
          429,
          "60",
        ]);
      }
      const entries = await at()
        .store.read.selectFrom("audit_logs")
        .select(["action", "endpoint", "status_code"])
        .where("tenant_id", "=", "rate-every")
        .where("status_code", "=", 429)
        .orderBy("seq")
        .execute();
      expect(entries).toEqual(
        exported.map((operation) => ({
          action: operation.audit,
          endpoint: operation.path.replace("/api/v1/remittance-export", ""),
          status_code: 429,
        })),
      );
    });

    verifies("D-RATE", "QY-01");
    it("limits schema requests per address, and with a key per tenant", async () => {
      at().clock.advance(MINUTE);
      await at().tenant("rate-schema");
      const caller = await at().exportCaller("rate-schema");
      const path = "/api/v1/remittance-export/schema";
      const wrong = { headers: { "X-API-Key": "rcvx_wrong" } };
      const answers = [
        await at().call("GET", path),
        await at().call("GET", path, wrong),
        await at().call("GET", path),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(answers[2]?.headers.get("retry-after")).toBe("60");
      expect(answers[2]?.body.error.code).toBe("RATE_LIMITED");
      for (let left = 2; left >= 0; left -= 1) {
        const { status, headers } = await caller("GET", path);
        expect([status, headers.get("ratelimit")?.slice(0, 12)]).toEqual([
          200,
          `"minute";r=${left}`,
        ]);
      }
      expect((await caller("GET", path)).status).toBe(429);
      const entries = await findRows(
        at().store.read,
        "audit_logs",
        { tenant_id: "rate-schema", action: "schema.read" },
        "seq",
      );
      expect(entries.map(({ action, status_code }) => [action, status_code])).toEqual([
        ["schema.read", 200],
        ["schema.read", 200],
        ["schema.read", 200],
        ["schema.read", 429],
      ]);
    });

    verifies("C-37", "D-RATE");
    it("limits logins by address; only trusted proxies can name one", async () => {
      at().clock.advance(MINUTE);
      const login = () =>
        at().call("POST", "/authentication/v1/login", {
          body: { email: "a@b.example", password: "x" },
        });
      const statuses = [];
      for (let attempt = 0; attempt < 7; attempt++) statuses.push((await login()).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429]);
    });

    verifies("D-RATE");
    it("limits an address that guesses credentials, but never a valid key", async () => {
      at().clock.advance(MINUTE);
      const admin = await at().tenant("rate-guess");
      await configure(admin).catch(() => undefined);
      at().clock.advance(2 * MINUTE);
      const guess = () =>
        at().call("GET", "/user/v1/users/profile", { headers: { "X-Platform-Auth": "guess" } });
      for (let attempt = 0; attempt < 100; attempt++) expect((await guess()).status).toBe(401);
      const waiting = await guess();
      expect([waiting.status, waiting.headers.get("retry-after")]).toEqual([429, "60"]);
      expect((await admin.call("GET", DISPUTES)).status).toBe(200);
    });

    verifies("D-RATE");
    it("shares a window between processes on one store", async () => {
      const limiters = [
        createRateLimiter(at().store, LIMITS),
        createRateLimiter(at().store, LIMITS),
      ] as const;
      const now = at().clock();
      const taken = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 ? limiters[0] : limiters[1]).gateway("shared", now),
        ),
      );
      expect(taken.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    });
  },
  { limits: LIMITS },
);
