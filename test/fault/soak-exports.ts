import { expect } from "vitest";
import { formatTimestamp, MINUTE, SECOND, systemClock } from "../../src/kit/clock.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { addPayments, everyPayment, EXPORTS, paymentIds, SCHEDULES } from "../support/exports.ts";
import type { Answer, Asked } from "./server.ts";
import { SOAK_TENANT } from "./soak-cluster.ts";

/** Payments that each round adds before its schedule. */
const ADDED = 400;

/** A tenant may have 100 schedules; the earlier ones have further runs. */
const MOST_SCHEDULES = 90;

/** An acknowledged schedule, and how many payments there were when it was made. */
export type SoakSchedule = { id: string; payments: number };

type Must = (asked: Asked) => Promise<Answer["body"]>;

/** Adds payments, then a schedule whose first run is due at once, in each of the first rounds. */
export const addSchedule = async (
  store: Store,
  must: Must,
  { apiKey, schedules }: { apiKey: string; schedules: SoakSchedule[] },
): Promise<void> => {
  if (schedules.length === MOST_SCHEDULES) return;
  const before = schedules.at(-1)?.payments ?? 0;
  const now = systemClock();
  await addPayments({ store, now }, SOAK_TENANT, { from: before + 1, count: ADDED });
  const due = { firstRunAt: formatTimestamp(now + SECOND), intervalMs: 5 * MINUTE };
  const headers = { "X-API-Key": apiKey };
  const body = { ...everyPayment, fields: ["id"], ...due };
  const { id } = await must({ method: "POST", path: SCHEDULES, headers, body });
  schedules.push({ id: String(id), payments: before + ADDED });
};

/** Every schedule has run, every run ends, and a completed one has whole additions of payments. */
export const checkRuns = async (
  store: Store,
  must: Must,
  { apiKey, schedules }: { apiKey: string; schedules: readonly SoakSchedule[] },
): Promise<number> => {
  const listRuns = () =>
    store.read.selectFrom("export_runs").select(["id", "schedule_id", "status"]).execute();
  const unfinished = async (): Promise<string[]> => {
    const runs = await listRuns();
    const ran = new Set(runs.map(({ schedule_id: id }) => id));
    return [
      ...schedules.filter(({ id }) => !ran.has(id)).map(({ id }) => `${id} has no run`),
      ...runs.filter(({ status }) => !["completed", "failed"].includes(status)).map(({ id }) => id),
    ];
  };
  await expect.poll(unfinished, { timeout: 5 * MINUTE, interval: 500 }).toEqual([]);
  let completed = 0;
  for (const { id, schedule_id: scheduleId, status } of await listRuns()) {
    if (status !== "completed") continue;
    completed += 1;
    const path = `${EXPORTS}/export-runs/${scheduleId}/data?runId=${id}&limit=100000`;
    const { data } = await must({ method: "GET", path, headers: { "X-API-Key": apiKey } });
    const ids = (data as { id: string }[]).map((row) => row.id);
    const known = schedules.find((one) => one.id === scheduleId)?.payments ?? 0;
    expect([ids.length % ADDED, ids.length >= known]).toEqual([0, true]);
    expect(new Set(ids)).toEqual(new Set(paymentIds(1, ids.length)));
  }
  return completed;
};
