import { cutText } from "./brief.ts";
import { parseDisputeCode } from "./dispute-code.ts";
import type { Fields } from "./insight.ts";

const SHORT_NOTE = 40;

const cutNote = (item: Fields): Fields => {
  const { lastNote } = item;
  if (typeof lastNote !== "object" || lastNote === null || !("text" in lastNote)) return item;
  return { ...item, lastNote: { ...lastNote, text: cutText(String(lastNote.text), SHORT_NOTE) } };
};

const withoutNote = ({ lastNote: _lastNote, ...item }: Fields): Fields => item;

/** Reasons that other fields of an item tell: age, amount, last activity, missing assignee and days left. */
const TOLD =
  /^(?:\d+ days old|no activity for \d+ days|no assignee|largest \d+ % .*|decision (?:over)?due .*)$/;

/** The equal fields of a possible duplicate follow its code. */
const EQUAL = ": same ";

const listShortReasons = (why: unknown): string[] =>
  (Array.isArray(why) ? why.map(String) : [])
    .filter((reason) => !TOLD.test(reason))
    .map((reason) => reason.split(EQUAL, 1)[0] ?? reason);

/** An item without what its place, its other fields or its code tell. */
const toBrief = (item: Fields): Fields => {
  const {
    rank: _rank,
    accountNumber,
    documentNumber,
    documentStatus,
    attachments,
    daysSinceUpdate,
    why,
    ...rest
  } = withoutNote(item);
  const reasons = listShortReasons(why);
  const isInCode = parseDisputeCode(String(item["disputeCode"])) === documentNumber;
  return {
    ...rest,
    ...(typeof item["accountName"] === "string" ? {} : { accountNumber }),
    ...(isInCode ? {} : { documentNumber }),
    ...(documentStatus === "open" ? {} : { documentStatus }),
    // Files are in the packet.
    ...(attachments === "unknown" ? { attachments } : {}),
    ...(daysSinceUpdate === item["ageDays"] ? {} : { daysSinceUpdate }),
    ...(reasons.length === 0 ? {} : { why: reasons }),
  };
};

const SHORT_NAME = 24;

/** A brief item without its score, by which the list is ordered, and with short names. */
const toBriefest = (item: Fields): Fields => {
  const { score: _score, ...rest } = toBrief(item);
  const names = ["accountName", "reasonName", "assigneeName"].flatMap((field) => {
    const name = rest[field];
    return typeof name === "string" ? [[field, cutText(name, SHORT_NAME)]] : [];
  });
  return { ...rest, ...Object.fromEntries(names) };
};

const NOT_WHOLE = "A limit above 15 shows them whole.";

/** Gives the items of a triage in ever shorter forms. */
export function* shortenTriage(
  items: readonly Fields[],
): Generator<{ items: Fields[]; note: string }> {
  yield { items: items.map(cutNote), note: `Notes are cut to fit. ${NOT_WHOLE}` };
  yield { items: items.map(withoutNote), note: `Last notes are left out to fit. ${NOT_WHOLE}` };
  const note = `Items are short to fit. ${NOT_WHOLE}`;
  yield { items: items.map(toBrief), note };
  yield { items: items.map(toBriefest), note };
}
