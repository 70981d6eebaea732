import Big from "big.js";
import type { Contract } from "../../../contract/index.ts";
import { openCalendar } from "../../../contract/insights/calendar.ts";
import type { TriageFlag, TriagePage } from "../../../contract/insights/dispute-triage.ts";
import { toExactNumber } from "../../../contract/insights/result.ts";
import type { TriageResult } from "../../../contract/operations/disputes.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import type { Handlers } from "../../handlers.ts";
import { getDialect } from "../../store/engine/dialect.ts";
import type { Db } from "../../store/port.ts";
import { selectActivity } from "../../store/queries/dispute-activity.ts";
import { selectDisputes } from "../../store/queries/disputes.ts";
import { selectReasons } from "../../store/queries/reasons.ts";
import { type Asked, matchDisputes } from "../../store/queries/summaries/dispute-filters.ts";
import { readOffsets } from "../../store/queries/summaries/offsets.ts";
import { readReopened } from "../../store/queries/summaries/reopened.ts";
import { findOtherId, rankDisputes } from "../../store/queries/summaries/triage.ts";
import { readTenant } from "../../store/queries/tenants.ts";
import { toActivity } from "./activity.ts";
import { toDispute } from "./to-dispute.ts";

type TriageQuery = {
  db: Db;
  period: Asked;
  triage: TriagePage;
  /** The days to decide of disputes whose reason has none. */
  usualDays: number | null;
  mayReadConfiguration: boolean;
};

type Ranking = Awaited<ReturnType<typeof rankDisputes>>;

const rank = async ({
  db,
  period,
  triage,
  usualDays,
  mayReadConfiguration,
}: TriageQuery): Promise<Ranking> => {
  const { limit, offset, orderBy, flags = [], deadlineDays, ...filters } = triage;
  return rankDisputes({
    db,
    period,
    where: await matchDisputes(db, filters, period),
    isMixed: filters.status.some((status) => status !== "Open"),
    days: { always: deadlineDays, usual: usualDays },
    hasConfiguration: mayReadConfiguration,
    flags,
    orderBy,
    limit,
    offset,
  });
};

/** Reads the listed disputes, those that may be duplicates of them, and what happened last. */
const readItems = async (
  { db, period: { tenantId } }: TriageQuery,
  { places }: Ranking,
): Promise<TriageResult["items"]> => {
  const listed = places.map(({ id }) => id);
  const others = places.flatMap((place) => findOtherId(place) ?? []);
  const ids = [...new Set([...listed, ...others])];
  const rows = ids.length === 0 ? [] : await selectDisputes(db, tenantId, { ids }).execute();
  const disputes = new Map(rows.map((row) => [row.id, toDispute(row)]));
  const events = await selectActivity(db, tenantId, listed);
  const activities = new Map(events.map((row) => [row.id, toActivity(row)]));
  return places.flatMap((place) => {
    const dispute = disputes.get(place.id);
    const activity = activities.get(place.id);
    const other = disputes.get(findOtherId(place) ?? "");
    if (dispute === undefined || activity === undefined) return [];
    return {
      isOpen: place.is_open === 1,
      isAssigneeInactive: place.is_inactive === 1,
      disputeDays: place.dispute_days,
      amountPoints: place.amount_points,
      amountPercent: place.amount_percent,
      duplicate:
        other === undefined
          ? null
          : {
              disputeCode: other.disputeCode,
              reasonName: other.reasonName,
              poNumber: other.poNumber,
            },
      dispute,
      activity,
    };
  });
};

/** Whether any dispute can have a deadline. */
const hasDeadlines = async ({
  db,
  period,
  triage: { deadlineDays },
  usualDays,
  mayReadConfiguration,
}: TriageQuery): Promise<boolean> => {
  if (deadlineDays !== undefined) return true;
  if (!mayReadConfiguration) return false;
  const reasons = await selectReasons(db, period.tenantId, {}).execute();
  return reasons.some(({ dispute_days }) => (dispute_days ?? usualDays) !== null);
};

const read = async (query: TriageQuery, notes: string[]): Promise<TriageResult> => {
  const { db, period, triage, mayReadConfiguration } = query;
  const ranking = await rank(query);
  const { totals } = ranking;
  const { parse } = getDialect(db).sums;
  const addUp = (name: TriageFlag | "count") => totals.reduce((sum, row) => sum + row[name], 0);
  return {
    asOf: triage.asOf ?? formatTimestamp(period.asOf),
    rowCount: addUp("count"),
    currencyTotals: totals.map(({ currency, count, amount }) => ({
      currencyCode: currency,
      count,
      amount: toExactNumber(new Big(parse(amount)).toFixed()),
    })),
    flags: {
      documentClosed: addUp("documentClosed"),
      duplicate: addUp("duplicate"),
      unassigned: addUp("unassigned"),
      stale: addUp("stale"),
      due: addUp("due"),
    },
    hasDeadlines: await hasDeadlines(query),
    isConfigurationRead: mayReadConfiguration,
    notes,
    items: await readItems(query, ranking),
  };
};

/** Ranks disputes by what needs attention first. */
export const readTriage: Handlers<Contract["disputes"]>["triage"] = async (
  { body: triage },
  call,
) => {
  const { tenantId, now } = call;
  const { settings } = await readTenant(call.db, tenantId);
  const calendar = openCalendar(settings.timeZone);
  const day = triage.asOf;
  const isPast = day !== undefined;
  const asOf = isPast ? calendar.endOf(day) : now;
  await using snapshot = await call.snapshot({ aggregates: true });
  const { db } = snapshot;
  const { ended, notes } = isPast
    ? await readReopened(db, tenantId, asOf)
    : { ended: new Map<string, never>(), notes: [] };
  const offsets = await readOffsets(db, { tenantId, calendar, asOf });
  const query = {
    db,
    period: { tenantId, asOf, isPast, calendar, ended, offsets },
    triage,
    usualDays: settings.disputeDays,
    mayReadConfiguration: call.caller.may.has("Dispute Configuration : READ"),
  };
  return { body: await read(query, [...notes]) };
};
