import type { Clock } from "../../kit/clock.ts";
import { count, giveBack } from "./counters.ts";
import type { Db, Store } from "./port.ts";
import type { OauthRecordRow } from "./tables.ts";

/** A record of the built-in authorization server, as that server knows it. */
export type OauthRecord = {
  kind: string;
  id: string;
  grantId: string | null;
  owner: string | null;
  payload: string;
  consumedAt: number | null;
  expiresAt: number;
};

const rowOf = (record: OauthRecord): OauthRecordRow => ({
  kind: record.kind,
  id: record.id,
  grant_id: record.grantId,
  owner: record.owner,
  payload: record.payload,
  consumed_at: record.consumedAt,
  expires_at: record.expiresAt,
});

const recordOf = (row: OauthRecordRow): OauthRecord => ({
  kind: row.kind,
  id: row.id,
  grantId: row.grant_id,
  owner: row.owner,
  payload: row.payload,
  consumedAt: row.consumed_at,
  expiresAt: row.expires_at,
});

const upsert = async (tx: Db, record: OauthRecord): Promise<void> => {
  const row = rowOf(record);
  const { kind: _kind, id: _id, ...rest } = row;
  await tx
    .insertInto("oauth_records")
    .values(row)
    .onConflict((conflict) => conflict.columns(["kind", "id"]).doUpdateSet(rest))
    .execute();
};

const add = async (tx: Db, record: OauthRecord): Promise<boolean> => {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("oauth_records")
    .values(rowOf(record))
    .onConflict((conflict) => conflict.columns(["kind", "id"]).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
};

const find = (db: Db, kind: string, id: string): Promise<OauthRecordRow | undefined> =>
  db
    .selectFrom("oauth_records")
    .selectAll()
    .where("kind", "=", kind)
    .where("id", "=", id)
    .executeTakeFirst();

const consume = async (tx: Db, kind: string, id: string, at: number): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable("oauth_records")
    .set({ consumed_at: at })
    .where("kind", "=", kind)
    .where("id", "=", id)
    .where("consumed_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
};

const remove = async (tx: Db, kind: string, id: string): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom("oauth_records")
    .where("kind", "=", kind)
    .where("id", "=", id)
    .executeTakeFirst();
  return numDeletedRows === 1n;
};

const ownedBy = (db: Db, kind: string, owner: string): Promise<OauthRecordRow[]> =>
  db
    .selectFrom("oauth_records")
    .selectAll()
    .where("kind", "=", kind)
    .where("owner", "=", owner)
    .orderBy("expires_at")
    .execute();

const PURGED_AT_ONCE = 500;

const purge = async (tx: Db, now: number): Promise<number> => {
  const rows = await tx
    .selectFrom("oauth_records")
    .select(["kind", "id"])
    .where("expires_at", "<=", now)
    .limit(PURGED_AT_ONCE)
    .execute();
  for (const { kind, id } of rows) await remove(tx, kind, id);
  return rows.length;
};

const USABLE = ["AccessToken", "RefreshToken", "AuthorizationCode"];

/** Grants of which nothing is left that could be used. */
const spentGrants = (db: Db, expiresBefore: number): Promise<OauthRecordRow[]> =>
  db
    .selectFrom("oauth_records as grant")
    .selectAll()
    .where("grant.kind", "=", "Grant")
    .where("grant.expires_at", "<", expiresBefore)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("oauth_records as token")
            .select("token.id")
            .where("token.kind", "in", USABLE)
            .whereRef("token.grant_id", "=", "grant.id"),
        ),
      ),
    )
    .limit(PURGED_AT_ONCE)
    .execute();

/** Owners of a kind of which no grant is left. */
const withoutGrant = (db: Db, kind: string, now: number): Promise<OauthRecordRow[]> =>
  db
    .selectFrom("oauth_records as one")
    .selectAll()
    .where("one.kind", "=", kind)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("oauth_records as grant")
            .select("grant.id")
            .where("grant.kind", "=", "Grant")
            .where("grant.expires_at", ">", now)
            .whereRef("grant.owner", "=", "one.id"),
        ),
      ),
    )
    .limit(PURGED_AT_ONCE)
    .execute();

