import { expect } from "vitest";
import { formatTimestamp, MINUTE, SECOND, systemClock } from "../../src/kit/clock.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { addPayments, everyPayment, EXPORTS, paymentIds, SCHEDULES } from "../support/exports.ts";
import type { Receiver } from "../support/receiver.ts";
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

/** A completed run with the number of rows that it recorded. */
export type CompletedRun = { id: string; schedule_id: string; row_count: number };

export const listCompletedRuns = ({ read }: Store): Promise<CompletedRun[]> =>
  read
    .selectFrom("export_runs")
    .select(["id", "schedule_id", "row_count"])
    .where("status", "=", "completed")
    .execute();

export const rowsPath = ({ id, schedule_id: scheduleId }: CompletedRun): string =>
  `${EXPORTS}/export-runs/${scheduleId}/data?runId=${id}&limit=100000`;

/** A completed run has whole additions of payments, at least those from before its schedule. */
export const checkRows = (
  { schedule_id: scheduleId, row_count: rowCount }: CompletedRun,
  data: readonly { id: string }[],
  schedules: readonly SoakSchedule[],
): void => {
  const ids = data.map((row) => row.id);
  const known = schedules.find(({ id }) => id === scheduleId)?.payments ?? 0;
  expect([ids.length, ids.length % ADDED, ids.length >= known]).toEqual([rowCount, 0, true]);
  expect(new Set(ids)).toEqual(new Set(paymentIds(1, ids.length)));
};

/** Every schedule has run, every run ends, and the rows of each completed one are there. */
export const checkRuns = async (
  store: Store,
  must: Must,
  { apiKey, schedules }: { apiKey: string; schedules: readonly SoakSchedule[] },
): Promise<number> => {
  const unfinished = async (): Promise<string[]> => {
    const runs = await store.read
      .selectFrom("export_runs")
      .select(["id", "schedule_id", "status"])
      .execute();
    const ran = new Set(runs.map(({ schedule_id: id }) => id));
    return [
      ...schedules.filter(({ id }) => !ran.has(id)).map(({ id }) => `${id} has no run`),
      ...runs.filter(({ status }) => !["completed", "failed"].includes(status)).map(({ id }) => id),
    ];
  };
  await expect.poll(unfinished, { timeout: 5 * MINUTE, interval: 500 }).toEqual([]);
  const completed = await listCompletedRuns(store);
  for (const run of completed) {
    const headers = { "X-API-Key": apiKey };
    const { data } = await must({ method: "GET", path: rowsPath(run), headers });
    checkRows(run, data, schedules);
  }
  return completed.length;
};

/** The attempts of one delivery are numbered from 1 and fail, except that the last delivers it or is the fifth. */
const describeFault = (attempts: readonly { attempt: number; status: string }[]): string[] => {
  const last = attempts.at(-1);
  const told = attempts.map(({ attempt, status }) => `${attempt} ${status}`);
  const ended = last?.status === "delivered" || told.at(-1) === "5 abandoned";
  const others = told.slice(0, -1).every((one, index) => one === `${index + 1} failed`);
  const isRight = ended && others && last?.attempt === told.length && told.length <= 5;
  return isRight ? [] : [told.join()];
};

/** Every delivery ends; there is one for each run that ended, and each delivered one was received. */
export const checkDeliveries = async (
  store: Store,
  { received }: Receiver,
  announced: readonly string[],
): Promise<number> => {
  const { read } = store;
  const waiting = () => read.selectFrom("webhook_deliveries").select("id").execute();
  await expect.poll(waiting, { timeout: 5 * MINUTE, interval: 500 }).toEqual([]);
  const attempts = await read
    .selectFrom("webhook_attempts")
    .select(["delivery_id", "schedule_id", "event", "attempt", "status"])
    .orderBy("delivery_id")
    .orderBy("attempt")
    .execute();
  const deliveries = [...Map.groupBy(attempts, ({ delivery_id: id }) => id).values()];
  expect(deliveries.flatMap(describeFault)).toEqual([]);
  const runs = await read.selectFrom("export_runs").select(["schedule_id", "status"]).execute();
  const due = [
    ...announced.map((id) => `${id} export.completed`),
    ...runs.map(({ schedule_id: id, status }) => `${id} export.${status}`),
  ];
  const told = deliveries.flatMap(([one]) => `${one?.schedule_id} ${one?.event}`);
  expect(told.toSorted()).toEqual(due.toSorted());
  const nameOf = (id: unknown, attempt: unknown): string => `${String(id)} ${String(attempt)}`;
  const arrived = new Set(
    received.map(({ headers }) => nameOf(headers["x-webhook-id"], headers["x-webhook-attempt"])),
  );
  const lost = attempts.filter(
    ({ delivery_id: id, attempt, status }) =>
      status === "delivered" && !arrived.has(nameOf(id, attempt)),
  );
  expect(lost).toEqual([]);
  return deliveries.length;
};
