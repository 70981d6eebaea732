import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createBroker } from "../../src/broker/broker.ts";
import type { Broker } from "../../src/broker/port.ts";
import { createClient } from "../../src/client/client.ts";
import { createInProcessTransport } from "../../src/client/in-process.ts";
import type { Client } from "../../src/client/port.ts";
import { contract } from "../../src/contract/index.ts";
import { HOUR, MINUTE } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { Secret } from "../../src/kit/secret.ts";
import { onEveryStore, type TestPlatform } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("the broker's session with a real platform", (at) => {
  let client: Client;
  let broker: Broker;
  let timers: { due: number; act: () => void }[];
  /** The operations that the broker asked for, and what is still under way of them. */
  let asked: string[];
  let underWay: Promise<unknown>[];
  let token: string;
  let tenants = 0;

  const start = async ({ clock, platform, tenant }: TestPlatform) => {
    tenants += 1;
    const tenantId = `kept-${tenants}`;
    const { email, password } = await tenant(tenantId);
    const transport = createInProcessTransport({
      fetch: async (request) => platform.fetch(request),
      requestMs: 30_000,
    });
    const plain = createClient({ transport, headerWord: "Platform", log: silentLog });
    client = {
      ...plain,
      call: (operation, args, credential, options) => {
        asked.push(operation.id);
        if ("x-platform-auth" in credential) token = credential["x-platform-auth"] ?? "";
        const reply = plain.call(operation, args, credential, options);
        underWay.push(reply.catch(() => {}));
        return reply;
      },
    };
    broker = createBroker({
      client,
      vault: {
        put: async () => "",
        list: async () => [],
        show: async () => "",
        remove: async () => true,
      },
      headerWord: "Platform",
      tenantId,
      principal: email,
      credentials: async () => ({ email, password: new Secret(password) }),
      log: silentLog,
      clock,
      schedule: (ms, act) => {
        const timer = { due: clock() + ms, act };
        timers.push(timer);
        return () => {
          timers = timers.filter((other) => other !== timer);
        };
      },
    });
  };

  beforeEach(async () => {
    [timers, asked, underWay] = [[], [], []];
    await start(at());
  });
  afterEach(async () => {
    await broker.close();
    await client.close();
  });

  const use = () => broker.call(contract.departments.list, {}, { tool: "a_tool" });
  const count = (id: string) => asked.filter((one) => one === id).length;

  /** Lets time pass, and everything that falls due in it happen. */
  const pass = async (ms: number) => {
    const { clock } = at();
    const end = clock() + ms;
    for (;;) {
      const next = timers.toSorted((one, other) => one.due - other.due)[0];
      if (next === undefined || next.due > end) break;
      clock.advance(Math.max(0, next.due - clock()));
      timers = timers.filter((timer) => timer !== next);
      next.act();
      await Promise.all(underWay);
      // The rest of the call needs only promises.
      await setImmediate();
    }
    clock.advance(end - clock());
  };

  verifies("AUTH-07", "AUTH-10");
  it("outlives both limits while it is used now and then", async () => {
    for (let times = 0; times < 12; times++) {
      expect((await use()).status).toBe(200);
      await pass(50 * MINUTE);
    }
    expect(count("auth.login")).toBe(1);
    expect(count("auth.verify_session")).toBeGreaterThan(40);
  });

  verifies("AUTH-07");
  it("outlives its hour by use alone if no timer runs", async () => {
    for (let times = 0; times < 30; times++) {
      timers = [];
      expect((await use()).status).toBe(200);
      at().clock.advance(10 * MINUTE);
    }
    expect(count("auth.login")).toBe(1);
  });

  it("is opened again once for all waiting callers after its maximum lifetime", async () => {
    await use();
    for (let hours = 0; hours < 12; hours++) {
      await pass(HOUR - MINUTE);
      await use();
    }
    expect(count("auth.login")).toBe(1);
    at().clock.advance(13 * MINUTE);
    const replies = await Promise.all(Array.from({ length: 8 }, use));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(count("auth.login")).toBe(2);
  });

  it("lapses an hour after its last use", async () => {
    await use();
    await pass(3 * HOUR);
    expect(timers).toEqual([]);
    const verified = count("auth.verify_session");
    await pass(3 * HOUR);
    expect(count("auth.verify_session")).toBe(verified);
    expect((await use()).status).toBe(200);
    expect(count("auth.login")).toBe(2);
  });

  verifies("AUTH-11", "AUTH-12");
  it("ends on the platform when the broker closes", async () => {
    await use();
    const ask = () =>
      at().call("GET", "/user/v1/users/profile", { headers: { "X-Platform-Auth": token } });
    expect((await ask()).status).toBe(200);
    await broker.close();
    expect((await ask()).status).toBe(401);
    expect(count("auth.logout")).toBe(1);
    expect(timers).toEqual([]);
  });
});
