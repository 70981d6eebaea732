import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { createDice } from "../support/dice.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { addRunEvent } from "../../src/platform/webhooks/events.ts";
import { WEBHOOKS_PATH } from "../support/export-records.ts";
import { runOf } from "../support/hooked.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type Database, dialects } from "../support/stores.ts";
import { type Server, startServer } from "./server.ts";
import { verifies } from "../support/verifies.ts";

const KILLS = 5;
const HOOKS = 3;
const EVENTS_EACH_TIME = 20;
const ATTEMPTS = 5;
/** Calls that one webhook has under way at most. */
const AT_ONCE = 2;
const TENANT = "crashing";
const SEED = 20_261_121;

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const openReceiver = async (): Promise<Receiver> => {
  const receiver = await startReceiver();
  opened.push(() => receiver.close());
  return receiver;
};

const found = async (database: Database): Promise<{ store: Store; apiKey: string }> => {
  const store = await database.open();
  opened.push(() => store.close());
  const needs = { store, clock: systemClock, newId: randomId };
  await createTenant(needs, { tenantId: TENANT, name: "Crashing" });
  const { apiKey } = await issueKey(needs, { tenantId: TENANT, name: "test" });
  return { store, apiKey };
};

const createHook = async (server: Server, apiKey: string, callbackUrl: string): Promise<void> => {
  const headers = { "X-API-Key": apiKey };
  const body = { callbackUrl };
  const made = await server.send({ method: "POST", path: WEBHOOKS_PATH, headers, body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
};

/** Adds deliveries for runs; returns their ids. */
const tell = async (store: Store): Promise<string[]> => {
  const ids: string[] = [];
  const newId = (): string => {
    const id = randomId();
    ids.push(id);
    return id;
  };
  for (let run = 0; run < EVENTS_EACH_TIME; run += 1) {
    const payload = runOf(`s-${run}`);
    const event = {
      tenantId: TENANT,
      event: "export.completed",
      payload,
      at: systemClock(),
    } as const;
    await store.transaction((tx) => addRunEvent(tx, { newId }, event));
  }
  return ids;
};

/** As if the time of the dead process's leases were up. */
const forgetLeases = (store: Store) =>
  store.transaction((tx) => tx.updateTable("jobs").set({ leased_until: 0 }).execute());

type Attempt = { delivery_id: string; attempt: number; status: string; error: string | null };

const isWhole = (attempts: readonly Attempt[]): boolean => {
  const last = attempts.at(-1);
  const numbered = attempts.every(({ attempt }, index) => attempt === index + 1);
  const earlier = attempts.slice(0, -1).every(({ status }) => status === "failed");
  const ended =
    last?.status === "delivered" || (last?.status === "abandoned" && last.attempt === ATTEMPTS);
  return numbered && earlier && ended;
};

describe.each(dialects)("deliveries of a process that dies ($name)", (dialect) => {
  verifies("C-04", "C-05", "C-16", "C-28");
  it("lose none, record each attempt once, and send few twice", async () => {
    const database = await dialect.create();
    opened.push(() => database.remove());
    const { store, apiKey } = await found(database);
    const receiver = await openReceiver();
    const proxy = await openReceiver();
    const dice = createDice(SEED);
    receiver.answering(async (answer) => {
      const [waitMs, fate] = [dice.whole(0, 20), dice.whole(1, 10)];
      await pause(waitMs);
      if (fate <= 2) answer.destroy();
      else answer.writeHead(fate <= 5 ? 204 : 500).end();
    });
    const environment = {
      ...database.environment,
      RECEIVABLES_WEBHOOK_ALLOW: "127.0.0.0/8",
      RECEIVABLES_WEBHOOK_DELAYS_SECONDS: "0,0,0,0",
      NODE_USE_ENV_PROXY: "1",
      HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
    };
    const start = async (): Promise<Server> => {
      await forgetLeases(store);
      const server = await startServer(environment, 1);
      opened.push(() => server.kill());
      return server;
    };

    const ids: string[] = [];
    let server = await start();
    for (let hook = 0; hook < HOOKS; hook += 1) {
      await createHook(server, apiKey, `http://127.0.0.1:${receiver.port}/${hook}`);
    }
    for (let kill = 0; kill < KILLS; kill += 1) {
      ids.push(...(await tell(store)));
      const goal = receiver.received.length + dice.whole(5, 60);
      await expect
        .poll(() => receiver.received.length, { interval: 1, timeout: 60_000 })
        .toBeGreaterThanOrEqual(goal);
      await pause(dice.whole(0, 10));
      await server.kill();
      server = await start();
    }
    const waiting = () => store.read.selectFrom("webhook_deliveries").select("id").execute();
    await expect.poll(waiting, { timeout: 120_000 }).toEqual([]);

    const attempts: Attempt[] = await store.read
      .selectFrom("webhook_attempts")
      .select(["delivery_id", "attempt", "status", "error"])
      .orderBy("attempt")
      .execute();
    const byDelivery = Map.groupBy(attempts, ({ delivery_id }) => delivery_id);
    expect(new Set(byDelivery.keys())).toEqual(new Set(ids));
    expect([...byDelivery.values()].filter((some) => !isWhole(some))).toEqual([]);
    expect(await store.read.selectFrom("jobs").select("id").execute()).toEqual([]);

    const sent = receiver.received.map(
      ({ headers }) => `${String(headers["x-webhook-id"])}#${String(headers["x-webhook-attempt"])}`,
    );
    const recorded = attempts
      .filter(({ error }) => error !== "INTERNAL")
      .map(({ delivery_id, attempt }) => `${delivery_id}#${attempt}`);
    expect(recorded.filter((one) => !sent.includes(one))).toEqual([]);
    expect(sent.length - recorded.length).toBeLessThanOrEqual(KILLS * HOOKS * AT_ONCE);
    expect(proxy.connections()).toBe(0);
  }, 300_000);
});
