import { contract } from "../contract/index.ts";
import {
  findReopened,
  MOST_REOPENED,
  REOPENED_ACTION,
  type Reopened,
} from "../contract/insights/reopened.ts";
import { formatTimestamp } from "../kit/clock.ts";
import type { InsightContext } from "./insight.ts";
import { readPart } from "./read-part.ts";
import type { Moment } from "./standing.ts";

const DONE = 200;

const UNREADABLE =
  "Disputes that had ended by then and have been reopened since count as open, because the audit log cannot be read:";

/** Reads the disputes that had ended at a past moment and have been reopened since: disputes do not tell that. */
export const readReopened = async (
  context: InsightContext,
  { at, isPast }: Moment,
): Promise<Reopened> => {
  if (!isPast) return { ended: new Map(), notes: [] };
  const part = await readPart(context, contract.audit_logs.list, {
    action: REOPENED_ACTION,
    from: formatTimestamp(at + 1),
    statusCode: DONE,
    limit: MOST_REOPENED,
  });
  if (part.refused !== undefined) {
    return { ended: new Map(), notes: [`${UNREADABLE} ${part.refused.reason}`] };
  }
  return findReopened(part.value.data.map(({ metadata }) => metadata).toReversed(), at);
};
