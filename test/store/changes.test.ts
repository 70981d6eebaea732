import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Changes } from "../../src/kit/changes.ts";
import { MINUTE, systemClock } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { CHANNEL, createPostgresChanges } from "../../src/kit/postgres/changes.ts";
import { createRateLimiter } from "../../src/mcp/tools/rate-limiter.ts";
import type { OauthStore } from "../../src/records/port.ts";
import { createStorage } from "../../src/records/storage.ts";
import { administer } from "../support/postgres.ts";
import { type Database, type Dialect, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const [, postgres] = dialects as [Dialect, Dialect];

let database: Database;
let url: string;
let opened: Changes[];
beforeEach(async () => {
  database = await postgres.create();
  ({ DATABASE_URL: url = "" } = database.environment);
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((changes) => changes.close()));
  await database.remove();
});

const open = (): Changes => {
  const changes = createPostgresChanges(url, silentLog);
  opened.push(changes);
  return changes;
};

describe("announcements between processes on PostgreSQL", () => {
  verifies("OP-20");
  it("reach the watchers of a key at every process, also after the connection was lost", async () => {
    const [one, other] = [open(), open()];
    const heard: (string | undefined)[] = [];
    const unwatch = other.watch("key", (detail) => heard.push(detail), MINUTE);
    const announceAndList = async (detail: string) => {
      await one.announce("key", detail);
      await one.announce("another key", "not for this watcher");
      return heard;
    };
    await expect.poll(() => announceAndList("first")).toContain("first");
    const looks = heard.filter((detail) => detail === undefined).length;
    await administer(
      url,
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    // What was announced meanwhile is lost, so every watcher looks when the connection is back.
    await expect
      .poll(() => heard.filter((detail) => detail === undefined).length)
      .toBeGreaterThan(looks);
    await expect.poll(() => announceAndList("second")).toContain("second");
    expect(heard).not.toContain("not for this watcher");
    // Any user of the database may send to the channel.
    for (const payload of ["no JSON", "null", "{}", '["key", {}]']) {
      await administer(url, `notify ${CHANNEL}, '${payload}'`);
    }
    await expect.poll(() => announceAndList("third")).toContain("third");
    expect(heard.every((detail) => detail === undefined || typeof detail === "string")).toBe(true);
    unwatch();
    const count = heard.length;
    await one.announce("key", "fourth");
    await announceTo(other, one);
    expect(heard).toHaveLength(count);
  });
});

/** Resolves when an announcement of one process has reached another, and with it all earlier ones. */
const announceTo = (to: Changes, from: Changes): Promise<void> =>
  new Promise((resolve) => {
    const unwatch = to.watch(
      "mark",
      (detail) => {
        if (detail !== "mark") return;
        unwatch();
        resolve();
      },
      MINUTE,
    );
    void from.announce("mark", "mark");
  });

describe("the limit of tool calls", () => {
  let stores: OauthStore[];
  beforeEach(async () => {
    stores = [await database.openOauth(), await database.openOauth()];
  });
  afterEach(() => Promise.all(stores.map((store) => store.close())));

  verifies("OP-20");
  it("holds for all nodes together", async () => {
    const limiters = stores.map((store) => {
      const storage = createStorage(store, systemClock);
      return createRateLimiter(5, systemClock, () => storage.counter.count("ann", MINUTE));
    });
    const calls = Array.from({ length: 8 }, async (_, index) => limiters[index % 2]?.());
    const outcomes = await Promise.allSettled(calls);
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(3);
    expect(refused[0]).toMatchObject({ reason: { code: "rate_limited" } });
  });
});
