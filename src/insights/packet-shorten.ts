import type { Fields } from "./insight.ts";
import { cutNote, wholeNote } from "./packet-notes.ts";

/** The size of each part of a packet. */
type Extent = {
  /** Notes of the dispute that are shown, and how many of them whole. */
  notes: number;
  wholeNotes: number;
  /** Characters of the newest note. */
  newest: number;
  accountNotes: number;
  accountCharacters: number;
  excerpts: number;
  others: number;
  alike: number;
  lineItems: number;
  files: number;
};

const SHORT_NOTE = 400;
const SHORT_ACCOUNT_NOTE = 200;
const LINE_ITEMS = 50;
const LEAST_LINE_ITEMS = 5;
const LEAST_EXCERPTS = 2;

const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? (value as Fields[]) : [];

const recordOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

const wholeExtent = (packet: Fields): Extent => {
  const notes = listOf(packet["notes"]).length;
  return {
    notes,
    wholeNotes: notes,
    newest: Infinity,
    accountNotes: listOf(packet["accountNotes"]).length,
    accountCharacters: Infinity,
    excerpts: listOf(packet["files"]).filter(({ excerpt }) => excerpt !== undefined).length,
    others: listOf(recordOf(packet["otherDisputes"])["largest"]).length,
    alike: listOf(recordOf(packet["precedents"])["alike"]).length,
    lineItems: Math.min(LINE_ITEMS, listOf(recordOf(packet["document"])["lineItems"]).length),
    files: listOf(packet["files"]).length,
  };
};

/** Ever smaller extents, in the order in which parts give way. */
const listExtents = function* listExtents(whole: Extent): Generator<Extent> {
  const extent = { ...whole };
  const lower = function* lower(name: keyof Extent, least: number): Generator<Extent> {
    while (extent[name] > least) {
      extent[name] -= 1;
      yield { ...extent };
    }
  };
  const set = function* set(name: keyof Extent, value: number): Generator<Extent> {
    if (extent[name] <= value) return;
    extent[name] = value;
    yield { ...extent };
  };
  yield { ...extent };
  // Older notes.
  yield* lower("wholeNotes", 1);
  yield* set("accountCharacters", SHORT_ACCOUNT_NOTE);
  yield* lower("notes", 1);
  yield* lower("accountNotes", 1);
  yield* lower("excerpts", LEAST_EXCERPTS);
  yield* lower("others", 0);
  yield* lower("alike", 0);
  yield* set("lineItems", LEAST_LINE_ITEMS);
  // The parts without a rule give way last.
  for (const characters of [4000, 2000, 1000, SHORT_NOTE]) yield* set("newest", characters);
  yield* lower("files", LEAST_EXCERPTS);
  yield* lower("excerpts", 0);
};

const count = (number: number, what: string, tool: string): string[] =>
  number <= 0 ? [] : [`${number} ${what}: ${tool}`];

const totalOf = (total: unknown, list: readonly unknown[]): number =>
  typeof total === "number" ? total : list.length;

/** Names what an extent leaves out, each with its number and the tool that reads it. */
const listLeftOut = (packet: Fields, whole: Extent, extent: Extent): string[] => {
  const notes = totalOf(packet["notesTotal"], listOf(packet["notes"]));
  const accountNotes = totalOf(packet["accountNotesTotal"], listOf(packet["accountNotes"]));
  const files = totalOf(packet["filesTotal"], listOf(packet["files"]));
  const lines = listOf(recordOf(packet["document"])["lineItems"]).length;
  return [
    ...count(notes - extent.notes, "older notes", "dispute_notes_list"),
    ...count(accountNotes - extent.accountNotes, "older notes of the account", "accounts_get"),
    ...count(whole.excerpts - extent.excerpts, "excerpts", "dispute_attachments_download"),
    ...count(whole.others - extent.others, "other disputes", "disputes_list"),
    ...count(whole.alike - extent.alike, "disputes most alike", "disputes_list"),
    ...count(lines - extent.lineItems, "line items", "documents_get"),
    ...count(files - extent.files, "files", "dispute_attachments_list"),
  ];
};

const showNotes = (notes: unknown, { notes: most, wholeNotes, newest }: Extent): unknown =>
  Array.isArray(notes)
    ? listOf(notes)
        .slice(0, most)
        .map((note, index) => {
          if (index === 0 && newest < Infinity) return cutNote(note, newest);
          return index < wholeNotes ? wholeNote(note) : cutNote(note, SHORT_NOTE);
        })
    : notes;

const showAccountNotes = (notes: unknown, extent: Extent): unknown =>
  Array.isArray(notes)
    ? listOf(notes)
        .slice(0, extent.accountNotes)
        .map((note) =>
          extent.accountCharacters < Infinity
            ? cutNote(note, extent.accountCharacters)
            : wholeNote(note),
        )
    : notes;

const showFiles = (files: unknown, extent: Extent): unknown => {
  if (!Array.isArray(files)) return files;
  let left = extent.excerpts;
  return listOf(files)
    .slice(0, extent.files)
    .map(({ excerpt, ...file }) => {
      if (excerpt === undefined) return file;
      left -= 1;
      return left >= 0 ? { ...file, excerpt } : file;
    });
};

const cutList = (record: unknown, name: string, most: number): unknown => {
  const list = recordOf(record)[name];
  return Array.isArray(list) ? { ...recordOf(record), [name]: list.slice(0, most) } : record;
};

const showExtent = (packet: Fields, whole: Extent, extent: Extent): Fields => {
  const { missing, ...rest } = packet;
  const leftOut = listLeftOut(packet, whole, extent);
  return {
    missing,
    ...(leftOut.length === 0 ? {} : { leftOut }),
    ...rest,
    document: cutList(packet["document"], "lineItems", extent.lineItems),
    otherDisputes: cutList(packet["otherDisputes"], "largest", extent.others),
    precedents: cutList(packet["precedents"], "alike", extent.alike),
    notes: showNotes(packet["notes"], extent),
    accountNotes: showAccountNotes(packet["accountNotes"], extent),
    files: showFiles(packet["files"], extent),
  };
};

/** Returns a packet in ever shorter forms; each names what it leaves out. */
export const shortenPacket = function* shortenPacket(packet: Fields): Generator<Fields> {
  const whole = wholeExtent(packet);
  for (const extent of listExtents(whole)) yield showExtent(packet, whole, extent);
};
