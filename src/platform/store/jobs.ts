import { sql } from "kysely";
import type { Db } from "./port.ts";
import type { JobRow } from "./tables.ts";

type Name = Pick<JobRow, "kind" | "id">;

/** Whose claim it is: a job may be taken over when its lease has run out. */
export type Claim = Name & { lease: string };

/** Adds a job that nobody works yet; its kind and id are its record's for as long as it waits. */
export const addJob = async (
  tx: Db,
  job: Name & { tenantId: string; lane: string; dueAt: number },
): Promise<void> => {
  const { kind, id, lane } = job;
  const free = { tries: 0, lease: null, leased_until: 0 };
  await tx
    .insertInto("jobs")
    .values({ kind, id, tenant_id: job.tenantId, lane, due_at: job.dueAt, ...free })
    .execute();
};

/** Takes a job back; whoever works it finds its claim gone and must not finish. */
export const removeJob = async (tx: Db, { kind, id }: Name): Promise<void> => {
  await tx.deleteFrom("jobs").where("kind", "=", kind).where("id", "=", id).execute();
};

export type Due = { kind: string; now: number; perLane: number; atMost: number };

/** How many jobs of each lane are under way. */
const underWay = async (db: Db, { kind, now }: Due): Promise<Map<string, number>> => {
  const rows = await db
    .selectFrom("jobs")
    .select(["lane", (of) => of.fn.countAll<number | string>().as("count")])
    .where("kind", "=", kind)
    .where("leased_until", ">", now)
    .groupBy("lane")
    .execute();
  return new Map(rows.map(({ lane, count }) => [lane, Number(count)]));
};

const FEWEST_LOOKED_AT = 100;

/** The jobs that may be worked now, the longest due first, no lane beyond its share. */
export const dueJobs = async (db: Db, due: Due): Promise<JobRow[]> => {
  const { kind, now, perLane, atMost } = due;
  const busy = await underWay(db, due);
  const full = [...busy].filter(([, count]) => count >= perLane).map(([lane]) => lane);
  const rows = await db
    .selectFrom("jobs")
    .selectAll()
    .where("kind", "=", kind)
    .where("due_at", "<=", now)
    .where("leased_until", "<=", now)
    .$if(full.length > 0, (query) => query.where("lane", "not in", full))
    .orderBy("due_at")
    .orderBy("id")
    .limit(Math.max(FEWEST_LOOKED_AT, 10 * atMost))
    .execute();
  const mayRun = (lane: string): boolean => {
    const count = busy.get(lane) ?? 0;
    busy.set(lane, count + 1);
    return count < perLane;
  };
  return rows.filter(({ lane }) => mayRun(lane)).slice(0, atMost);
};

/** Leases a job that was seen free; false when somebody else has it, or it is gone. */
export const claimJob = async (
  tx: Db,
  { kind, id, leased_until }: JobRow,
  lease: string,
  until: number,
): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable("jobs")
    .set({ lease, leased_until: until, tries: sql`tries + 1` })
    .where("kind", "=", kind)
    .where("id", "=", id)
    .where("leased_until", "=", leased_until)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
};

const change = async (
  tx: Db,
  { kind, id, lease }: Claim,
  set: Partial<Record<keyof JobRow, unknown>>,
): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable("jobs")
    .set(set as Partial<JobRow>)
    .where("kind", "=", kind)
    .where("id", "=", id)
    .where("lease", "=", lease)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
};

const FREE = { lease: null, leased_until: 0 };

// Each tells whether the claim still held; where it did not, nothing is changed.
export const renewJob = (tx: Db, claim: Claim, until: number): Promise<boolean> =>
  change(tx, claim, { leased_until: until });

/** Lets it be worked again at a moment, as if never tried. */
export const repeatJob = (tx: Db, claim: Claim, dueAt: number): Promise<boolean> =>
  change(tx, claim, { ...FREE, due_at: dueAt, tries: 0 });

/** Lets it be tried again at a moment. */
export const postponeJob = (tx: Db, claim: Claim, dueAt: number): Promise<boolean> =>
  change(tx, claim, { ...FREE, due_at: dueAt });

/** Gives it back as if it had not been claimed. */
export const releaseJob = (tx: Db, claim: Claim): Promise<boolean> =>
  change(tx, claim, { ...FREE, tries: sql`tries - 1` });

export const finishJob = async (tx: Db, { kind, id, lease }: Claim): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom("jobs")
    .where("kind", "=", kind)
    .where("id", "=", id)
    .where("lease", "=", lease)
    .executeTakeFirst();
  return numDeletedRows === 1n;
};
