import { once } from "node:events";
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { HOUR, formatTimestamp, MINUTE } from "../../src/kit/clock.ts";
import { openRows } from "../../src/platform/exports/snapshot.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { findChunks } from "../../src/platform/store/queries/export-runs.ts";
import type { ExportRunRow } from "../../src/platform/store/tables/schema.ts";
import { insertAll } from "../../src/platform/store/engine/bulk-writes.ts";
import { finished, startChild } from "../support/child.ts";
import { everyPayment, exportingTenant, paymentIds, SCHEDULES } from "../support/exports.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "crashing";
const ROWS = 12_000;
const HALF_HOUR = HOUR / 2;
const CHILD = new URL("runs-child.ts", import.meta.url);

const runsOf = ({ store }: TestPlatform): Promise<ExportRunRow[]> =>
  store.read.selectFrom("export_runs").selectAll().orderBy("slot_at").execute();

const idsIn = async (at: TestPlatform, run: ExportRunRow): Promise<string[]> => {
  const span = { from: 0, to: run.row_count };
  const chunks = await findChunks(at.store.read, run, span);
  const text = await buffer(await openRows(createDiskFiles(at.files), chunks, span));
  return (JSON.parse(`[${text.toString()}]`) as { id: string }[]).map(({ id }) => id);
};

const deliveries = async ({ store }: TestPlatform) =>
  (await store.read.selectFrom("webhook_deliveries").select(["event", "payload"]).execute()).map(
    ({ event, payload }) => `${event} ${(JSON.parse(payload) as { runId: string }).runId}`,
  );

