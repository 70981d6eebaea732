import { contract } from "../contract/index.ts";
import type { DisputeActivity } from "../contract/insights/dispute-activity.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import type { Calendar } from "../contract/insights/calendar.ts";
import { toTenantDay } from "./brief.ts";
import type { DocumentState } from "./document-reader.ts";
import type { InsightContext } from "./insight.ts";
import { readPart } from "./read-part.ts";

const { disputes } = contract;

const IDS_PER_CALL = 1000;
const CONCURRENT = 2;

/** The latest events of disputes, on platforms that tell those of many at once. */
export type ActivityReader = {
  /** Reads those that are not known yet, in at most so many calls; does nothing on other platforms. */
  read(ids: readonly string[], mostCalls: number): Promise<void>;
  of(id: string): DisputeActivity | undefined;
};

/** Returns the state of a dispute's document. */
export const toDocumentState = (
  calendar: Calendar,
  { documentStatus, documentClosedDate }: DisputeActivity,
): DocumentState => ({
  status: documentStatus,
  closedOn: toTenantDay(calendar, documentClosedDate),
});

/** Creates a reader of activities. A refusal leaves them unknown, so that they are read one by one. */
export const createActivityReader = (context: InsightContext): ActivityReader => {
  const known = new Map<string, DisputeActivity>();
  let isOffered = context.extensions.has(disputes.activity.id);
  const load = (disputeIds: readonly string[]) =>
    readPart(context, disputes.activity, { disputeIds: [...disputeIds] });
  return {
    async read(ids, mostCalls) {
      const missing = ids.filter((id) => !known.has(id)).slice(0, mostCalls * IDS_PER_CALL);
      if (!isOffered || missing.length === 0) return;
      const chunks = Array.from({ length: Math.ceil(missing.length / IDS_PER_CALL) }, (_, place) =>
        missing.slice(place * IDS_PER_CALL, (place + 1) * IDS_PER_CALL),
      );
      for await (const part of mapConcurrent(chunks, CONCURRENT, load)) {
        if (part.refused !== undefined) isOffered = false;
        else for (const one of part.value) known.set(one.disputeId, one);
      }
    },
    of: (id) => known.get(id),
  };
};
