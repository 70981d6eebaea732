import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { MINUTE, SECOND, systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { addRunEvent } from "../../src/platform/webhooks/events.ts";
import { createDice, type Dice } from "../support/dice.ts";
import { WEBHOOKS_PATH } from "../support/export-records.ts";
import { runOf } from "../support/hooked.ts";
import { DOCUMENT, documentAt } from "../support/ingest.ts";
import { connectionOf, pdf, uploadPath } from "../support/pdf.ts";
import { checkWorld } from "./check.ts";
import type { Answer, Asked, Server } from "./server.ts";
import { addSchedule, checkRuns, type SoakSchedule } from "./soak-exports.ts";
import { LOGIN, MCP_TOKEN, SOAK_TENANT, type SoakCluster } from "./soak-cluster.ts";
import { acknowledge, type Deed, emptyWorld, keepOwn, nextDeed, type World } from "./world.ts";

const CLIENTS = 8;
/** How long a round works before its fault, and after it. */
const WORK_MS = 1200;
/** Less than leases and sessions last; the simulation sets clocks by hours. */
const CLOCK_JUMPS_MS = [-20 * SECOND, 20 * SECOND];

export type Soak = {
  dice: Dice;
  cluster: SoakCluster;
  world: World;
  unanswered: Deed[];
  asked: number;
  /** Ids of PDF files whose uploads were acknowledged. */
  uploads: string[];
  schedules: SoakSchedule[];
  connectionId: string;
  counts: Record<string, number>;
  lastToolError?: string;
  log: (line: string) => void;
};

const count = ({ counts }: Soak, what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};

const nodesOf = ({ cluster }: Soak): Server[] => [...cluster.platforms, cluster.mcp];

/** Asks until the answer comes, for what must work between faults. */
const must = async (soak: Soak, asked: Asked): Promise<Answer["body"]> => {
  for (let tries = 0; ; tries += 1) {
    try {
      const answer = await soak.dice.pick(nodesOf(soak)).send(asked);
      if (answer.status < 300) return answer.body;
      if (answer.status !== 503 || tries > 60) throw new RangeError(JSON.stringify(answer.body));
    } catch (error) {
      if (error instanceof RangeError || tries > 60) throw error;
    }
    await pause(500);
  }
};

const signIn = async (soak: Soak): Promise<void> => {
  const path = "/authentication/v1/login";
  soak.world.token = (await must(soak, { method: "POST", path, body: LOGIN })).accessToken;
};

export const beginSoak = async (
  cluster: SoakCluster,
  seed: number,
  log: Soak["log"],
): Promise<Soak> => {
  const store = await cluster.openStore();
  const connectionId = await connectionOf(store, SOAK_TENANT);
  await store.close();
  const soak: Soak = {
    dice: createDice(seed),
    cluster,
    world: emptyWorld(SOAK_TENANT, ""),
    unanswered: [],
    asked: 0,
    uploads: [],
    schedules: [],
    connectionId,
    counts: {},
    log,
  };
  await signIn(soak);
  const make = (noun: string, body: object) =>
    must(soak, {
      method: "POST",
      path: `/dispute/v1/tenants/${SOAK_TENANT}/${noun}`,
      headers: { "X-Platform-Auth": soak.world.token },
      body,
    });
  await make("categories", { code: "PRICE", description: "Pricing" });
  await make("reasons", { code: "WRONG", description: "Wrong", categoryCode: "PRICE" });
  await make("resolutions", { code: "CREDIT", description: "Credit", isValid: true });
  const headers = { "X-API-Key": cluster.apiKey };
  const callbackUrl = `http://127.0.0.1:${cluster.receiver.port}/hook`;
  await must(soak, { method: "POST", path: WEBHOOKS_PATH, headers, body: { callbackUrl } });
  await must(soak, { method: "POST", path: documentAt("SOAKED"), headers, body: DOCUMENT });
  // One in ten calls hangs until it is cut off, and three fail.
  cluster.receiver.answering((response) => {
    const fate = soak.dice.whole(1, 10);
    if (fate > 1) response.writeHead(fate > 4 ? 204 : 500).end();
  });
  return soak;
};

/** One client: a request after the other to any node, on disputes that no other client changes. */
const write = async (soak: Soak, own: string[], isOver: () => boolean): Promise<void> => {
  while (!isOver()) {
    soak.asked += 1;
    const deed = nextDeed(soak.dice, soak.world, own, `deed.${soak.asked}`);
    const answer = await soak.dice
      .pick(nodesOf(soak))
      .send(deed)
      .catch(() => undefined);
    if (answer === undefined || answer.status === 503) {
      // It was done or not: the check finds out. Until then the client leaves the record alone.
      soak.unanswered.push(deed);
      count(soak, answer === undefined ? "uncertain" : "unavailable");
      if ("id" in deed.change) own.splice(own.indexOf(deed.change.id), 1);
      await pause(100);
      continue;
    }
    acknowledge(soak.world, deed, answer);
    keepOwn(own, deed, answer);
    count(soak, "acknowledged");
  }
};

/** Uploads files to S3; those that were acknowledged must be there at the end. */
const upload = async (soak: Soak, isOver: () => boolean): Promise<void> => {
  while (!isOver()) {
    const { url } = soak.dice.pick(nodesOf(soak));
    const path = `${uploadPath(soak.connectionId, "SOAKED")}?append=true`;
    const reply = await fetch(new URL(path, url), {
      method: "POST",
      headers: { "Content-Type": "application/pdf", "X-API-Key": soak.cluster.apiKey },
      body: pdf(`file ${soak.uploads.length}`),
      signal: AbortSignal.timeout(MINUTE),
    }).catch(() => undefined);
    const body = (await reply?.json().catch(() => undefined)) as { id?: string } | undefined;
    if (reply?.status === 200 && body?.id !== undefined) soak.uploads.push(body.id);
    else if (reply !== undefined && reply.status !== 503) {
      throw new Error(`an upload was answered with ${reply.status} ${JSON.stringify(body)}`);
    } else count(soak, "refused uploads");
    await pause(300);
  }
};

/** Calls tools of the MCP node; each answer is a result, unless the node is gone. */
const callTools = async (soak: Soak, isOver: () => boolean): Promise<void> => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "soak", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "disputes_list", arguments: {}, _meta };
  while (!isOver()) {
    const answer = await soak.cluster.mcp
      .send({
        method: "POST",
        path: "/mcp",
        headers: {
          Authorization: `Bearer ${MCP_TOKEN}`,
          Accept: "application/json, text/event-stream",
          "MCP-Protocol-Version": "2026-07-28",
          "Mcp-Method": "tools/call",
          "Mcp-Name": params.name,
        },
        body: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      })
      .catch(() => undefined);
    if (answer !== undefined && answer.body?.result === undefined) {
      throw new Error(`a tool call was answered with ${JSON.stringify(answer)}`);
    }
    if (answer !== undefined) {
      const { isError = false, content } = answer.body.result;
      count(soak, isError ? "failed tools" : "tools");
      if (isError) soak.lastToolError = JSON.stringify(content).slice(0, 300);
    }
    await pause(200);
  }
};

