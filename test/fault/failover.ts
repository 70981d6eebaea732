import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "undici";
import { expect } from "vitest";
import { SECOND } from "../../src/kit/clock.ts";
import { type ClusterHost, connectHost, signIn } from "../support/cluster-walk.ts";
import { TENANT } from "../support/cluster.ts";
import { createDice, type Dice } from "../support/dice.ts";
import type { PatroniNode } from "../support/patroni.ts";
import { CONFIGURATION } from "../support/platform.ts";
import { findRows } from "../support/rows.ts";
import { checkWorld } from "./check.ts";
import type { FailoverCluster } from "./failover-cluster.ts";
import { createSender, type Server, unlessCut } from "./server.ts";
import { type Deed, emptyWorld, nextDeed, settleAnswer, type World } from "./world.ts";

const CLIENTS = 6;
/** A request without an answer for longer hangs: writes wait for their turn for so long, and hosts for a tool call. */
const DEADLINE_MS = 60 * SECOND;
const LOST_MS = 5 * SECOND;
/** Within which every way to the database takes writes again after the election of a primary. */
const BACK_MS = 30 * SECOND;
const WORK_MS = 1500;

/** One kind of failover: what happens to the primary. */
export const FAILOVERS: Record<
  string,
  (cluster: FailoverCluster, primary: PatroniNode) => Promise<void>
> = {
  switchover: ({ patroni }) => patroni.switchOver(),
  "killed PostgreSQL": (_cluster, primary) => primary.kill("postgres"),
  "stopped processes": async (_cluster, primary) => primary.freeze(),
  "cut network": async (_cluster, primary) => primary.cut(),
  "killed machine": (_cluster, primary) => primary.kill("machine"),
};

/** A server that takes writes, with the time when its last acknowledged write began. */
type Way = { name: string; lastAcknowledged: number };

export type Failover = {
  cluster: FailoverCluster;
  dice: Dice;
  world: World;
  unanswered: Deed[];
  asked: number;
  platforms: (Way & Pick<Server, "send"> & { pool: Pool })[];
  hosts: (Way & { host: ClusterHost })[];
  /** Codes of departments made by tools: whether each was acknowledged. */
  departments: Map<string, boolean>;
  counts: Record<string, number>;
  refusals: Record<string, number>;
  /** The longest wait for an answer by each way, in seconds. */
  longest: Record<string, number>;
  /** Whether an MCP server is killed: hosts of 2025 get no answer to a call whose stream breaks. */
  isServerLost: boolean;
};

const count = (counts: Record<string, number>, what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};

/** Signs in, makes what disputes need, and connects a host of each era to the MCP servers. */
export const beginFailovers = async (cluster: FailoverCluster, seed: number): Promise<Failover> => {
  const { nodes } = cluster;
  const admin = await signIn(nodes);
  const make = async (noun: string, body: object): Promise<void> => {
    const { status, text } = await admin.call("POST", `${CONFIGURATION}/${noun}`, { body });
    if (status !== 201) throw new Error(text);
  };
  await make("categories", { code: "PRICE", description: "Pricing" });
  await make("reasons", { code: "WRONG", description: "Wrong", categoryCode: "PRICE" });
  await make("resolutions", { code: "CREDIT", description: "Credit", isValid: true });
  const platforms = nodes.platforms.map(({ port }, place) => {
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CLIENTS, pipelining: 1 });
    const name = place === 0 ? "platform by hosts" : "platform by HAProxy";
    return { name, lastAcknowledged: 0, pool, send: createSender(() => pool, DEADLINE_MS) };
  });
  const hosts = await Promise.all(
    (["legacy", "auto"] as const).map(async (era) => ({
      name: era === "legacy" ? "session of 2025" : "calls of 2026",
      lastAcknowledged: 0,
      host: await connectHost(nodes, era),
    })),
  );
  return {
    cluster,
    dice: createDice(seed),
    world: emptyWorld(TENANT, admin.token),
    unanswered: [],
    asked: 0,
    platforms,
    hosts,
    departments: new Map(),
    counts: {},
    refusals: {},
    longest: {},
    isServerLost: false,
  };
};

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

/** Measures one request. */
const timed = async <T>({ longest }: Failover, { name }: Way, asked: Promise<T>): Promise<T> => {
  const began = performance.now();
  try {
    return await asked;
  } finally {
    longest[name] = Math.max(longest[name] ?? 0, seconds(performance.now() - began));
  }
};

/** One client: a request after the other to one platform, on disputes that no other client changes. */
const write = async (
  state: Failover,
  way: Failover["platforms"][number],
  own: string[],
  isOver: () => boolean,
): Promise<void> => {
  while (!isOver()) {
    state.asked += 1;
    const deed = nextDeed(state.dice, state.world, own, `deed.${state.asked}`);
    const began = performance.now();
    const answer = await timed(state, way, unlessCut(way.send(deed)));
    const outcome = settleAnswer(state, own, deed, answer);
    count(state.counts, outcome);
    if (outcome !== "acknowledged") await pause(100);
    else if (deed.change.kind !== "none")
      way.lastAcknowledged = Math.max(way.lastAcknowledged, began);
  }
};

/** The refusals that a host may see while no server takes writes. */
const AWAY = /unavailable|\b50[23]\b|cannot be read now/i;
const LOST = new RegExp(`${AWAY.source}|timed out|fetch failed`, "i");