const kept = async ({ files }: TestPlatform): Promise<string[]> =>
  (await readdir(files, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** A moment, and the step at which the process dies then; 0: none. */
type Turn = readonly [now: number, step: number];

const startTurns = ({ environment }: Database, turns: readonly Turn[], zone = "UTC") =>
  startChild(
    CHILD,
    turns.map((turn) => turn.join(":")),
    { ...environment, TZ: zone },
  );

describe.each(dialects)("processes that die during exports ($name)", (dialect) => {
  verifies("C-04", "C-05", "SC-16", "D-SCH-3");
  it(
    "lose no slot, run none twice, and show no partial rows",
    { timeout: 10 * MINUTE },
    async () => {
      const database = await dialect.createMigrated();
      const at = await startPlatform({ name: dialect.name, createMigrated: async () => database });
      const call = await exportingTenant(at, TENANT, ROWS);
      const start = at.clock();
      const due = { firstRunAt: formatTimestamp(start), intervalMs: HOUR };
      const made = await call("POST", SCHEDULES, { body: { ...everyPayment, ...due } });
      expect(made.status, made.text).toBe(201);
      await at.store.transaction((tx) =>
        insertAll(tx, "webhooks", [
          {
            tenant_id: TENANT,
            id: "hook",
            schedule_id: null,
            callback_url: "https://receiver.example",
            secret: "",
            created_at: start,
            updated_at: start,
          },
        ]),
      );
      const work = (...turns: Turn[]) => startTurns(database, turns);
      const die = async (...turns: Turn[]): Promise<void> => {
        const [code, signal] = (await once(work(...turns), "close")) as [number, string];
        expect([code, signal]).toEqual([null, "SIGKILL"]);
      };

      const steps = Number(await finished(work([start, 0])));
      expect(steps).toBeGreaterThan(10);
      let slot = 0;
      // Each process first finishes the run in whose midst the former one died, then dies in the next.
      let rescue: Turn[] = [];
      const checkRescued = async (): Promise<void> => {
        const runs = (await runsOf(at)).filter(({ slot_at }) => slot_at < start + slot * HOUR);
        expect(runs.map(({ slot_at }) => (slot_at - start) / HOUR)).toEqual(
          Array.from({ length: slot }, (_, index) => index),
        );
        expect(runs.every(({ status }) => status === "completed")).toBe(true);
      };
      // Each store has its own way to die; the steps between are the same.
      const stride = dialect.name === "sqlite" ? 1 : 2;
      for (let step = 1; step <= steps; step += stride) {
        slot += 1;
        const now = start + slot * HOUR;
        await die(...rescue, [now, step]);
        await checkRescued();
        // Until it has ended, a run shows nothing of what it wrote.
        const early = (await runsOf(at)).at(-1);
        if (early !== undefined && early.status !== "completed") {
          expect(await findChunks(at.store.read, early, { from: 0, to: ROWS })).toEqual([]);
        }
        rescue = [[now + MINUTE + 1, 0]];
      }
      // Twice is too often: the third process gives the run up.
      slot += 1;
      const now = start + slot * HOUR;
      const midst = Math.ceil(steps / 2);
      await die(...rescue, [now, midst]);
      await checkRescued();
      await die([now + MINUTE + 1, midst - 6]);
      await finished(work([now + 2 * MINUTE + 2, 0]));
      const runs = await runsOf(at);
      const [given, ...whole] = runs.toReversed();
      expect(given).toMatchObject({ status: "failed", error_stage: "internal", row_count: 0 });
      for (const run of whole.filter((_, index) => index % 5 === 0)) {
        expect(await idsIn(at, run)).toEqual(paymentIds(1, ROWS));
      }
      expect((await deliveries(at)).toSorted()).toEqual(
        runs.map(({ id, status }) => `export.${status} ${id}`).toSorted(),
      );
      for (const path of await kept(at)) await utimes(path, 1, 1);
      await at.platform.sweep();
      const chunks = await at.store.read.selectFrom("run_chunks").select("file_key").execute();
      expect((await kept(at)).toSorted()).toEqual(
        chunks.map(({ file_key }) => join(at.files, file_key)).toSorted(),
      );
      await at.close();
    },
  );

  verifies("C-14", "C-15");
  it("run each slot once, two at a time and while the clock jumps", async () => {
    const database = await dialect.createMigrated();
    const at = await startPlatform({ name: dialect.name, createMigrated: async () => database });
    const call = await exportingTenant(at, TENANT, 3);
    const start = at.clock();
    const due = { firstRunAt: formatTimestamp(start), intervalMs: HOUR };
    expect((await call("POST", SCHEDULES, { body: { ...everyPayment, ...due } })).status).toBe(201);
    const both = async (now: number): Promise<number[]> => {
      const work = () => finished(startTurns(database, [[now, 0]]));
      await Promise.all([work(), work()]);
      const runs = await runsOf(at);
      expect(runs.every(({ status }) => status === "completed")).toBe(true);
      return runs.map(({ slot_at }) => (slot_at - start) / HOUR);
    };
    expect(await both(start)).toEqual([0]);
    expect(await both(start + HOUR)).toEqual([0, 1]);
    expect(await both(start)).toEqual([0, 1]);
    expect(await both(start + HOUR)).toEqual([0, 1]);
    // Of the slots that a jump of a day skips, one runs.
    expect(await both(start + 25 * HOUR)).toHaveLength(3);
    const after = await both(start + 26 * HOUR);
    expect(new Set(after).size).toBe(after.length);
    expect(after.at(-1)).toBe(26);
    await at.close();
  });

  verifies("C-15");
  it.each(["2026-03-29T00:00:00Z", "2026-10-25T00:00:00Z"])(
    "run each slot once where clocks are put forward or back after %s",
    async (change) => {
      const database = await dialect.createMigrated();
      const at = await startPlatform({ name: dialect.name, createMigrated: async () => database });
      const call = await exportingTenant(at, TENANT, 3);
      const start = Date.parse(change) - HOUR;
      const due = { firstRunAt: formatTimestamp(start), intervalMs: HALF_HOUR };
      const made = await call("POST", SCHEDULES, { body: { ...everyPayment, ...due } });
      expect(made.status, made.text).toBe(201);
      const slots = Array.from({ length: 8 }, (_, index) => start + index * HALF_HOUR);
      // A moment after each slot, and once more.
      const turns = slots.flatMap((slot): Turn[] => [
        [slot + 1, 0],
        [slot + 2, 0],
      ]);
      await finished(startTurns(database, turns, "Europe/Berlin"));
      expect((await runsOf(at)).map(({ slot_at }) => slot_at)).toEqual(slots);
      await at.close();
    },
  );
});
