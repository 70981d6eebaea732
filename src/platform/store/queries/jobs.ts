import { sql } from "kysely";
import { HOUR } from "../../../kit/clock.ts";
import type { Db } from "../port.ts";
import type { JobRow } from "../tables/schema.ts";
import { changeRows, countOf, countRemoved, ofTenant, removeRows } from "../engine/rows.ts";

type Name = Pick<JobRow, "kind" | "id">;

/** A worker's claim on a job. Another worker may take the job over after the lease has expired. */
export type Claim = Name & { lease: string };

type NewJob = Name & { tenantId: string; lane: string; dueAt: number };

const FREE = { lease: null, leased_until: 0 };

const insertJob = (tx: Db, { kind, id, tenantId, lane, dueAt }: NewJob) =>
  tx
    .insertInto("jobs")
    .values({ kind, id, tenant_id: tenantId, lane, due_at: dueAt, tries: 0, ...FREE });

/** Adds an unclaimed job. Its kind and id are unique while it waits. */
export const addJob = async (tx: Db, job: NewJob): Promise<void> => {
  await insertJob(tx, job).execute();
};

/** Adds a job unless the same one waits already. */
export const addJobOnce = async (tx: Db, job: NewJob): Promise<void> => {
  await insertJob(tx, job)
    .onConflict((conflict) => conflict.columns(["kind", "id"]).doNothing())
    .execute();
};

/** Removes a job, that of one tenant where it is named. A worker that is running it finds its claim gone and must not finish. */
export const removeJob = async (
  tx: Db,
  { kind, id, tenantId }: Name & { tenantId?: string },
): Promise<void> => {
  const named = tx.deleteFrom("jobs").where("kind", "=", kind).where("id", "=", id);
  await (tenantId === undefined ? named : named.where("tenant_id", "=", tenantId)).execute();
};

/** Removes a tenant's jobs, only those that no worker runs where a time is given; returns how many. */
export const removeTenantJobs = (tx: Db, tenantId: string, freeAt?: number): Promise<number> => {
  const all = tx.deleteFrom("jobs").where("tenant_id", "=", tenantId);
  const query = freeAt === undefined ? all : all.where("leased_until", "<=", freeAt);
  return countRemoved(query);
};

export const countTenantJobs = (db: Db, tenantId: string): Promise<number> =>
  countOf(ofTenant(db, "jobs", tenantId));

export type Due = { kind: string; now: number; perLane: number; atMost: number };

export type JobCount = { kind: string; state: JobState; count: number; oldest: number };

/** `running`: a worker has it; `due`: it waits for a worker; `scheduled`: its time has not come. */
export const JOB_STATES = ["running", "due", "scheduled"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Counts the jobs by kind and state; `oldest` is the earliest time at which one of them was due. */
export const countJobs = async (db: Db, now: number): Promise<JobCount[]> => {
  const { rows } = await sql<JobCount>`
    select kind,
      case when leased_until > ${now} then 'running' when due_at <= ${now} then 'due' else 'scheduled' end as state,
      count(*) as count, min(due_at) as oldest
    from jobs group by 1, 2`.execute(db);
  return rows;
};

/** Returns those of the kinds that have a due job, by one query. */
export const findDueKinds = async (
  db: Db,
  kinds: readonly string[],
  now: number,
): Promise<Set<string>> => {
  const each = kinds.map(
    (kind) => sql`select cast(${kind} as text) as kind where exists (
      select 1 from jobs where kind = ${kind} and due_at <= ${now} and leased_until <= ${now})`,
  );
  const { rows } = await sql<{ kind: string }>`${sql.join(each, sql` union all `)}`.execute(db);
  return new Set(rows.map(({ kind }) => kind));
};

/** Returns the number of running jobs per lane. */
const countRunning = async (db: Db, { kind, now }: Due): Promise<Map<string, number>> => {
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
 * Finds due jobs: one of each lane in turn, beginning with the lane served longest ago, then a second one of each. No
 * lane exceeds its share; within a lane the longest due job comes first.
 */
export const findDueJobs = async (db: Db, due: Due): Promise<JobRow[]> => {
  const { kind, now, perLane, atMost } = due;
  const busy = await countRunning(db, due);
  const full = [...busy].filter(([, count]) => count >= perLane).map(([lane]) => lane);
  const isFree = full.length === 0 ? sql`1 = 1` : sql`lane not in (${sql.join(full)})`;
  // Each job of a lane is found by the index: the cost depends on the number of lanes, not of jobs.
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

/** A lane that was last served longer ago than this needs no record: it comes first anyway. */
const TURN_MS = HOUR;

/** Moves the lanes of these jobs to the end, in this order. Call it in the transaction that claims the jobs. */
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
  // Clocks of processes differ and may stand still, but the order of turns must advance.
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

const changeJob = async (
  tx: Db,
  key: Partial<JobRow>,
  set: Partial<Record<keyof JobRow, unknown>>,
): Promise<boolean> => (await changeRows(tx, "jobs", key, set as Partial<JobRow>)) === 1;

/** Claims a job that was free; returns false if another worker was faster or the job is gone. */
export const claimJob = (
  tx: Db,
  { kind, id, leased_until }: JobRow,
  lease: string,
  until: number,
): Promise<boolean> => {
  const claimed = { lease, leased_until: until, tries: sql`tries + 1` };
  return changeJob(tx, { kind, id, leased_until }, claimed);
};

const changeClaimed = (
  tx: Db,
  { kind, id, lease }: Claim,
  set: Parameters<typeof changeJob>[2],
): Promise<boolean> => changeJob(tx, { kind, id, lease }, set);

// Each returns whether the claim was still valid; if not, nothing changes.
export const renewJob = (tx: Db, claim: Claim, until: number): Promise<boolean> =>
  changeClaimed(tx, claim, { leased_until: until });

/** Schedules the job at a time and resets its tries. */
export const repeatJob = (tx: Db, claim: Claim, dueAt: number): Promise<boolean> =>
  changeClaimed(tx, claim, { ...FREE, due_at: dueAt, tries: 0 });

/** Schedules another try at a time. */
export const postponeJob = (tx: Db, claim: Claim, dueAt: number): Promise<boolean> =>
  changeClaimed(tx, claim, { ...FREE, due_at: dueAt });

/** Releases the job; the try does not count. */
export const releaseJob = (tx: Db, claim: Claim): Promise<boolean> =>
  changeClaimed(tx, claim, { ...FREE, tries: sql`tries - 1` });

export const finishJob = async (tx: Db, { kind, id, lease }: Claim): Promise<boolean> =>
  (await removeRows(tx, "jobs", { kind, id, lease })) === 1;
