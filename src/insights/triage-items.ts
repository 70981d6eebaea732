import { contract } from "../contract/index.ts";
import type { DisputeNote } from "../contract/operations/dispute-notes.ts";
import type { DisputeActivity } from "../contract/insights/dispute-activity.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { cutText } from "./brief.ts";
import type { ActivityReader } from "./dispute-activity.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { readPart } from "./read-part.ts";
import type { Candidate, Judgement } from "./triage-score.ts";

const { dispute_notes, dispute_attachments } = contract;

/** The calls for notes and files of one dispute, where the platform tells them one by one. */
export const CALLS_PER_ITEM = 2;
const CONCURRENT_ITEMS = 4;
const NOTE_CHARACTERS = 120;

export type Judged = Candidate & Judgement;

const toNote = (
  { calendar }: InsightContext,
  { createDate, content }: Pick<DisputeNote, "createDate" | "content">,
): Fields => ({
  date: calendar.toDay(createDate),
  text: cutText(content, NOTE_CHARACTERS),
});

const toLastNote = (context: InsightContext, notes: readonly DisputeNote[]): Fields | undefined => {
  const [newest] = notes.toSorted((a, b) => (a.createDate < b.createDate ? 1 : -1));
  return newest && toNote(context, newest);
};

export type Details = {
  lastNote?: Fields | "unknown" | undefined;
  attachments: number | "unknown";
  /** The time of the newest note or file. */
  newest?: string | undefined;
};

const UNREAD: Details = { lastNote: "unknown", attachments: "unknown" };

const NOT_READ = "it was not read.";

/** Returns the last note and the number of files that the platform tells. */
export const toDetails = (
  context: InsightContext,
  { lastNote, attachmentCount }: DisputeActivity,
): Details => ({
  lastNote: lastNote === null ? undefined : toNote(context, lastNote),
  attachments: attachmentCount,
});

/** Reads notes and files of a dispute, and adds why a part of them cannot be read. */
const readDetails = async (
  context: InsightContext,
  disputeId: string,
  reasons: Set<string>,
): Promise<Details> => {
  const [notes, files] = await Promise.all([
    readPart(context, dispute_notes.list, { disputeId }),
    readPart(context, dispute_attachments.list, { disputeId }),
  ]);
  for (const { refused } of [notes, files]) if (refused !== undefined) reasons.add(refused.reason);
  const dates = [notes, files].flatMap((part) =>
    part.refused === undefined ? part.value.map(({ updateDate }) => updateDate) : [],
  );
  return {
    lastNote: notes.refused === undefined ? toLastNote(context, notes.value) : "unknown",
    attachments: files.refused === undefined ? files.value.length : "unknown",
    newest: dates.toSorted().at(-1),
  };
};

type Detailed = { one: Judged; details: Details };

/** Reads notes and files of the disputes one by one, as far as the calls reach. */
const readEach = async (
  context: InsightContext,
  chosen: readonly Judged[],
  calls: number,
  reasons: Set<string>,
): Promise<Map<string, Details>> => {
  const affordable = Math.max(0, Math.floor(calls / CALLS_PER_ITEM));
  const all = new Map<string, Details>();
  const read = async ({ disputeId }: Judged) => ({
    disputeId,
    details: await readDetails(context, disputeId, reasons),
  });
  for await (const { disputeId, details } of mapConcurrent(
    chosen.slice(0, affordable),
    CONCURRENT_ITEMS,
    read,
  )) {
    all.set(disputeId, details);
    await context.progress(`Read notes and files of ${all.size} of ${chosen.length} disputes.`);
  }
  return all;
};

/** For platforms that tell notes and files of one dispute at a time. */
const ONE_BY_ONE =
  "Notes and files count as activity for the listed disputes only; flags go by changes of disputes.";

/** Reads notes and files of the items, together where the platform can, else one by one. */
export const readItems = async (
  context: InsightContext,
  chosen: readonly Judged[],
  activity: ActivityReader,
  calls: number,
): Promise<{ detailed: Detailed[]; notes: string[] }> => {
  const reasons = new Set<string>();
  const unknown = chosen.filter(({ disputeId }) => activity.of(disputeId) === undefined);
  const each = await readEach(context, unknown, calls, reasons);
  const detailed = chosen.map((one): Detailed => {
    const known = activity.of(one.disputeId);
    const details = known === undefined ? each.get(one.disputeId) : toDetails(context, known);
    return { one, details: details ?? UNREAD };
  });
  const unread = detailed.filter(({ details }) => Object.values(details).includes("unknown"));
  return {
    detailed,
    notes: [
      ...(unknown.length > 0 ? [ONE_BY_ONE] : []),
      ...(unread.length === 0
        ? []
        : [
            `Of ${unread.length} listed disputes a part is unknown: ${[...reasons].join(" ") || NOT_READ}`,
          ]),
    ],
  };
};
