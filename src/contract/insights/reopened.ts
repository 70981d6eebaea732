import { z } from "zod";
import { forEachInTurns } from "../../kit/in-turns.ts";

/** The metadata of a reopening in the audit log; older entries lack the last two. */
const Metadata = z.object({
  disputeId: z.string(),
  formerStatus: z.coerce.number().optional(),
  formerClosedDate: z.iso.datetime().optional(),
});

/** The former end of a dispute that has been reopened since. */
export type Ended = { status: number; closedAt: number };

/** A dispute that was reopened; `ended` is undefined where the entry does not tell how and when it had ended. */
export type Reopening = { disputeId: string; ended: Ended | undefined };

export type Reopened = {
  /** The disputes that had ended at the moment, by id. */
  ended: ReadonlyMap<string, Ended>;
  /** Sentences about disputes whose state at the moment is unknown. */
  notes: string[];
};

export const REOPENED_ACTION = "dispute.reopened";

/** An answer takes so many reopenings into account. */
export const MOST_REOPENED = 20_000;

export const ONLY_SOME_REOPENED = `Only ${MOST_REOPENED.toLocaleString("en-US")} reopenings since were read; others count as open.`;

/** Reads the metadata of an audit entry; undefined if it names no dispute. */
export const parseReopening = (metadata: unknown): Reopening | undefined => {
  const { data } = Metadata.safeParse(metadata);
  if (data === undefined) return undefined;
  const { disputeId, formerStatus, formerClosedDate } = data;
  if (formerStatus === undefined || formerClosedDate === undefined) {
    return { disputeId, ended: undefined };
  }
  return { disputeId, ended: { status: formerStatus, closedAt: Date.parse(formerClosedDate) } };
};

const describeUnknown = (unknown: number): string[] =>
  unknown === 0
    ? []
    : [`${unknown} disputes reopened since count as open: it is unknown when they had ended.`];

/** Finds the disputes that had ended at a moment and have been reopened since, from the reopenings after it. */
export const findReopened = async (
  oldestFirst: Iterable<Reopening>,
  at: number,
): Promise<Reopened> => {
  const first = new Map<string, Ended | undefined>();
  await forEachInTurns(oldestFirst, ({ disputeId, ended }) => {
    if (!first.has(disputeId)) first.set(disputeId, ended);
  });
  const found = new Map<string, Ended>();
  let unknown = 0;
  await forEachInTurns(first, ([disputeId, ended]) => {
    if (ended === undefined) unknown += 1;
    else if (ended.closedAt <= at) found.set(disputeId, ended);
  });
  return { ended: found, notes: describeUnknown(unknown) };
};
