import { sql } from "kysely";
import type { Clock } from "../kit/clock.ts";
import type { Db, OauthStore, Storage, StoredRecord } from "./port.ts";

const upsert = async (tx: Db, record: StoredRecord): Promise<void> => {
  const { kind: _kind, id: _id, ...rest } = record;
  await tx
    .insertInto("sign_in_records")
    .values(record)
    .onConflict((conflict) => conflict.columns(["kind", "id"]).doUpdateSet(rest))
    .execute();
};

const add = async (tx: Db, record: StoredRecord): Promise<boolean> => {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("sign_in_records")
    .values(record)
    .onConflict((conflict) => conflict.columns(["kind", "id"]).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
};

const find = (db: Db, kind: string, id: string) =>
  db
    .selectFrom("sign_in_records")
    .selectAll()
    .where("kind", "=", kind)
    .where("id", "=", id)
    .executeTakeFirst();

const consume = async (tx: Db, kind: string, id: string, now: number): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable("sign_in_records")
    .set({ consumed_at: now })
    .where("kind", "=", kind)
    .where("id", "=", id)
    .where("consumed_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
};

const remove = async (tx: Db, kind: string, id: string): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom("sign_in_records")
    .where("kind", "=", kind)
    .where("id", "=", id)
    .executeTakeFirst();
  return numDeletedRows === 1n;
};

const removeByGrant = async (tx: Db, kind: string, grantId: string): Promise<void> => {
  await tx
    .deleteFrom("sign_in_records")
    .where("grant_id", "=", grantId)
    .where("kind", "=", kind)
    .execute();
};

const extendGrant = async (tx: Db, grantId: string, expiresAt: number): Promise<void> => {
  await tx
    .updateTable("sign_in_records")
    .set({ expires_at: expiresAt })
    .where("grant_id", "=", grantId)
    .execute();
};

const listByOwner = (db: Db, kind: string, owner: string, now: number) =>
  db
    .selectFrom("sign_in_records")
    .selectAll()
    .where("kind", "=", kind)
    .where("owner", "=", owner)
    .where("expires_at", ">", now)
    .orderBy("expires_at")
    .execute();

/** Rows per purge or list, so that other requests get their turn. */
const BATCH = 500;

const purgeRecords = async (tx: Db, now: number): Promise<number> => {
  const rows = await tx
    .selectFrom("sign_in_records")
    .select(["kind", "id"])
    .where("expires_at", "<=", now)
    .limit(BATCH)
    .execute();
  for (const { kind, id } of rows) await remove(tx, kind, id);
  return rows.length;
};

const purgeCounters = async (tx: Db, now: number): Promise<number> => {
  const { numDeletedRows } = await tx
    .deleteFrom("sign_in_counters")
    .where("key", "in", (ended) =>
      ended
        .selectFrom("sign_in_counters")
        .select("key")
        .where("window_ends_at", "<=", now)
        .limit(BATCH),
    )
    // Another process may have opened a new window meanwhile.
    .where("window_ends_at", "<=", now)
    .executeTakeFirst();
  return Number(numDeletedRows);
};

const USABLE = ["AccessToken", "RefreshToken", "AuthorizationCode"];

const listSpentGrants = (db: Db, expiresBefore: number): Promise<StoredRecord[]> =>
  db
    .selectFrom("sign_in_records as grant")
    .selectAll()
    .where("grant.kind", "=", "Grant")
    .where("grant.expires_at", "<", expiresBefore)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("sign_in_records as token")
            .select("token.id")
            .where("token.kind", "in", USABLE)
            .whereRef("token.grant_id", "=", "grant.id"),
        ),
      ),
    )
    .limit(BATCH)
    .execute();

const listUngranted = (db: Db, kind: string, now: number): Promise<StoredRecord[]> =>
  db
    .selectFrom("sign_in_records as one")
    .selectAll()
    .where("one.kind", "=", kind)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("sign_in_records as grant")
            .select("grant.id")
            .where("grant.kind", "=", "Grant")
            .where("grant.expires_at", ">", now)
            .whereRef("grant.owner", "=", "one.id"),
        ),
      ),
    )
    .limit(BATCH)
    .execute();

