import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { DAY } from "../../../../kit/clock.ts";
import { type TimeZone, UTC } from "../../../../kit/time-zone.ts";
import type { Db } from "../../port.ts";
import type { Asked } from "./dispute-filters.ts";
import type { Offsets } from "./sql.ts";

/** Numbers as text on PostgreSQL; null without disputes. */
type Oldest = Record<"created" | "closed", number | string | null>;

const YEAR = 366 * DAY;
const CENTURY = 100 * YEAR;
/** Lists the offsets of a zone from a moment to a year after another: records have no later dates. */
export const listOffsets = async (zone: TimeZone, from: number, now: number): Promise<Offsets> => {
  const offsets = [{ at: from, offset: zone.offsetAt(from) }];
  if (zone === UTC) return offsets;
  const to = now + YEAR;
  for (let at = from; at < to; at += YEAR) {
    // Lets requests take their turn: a year takes a few milliseconds at the first time.
    if (at > from) await setImmediate();
    offsets.push(...zone.listChanges(at, Math.min(to, at + YEAR)));
  }
  return offsets;
};

/** Returns the first moment of a tenant's disputes, found at the ends of two indexes. */
const findOldest = async (db: Db, tenantId: string, now: number): Promise<number> => {
  const { rows } = await sql<Oldest>`select
    (select min(created_at) from disputes where tenant_id = ${tenantId}) as created,
    (select min(closed_at) from disputes
      where tenant_id = ${tenantId} and closed_at is not null) as closed`.execute(db);
  const known = Object.values(rows[0] ?? {}).flatMap((at) => (at === null ? [] : [Number(at)]));
  return Math.min(now, ...known);
};

/** Lists the offsets of the tenant's clocks since its oldest dispute, at most of a century. */
export const readOffsets = async (
  db: Db,
  { tenantId, calendar: { zone }, asOf }: Pick<Asked, "tenantId" | "calendar" | "asOf">,
): Promise<Offsets> => {
  const oldest = zone === UTC ? asOf : await findOldest(db, tenantId, asOf);
  return listOffsets(zone, Math.max(oldest, asOf - CENTURY), asOf);
};
