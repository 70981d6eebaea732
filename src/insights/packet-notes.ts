import type { CallArguments } from "../contract/operation.ts";
import { contract } from "../contract/index.ts";
import type { AccountWithNotes } from "../contract/operations/accounts.ts";
import type { DisputeNote } from "../contract/operations/dispute-notes.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { cutText, withoutNulls } from "./brief.ts";
import { type Names, noNames, readNames } from "./people-names.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { readPart, showPart, type Unavailable } from "./read-part.ts";

const { dispute_notes, accounts, account_notes } = contract;

const NOTES = 10;
const ACCOUNT_NOTES = 5;

/** The tool that reads a note whole. */
const toCall = (id: string, args: CallArguments): string =>
  `${id.replace(".", "_")} ${JSON.stringify(args)}`;

/** Returns a function that reads the names once, however many notes need them. */
export const createNames = (context: InsightContext): (() => Promise<Names>) => {
  let names: Promise<Names> | undefined;
  return () => (names ??= readNames(context));
};

/** Whether an author is named by an id and not by a name or an address. */
const isId = (author: string): boolean => /^[\w-]{1,128}$/.test(author);

export type Notes = {
  shown: readonly Fields[] | Unavailable;
  total: number | null;
  /** Why some authors are named by their ids. */
  unnamed?: string | undefined;
};

/** Reads the newest notes of a dispute, whole, with their authors' names. */
export const readNotes = async (
  context: InsightContext,
  { disputeId }: Dispute,
  allNames: () => Promise<Names>,
): Promise<Notes> => {
  const args = { disputeId, Sort: "-CreateDate", Page: 1, PageSize: NOTES };
  const part = await readPart(context, dispute_notes.list, args);
  if (part.refused !== undefined) return { shown: showPart(part, () => []), total: null };
  const newest = part.value
    .toSorted((a, b) => Date.parse(b.createDate) - Date.parse(a.createDate))
    .slice(0, NOTES);
  const needsNames = newest.some(({ createUser }) => isId(createUser));
  const names = needsNames ? await allNames() : noNames;
  const toNote = (note: DisputeNote): Fields =>
    withoutNulls({
      time: note.createDate,
      by: names.of.get(note.createUser) ?? note.createUser,
      visibility: note.visibility,
      text: note.content,
      read: toCall(dispute_notes.get.id, { disputeId, noteId: note.disputeNoteId }),
    });
  const isUnnamed = newest.some(({ createUser }) => isId(createUser) && !names.of.has(createUser));
  return {
    shown: newest.map(toNote),
    total: part.reply?.total ?? part.value.length,
    unnamed: isUnnamed ? names.refused?.reason : undefined,
  };
};

type AccountNote = AccountWithNotes["notes"][number];

/** Returns the author of an account's note; the id of a key says nothing to a person. */
const nameAuthor = ({ createdBy }: AccountNote, { of }: Names): string | null =>
  createdBy === undefined ? null : (of.get(createdBy) ?? (isId(createdBy) ? null : createdBy));

/** Reads the newest notes of the dispute's account. */
export const readAccountNotes = async (
  context: InsightContext,
  { accountNumber }: Dispute,
  allNames: () => Promise<Names>,
): Promise<Notes> => {
  const hasAuthors = context.extensions.has(`${accounts.get.id}.${accounts.get.additions?.name}`);
  const args = { account_number: accountNumber, ...(hasAuthors ? { author: true } : {}) };
  const part = await readPart(context, accounts.get, args);
  if (part.refused !== undefined) return { shown: showPart(part, () => []), total: null };
  const all = part.value.notes;
  const timeOf = ({ createdAt }: AccountNote): number => Date.parse(createdAt);
  const newest = all.toSorted((a, b) => timeOf(b) - timeOf(a)).slice(0, ACCOUNT_NOTES);
  const needsNames = newest.some(({ createdBy }) => createdBy !== undefined && isId(createdBy));
  const names = needsNames ? await allNames() : noNames;
  const toNote = (note: AccountNote): Fields =>
    withoutNulls({
      time: note.createdAt,
      by: nameAuthor(note, names),
      text: note.body,
      read: toCall(account_notes.get.id, {
        account_number: accountNumber,
        reference: note.reference,
      }),
    });
  return { shown: newest.map(toNote), total: all.length };
};

/** A note that is whole, and so needs no call that reads it. */
export const wholeNote = ({ read: _read, ...note }: Fields): Fields => note;

/** A note cut to so many characters, with the call that reads it whole. */
export const cutNote = ({ read, text, ...note }: Fields, most: number): Fields => {
  const whole = String(text);
  const short = cutText(whole, most);
  return short === whole ? { ...note, text } : { ...note, text: short, cut: true, read };
};
