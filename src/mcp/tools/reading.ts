import { utcCalendar } from "../../contract/insights/calendar.ts";
import type { Clock } from "../../kit/clock.ts";
import { INSIGHT_LIMITS, type InsightContext } from "../../insights/insight.ts";
import type { Working } from "./tool-context.ts";

/** Returns the context in which a tool that changes records reads as insights do. */
export const toReading = async (
  { broker, tool, signal, progress }: Working,
  now: Clock,
  calendar = utcCalendar,
): Promise<InsightContext> => ({
  call: (operation, args) => broker.call(operation, args, { tool: tool.name, signal }),
  extensions: await broker.extensions(signal),
  now,
  calendar,
  signal,
  progress,
  limits: INSIGHT_LIMITS,
  skip: 0,
  isWhole: false,
  endsAt: now() + INSIGHT_LIMITS.ms,
});
