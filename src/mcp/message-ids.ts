/**
 * Ids of JSON-RPC messages. The SDK accepts texts and safe integers only; other numbers, such as 1.0 or one of 20
 * digits, are passed to it as texts and sent back digit by digit.
 */
import { parseIfJson } from "../kit/json.ts";

/** An id as the SDK takes it. */
export type MessageId = string | number;

const NUMBER_PREFIX = "\u0001number:";
const NUMBER_IN_TEXT = /"id":"\\u0001number:([-+.\deE]+)"/g;
const CONTROL = /\\u0001number:/;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Every answer repeats an id, and so do errors and lists of open requests. */
export const MAX_ID_LENGTH = 255;
// Each character may be an escape sequence.
const MAX_ID_BYTES = 6 * MAX_ID_LENGTH + 2;

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

/** Restores the ids in the text of messages. */
export const restoreIds = (text: string): string =>
  CONTROL.test(text) ? text.replace(NUMBER_IN_TEXT, '"id":$1') : text;

// A number that JSON.parse and JSON.stringify would change, or any in a message that has one.
const ODD_NUMBER = /"(?:id|requestId)"\s*:\s*(?:-0|-?\d{16}|-?\d{1,15}[.eE])/;

/** Whether a text may contain an id that is a number other than a safe integer. */
export const mayHaveOddId = (text: string): boolean => ODD_NUMBER.test(text);

/**
 * Parses JSON; ids that are numbers other than safe integers become texts, and those of too many digits a text that is
 * too long. Undefined for other text.
 */
export const parseWithIds = (text: string): unknown => {
  if (!mayHaveOddId(text)) return parseIfJson(text);
  try {
    return JSON.parse(text, (key, value: unknown, context?: { source?: string }) =>
      (key === "id" || key === "requestId") && typeof value === "number"
        ? (toMessageId(value, context?.source) ?? context?.source)
        : value,
    );
  } catch {
    return undefined;
  }
};

/**
 * Finds the id of a message whose text cannot be parsed, or is too long to be: reads the bytes one by one and keeps
 * nothing but the value of the outermost member `id`.
 */
export const createIdScanner = () => {
  let depth = 0;
  let inText = false;
  let isEscaped = false;
  let isValue = false;
  let isBroken = false;
  let token: number[] = [];
  let key = "";
  let id: MessageId | undefined;

  const endToken = (): string => {
    const text = Buffer.from(token).toString("utf8");
    token = [];
    return text;
  };
  const endValue = (): void => {
    const text = endToken();
    if (isValue && key === "id") id = toMessageId(parseIfJson(text), text) ?? id;
    isValue = false;
    key = "";
  };
  const keep = (byte: number): void => {
    if (depth === 1 && token.length < MAX_ID_BYTES) token.push(byte);
  };
  const readText = (byte: number): void => {
    keep(byte);
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else if (byte === QUOTE) inText = false;
  };
  const readOther = (byte: number): void => {
    if (depth === 0 && !OPENING.has(byte)) isBroken ||= !BLANKS.has(byte);
    if (byte === QUOTE) inText = true;
    if (depth === 1 && byte === COLON) {
      key = String(parseIfJson(endToken()) ?? "");
      isValue = true;
    } else if (depth === 1 && (byte === COMMA || CLOSING.has(byte))) endValue();
    else if (!BLANKS.has(byte) && !OPENING.has(byte)) keep(byte);
    if (OPENING.has(byte)) depth += 1;
    if (CLOSING.has(byte)) depth -= 1;
  };

  return {
    read(bytes: Uint8Array): void {
      for (const byte of bytes) {
        if (isBroken) return;
        if (inText) readText(byte);
        else readOther(byte);
      }
    },
    /** Returns the id that was read; a text that has been cut has no more members. */
    id: (): MessageId | undefined => id,
  };
};

/** Returns the id in bytes that are no JSON. */
export const scanId = (bytes: Uint8Array): MessageId | undefined => {
  const scanner = createIdScanner();
  scanner.read(bytes);
  return scanner.id();
};