const makeRoom = async (tx: Db, kind: string, max: number): Promise<void> => {
  const owners = await tx
    .selectFrom("oauth_records")
    .select((of) => ["owner", of.fn.countAll<number | string>().as("records")])
    .where("kind", "=", kind)
    .where("owner", "is not", null)
    .groupBy("owner")
    .execute();
  const counts = owners.map(({ owner, records }) => ({ owner, records: Number(records) }));
  if (counts.reduce((sum, { records }) => sum + records, 0) < max) return;
  const [most] = counts.toSorted((one, other) => other.records - one.records);
  const oldest = await tx
    .selectFrom("oauth_records")
    .select("id")
    .where("kind", "=", kind)
    .where("owner", "=", most?.owner ?? "")
    .orderBy("expires_at")
    .limit(1)
    .executeTakeFirst();
  if (oldest !== undefined) await remove(tx, kind, oldest.id);
};

/** The memory of the built-in authorization server, which all processes on the store share. */
export const createOauthRecords = (store: Store, clock: Clock) => ({
  upsert: (record: OauthRecord) => store.transaction((tx) => upsert(tx, record)),
  /** False where there is one already; it is left alone. */
  add: (record: OauthRecord) => store.transaction((tx) => add(tx, record)),
  async find(kind: string, id: string): Promise<OauthRecord | undefined> {
    const row = await find(store.read, kind, id);
    return row === undefined || row.expires_at <= clock() ? undefined : recordOf(row);
  },
  /** True for the first who asks, of all processes. */
  consume: (kind: string, id: string) => store.transaction((tx) => consume(tx, kind, id, clock())),
  remove: (kind: string, id: string) => store.transaction((tx) => remove(tx, kind, id)),
  removeByGrant: (kind: string, grantId: string) =>
    store.transaction(async (tx) => {
      await tx
        .deleteFrom("oauth_records")
        .where("grant_id", "=", grantId)
        .where("kind", "=", kind)
        .execute();
    }),
  async ownedBy(kind: string, owner: string): Promise<OauthRecord[]> {
    const rows = await ownedBy(store.read, kind, owner);
    return rows.filter(({ expires_at }) => expires_at > clock()).map(recordOf);
  },
  /** Makes room for one more owned record of a kind: while there are `max`, the owner of the most loses the oldest. */
  makeRoom: (kind: string, max: number) =>
    store.transaction((tx) => makeRoom(tx, kind, max), `oauth ${kind}`),
  /** Removes it where it owns no grant, and tells what it was. */
  removeUngranted: (kind: string, id: string): Promise<OauthRecord | undefined> =>
    store.transaction(async (tx) => {
      const grants = await ownedBy(tx, "Grant", id);
      if (grants.some(({ expires_at }) => expires_at > clock())) return undefined;
      const row = await find(tx, kind, id);
      if (row === undefined || !(await remove(tx, kind, id))) return undefined;
      return recordOf(row);
    }, `oauth of ${id}`),
  async ungranted(kind: string): Promise<OauthRecord[]> {
    return (await withoutGrant(store.read, kind, clock())).map(recordOf);
  },
  async spentGrants(expiresBefore: number): Promise<OauthRecord[]> {
    return (await spentGrants(store.read, expiresBefore)).map(recordOf);
  },
  /** Removes some of what has expired, and tells how many. */
  purge: () => store.transaction((tx) => purge(tx, clock())),
  /** How often something was tried within a window that the first try opened, this one included. */
  async tally(key: string, windowMs: number): Promise<{ count: number; endsAt: number }> {
    const row = await count(store.counting, `oauth:${key}`, clock(), windowMs);
    return { count: row.count, endsAt: row.window_ends_at };
  },
  untally: (key: string) => giveBack(store.counting, `oauth:${key}`),
});
