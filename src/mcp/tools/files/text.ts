import type { CallToolResult } from "@modelcontextprotocol/server";
import { MAX_FILE_BYTES } from "../../../contract/file-types.ts";
import { Problem } from "../../../contract/errors.ts";
import { badArguments } from "../../results/refusal.ts";
import { present } from "../../results/answer.ts";
import { cost, type Fields } from "../../results/budget.ts";
import { blobOf, MAX_EMBEDDED_BYTES, withFile } from "../../results/file-content.ts";
import { checkPicture, type Kind, kindOf } from "../../files/kind.ts";
import { type FileText, type Place, Unreadable } from "../../files/port.ts";
import { readInThread, withTurn } from "../../files/thread.ts";
import type { PageRange } from "../arguments/pages.ts";

/** A file with its bytes, unless it is larger than was asked for. */
export type Opened = {
  /** The description of the file in an answer, sanitized. */
  fields: Fields;
  fileName: string;
  mimeType: string;
  fileSize: number | undefined;
  bytes: Uint8Array | undefined;
};

/** Finds a file and loads its bytes, as many as its kind allows. @throws {Problem} */
export type OpenFile = (maxBytes: (kind: Kind) => number) => Promise<Opened>;

/** Hosts pass on pictures of this size; a larger one is named as a link. */
const MAX_PICTURE_BYTES = 1_500_000;
/** The most pictures of pages in one answer. */
const MAX_PICTURES = 3;

/** The most bytes that are loaded to show a file. */
const maxBytesOf = ({ as }: Kind): number => {
  if (as === "text") return MAX_FILE_BYTES;
  return as === "picture" ? MAX_PICTURE_BYTES : MAX_EMBEDDED_BYTES;
};

export type Reading = {
  /** Callers with the same key share their turns. */
  key: string;
  from: Place;
  last: number | null;
  /** The budget of the text beside the file's fields. */
  tokensBeside(fields: Fields): number;
  pictures: number;
  signal: AbortSignal;
};

type Told = FileText | { unreadable: string };

const tooLarge = (fileSize: number | undefined): { unreadable: string } => ({
  unreadable: `The file has ${fileSize ?? "too many"} bytes; ${MAX_FILE_BYTES} are read at most.`,
});

const toReason = (error: unknown): { unreadable: string } => {
  if (error instanceof Unreadable) return { unreadable: error.message };
  throw error;
};

/** Reads the text of an opened file, or says why it cannot be read. */
const readOpened = async (
  { fields, bytes, fileName, mimeType, fileSize }: Opened,
  { from, last, pictures, tokensBeside, signal }: Reading,
): Promise<Told> => {
  const kind = kindOf(fileName, mimeType);
  if (kind.as === "picture") return { unreadable: "The file is a picture, without text." };
  if (kind.as === "nothing") return { unreadable: "Files of this type have no text." };
  if (bytes === undefined) return tooLarge(fileSize);
  const bounds = { from, last, pictures, tokens: tokensBeside(fields) };
  return readInThread({ type: kind.type, bytes, ...bounds }, signal).catch(toReason);
};

/** Opens a file and reads its text, when it is its reader's turn: so few files are in memory at once. */
export const readFile = (
  open: OpenFile,
  reading: Reading,
  maxBytes = maxBytesOf,
): Promise<{ opened: Opened; content: Told } | { unreadable: string }> =>
  withTurn(reading.key, async () => {
    const opened = await open(maxBytes);
    return { opened, content: await readOpened(opened, reading) };
  }).catch(toReason);

const describeNext = ({ unit }: FileText): string =>
  `There is more; send nextCursor as cursor with the same arguments, or nextPages as pages (${unit}s).`;

/** The pages, sheets or parts that were not begun. */
const nextPages = ({ next, total }: FileText, last: number | null): string | undefined => {
  if (next === null) return undefined;
  const first = next.offset === 0 ? next.unit : next.unit + 1;
  const end = Math.min(last ?? total, total);
  if (first > end) return undefined;
  return first === end ? String(first) : `${first}-${end}`;
};

/** @throws {Problem} for pages that the file does not have */
const checkPages = ({ unit, total }: FileText, { from }: Reading): void => {
  if (from.unit <= Math.max(1, total)) return;
  const message = `must be within the ${total} ${unit}${total === 1 ? "" : "s"} of the file`;
  throw badArguments(`pages: ${message}.`, [{ field: "pages", code: "range", message }]);
};

