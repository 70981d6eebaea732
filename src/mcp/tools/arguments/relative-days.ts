import { createFieldProblem } from "../../../contract/errors.ts";
import { placeRelativeDays } from "../../../contract/insights/relative-days.ts";
import type { CallArguments } from "../../../contract/operation.ts";
import { isSource } from "../../../contract/payments/catalogue.ts";
import { hasRelativeDays, RELATIVE_DAYS } from "../../../contract/payments/relative-days.ts";
import { readTenantCalendar } from "../tenant-calendar.ts";
import type { ToolContext, Working } from "../tool-context.ts";

/** Whether filters have relative days that the platform does not know. */
const mustPlace = async (
  { broker, signal }: Working,
  { source, filters }: CallArguments,
): Promise<boolean> =>
  isSource(source) &&
  hasRelativeDays(filters) &&
  !(await broker.extensions(signal, true)).has(RELATIVE_DAYS);

/**
 * Returns the arguments of a query with the tenant's days at a moment in place of relative ones, and the moment; the
 * arguments themselves where the platform knows relative days.
 */
export const placeDaysFor = async <Args extends CallArguments>(
  call: Working,
  { settings }: Pick<ToolContext, "settings">,
  { args, at }: { args: Args; at: number },
): Promise<{ args: Args; daysAt?: number }> => {
  const { source, filters } = args as CallArguments;
  if (!isSource(source) || !(await mustPlace(call, args))) return { args };
  const { broker, signal } = call;
  const { calendar } = await readTenantCalendar({ broker, settings, now: () => at, signal });
  const placed = placeRelativeDays(source, filters, { calendar, now: at });
  return { args: { ...args, filters: placed }, daysAt: at };
};

const UNKNOWN =
  "has days relative to the run, which this platform does not know: it would keep the days of today; send dates";

/** @throws {Problem} invalid_request, if relative days would be stored that the platform does not know */
export const requireRelativeDays = async (call: Working, args: CallArguments): Promise<void> => {
  if (call.tool.operation.effect === "read" || !(await mustPlace(call, args))) return;
  throw createFieldProblem("invalid_request", {
    field: "filters",
    code: "unknown",
    message: UNKNOWN,
  });
};
