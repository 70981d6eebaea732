import { DAY, HOUR, MINUTE } from "../../kit/clock.ts";
import type { DisputeNoteRow } from "../store/tables.ts";
import { authorOf, AWAY, LEFT, type Making, tracked } from "./configuration.ts";
import type { Case } from "./cases.ts";
import type { Dispute } from "./disputes.ts";
import { languageOf } from "./fake.ts";
import type { CreditNote } from "./ledger/credit-notes.ts";
import { dateOnly, officeTime, spokenDate } from "./moments.ts";
import { decimal } from "./money.ts";
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
import { HOSTILE, mailsFrom, TERSE } from "./voices.ts";

const COUNTS = [
  [0, 16],
  [1, 24],
  [2, 25],
  [3, 18],
  [4, 11],
  [5, 6],
] as const;

const OLD = 45 * DAY;

const money = (cents: number, currency: string): string => `${decimal(cents)} ${currency}`;

const fill = (phrase: string, slots: Readonly<Record<string, string>>): string =>
  phrase.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = slots[name];
    if (value === undefined) throw new RangeError(`no slot ${name}`);
    return value;
  });

/** What is so of some invoices only, and of others the opposite. */
const sometimesOf = ({ poNumber, account: { terms } }: Case["invoice"]) => ({
  ...(poNumber === null ? { noPo: "no PO number" } : { po: poNumber }),
  ...(terms.discount === undefined
    ? { terms: terms.name.toLowerCase() }
    : { window: `${terms.discount.days} days` }),
});

/** What stays the same in all notes of a dispute: who speaks, what was agreed, the numbers of its papers. */
const subjectOf = (
  { dice }: Making,
  { row, case: one, assignee }: Dispute,
  credit?: CreditNote,
) => {
  const { account, number, lines } = one.invoice;
  // What people agree on are round sums.
  const guess = Math.max(100, Math.round((one.cents * (0.3 + dice.share() * 0.5)) / 100) * 100);
  const part = one.resolution === "CREDIT-PART" && credit !== undefined ? credit.cents : guess;
  return {
    contact: dice.pick(account.contacts).firstName,
    customer: account.name,
    ...sometimesOf(one.invoice),
    invoice: number,
    amount: money(one.cents, row.currency_code),
    part: money(part, row.currency_code),
    owner: assignee?.first_name ?? "the department",
    line: String(dice.whole(1, lines.length)),
    number: String(dice.whole(20_000, 98_999)),
    memo: credit?.number.replace("CM-", "") ?? "",
  };
};

const SOMETIMES = ["po", "noPo", "terms", "window"] as const;

// No note about a purchase order where there is none, or about the lack of one where there is.
const fitting = (phrases: readonly string[], subject: object): readonly string[] => {
  const missing = SOMETIMES.filter((slot) => !Object.hasOwn(subject, slot));
  return phrases.filter((phrase) => !missing.some((slot) => phrase.includes(`{${slot}}`)));
};

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

const endingOf = ({ case: { resolution } }: Dispute): readonly string[] =>
  ENDINGS[resolution ?? ""] ?? CANCELLATIONS;

const PASTES = 0.12;
// What is written in another language is rather pasted than retold.
const PASTES_FOREIGN = 0.6;
const IS_TERSE = 0.14;

/** How somebody else would have put it: at length, or hardly at all. */
const inVoice = (
  { dice }: Making,
  one: Dispute["case"],
  place: number,
  phrases: readonly string[],
) => {
  const { place: from } = one.invoice.account;
  const pastes = dice.chance(languageOf(from) === "en" ? PASTES : PASTES_FOREIGN);
  const terse = dice.chance(IS_TERSE);
  if (place === 0) return pastes ? mailsFrom(from) : phrases;
  return terse ? TERSE : phrases;
};

/** The course of a dispute in phrases: the claim, what was found, waiting, and how it ended. */
const kinds = (
  making: Making,
  dispute: Dispute,
  times: readonly number[],
): (readonly string[])[] => {
  const { claim, evidence } = phrasesOf(dispute.case);
  const { status } = dispute.row;
  const partly = dispute.case.reason.claim.kind === "whole" && status === 0;
  const course = times
    .map((at, place) => {
      if (place === 0) return claim;
      if (place === 1) return evidence;
      if (place === 2 && partly) return PROMISES;
      return middle(making, dispute, at);
    })
    .map((phrases, place) => inVoice(making, dispute.case, place, phrases));
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

type About = {
  credit: CreditNote | undefined;
  /** What the customer's portal let through. */
  hostile: string | undefined;
};

const notesOf = (
  making: Making,
  dispute: Dispute,
  { credit, hostile }: About,
): DisputeNoteRow[] => {
  const { dice, tenantId } = making;
  const count = countOf(making, dispute);
  const times = timesOf(making, dispute, hostile === undefined ? count : Math.max(1, count));
  const said = new Set<string>();
  const subject = subjectOf(making, dispute, credit);
  const course = kinds(making, dispute, times);
  return times.flatMap((at, place) => {
    const slots = { ...subject, ...datesOf(making, at) };
    const drawn = dice.pick(fitting(course[place] ?? CHASES, subject));
    const phrase = place === 0 ? (hostile ?? drawn) : drawn;
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

// One in so many open disputes came with something hostile.
const HOSTILE_EVERY = 25;

export const notes = (
  making: Making,
  disputes: readonly Dispute[],
  credits: readonly CreditNote[],
): DisputeNoteRow[] => {
  const granting = new Map(credits.map((credit) => [credit.claim, credit]));
  const open = disputes.filter(({ row }) => row.status === 0);
  const planted = new Map(
    HOSTILE.map((text, place) => [open[(place + 1) * HOSTILE_EVERY - 1], text]),
  );
  return disputes.flatMap((dispute) =>
    notesOf(making, dispute, {
      credit: granting.get(dispute.case),
      hostile: planted.get(dispute),
    }),
  );
};
