import pg from "pg";
import { describe, expect, it } from "vitest";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { createUser } from "../../src/platform/admin/users.ts";
import { createDice, type Dice } from "../support/dice.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { type Database, dialects } from "../support/stores.ts";
import { checkIntegrity, checkWorld } from "./check.ts";
import { type Server, startServer } from "./server.ts";
import {
  acknowledge,
  type Deed,
  emptyWorld,
  keepOwn,
  nextDeed,
  withHeaders,
  type World,
} from "./world.ts";
import { verifies } from "../support/verifies.ts";

const SEED = Number(process.env["FAULT_SEED"] ?? 20_260_302);
const KILLS = 10;
/** Chance and the load of the machine decide what befalls a request, so more kills follow until all of it has happened. */
const MOST_KILLS = 30;
const WRITES = 2500;
const CLIENTS = 24;
const TENANTS = ["north", "south", "west"];
const PASSWORD = "correct horse battery staple";
const MINUTE = 60_000;

type Play = {
  dice: Dice;
  worlds: World[];
  database: Database;
  /** Sent and never answered, by tenant. */
  unanswered: Map<World, Deed[]>;
  written: number;
  asked: number;
  /** Counts of unanswered requests: executed or not, and of those sent again. */
  fates: { done: number; undone: number; replayed: number; redone: number };
};

