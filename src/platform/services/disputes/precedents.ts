import type { Contract } from "../../../contract/index.ts";
import { openCalendar } from "../../../contract/insights/calendar.ts";
import { startOfPrecedents, summarizePrecedents } from "../../../contract/insights/precedents.ts";
import type { Handlers } from "../../handlers.ts";
import { findDispute } from "../../store/queries/disputes.ts";
import { readPrecedents as readCases } from "../../store/queries/summaries/precedents.ts";
import { readTenant } from "../../store/queries/tenants.ts";

/** Tells how disputes with the reason of one dispute ended: its own account's and all. */
export const readPrecedents: Handlers<Contract["disputes"]>["precedents"] = async (
  { body: { disputeId } },
  call,
) => {
  const { db, tenantId, now } = call;
  const dispute =
    (await findDispute(db, tenantId, disputeId)) ??
    call.refuse("disputeId", "unknown_reference", "names no dispute");
  const { settings } = await readTenant(db, tenantId);
  const calendar = openCalendar(settings.timeZone);
  const since = startOfPrecedents(calendar, now);
  await using snapshot = await call.snapshot({ aggregates: true });
  const context = { db: snapshot.db, dispute, from: calendar.startOf(since), now, calendar };
  const cases = await readCases(context, dispute.department_id);
  return { body: summarizePrecedents({ since, ...cases }) };
};
