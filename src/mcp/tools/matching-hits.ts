import { createFieldProblem } from "../../contract/errors.ts";
import type { DisputeFilters } from "../../contract/insights/dispute-filters.ts";
import { createDocumentReader } from "../../insights/document-reader.ts";
import { readMatching } from "../../insights/matching-disputes.ts";
import { toReading } from "./reading.ts";
import { readTenantCalendar } from "./tenant-calendar.ts";
import type { ToolContext, Working } from "./tool-context.ts";

const MOST_DOCUMENTS = 500;

const refuse = (message: string) =>
  createFieldProblem("invalid_request", { field: "where", code: "range", message });

/**
 * Finds the ids of the disputes that filters select, oldest first.
 *
 * @throws {Problem} invalid_request if there are none, or more than `most`
 */
export const findHits = async (
  call: Working,
  { now, settings }: Pick<ToolContext, "now" | "settings">,
  { filters, most }: { filters: DisputeFilters; most: number },
): Promise<string[]> => {
  const { broker, signal } = call;
  const { calendar } = await readTenantCalendar({ broker, settings, now, signal });
  const reading = await toReading(call, now, calendar);
  const documents = createDocumentReader(reading, MOST_DOCUMENTS);
  const ids: string[] = [];
  const { rowCount, truncated, notes } = await readMatching(reading, filters, documents, {
    match: ({ dispute }) => void ids.push(dispute.disputeId),
  });
  if (rowCount > most) throw refuse(`matches ${rowCount} disputes; at most ${most} are changed`);
  if (truncated) throw refuse(`does not tell all of its disputes: ${notes.join(" ")}`);
  if (rowCount === 0) throw refuse("matches no dispute");
  return ids;
};
