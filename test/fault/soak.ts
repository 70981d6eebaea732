import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { SECOND, systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { addRunEvent } from "../../src/platform/webhooks/events.ts";
import { createDice } from "../support/dice.ts";
import { WEBHOOKS_PATH } from "../support/export-records.ts";
import { runOf } from "../support/hooked.ts";
import { DOCUMENT, documentAt } from "../support/ingest.ts";
import { connectionOf } from "../support/pdf.ts";
import { checkWorld } from "./check.ts";
import { unlessCut } from "./server.ts";
import { MCP_TOKEN, SOAK_TENANT, type SoakCluster } from "./soak-cluster.ts";
import { addSchedule, checkDeliveries, checkRuns, listCompletedRuns } from "./soak-exports.ts";
import { CLOCK_JUMP_MS, FAULTS, findUnreasoned, WORK_MS } from "./soak-faults.ts";
import { read, readFile, upload } from "./soak-files.ts";
import { count, must, nodesOf, signIn, signInAgain, type Soak } from "./soak-state.ts";
import { emptyWorld, nextDeed, settleAnswer } from "./world.ts";

const CLIENTS = 8;
const READERS = 2;

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
    uploads: new Map(),
    sentFiles: 0,
    schedules: [],
    runs: [],
    announced: [],
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
    const node = soak.dice.pick(nodesOf(soak));
    const answer = await unlessCut(node.send(deed));
    if (answer?.status === 401) {
      await signInAgain(soak, node);
      continue;
    }
    const outcome = settleAnswer(soak, own, deed, answer);
    count(soak, outcome);
    if (outcome !== "acknowledged") await pause(100);
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
    const asked = soak.cluster.mcp.send({
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
    });
    const answer = await unlessCut(asked);
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

const exportsOf = ({ cluster: { apiKey }, schedules }: Soak) => ({ apiKey, schedules });

/** Adds deliveries, as runs that end do, and a schedule whose run is due during the round. */
const tell = async (soak: Soak): Promise<void> => {
  const store = await soak.cluster.openStore();
  for (let run = 0; run < 5; run += 1) {
    const payload = runOf(`s-${soak.announced.length}`);
    const event = { tenantId: SOAK_TENANT, event: "export.completed", payload } as const;
    await store.transaction((tx) =>
      addRunEvent(tx, { newId: randomId }, { ...event, at: systemClock() }),
    );
    soak.announced.push(payload.scheduleId);
  }
  await addSchedule(store, (asked) => must(soak, asked), exportsOf(soak));
  soak.runs = await listCompletedRuns(store);
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
  expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining([...soak.uploads.keys()]));
  await store.close();
};

/** Works, and in the midst of it one thing goes wrong; then everything is compared. */
export const playRound = async (soak: Soak, name: string): Promise<void> => {
  await signIn(soak);
  await tell(soak);
  let isOver = false;
  const before = { ...soak.counts };
  const ids = [...soak.world.disputes.keys()];
  const working = Promise.all([
    ...Array.from({ length: CLIENTS }, (_, share) => {
      const own = ids.filter((_id, place) => place % CLIENTS === share);
      return write(soak, own, () => isOver);
    }),
    upload(soak, () => isOver),
    ...Array.from({ length: READERS }, () => read(soak, () => isOver)),
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
  expect(findUnreasoned(name, before, soak), soak.lastToolError ?? "").toEqual([]);
  count(soak, name);
  soak.log(`${name}: ${JSON.stringify(soak.counts)} ${soak.lastToolError ?? ""}`);
};

/** After the last fault every delivery and every run ends, and each acknowledged file is on S3. */
export const finishSoak = async (soak: Soak): Promise<void> => {
  const { cluster, uploads } = soak;
  // Jobs that a node planned or claimed while its clock was ahead are due at this clock only.
  await Promise.all([0, 1, 2].map((node) => cluster.setClock(node, 2 * CLOCK_JUMP_MS)));
  const store = await cluster.openStore();
  const completed = await checkRuns(store, (asked) => must(soak, asked), exportsOf(soak));
  soak.counts["completed runs"] = completed;
  soak.counts["deliveries"] = await checkDeliveries(store, cluster.receiver, soak.announced);
  await store.close();
  expect(cluster.s3.refused).toEqual([]);
  for (const id of uploads.keys()) expect(await readFile(soak, id)).toBe("whole");
  const stored = [...cluster.s3.objects.keys()].filter((key) => !key.includes("store/id"));
  expect(stored.length).toBeGreaterThanOrEqual(uploads.size);
};
