import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const STEPS = 5;
const ROWS = STEPS * 1000;

verifies("OP-50");
onEveryStore("the removal of old data", (at) => {
  /** Returns the number of turns that the event loop made meanwhile. */
  const countTurns = async (work: Promise<unknown>): Promise<number> => {
    const ended = new AbortController();
    const done = work.finally(() => ended.abort());
    let turns = 0;
    for (; !ended.signal.aborted; turns += 1) await setImmediate();
    await done;
    return turns;
  };

  it("removes ended counters in steps between which requests get their turn", async () => {
    const { counting } = at().store;
    const rows = Array.from({ length: ROWS }, (_, index) => ({
      key: `ended ${index}`,
      count: 1,
      window_ends_at: 1,
    }));
    await counting.insertInto("counters").values(rows).execute();
    expect(await countTurns(at().platform.purgeCounters())).toBeGreaterThanOrEqual(STEPS);
    const left = counting.selectFrom("counters").select("key").where("window_ends_at", "=", 1);
    expect(await left.execute()).toEqual([]);
  });

  it("removes old sessions and login addresses in steps", async () => {
    const admin = await at().tenant("retention");
    const old = Array.from({ length: ROWS }, (_, index) => index);
    const { store, platform, clock } = at();
    const session = await store.read.selectFrom("sessions").selectAll().executeTakeFirstOrThrow();
    await store.transaction(async (tx) => {
      for (const index of old) {
        const id = `old ${index}`;
        const row = { ...session, id, token_hash: id, created_at: 1 };
        await tx.insertInto("sessions").values(row).execute();
        const address = { user_id: id, address_hash: id, seen_at: 1 };
        await tx.insertInto("known_addresses").values(address).execute();
      }
    });
    clock.advance(400 * DAY);
    expect(await countTurns(platform.purge())).toBeGreaterThanOrEqual(2 * STEPS);
    const { read } = store;
    const addresses = await read.selectFrom("known_addresses").select("user_id").execute();
    expect(addresses.filter(({ user_id }) => user_id !== admin.userId)).toEqual([]);
    expect(await read.selectFrom("sessions").select("id").execute()).toEqual([]);
  });
});
