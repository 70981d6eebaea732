import { DAY, HOUR, MINUTE } from "../../kit/clock.ts";
import type { DisputeNoteRow } from "../store/tables.ts";
import { authorOf, AWAY, LEFT, type Making, tracked } from "./configuration.ts";
import type { Dispute } from "./disputes.ts";
import { dateOnly, officeTime, spokenDate } from "./moments.ts";
import { CLERK } from "./people.ts";
import {
  BY_REASON,
  CANCELLATIONS,
  CHASES,
  ENDINGS,
  ESCALATIONS,
  ON_LEAVE,
  ORPHANED,
  PROMISES,
} from "./phrases.ts";

const COUNTS = [
  [0, 16],
  [1, 24],
  [2, 25],
  [3, 18],
  [4, 11],
  [5, 6],
] as const;

const OLD = 45 * DAY;

const money = (cents: number, currency: string): string =>
  `${(cents / 100).toLocaleString("en-US", { minimumFractionDigits: 2 })} ${currency}`;

const fill = (phrase: string, slots: Readonly<Record<string, string>>): string =>
  phrase.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = slots[name];
    if (value === undefined) throw new RangeError(`no slot ${name}`);
    return value;
  });

/** What stays the same in all notes of a dispute: who speaks, what was agreed, the numbers of its papers. */
const subjectOf = ({ dice }: Making, { row, case: one, assignee }: Dispute) => {
  const { account, number, poNumber } = one.invoice;
  // What people agree on are round sums.
  const part = Math.max(100, Math.round((one.cents * (0.3 + dice.share() * 0.5)) / 100) * 100);
  return {
    contact: dice.pick(account.contacts),
    customer: account.name,
    ...(poNumber === null ? {} : { po: poNumber }),
    invoice: number,
    amount: money(one.cents, row.currency_code),
    part: money(part, row.currency_code),
    owner: assignee?.first_name ?? "the department",
    number: String(dice.whole(20_000, 98_999)),
    memo: String(dice.whole(7_000, 9_999)),
  };
};

// No note about a purchase order where there is none.
const fitting = (phrases: readonly string[], subject: { po?: string }): readonly string[] =>
  subject.po === undefined ? phrases.filter((phrase) => !phrase.includes("{po}")) : phrases;

const datesOf = ({ dice }: Making, at: number) => ({
  day: spokenDate(at + dice.whole(2, 9) * DAY),
  ptp: dateOnly(at + dice.whole(7, 24) * DAY),
});

const phrasesOf = ({ reason, external }: Dispute["case"]) =>
  BY_REASON[external?.code ?? ""] ?? BY_REASON[reason.code] ?? { claim: CHASES, evidence: CHASES };

const isAway = ({ now }: Making, assignee: Dispute["assignee"], at: number): boolean =>
  assignee !== null && assignee.person.includes("on leave") && at > now - AWAY;

const middle = (making: Making, dispute: Dispute, at: number): readonly string[] => {
  const { assignee, row, case: one } = dispute;
  const aged = at - row.created_at > OLD;
  if (assignee?.active === 0 && at > making.now - LEFT) return ORPHANED;
  if (one.status === 0 && isAway(making, assignee, at)) return ON_LEAVE;
  return aged ? ESCALATIONS : CHASES;
};

const endingOf = ({ resolution }: Dispute): readonly string[] =>
  ENDINGS[resolution ?? ""] ?? CANCELLATIONS;

/** The course of a dispute in phrases: the claim, what was found, waiting, and how it ended. */
const kinds = (
  making: Making,
  dispute: Dispute,
  times: readonly number[],
): (readonly string[])[] => {
  const { claim, evidence } = phrasesOf(dispute.case);
  const { status } = dispute.row;
  const partly = dispute.case.reason.claim.kind === "whole" && status === 0;
  const course = times.map((at, place) => {
    if (place === 0) return claim;
    if (place === 1) return evidence;
    if (place === 2 && partly) return PROMISES;
    return middle(making, dispute, at);
  });
  if (status === 0 || course.length === 0) return course;
  return [...course.slice(0, -1), endingOf(dispute)];
};

const SETTLES = 10 * MINUTE;

// Few things are said about what was over quickly.
const countOf = ({ dice }: Making, { case: one }: Dispute): number => {
  const days = one.status === 0 ? one.ageDays : one.cycleDays;
  return Math.min(dice.weigh(COUNTS), 1 + Math.floor(days / 2));
};

/** The first soon after the claim came, the last of an ended dispute just before its end. */
const timesOf = ({ dice, now }: Making, { row }: Dispute, count: number): number[] => {
  const { created_at: from, closed_at: closedAt } = row;
  const until = closedAt ?? now - HOUR;
  const within = (at: number) => Math.min(until, Math.max(from, at));
  const times = Array.from({ length: count }, (_none, place) => {
    const share = dice.share();
    const first = within(from + dice.whole(4, 120) * MINUTE);
    const later = within(officeTime(dice, from + (until - from) * share, until));
    return place === 0 ? first : later;
  });
  if (closedAt !== null && count > 0) times[count - 1] = Math.max(from, closedAt - SETTLES);
  return times.toSorted((one, other) => one - other);
};

/** Who writes: the clerk takes claims in and chases, who works the dispute finds out, whoever ended it says so. */
const writerOf = (
  making: Making,
  { assignee, row }: Dispute,
  { at, phrase, last }: { at: number; phrase: string; last: boolean },
): string => {
  if (last && row.closed_at !== null) return row.updated_by;
  const gone =
    assignee === null ||
    (assignee.active === 0 && at > making.now - LEFT) ||
    isAway(making, assignee, at);
  return authorOf(making, gone || phrase.includes("{owner}") ? CLERK : assignee.email);
};

// What may be shown to the customer is what was said to the customer.
const SAID_TO_CUSTOMER =
  /^(Sent|Asked \{contact\}|Resubmitted|Credit memo|Agreed with|Corrected invoice|POD|Payment)/;
const SHARED = 0.7;

const notesOf = (making: Making, dispute: Dispute): DisputeNoteRow[] => {
  const { dice, tenantId } = making;
  const times = timesOf(making, dispute, countOf(making, dispute));
  const said = new Set<string>();
  const subject = subjectOf(making, dispute);
  const course = kinds(making, dispute, times);
  return times.flatMap((at, place) => {
    const slots = { ...subject, ...datesOf(making, at) };
    const phrase = dice.pick(fitting(course[place] ?? CHASES, subject));
    const shared = dice.chance(SHARED) && SAID_TO_CUSTOMER.test(phrase);
    const id = dice.id();
    if (said.has(phrase)) return [];
    said.add(phrase);
    return [
      {
        tenant_id: tenantId,
        id,
        dispute_id: dispute.row.id,
        content: fill(phrase, slots),
        visibility: shared ? ("All" as const) : ("Internal" as const),
        ...tracked(writerOf(making, dispute, { at, phrase, last: place === times.length - 1 }), at),
      },
    ];
  });
};

export const notes = (making: Making, disputes: readonly Dispute[]): DisputeNoteRow[] =>
  disputes.flatMap((dispute) => notesOf(making, dispute));
