/**
 * Ids of JSON-RPC messages. The SDK accepts texts and safe integers only; other numbers, such as 1.0 or one of 20
 * digits, are passed to it as texts and sent back digit by digit.
 */
import { isRecord, parseIfJson } from "../kit/json.ts";

/** An id as the SDK takes it. */
export type MessageId = string | number;

const NUMBER_PREFIX = "\u0001number:";
const NUMBER_IN_TEXT = /"id":"\\u0001number:([-+.\deE]+)"/g;
const CONTROL = /\\u0001number:/;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** What the bytes outside of texts do. A table, because a set takes some tenths of a second for megabytes. */
const [OTHER, BLANK, OPENING, CLOSING, COMMA, COLON] = [0, 1, 2, 3, 4, 5] as const;
const KINDS = new Uint8Array(256).fill(OTHER);
for (const [kind, letters] of [
  [BLANK, " \t\n\r"],
  [OPENING, "{["],
  [CLOSING, "}]"],
  [COMMA, ","],
  [COLON, ":"],
] as const) {
  for (const letter of letters) KINDS[letter.charCodeAt(0)] = kind;
}

/** Every answer repeats an id, and so do errors and lists of open requests. */
export const MAX_ID_LENGTH = 255;
// Each character may be an escape sequence.
const MAX_ID_BYTES = 6 * MAX_ID_LENGTH + 2;
/** The member `id` as JSON may write it, and the bytes of a name from which it cannot be this one. */
const ID_NAME = /^"(?:i|\\u0069)(?:d|\\u0064)"$/;
const MAX_NAME_BYTES = '"\\u0069\\u0064"'.length + 1;
/** Colons and commas between outermost members, and ids, after which a text is searched no further. */
const [MAX_SEPARATORS, MAX_IDS] = [20_000, 100] as const;

/** Whether a text, or a number in its digits, is too long for an id or a progress token. */
export const isLongId = (value: unknown): boolean =>
  typeof value === "string" && value.length > MAX_ID_LENGTH;

/** Returns an id as the SDK takes it; undefined for a value that is no id. `source`: the digits of a number. */
export const toMessageId = (value: unknown, source?: string): MessageId | undefined => {
  if (typeof value === "string") return isLongId(value) ? undefined : value;
  if (typeof value !== "number" || isLongId(source)) return undefined;
  const digits = source ?? String(value);
  return Number.isSafeInteger(value) && String(value) === digits ? value : NUMBER_PREFIX + digits;
};

// TypeScript does not know it yet.
const rawJson = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Returns an id as JSON has it, for a message that `JSON.stringify` writes. */
export const restoreId = (id: MessageId): unknown =>
  typeof id === "string" && id.startsWith(NUMBER_PREFIX)
    ? rawJson.rawJSON(id.slice(NUMBER_PREFIX.length))
    : id;

/** Returns the id of a response. Requests to hosts have integers, which some hosts write with a point, such as `1.0`. */
export const toOwnId = (id: unknown): unknown =>
  typeof id === "string" && id.startsWith(NUMBER_PREFIX)
    ? Number(id.slice(NUMBER_PREFIX.length))
    : id;

/** Restores the ids in the text of messages. */
export const restoreIds = (text: string): string =>
  CONTROL.test(text) ? text.replace(NUMBER_IN_TEXT, '"id":$1') : text;

// A number that JSON.parse and JSON.stringify would change, or any in a message that has one.
const ODD_NUMBER = /"(?:id|requestId)"\s*:\s*(?:-0|-?\d{16}|-?\d{1,15}[.eE])/;

/** Whether a text may contain an id that is a number other than a safe integer. */
export const mayHaveOddId = (text: string): boolean => ODD_NUMBER.test(text);

/** The number of an id, behind a name whose first quote is not within a text. */
const ID_NUMBER = /(?<!\\)("(?:id|requestId)"\s*:\s*)(-?\d[-+.\deE]*)/g;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** Parses JSON with a text in place of each id that is a number other than a safe integer. */
const parseMarked = (text: string): unknown =>
  parseIfJson(
    text.replace(ID_NUMBER, (whole, name: string, digits: string) =>
      JSON_NUMBER.test(digits)
        ? name + JSON.stringify(toMessageId(Number(digits), digits) ?? digits)
        : whole,
    ),
  );

/** Puts the ids of a message, or of each message of a batch, in place of those of another. */
const copyIds = (value: unknown, from: unknown): void => {
  if (Array.isArray(value) && Array.isArray(from)) {
    for (const [index, one] of value.entries()) if (isRecord(one)) copyIds(one, from[index]);
  }
  if (!isRecord(value) || !isRecord(from)) return;
  if ("id" in value) value["id"] = from["id"];
  const [params, marked] = [value["params"], from["params"]];
  if (isRecord(params) && isRecord(marked) && "requestId" in params) {
    params["requestId"] = marked["requestId"];
  }
};

/**
 * Parses JSON; ids of messages that are numbers other than safe integers become texts, and those of too many digits a
 * text that is too long. Undefined for other text. A function that `JSON.parse` calls for each value would take a third
 * of a second for half a megabyte of brackets.
 */
