import type { Operation } from "../contract/operation.ts";
import type { Fields, InsightContext, InsightResult } from "./insight.ts";

/** Returns whether the platform announces an operation beyond the documents. */
export const isAnnounced = ({ extensions }: InsightContext, { id }: Operation): boolean =>
  extensions.has(id);

/** Asks the platform for a whole result, which the operation answers in the form of an insight. */
export const callSummary = async (
  { call }: InsightContext,
  operation: Operation,
  args: Fields,
): Promise<InsightResult> => {
  const { output } = await call(operation, args);
  return output as InsightResult;
};
