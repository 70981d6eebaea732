import type { Broker } from "../../broker/port.ts";
import { contract, TENANT_TIME_ZONE } from "../../contract/index.ts";
import { Problem } from "../../contract/errors.ts";
import { type Calendar, openCalendar } from "../../contract/insights/calendar.ts";
import { type Clock, MINUTE } from "../../kit/clock.ts";
import { UTC } from "../../kit/time-zone.ts";
import type { Settings } from "../../config/settings.ts";

/** The days of the caller's tenant, and why they are not known to be its own. */
export type TenantCalendar = { calendar: Calendar; notes: readonly string[] };

type Needs = { broker: Broker; settings: Settings; now: Clock; signal: AbortSignal };

const LIFE_MS = 5 * MINUTE;

const known = new WeakMap<Broker, { timeZone: string; until: number }>();

/** Reads the time zone as the platform has it. @throws {Problem} */
const readTimeZone = async ({ broker, now, signal }: Needs): Promise<string | undefined> => {
  const last = known.get(broker);
  if (last !== undefined && last.until > now()) return last.timeZone;
  // The server reads for itself, and not for a tool.
  const { output } = await broker.call(contract.users.profile, {}, { tool: undefined, signal });
  const timeZone = output.tenants.find(({ tenantId }) => tenantId === broker.tenantId)?.timeZone;
  if (timeZone !== undefined) known.set(broker, { timeZone, until: now() + LIFE_MS });
  return timeZone;
};

/**
 * Returns the days of the caller's tenant: those of the platform where it tells them, else those of the settings, else
 * those of UTC. What the platform tells holds for 5 minutes.
 */
export const readTenantCalendar = async (needs: Needs): Promise<TenantCalendar> => {
  const { broker, settings, signal } = needs;
  const usual = settings.timeZone ?? UTC.name;
  if (!(await broker.extensions(signal)).has(TENANT_TIME_ZONE)) {
    return { calendar: openCalendar(usual), notes: [] };
  }
  try {
    return { calendar: openCalendar((await readTimeZone(needs)) ?? usual), notes: [] };
  } catch (error) {
    if (!(error instanceof Problem) || signal.aborted) throw error;
    const note = `Days are those of ${usual}, because the tenant's time zone cannot be read: ${error.message}`;
    return { calendar: openCalendar(usual), notes: [note] };
  }
};
