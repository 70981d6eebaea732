import { z } from "zod";

/** The metadata of a reopening in the audit log; older entries lack the last two. */
const Reopening = z.object({
  disputeId: z.string(),
  formerStatus: z.coerce.number(),
  formerClosedDate: z.iso.datetime(),
});

/** The former end of a dispute that has been reopened since. */
export type Ended = { status: number; closedAt: number };

export type Reopened = {
  /** The disputes that had ended at the moment, by id. */
  ended: ReadonlyMap<string, Ended>;
  /** Sentences about disputes whose state at the moment is unknown. */
  notes: string[];
};

export const REOPENED_ACTION = "dispute.reopened";

/** An answer takes so many reopenings into account. */
export const MOST_REOPENED = 1000;

/** Finds the disputes that had ended at a moment and have been reopened since, from the audit entries after it. */
export const findReopened = (oldestFirst: readonly unknown[], at: number): Reopened => {
  const first = new Map<string, Ended | undefined>();
  for (const metadata of oldestFirst) {
    const { data } = Reopening.partial().safeParse(metadata);
    const { data: known } = Reopening.safeParse(metadata);
    if (data?.disputeId === undefined || first.has(data.disputeId)) continue;
    first.set(data.disputeId, known && toEnded(known));
  }
  const unknown = [...first.values()].filter((one) => one === undefined).length;
  const ended = [...first].flatMap(([id, one]): [string, Ended][] =>
    one !== undefined && one.closedAt <= at ? [[id, one]] : [],
  );
  return { ended: new Map(ended), notes: describeUnknown(unknown, oldestFirst.length) };
};

const toEnded = ({ formerStatus, formerClosedDate }: z.infer<typeof Reopening>): Ended => ({
  status: formerStatus,
  closedAt: Date.parse(formerClosedDate),
});

const describeUnknown = (unknown: number, entries: number): string[] => [
  ...(unknown === 0
    ? []
    : [`${unknown} disputes reopened since count as open: it is unknown when they had ended.`]),
  ...(entries < MOST_REOPENED
    ? []
    : [`Only ${MOST_REOPENED} reopenings since were read; others count as open.`]),
];
