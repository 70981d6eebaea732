import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId, randomToken } from "../../src/kit/ids.ts";
import { createLog } from "../../src/kit/log.ts";
import { createNetworks } from "../../src/kit/network.ts";
import { createSeal } from "../../src/kit/seal.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { createDeliveryJob } from "../../src/platform/webhooks/deliver.ts";
import { addRunEvent } from "../../src/platform/webhooks/events.ts";
import { createSend } from "../../src/platform/webhooks/send.ts";
import { createWorker } from "../../src/platform/jobs/worker.ts";
import { inFolder } from "../folder.ts";
import { type Benchmark, interleaved, inTurn } from "../measure.ts";
import { serveBare } from "../serving.ts";
import { SIGNING } from "./signing.ts";

const RECEIVERS = 200;
const DEAD = 20;
const EVENTS = 3;
const TENANT = "bench";

const log = createLog("error");
const seal = createSeal(Buffer.alloc(32, 1), "webhook-secret");

/** Answers at once, except to those who are dead: they never hear anything. */
const openReceivers = async () => {
  const held = new Set<ServerResponse>();
  let heard = 0;
  let isEnough = { count: Infinity, resolve: (): void => {} };
  const { url, close } = await serveBare((request, answer) => {
    request.resume();
    if (request.url?.startsWith("/dead") === true) {
      held.add(answer);
      return;
    }
    answer.writeHead(204).end();
    heard += 1;
    if (heard === isEnough.count) isEnough.resolve();
  });
  return {
    url,
    /** Resolves when so many more calls were answered. */
    answered(count: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      heard = 0;
      isEnough = { count, resolve };
      return promise;
    },
    /** The dead hang up. */
    bury() {
      for (const answer of held) answer.destroy();
      held.clear();
    },
    close,
  };
};

const setWebhooks = (store: Store, url: string, dead: number): Promise<void> =>
  store.transaction(async (tx) => {
    await tx.deleteFrom("webhooks").execute();
    const rows = Array.from({ length: RECEIVERS }, (_, index) => ({
      tenant_id: TENANT,
      id: randomId(),
      schedule_id: null,
      callback_url: `${url}/${index < dead ? "dead" : "in"}/${index}`,
      secret: seal.seal(randomToken()),
      created_at: 0,
      updated_at: 0,
    }));
    for (let from = 0; from < rows.length; from += 50) {
      await tx
        .insertInto("webhooks")
        .values(rows.slice(from, from + 50))
        .execute();
    }
  });

const PAYLOAD = {
  scheduleId: "s-1",
  status: "completed",
  startedAt: "2026-03-02T08:59:58.000Z",
  completedAt: "2026-03-02T09:00:00.000Z",
  rowCount: 3,
  errorStage: null,
  errorDetail: null,
} as const;

const tell = (store: Store): Promise<void> =>
  inTurn(EVENTS, () => {
    const payload = { ...PAYLOAD, runId: randomId() };
    const event = "export.completed";
    const told = { tenantId: TENANT, event, payload, at: systemClock() } as const;
    return store.transaction((tx) => addRunEvent(tx, { newId: randomId }, told));
  });

const forget = (store: Store): Promise<void> =>
  store.transaction(async (tx) => {
    await tx.deleteFrom("jobs").execute();
    await tx.deleteFrom("webhook_deliveries").execute();
  });

type Bench = { store: Store; receivers: Awaited<ReturnType<typeof openReceivers>> };

/** Returns the time until every living receiver was called about a run, with this many dead receivers. */
const msPerRun = async ({ store, receivers }: Bench, dead: number): Promise<number> => {
  await setWebhooks(store, receivers.url, dead);
  await tell(store);
  const hosts = { resolve: async () => [], allowed: createNetworks(["127.0.0.0/8"]) };
  const send = createSend(hosts);
  const delaysMs = [3e4, 6e4, 12e4, 3e5];
  const needs = { store, clock: systemClock, log };
  const kind = createDeliveryJob({
    ...needs,
    newId: randomId,
    seal,
    send,
    delaysMs,
    version: "bench",
  });
  const worker = createWorker(needs, [kind]);
  const calls = (RECEIVERS - dead) * EVENTS;
  const answered = receivers.answered(calls);
  const began = performance.now();
  worker.start();
  await answered;
  const ms = performance.now() - began;
  receivers.bury();
  await worker.close();
  await forget(store);
  return ms / EVENTS;
};

export const webhookBenchmarks: readonly Benchmark[] = [
  {
    name: "webhook-deliveries",
    about: `until all living of ${RECEIVERS} receivers have heard of a run, ${DEAD} dead : none`,
    unit: "ms",
    aim: 1.1,
    why: "calls to the dead receivers are begun too, each with a claim and a connection",
    run: ({ runs }) =>
      inFolder(async (folder) => {
        const store = await openSqlite(join(folder, "platform.db"), SIGNING);
        const bench = { store, receivers: await openReceivers() };
        const ours = () => msPerRun(bench, DEAD);
        const base = () => msPerRun(bench, 0);
        const samples = await interleaved({ ours, base }, { runs, warmUp: 1 });
        await bench.receivers.close();
        await store.close();
        return samples;
      }),
  },
];