type Fault = (soak: Soak) => Promise<void>;

const FAULTS: Record<string, Fault> = {
  "kill -9 of a platform node": ({ cluster, dice }) => cluster.kill(dice.whole(0, 1)),
  "kill -9 of the MCP node": ({ cluster }) => cluster.kill(2),
  "restart of PostgreSQL": ({ cluster }) => cluster.restartDatabase(),
  "restart of PgBouncer": ({ cluster }) => cluster.restartPooler(),
  "cut connections": async (soak) => {
    const before = soak.counts["uncertain"];
    // The nodes finish running requests, whose answers do not arrive.
    while (soak.counts["uncertain"] === before) {
      await Promise.all(nodesOf(soak).map((node) => node.cut()));
      await pause(50);
    }
  },
  "a full disk of PostgreSQL": async ({ cluster: { disk }, counts }) => {
    if (disk === undefined) return;
    const before = counts["unavailable"] ?? 0;
    disk.fill();
    try {
      const refused = () => counts["unavailable"] ?? 0;
      await expect.poll(refused, { timeout: MINUTE }).toBeGreaterThan(before);
    } finally {
      disk.free();
    }
  },
  "a clock that jumps": async ({ cluster, dice }) => {
    const node = dice.whole(0, 2);
    await cluster.setClock(node, dice.pick(CLOCK_JUMPS_MS));
    await pause(WORK_MS);
    await cluster.setClock(node, 0);
  },
  "errors of S3": async ({ cluster: { s3 }, dice }) => {
    s3.fault = () => (dice.chance(0.5) ? { status: 503, code: "SlowDown" } : undefined);
    await pause(WORK_MS);
    s3.fault = () => undefined;
  },
  "silence of S3": async ({ cluster: { s3 }, dice }) => {
    s3.fault = () => (dice.chance(0.1) ? "silence" : undefined);
    await pause(WORK_MS);
    s3.fault = () => undefined;
  },
};