const must = async (server: Server, asked: Parameters<Server["send"]>[0]) => {
  const answer = await server.send(asked);
  if (answer.status >= 300) throw new Error(`${asked.path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};

const foundTenant = async (database: Database, tenantId: string): Promise<void> => {
  const store = await database.open();
  const needs = { store, clock: systemClock, newId: randomId };
  await createTenant(needs, { tenantId, name: tenantId });
  const who = { tenantId, email: `admin@${tenantId}.example`, firstName: "A", lastName: "B" };
  await createUser(needs, { ...who, roles: ["Administrator"] }, async () => PASSWORD);
  await store.close();
};

/** A tenant with what a dispute needs, and a session in it. */
const openWorld = async (server: Server, tenantId: string): Promise<World> => {
  const login = { email: `admin@${tenantId}.example`, password: PASSWORD };
  const path = "/authentication/v1/login";
  const { accessToken: token } = await must(server, { method: "POST", path, body: login });
  const make = (noun: string, body: object) =>
    must(server, {
      method: "POST",
      path: `/dispute/v1/tenants/${tenantId}/${noun}`,
      headers: { "X-Platform-Auth": token },
      body,
    });
  await make("categories", { code: "PRICE", description: "Pricing" });
  await make("reasons", { code: "WRONG", description: "Wrong", categoryCode: "PRICE" });
  await make("resolutions", { code: "CREDIT", description: "Credit", isValid: true });
  return emptyWorld(tenantId, token);
};

/** One client: one request after the other on disputes that no other client changes, until the server is gone. */
const work = async (
  play: Play,
  server: Server,
  world: World,
  own: string[],
  isOver: () => boolean,
): Promise<void> => {
  while (!isOver()) {
    play.asked += 1;
    const deed = nextDeed(play.dice, world, own, `deed.${play.asked}`);
    let answer;
    try {
      answer = await server.send(deed);
    } catch {
      play.unanswered.get(world)?.push(deed);
      return;
    }
    acknowledge(world, deed, answer);
    keepOwn(own, deed, answer);
    if (deed.change.kind !== "none") play.written += 1;
  }
};

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** All clients at work, and in the midst of it the end of the process. */
const workUntilKilled = async (play: Play, server: Server, goal: number): Promise<void> => {
  const end = new AbortController();
  const working = Array.from({ length: CLIENTS }, (_, index) => {
    const world = play.worlds[index % play.worlds.length];
    if (world === undefined) throw new Error("there is no tenant");
    const share = Math.floor(index / play.worlds.length);
    const shares = CLIENTS / play.worlds.length;
    const own = [...world.disputes.keys()].filter((_id, place) => place % shares === share);
    return work(play, server, world, own, () => end.signal.aborted);
  });
  const all = Promise.all(working);
  const reached = (async () => {
    while (!end.signal.aborted && play.written < goal) await pause(1);
    await pause(play.dice.whole(0, 20));
  })();
  await Promise.race([reached, all]);
  end.abort();
  if (play.dice.chance(0.5)) {
    await server.cut();
    await pause(play.dice.whole(0, 60));
  }
  await server.kill();
  await all;
};

/** A dead client's last statement may still be at work in the database. */
const untilAlone = async ({ environment }: Database): Promise<void> => {
  const url = environment["DATABASE_URL"];
  if (url === undefined) return;
  const client = new pg.Client(url);
  await client.connect();
  for (let others = 1; others > 0; await pause(5)) {
    const { rows } = await client.query<{ others: number }>(
      "select count(*)::int as others from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
    );
    others = rows[0]?.others ?? 0;
  }
  await client.end();
};

const checkStore = async (play: Play): Promise<void> => {
  await untilAlone(play.database);
  const store = await play.database.open();
  try {
    await checkIntegrity(store);
    for (const world of play.worlds) {
      const unanswered = play.unanswered.get(world) ?? [];
      const done = await checkWorld(store, world, unanswered);
      play.fates.done += done;
      play.fates.undone += unanswered.length - done;
    }
  } finally {
    await store.close();
  }
};

/** Sends again what was never answered and has a key: it is done once, whether it was done before or not. */
const retry = async (play: Play, server: Server, world: World): Promise<void> => {
  const unanswered = play.unanswered.get(world) ?? [];
  for (const deed of unanswered.splice(0)) {
    if (deed.key === undefined) continue;
    const made = world.keys.get(deed.key);
    // The dispute may have been deleted by another unanswered request.
    if (made === undefined && deed.change.kind === "note") {
      if (!world.disputes.has(deed.change.id)) continue;
    }
    const again = withHeaders(world, { ...deed, tool: `${deed.tool}.again` });
    const answer = await server.send(again);
    expect(answer.headers["idempotency-replayed"]).toBe(made === undefined ? undefined : "true");
    if (made === undefined) {
      acknowledge(world, again, answer);
      play.fates.redone += 1;
      continue;
    }
    play.fates.replayed += 1;
    expect(answer.status).toBe(201);
    expect(answer.body.disputeNoteId ?? answer.body.disputeId).toBe(made);
    const { method, action } = deed;
    world.entries.set(again.tool, { method, status: 201, action });
  }
};

/** Every dispute as the restarted process tells it is as it was last answered. */
const compare = async (server: Server, world: World): Promise<void> => {
  const listed = await must(server, {
    method: "GET",
    path: `/dispute/v1/tenants/${world.tenantId}/disputes`,
    headers: { "X-Platform-Auth": world.token },
  });
  expect(listed).toHaveLength(world.disputes.size);
  for (const { accountName: _accountName, ...told } of listed) {
    const known = world.disputes.get(told.disputeId);
    if (known?.shown["createDate"] !== undefined && known.shown["updateDate"] !== undefined) {
      expect(told).toEqual(known.shown);
    } else {
      expect(told).toMatchObject(known?.shown ?? { disputeId: "known to the test" });
    }
    if (known !== undefined) known.shown = told;
  }
};

const start = (database: Database): Promise<Server> => startServer(database.environment, CLIENTS);

const playAll = async (database: Database): Promise<Play> => {
  const dice = createDice(SEED);
  for (const tenantId of TENANTS) await foundTenant(database, tenantId);
  let server = await start(database);
  try {
    const worlds = await Promise.all(TENANTS.map((tenantId) => openWorld(server, tenantId)));
    const unanswered = new Map(worlds.map((world) => [world, [] as Deed[]]));
    const fates = { done: 0, undone: 0, replayed: 0, redone: 0 };
    const play: Play = { dice, worlds, database, unanswered, written: 0, asked: 0, fates };
    const isFateMissing = () => Object.values(fates).includes(0);
    for (let round = 1; round <= KILLS || (isFateMissing() && round <= MOST_KILLS); round += 1) {
      await workUntilKilled(play, server, (WRITES / KILLS) * round);
      await checkStore(play);
      server = await start(database);
      for (const world of worlds) await compare(server, world);
      for (const world of worlds) await retry(play, server, world);
    }
    expect(server.stderr()).toBe("");
    await server.stop();
    await checkStore(play);
    return play;
  } finally {
    await server.kill();
  }
};

describe.each(dialects)("a platform killed during its work ($name)", (dialect) => {
  verifies("C-05", "C-07", "C-58");
  it(
    `loses no acknowledged change and has no partial one (FAULT_SEED=${SEED})`,
    { timeout: 20 * MINUTE },
    async () => {
      const database = await dialect.create();
      try {
        const play = await playAll(database);
        expect(play.written).toBeGreaterThanOrEqual(WRITES);
        // Requests were under way, and each fate befell some of them.
        const { done, undone, replayed, redone } = play.fates;
        expect(Math.min(done, undone, replayed, redone)).toBeGreaterThan(0);
      } finally {
        await database.remove();
      }
    },
  );
});