export const parseWithIds = (text: string): unknown => {
  const value = parseIfJson(text);
  if (value !== undefined && mayHaveOddId(text)) copyIds(value, parseMarked(text));
  return value;
};

/** Returns the place of the quote that ends a text; past the end of the bytes if an escape sequence is cut there. */
const findEndOfText = (bytes: Uint8Array, from: number): number => {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
};

const skipBlanks = (bytes: Uint8Array, from: number): number => {
  let at = from;
  while (at < bytes.length && KINDS[bytes[at] ?? 0] === BLANK) at += 1;
  return at;
};

/** Returns the place of the next byte outside of texts that a scanner has to read, and the depth there. */
const skipOther = (bytes: Uint8Array, from: number, depth: number): [at: number, depth: number] => {
  let [at, level] = [from, depth];
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    const kind = KINDS[byte];
    if (kind === OPENING && depth > 1) level += 1;
    else if (byte === QUOTE && level > 1) {
      const end = findEndOfText(bytes, at + 1);
      // The end of a text that is cut is in the bytes that follow.
      if (end >= bytes.length) break;
      at = end;
    } else if (byte === QUOTE || (depth <= 1 && kind !== OTHER && kind !== BLANK)) break;
    if (kind === CLOSING && level === 2) break;
    if (kind === CLOSING) level -= 1;
  }
  return [at, level];
};

const toText = (bytes: readonly number[]): string => Buffer.from(bytes).toString("utf8");

/** Returns how many bytes of a name or value a scanner keeps. */
const countKept = (isValue: boolean, isId: boolean): number => {
  if (isValue) return isId ? MAX_ID_BYTES : 0;
  return MAX_NAME_BYTES;
};

/**
 * Finds the id of a message whose text cannot be parsed, or is too long to be: reads the bytes one by one and keeps
 * nothing but the value of the outermost member `id`.
 */
export const createIdScanner = () => {
  let [depth, separators, ids] = [0, 0, 0];
  let [inText, isEscaped, isValue, isBroken] = [false, false, false, false];
  const token: number[] = [];
  /** Whether the value that is read is that of an id. */
  let isId = false;
  let id: MessageId | undefined;
  const ended = new Set<MessageId>();

  const endName = (): void => {
    isId = token.length > 0 && token.length < MAX_NAME_BYTES && ID_NAME.test(toText(token));
    token.length = 0;
    isValue = true;
  };
  const endValue = (): void => {
    if (isId) {
      const text = toText(token);
      id = toMessageId(parseIfJson(text), text) ?? id;
      ids += 1;
      isBroken ||= ids === MAX_IDS;
    }
    token.length = 0;
    [isValue, isId] = [false, false];
  };
  const isKept = (): boolean =>
    depth === 0 || (depth === 1 && token.length < countKept(isValue, isId));
  const keep = (byte: number): void => {
    if (depth === 1 && isKept()) token.push(byte);
  };
  const readText = (byte: number): void => {
    keep(byte);
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else if (byte === QUOTE) inText = false;
  };
  const readOther = (byte: number): void => {
    const kind = KINDS[byte];
    if (depth === 0 && kind !== OPENING) isBroken ||= kind !== BLANK;
    if (byte === QUOTE) inText = true;
    if (depth === 1 && (kind === COLON || kind === COMMA)) {
      separators += 1;
      isBroken ||= separators === MAX_SEPARATORS;
    }
    if (depth === 1 && kind === COLON) endName();
    else if (depth === 1 && (kind === COMMA || kind === CLOSING)) endValue();
    else if (kind !== BLANK && kind !== OPENING) keep(byte);
    if (kind === OPENING) depth += 1;
    if (kind === CLOSING) depth -= 1;
    if (kind === CLOSING && depth === 0 && id !== undefined) {
      ended.add(id);
      id = undefined;
    }
  };
  const listIds = (): MessageId[] => [...ended, ...(id === undefined ? [] : [id])];

  return {
    read(bytes: Uint8Array): void {
      for (let at = 0; at < bytes.length; at += 1) {
        if (isBroken) return;
        if (!inText) at = skipBlanks(bytes, at);
        if (!isKept() && !isEscaped) {
          if (inText) at = findEndOfText(bytes, at);
          else [at, depth] = skipOther(bytes, at, depth);
          isEscaped = at > bytes.length;
        }
        const byte = bytes[at];
        if (byte === undefined) return;
        if (inText) readText(byte);
        else readOther(byte);
      }
    },
    /** Returns the last id that was read; a text that has been cut has no more members. */
    id: (): MessageId | undefined => listIds().at(-1),
    /** Returns the ids of all messages, which may follow each other without a line end. */
    ids: listIds,
  };
};

/** Returns the ids in bytes that are no JSON. */
export const scanIds = (bytes: Uint8Array): MessageId[] => {
  const scanner = createIdScanner();
  scanner.read(bytes);
  return scanner.ids();
};

/** Returns the last id in bytes that are no JSON. */
export const scanId = (bytes: Uint8Array): MessageId | undefined => scanIds(bytes).at(-1);