const removeUngranted = async (
  tx: Db,
  kind: string,
  id: string,
  now: number,
): Promise<StoredRecord | undefined> => {
  if ((await listByOwner(tx, "Grant", id, now)).length > 0) return undefined;
  const row = await find(tx, kind, id);
  if (row === undefined || !(await remove(tx, kind, id))) return undefined;
  return row;
};

const makeRoom = async (tx: Db, kind: string, max: number): Promise<void> => {
  const owners = await tx
    .selectFrom("sign_in_records")
    .select((of) => ["owner", of.fn.countAll<number | string>().as("records")])
    .where("kind", "=", kind)
    .where("owner", "is not", null)
    .groupBy("owner")
    .execute();
  const counts = owners.map(({ owner, records }) => ({ owner, records: Number(records) }));
  if (counts.reduce((sum, { records }) => sum + records, 0) < max) return;
  const [most] = counts.toSorted((one, other) => other.records - one.records);
  const oldest = await tx
    .selectFrom("sign_in_records")
    .select("id")
    .where("kind", "=", kind)
    .where("owner", "=", most?.owner ?? "")
    .orderBy("expires_at")
    .limit(1)
    .executeTakeFirst();
  if (oldest !== undefined) await remove(tx, kind, oldest.id);
};

/** A window that was opened before the clock was set back ends `windowMs` from now at the latest. */
const countAttempt = async (tx: Db, key: string, now: number, windowMs: number) => {
  const endsAt = now + windowMs;
  const row = await tx
    .insertInto("sign_in_counters")
    .values({ key, count: 1, window_ends_at: endsAt })
    .onConflict((conflict) =>
      conflict.column("key").doUpdateSet({
        count: sql`case when sign_in_counters.window_ends_at > ${now} then sign_in_counters.count + 1 else 1 end`,
        window_ends_at: sql`case when sign_in_counters.window_ends_at > ${now} and sign_in_counters.window_ends_at < ${endsAt} then sign_in_counters.window_ends_at else ${endsAt} end`,
      }),
    )
    .returning(["count", "window_ends_at"])
    .executeTakeFirstOrThrow();
  return { count: row.count, endsAt: row.window_ends_at };
};

const uncount = async (tx: Db, key: string, endsAt?: number): Promise<void> => {
  await tx
    .updateTable("sign_in_counters")
    .set({ count: sql`count - 1` })
    .where("key", "=", key)
    .$if(endsAt !== undefined, (query) => query.where("window_ends_at", "=", endsAt ?? 0))
    .where("count", ">", 0)
    .execute();
};

/** Creates the authorization server's storage over its store. */
export const createStorage = (store: OauthStore, now: Clock): Storage => ({
  upsert: (record) => store.transaction((tx) => upsert(tx, record)),
  add: (record) => store.transaction((tx) => add(tx, record)),
  async find(kind, id) {
    const row = await find(store.read, kind, id);
    return row === undefined || row.expires_at <= now() ? undefined : row;
  },
  consume: (kind, id) => store.transaction((tx) => consume(tx, kind, id, now())),
  remove: (kind, id) => store.transaction((tx) => remove(tx, kind, id)),
  removeByGrant: (kind, grantId) => store.transaction((tx) => removeByGrant(tx, kind, grantId)),
  extendGrant: (grantId, expiresAt) =>
    store.transaction((tx) => extendGrant(tx, grantId, expiresAt)),
  listByOwner: (kind, owner) => listByOwner(store.read, kind, owner, now()),
  makeRoom: (kind, max) => store.transaction((tx) => makeRoom(tx, kind, max), `sign-in ${kind}`),
  removeUngranted: (kind, id) =>
    store.transaction((tx) => removeUngranted(tx, kind, id, now()), `sign-in of ${id}`),
  listUngranted: (kind) => listUngranted(store.read, kind, now()),
  listSpentGrants: (expiresBefore) => listSpentGrants(store.read, expiresBefore),
  async purge() {
    const records = await store.transaction((tx) => purgeRecords(tx, now()));
    return records + (await store.count((tx) => purgeCounters(tx, now())));
  },
  counter: {
    count: (key, windowMs) => store.count((tx) => countAttempt(tx, key, now(), windowMs)),
    giveBack: (key, endsAt) => store.count((tx) => uncount(tx, key, endsAt)),
  },
  uncount: (key) => store.count((tx) => uncount(tx, key)),
});
