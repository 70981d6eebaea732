import { DAY } from "../../../kit/clock.ts";
import type { Db } from "../port.ts";
import { countRemoved } from "../engine/rows.ts";

/** An address stays known for this time after the last login from it, in milliseconds. */
const KNOWN_MS = 90 * DAY;
const MAX_PER_USER = 20;
/** A login rewrites an entry only if it is older than this, in milliseconds. */
const REFRESH_MS = DAY;

const find = (db: Db, userId: string, addressHashes: readonly string[]) =>
  db
    .selectFrom("known_addresses")
    .select("seen_at")
    .where("user_id", "=", userId)
    .where("address_hash", "in", addressHashes)
    .orderBy("seen_at", "desc")
    .executeTakeFirst();

/** Whether the user has logged in from this address within the last 90 days. */
export const isKnownAddress = async (
  db: Db,
  userId: string,
  addressHashes: readonly string[],
  now: number,
): Promise<boolean> => {
  const row = await find(db, userId, addressHashes);
  return row !== undefined && row.seen_at > now - KNOWN_MS;
};

/** Records a login from an address; the user's latest 20 addresses are stored. */
export const recordKnownAddress = async (
  tx: Db,
  userId: string,
  addressHash: string,
  now: number,
): Promise<void> => {
  const known = await find(tx, userId, [addressHash]);
  if (known !== undefined && known.seen_at > now - REFRESH_MS) return;
  await tx
    .insertInto("known_addresses")
    .values({ user_id: userId, address_hash: addressHash, seen_at: now })
    .onConflict((conflict) =>
      conflict.columns(["user_id", "address_hash"]).doUpdateSet({ seen_at: now }),
    )
    .execute();
  const surplus = await tx
    .selectFrom("known_addresses")
    .select("address_hash")
    .where("user_id", "=", userId)
    .orderBy("seen_at", "desc")
    .orderBy("address_hash")
    .offset(MAX_PER_USER)
    .limit(MAX_PER_USER)
    .execute();
  if (surplus.length === 0) return;
  await tx
    .deleteFrom("known_addresses")
    .where("user_id", "=", userId)
    .where(
      "address_hash",
      "in",
      surplus.map((row) => row.address_hash),
    )
    .execute();
};

const USERS_AT_ONCE = 100;

/** Removes expired addresses of a bounded number of users; returns how many were removed. */
export const purgeKnownAddresses = (tx: Db, now: number): Promise<number> => {
  const before = now - KNOWN_MS;
  const users = tx.selectFrom("known_addresses").select("user_id").where("seen_at", "<=", before);
  const old = tx.deleteFrom("known_addresses").where("seen_at", "<=", before);
  return countRemoved(old.where("user_id", "in", users.limit(USERS_AT_ONCE)));
};
