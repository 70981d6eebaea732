import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
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
import { type Benchmark, interleaved } from "../measure.ts";
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
  const server: Server = createServer((request, answer) => {
    request.resume();
    if (request.url?.startsWith("/dead") === true) {
      held.add(answer);
      return;
    }
    answer.writeHead(204).end();
    heard += 1;
    if (heard === isEnough.count) isEnough.resolve();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
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
};

const tell = async (store: Store): Promise<void> => {
  const newId = randomId;
  for (let run = 0; run < EVENTS; run += 1) {
    const payload = { ...PAYLOAD, runId: newId() };
    const told = {
      tenantId: TENANT,
      event: "export.completed",
      payload,
      at: systemClock(),
    } as const;
    await store.transaction((tx) => addRunEvent(tx, { newId }, told));
  }
};

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
    async run({ runs }) {
      const folder = mkdtempSync(join(tmpdir(), "receivables-bench-"));
      const store = await openSqlite(join(folder, "platform.db"), SIGNING);
      const bench = { store, receivers: await openReceivers() };
      const ours = () => msPerRun(bench, DEAD);
      const base = () => msPerRun(bench, 0);
      const samples = await interleaved({ ours, base }, { runs, warmUp: 1 });
      await bench.receivers.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
      return samples;
    },
  },
];
