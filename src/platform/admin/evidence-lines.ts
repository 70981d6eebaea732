/** The lines of a file of evidence (`docs/evidence.md`), as they are read to be checked. */
import { z } from "zod";
import { LineTooLong, readBoundedLines } from "../../kit/bounded-lines.ts";
import { parseIfJson } from "../../kit/json.ts";

/** The version of the format that this program writes and reads. */
export const FORMAT = 1;

/** No entry of a log is near this size. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

const Text = z.string();
const Link = z.strictObject({ seq: z.int().min(0), link: Text });

const Beginning = z.strictObject({
  type: z.literal("evidence"),
  format: z.literal(FORMAT),
  tenantId: Text,
  from: Text,
  to: Text,
});
export type Beginning = z.infer<typeof Beginning>;

const Key = z.strictObject({
  type: z.literal("key"),
  id: Text,
  publicKey: Text,
  former: Text.optional(),
  signedByFormer: Text.optional(),
  signsFormer: Text.optional(),
});
export type Key = z.infer<typeof Key>;

const Entry = z.strictObject({
  type: z.literal("entry"),
  previous: Text,
  entry: z.tuple([Text, z.int(), Text, z.number(), Text, Text, Text.nullable(), z.number(), Text]),
  link: Text,
});
export type Entry = z.infer<typeof Entry>;

const KeptHead = z.strictObject({
  tenantId: Text,
  seq: z.int(),
  link: Text,
  signedAt: Text,
  key: Text,
  signature: Text,
});
/** A head that an auditor keeps. */
export type KeptHead = z.infer<typeof KeptHead>;

const Head = z.strictObject({ type: z.literal("head"), ...KeptHead.shape });
export type Head = z.infer<typeof Head>;

const Printed = z.object({ evidence: KeptHead });

/** Reads a head from the output of `admin audit head`, or from a line of evidence; undefined for other text. */
export const readKeptHead = (text: string): KeptHead | undefined => {
  const value = parseIfJson(text);
  return Printed.safeParse(value).data?.evidence ?? Head.safeParse(value).data;
};

const Range = z.strictObject({
  type: z.literal("range"),
  tenantId: Text,
  from: Text,
  to: Text,
  before: Link,
  end: Link,
  firstId: Text,
  lastId: Text,
  signedAt: Text,
  key: Text,
  signature: Text,
});
export type Range = z.infer<typeof Range>;

const Line = z.discriminatedUnion("type", [Beginning, Key, Entry, Head, Range]);
export type Line = z.infer<typeof Line>;

/** The first fault of a file. */
export class Fault extends Error {
  readonly id: string | null;
  constructor(message: string, id?: string | null) {
    super(message);
    this.id = id ?? null;
  }
}

const OtherFormat = z.object({ type: z.literal("evidence"), format: z.unknown() });

/**
 * Returns the line that a text is; a text where it is none, which says why. Only the text that the program itself writes
 * for a line is one: other JSON, for instance with a member twice, could say something else to another reader.
 */
const parseLine = (written: string): Line | string => {
  // Programs that send files may write the line ends of Windows.
  const text = written.endsWith("\r") ? written.slice(0, -1) : written;
  const value = parseIfJson(text);
  const { data: line } = Line.safeParse(value);
  if (line === undefined) {
    const other = OtherFormat.safeParse(value).data?.format;
    return other === undefined || other === FORMAT
      ? "is not a line of evidence"
      : `names the format ${JSON.stringify(other)}; this program knows format ${FORMAT}`;
  }
  return JSON.stringify(value) === text ? line : "is written in another way than evidence is";
};

/** A line with its number, from 1. */
export type Numbered = { number: number; line: Line };

type Wrong = { number: number; reason: string };

const createUnreadable = (
  { number, reason }: Wrong,
  { before, after }: { before: Line | undefined; after: Line | string | undefined },
): Fault => {
  const last = before?.type === "entry" ? before.entry[2] : undefined;
  // The entry after an unreadable one names it.
  const id = typeof after === "object" && after.type === "entry" ? after.previous : "";
  if (id !== "" && id !== last) return new Fault(`line ${number}, entry ${id}, ${reason}.`, id);
  const place = last === undefined ? "" : ` after entry ${last}`;
  const cut = after === undefined ? ", and no line follows: the file was cut off" : "";
  return new Fault(`line ${number}${place} ${reason}${cut}.`, after === undefined ? last : null);
};

async function* readTexts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  try {
    yield* readBoundedLines(bytes, MAX_LINE_BYTES, { fatal: true });
  } catch (error) {
    if (error instanceof LineTooLong) throw new Fault(`${error.message}: no evidence has one.`);
    if (error instanceof TypeError) throw new Fault("the file has bytes that are no UTF-8 text.");
    throw error;
  }
}

/** Yields the lines of a file. @throws {Fault} for the first text that is none */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Numbered> {
  let number = 0;
  let before: Line | undefined;
  let wrong: Wrong | undefined;
  for await (const text of readTexts(bytes)) {
    const line = parseLine(text);
    if (wrong !== undefined) throw createUnreadable(wrong, { before, after: line });
    number += 1;
    if (typeof line === "string") {
      wrong = { number, reason: line };
      continue;
    }
    yield { number, line };
    before = line;
  }
  if (wrong !== undefined) throw createUnreadable(wrong, { before, after: undefined });
}