export const FAULT_NAMES = Object.keys(FAULTS);

const exportsOf = ({ cluster: { apiKey }, schedules }: Soak) => ({ apiKey, schedules });

/** Adds deliveries, as runs that end do, and a schedule whose run is due during the round. */
const tell = async (soak: Soak): Promise<void> => {
  const store = await soak.cluster.openStore();
  for (let run = 0; run < 5; run += 1) {
    const payload = runOf(`s-${run}`);
    const event = { tenantId: SOAK_TENANT, event: "export.completed", payload } as const;
    await store.transaction((tx) =>
      addRunEvent(tx, { newId: randomId }, { ...event, at: systemClock() }),
    );
  }
  await addSchedule(store, (asked) => must(soak, asked), exportsOf(soak));
  await store.close();
};

/** Compares the store with every acknowledged answer; settles the uncertain ones. */
const check = async (soak: Soak): Promise<void> => {
  const store = await soak.cluster.openStore();
  // Statements of an ended process may still run in the database.
  await pause(SECOND);
  const done = await checkWorld(store, soak.world, soak.unanswered);
  soak.counts["settled"] = (soak.counts["settled"] ?? 0) + done;
  soak.unanswered.length = 0;
  const rows = await store.read
    .selectFrom("document_attachments")
    .select("id")
    .where("tenant_id", "=", SOAK_TENANT)
    .execute();
  expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(soak.uploads));
  await store.close();
};

/** Works, and in the midst of it one thing goes wrong; then everything is compared. */
export const playRound = async (soak: Soak, name: string): Promise<void> => {
  await signIn(soak);
  await tell(soak);
  let isOver = false;
  const ids = [...soak.world.disputes.keys()];
  const working = Promise.all([
    ...Array.from({ length: CLIENTS }, (_, share) => {
      const own = ids.filter((_id, place) => place % CLIENTS === share);
      return write(soak, own, () => isOver);
    }),
    upload(soak, () => isOver),
    callTools(soak, () => isOver),
  ]);
  const failing = (async () => {
    await pause(soak.dice.whole(0, WORK_MS));
    await FAULTS[name]?.(soak);
    await pause(WORK_MS);
    isOver = true;
  })();
  await Promise.all([working, failing]);
  await check(soak);
  count(soak, name);
  soak.log(`${name}: ${JSON.stringify(soak.counts)} ${soak.lastToolError ?? ""}`);
};

/** After the last fault every delivery and every run ends, and each acknowledged file is on S3. */
export const finishSoak = async (soak: Soak): Promise<void> => {
  const store = await soak.cluster.openStore();
  const waiting = () => store.read.selectFrom("webhook_deliveries").select("id").execute();
  await expect.poll(waiting, { timeout: 5 * MINUTE, interval: 500 }).toEqual([]);
  const ended = await store.read.selectFrom("webhook_attempts").select("delivery_id").execute();
  expect(ended.length).toBeGreaterThan(0);
  const completed = await checkRuns(store, (asked) => must(soak, asked), exportsOf(soak));
  soak.counts["completed runs"] = completed;
  await store.close();
  const { apiKey, s3 } = soak.cluster;
  expect(s3.refused).toEqual([]);
  for (const id of soak.uploads) {
    const url = new URL(`${documentAt("SOAKED")}/attachments/${id}`, soak.cluster.mcp.url);
    const file = await fetch(url, { headers: { "X-API-Key": apiKey } });
    expect([file.status, (await file.text()).slice(0, 4)]).toEqual([200, "%PDF"]);
  }
  const stored = [...s3.objects.keys()].filter((key) => !key.includes("store/id"));
  expect(stored.length).toBeGreaterThanOrEqual(soak.uploads.length);
};