const textOf = (error: unknown): string =>
  error instanceof Error ? `${error.name} ${error.message}` : JSON.stringify(error);

/** A host that makes records by tool calls. */
const callTools = async (
  state: Failover,
  way: Failover["hosts"][number],
  isOver: () => boolean,
): Promise<void> => {
  while (!isOver()) {
    const code = `D-${state.departments.size}`;
    state.departments.set(code, false);
    const began = performance.now();
    const args = { code, description: "Made by a tool" };
    const asked = way.host.client.callTool(
      { name: "departments_create", arguments: args },
      { timeout: state.isServerLost ? LOST_MS : DEADLINE_MS },
    );
    const refusal = await timed(state, way, asked).then(
      ({ isError, content }) => (isError === true ? textOf(content) : undefined),
      textOf,
    );
    if (refusal === undefined) {
      state.departments.set(code, true);
      way.lastAcknowledged = began;
    } else {
      if (!(state.isServerLost ? LOST : AWAY).test(refusal))
        throw new Error(`${way.name}: ${refusal}`);
      count(state.refusals, refusal.replaceAll(/"id":\d+,/g, "").slice(0, 200));
      await pause(100);
    }
    count(state.counts, refusal === undefined ? "tools" : "failed tools");
    await pause(50);
  }
};

/** Compares every record with what was acknowledged; uncertain requests were carried out wholly or not at all. */
const check = async (state: Failover): Promise<void> => {
  const store = await state.cluster.nodes.database.open();
  try {
    const settled = await checkWorld(store, state.world, state.unanswered);
    state.counts["settled"] = (state.counts["settled"] ?? 0) + settled;
    state.unanswered.length = 0;
    const rows = await findRows(store.read, "departments", { tenant_id: TENANT });
    const codes = rows.map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    const acknowledged = [...state.departments].filter(([, isDone]) => isDone);
    expect(codes).toEqual(expect.arrayContaining(acknowledged.map(([code]) => code)));
    expect(codes.filter((code) => !state.departments.has(code))).toEqual([]);
  } finally {
    await store.close();
  }
};

/** Works while `act` runs; then everything is compared. */
export const workDuring = async (state: Failover, act: () => Promise<void>): Promise<void> => {
  let isOver = false;
  const ids = [...state.world.disputes.keys()];
  const clients = Array.from({ length: CLIENTS }, (_, share) => {
    const way = state.platforms[share % state.platforms.length] as Failover["platforms"][number];
    return write(
      state,
      way,
      ids.filter((_id, place) => place % CLIENTS === share),
      () => isOver,
    );
  });
  const working = Promise.all([
    ...clients,
    ...state.hosts.map((way) => callTools(state, way, () => isOver)),
  ]);
  const acting = (async () => {
    await pause(WORK_MS);
    await act();
    await pause(WORK_MS);
  })().finally(() => {
    isOver = true;
  });
  await Promise.all([working, acting]);
  await check(state);
};

export type Figures = {
  kind: string;
  /** Seconds from the fault to the new primary, and to the first write after it by each way. */
  election: number;
  writes: Record<string, number>;
  longest: Record<string, number>;
};

/** Has the primary fail and waits until every way takes writes again; then the failed server returns. */
export const failOver = async (state: Failover, kind: string): Promise<Figures> => {
  const { patroni } = state.cluster;
  await patroni.becomeWhole();
  const primary = await patroni.findPrimary();
  const writes: Record<string, number> = {};
  let election = 0;
  state.longest = {};
  await workDuring(state, async () => {
    const began = performance.now();
    await FAILOVERS[kind]?.(state.cluster, primary);
    await patroni.findPrimary(primary);
    const elected = performance.now();
    election = seconds(elected - began);
    const ways: Way[] = [...state.platforms, ...state.hosts];
    await Promise.all(
      ways.map(async (way) => {
        // A write that began after the election.
        await expect
          .poll(() => way.lastAcknowledged, { timeout: BACK_MS, interval: 20, message: way.name })
          .toBeGreaterThan(elected);
        writes[way.name] = seconds(performance.now() - began);
      }),
    );
    await primary.restore();
    await patroni.becomeWhole();
  });
  return { kind, election, writes, longest: state.longest };
};

/**
 * Ends MCP servers one after the other, while the sessions and calls of their hosts go on at the other one. Returns the
 * refusals of tool calls while the first one stopped, which nobody killed.
 */
export const endServers = async (state: Failover): Promise<Failover["refusals"]> => {
  const { servers } = state.cluster.nodes;
  state.refusals = {};
  await workDuring(state, async () => {
    expect(await servers[0]?.end("SIGTERM")).toBe(0);
    await servers[0]?.start();
  });
  const { refusals } = state;
  state.refusals = {};
  state.isServerLost = true;
  await workDuring(state, async () => {
    await servers[1]?.end("SIGKILL");
    const killed = performance.now();
    for (const way of state.hosts) {
      await expect.poll(() => way.lastAcknowledged, { message: way.name }).toBeGreaterThan(killed);
    }
    await servers[1]?.start();
  });
  return refusals;
};

export const closeFailovers = async ({ hosts, platforms }: Failover): Promise<void> => {
  await Promise.all([
    ...hosts.map(({ host }) => host.close()),
    ...platforms.map(({ pool }) => pool.destroy()),
  ]);
};