const presentText = (
  { fields, fileSize }: Opened,
  text: FileText,
  reading: Reading,
  sealCursor: (next: Place) => string,
): CallToolResult => {
  checkPages(text, reading);
  const { next, pictures, withoutText, notes } = text;
  const pages = nextPages(text, reading.last);
  const structured = {
    ...fields,
    ...(fileSize === undefined ? {} : { fileSize }),
    pagesTotal: text.total,
    truncated: next !== null,
    ...(pages === undefined ? {} : { nextPages: pages }),
    ...(next === null ? {} : { nextCursor: sealCursor(next) }),
    ...(withoutText.length === 0 ? {} : { withoutText }),
    ...(pictures.length === 0 ? {} : { pictures: pictures.map(({ page }) => page) }),
    ...(notes.length === 0 ? {} : { notes }),
    text: text.text,
  };
  const shown = pictures.map(({ page }) => page).join(", ");
  const answer = present({
    structured,
    notes: [
      ...(next === null ? [] : [describeNext(text)]),
      ...(shown === "" ? [] : [`Pages with no text, or little, follow as pictures: ${shown}.`]),
    ],
    etag: null,
  });
  const images = pictures.map(({ mimeType, data }) => ({
    type: "image" as const,
    mimeType,
    data: blobOf(data),
  }));
  return { ...answer, content: [...answer.content, ...images] };
};

/** Shows why a file cannot be read; the file itself stays available. */
const presentUnreadable = ({ fields, fileSize, bytes }: Opened, unreadable: string) => {
  const structured = {
    ...fields,
    ...(fileSize === undefined ? {} : { fileSize }),
    unreadable,
    text: [],
  };
  const answer = present({ structured, notes: [], etag: null });
  // Those of a large file were given to the thread that read it, so that none are left here.
  const { byteLength: size = 0 } = bytes ?? {};
  return withFile(answer, structured, size > 0 && size <= MAX_EMBEDDED_BYTES ? bytes : undefined);
};

const PICTURE_FOLLOWS = "The file follows as a picture; it is also at resourceUri.";

const presentPicture = (opened: Opened): CallToolResult => {
  const { fields, fileSize, bytes } = opened;
  if (bytes === undefined || bytes.byteLength > MAX_PICTURE_BYTES) {
    const unreadable = `The picture has over ${MAX_PICTURE_BYTES} bytes; the file itself has it.`;
    return presentUnreadable({ ...opened, bytes: undefined }, unreadable);
  }
  const checked = checkPicture(bytes);
  if ("unreadable" in checked) return presentUnreadable(opened, checked.unreadable);
  const structured = { ...fields, fileSize: fileSize ?? bytes.byteLength, pictures: [1], text: [] };
  const answer = present({ structured, notes: [PICTURE_FOLLOWS], etag: null });
  const image = { type: "image" as const, mimeType: checked.mimeType, data: blobOf(bytes) };
  return { ...answer, content: [...answer.content, image] };
};

/** The largest cost of what an answer says beside the file's fields and text, its cursor included. */
const BESIDE_TOKENS = 300;

type Asked = {
  key: string;
  pages: PageRange | undefined;
  /** The place of a cursor. */
  from: Place | null;
  signal: AbortSignal;
  budget: number;
  sealCursor(next: Place): string;
};

/** Even a small budget has room for some words. */
const LEAST_TOKENS = 100;

/** Shows the text of a file, or the file as a picture. */
export const showFile = async (open: OpenFile, request: Asked): Promise<CallToolResult> => {
  const { key, pages, signal, budget, sealCursor } = request;
  const reading: Reading = {
    key,
    signal,
    pictures: MAX_PICTURES,
    from: request.from ?? { unit: pages?.first ?? 1, offset: 0 },
    last: pages?.last ?? null,
    tokensBeside: (fields) => Math.max(LEAST_TOKENS, budget - cost(fields) - BESIDE_TOKENS),
  };
  const read = await readFile(open, reading);
  if ("unreadable" in read) throw new Problem("unavailable", read.unreadable);
  const { opened, content } = read;
  if (kindOf(opened.fileName, opened.mimeType).as === "picture") return presentPicture(opened);
  if ("unreadable" in content) return presentUnreadable(opened, content.unreadable);
  return presentText(opened, content, reading, sealCursor);
};
