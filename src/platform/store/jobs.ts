import { sql } from "kysely";
import { HOUR } from "../../kit/clock.ts";
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

/**
 * The jobs that may be worked now: one of each lane in turn, the lane served longest ago first, then a second one of
 * each. No lane exceeds its share; within a lane, the job that is due longest goes first.
 */
export const dueJobs = async (db: Db, due: Due): Promise<JobRow[]> => {
  const { kind, now, perLane, atMost } = due;
  const busy = await underWay(db, due);
  const full = [...busy].filter(([, count]) => count >= perLane).map(([lane]) => lane);
  const isFree = full.length === 0 ? sql`1 = 1` : sql`lane not in (${sql.join(full)})`;
  // Each place in a lane is found by the index: the cost depends on the number of lanes, not on that of jobs.
  const places = Array.from(
    { length: Math.min(perLane, atMost) },
    (_, place) => sql`
      select cast(${place} as integer) as place, lane, (
        select id from jobs
        where kind = ${kind} and jobs.lane = lanes.lane and due_at <= ${now} and leased_until <= ${now}
        order by due_at, id limit 1 offset ${place}
      ) as id
      from lanes where lane is not null and ${isFree}`,
  );
  const { rows } = await sql<JobRow>`
    with recursive lanes (lane) as (
      select min(lane) from jobs where kind = ${kind}
      union all
      select (select min(jobs.lane) from jobs where kind = ${kind} and jobs.lane > lanes.lane)
      from lanes where lanes.lane is not null
    ),
    places as (${sql.join(places, sql` union all `)})
    select jobs.* from places
    join jobs on jobs.kind = ${kind} and jobs.id = places.id
    left join job_turns on job_turns.kind = jobs.kind and job_turns.lane = jobs.lane
    order by places.place, coalesce(job_turns.served_at, 0), jobs.due_at, jobs.id
    limit ${atMost + [...busy.values()].reduce((sum, count) => sum + count, 0)}`.execute(db);
  const mayRun = ({ lane }: JobRow): boolean => {
    const count = busy.get(lane) ?? 0;
    busy.set(lane, count + 1);
    return count < perLane;
  };
  return rows.filter(mayRun).slice(0, atMost);
};

/** A lane without a turn for so long has no advantage left to record. */
const TURN_MS = HOUR;

/** Puts the lanes of these jobs last, in this order. To be called in the transaction that claims the jobs. */
export const recordTurns = async (
  tx: Db,
  { kind, now }: Pick<Due, "kind" | "now">,
  rows: readonly JobRow[],
): Promise<void> => {
  const { last } = await tx
    .selectFrom("job_turns")
    .select((of) => of.fn.max<number | string | null>("served_at").as("last"))
    .where("kind", "=", kind)
    .executeTakeFirstOrThrow();
  // Clocks of processes differ and may stand still; the order of turns must not.
  const from = Math.max(now, Number(last ?? 0) + 1);
  const lanes = [...new Set(rows.toReversed().map(({ lane }) => lane))].toReversed();
  await tx
    .insertInto("job_turns")
    .values(lanes.map((lane, index) => ({ kind, lane, served_at: from + index })))
    .onConflict((conflict) =>
      conflict
        .columns(["kind", "lane"])
        .doUpdateSet(({ ref }) => ({ served_at: ref("excluded.served_at") })),
    )
    .execute();
  await tx
    .deleteFrom("job_turns")
    .where("kind", "=", kind)
    .where("served_at", "<", now - TURN_MS)
    .execute();
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
