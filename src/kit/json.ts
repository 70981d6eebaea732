/** A JSON number with more significant digits than a double holds. No schema accepts it. */
export class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** A double holds any number of so many significant digits. */
export const MAX_DIGITS = 15;
const ZERO = 0x30;
export const isDigit = (unit: number): boolean => unit >= ZERO && unit <= 0x39;
export const POINT = 0x2e;

/** Returns the value of JSON text; undefined for other text. */
export const parseIfJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Parses JSON that contains secrets. @throws {Error} without a part of the text, which the parser's message has */
export const parsePrivateJson = (text: string): unknown => {
  // Windows tools write a byte order mark before a text.
  const value = parseIfJson(text.replace(/^\uFEFF/, ""));
  if (value === undefined) throw new Error("it is not JSON");
  return value;
};

/** Limits of JSON text; absent: no limit. */
export type JsonLimits = {
  /** Nesting of arrays and objects. */
  depth?: number;
  /** Items in one array. */
  arrayLength?: number;
  /** Different names of fields in the whole text, and fields of one object, which may repeat a name. */
  names?: number;
  /** Commas between items and fields in the whole text: what walks the value takes time for each. */
  commas?: number;
  /** Arrays and objects in the whole text. */
  containers?: number;
  /** Names in the whole text that have more than 16,000 characters. */
  longNames?: number;
  /** Numbers in the whole text that may have more than 15 digits, each of which becomes an object. */
  longNumbers?: number;
};

export const [QUOTE, COLON] = [0x22, 0x3a] as const;
const [BACKSLASH, COMMA] = [0x5c, 0x2c] as const;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/** Characters of a number. The parser takes a quarter of a second for one of some million digits. */
export const MAX_NUMBER_LENGTH = 1000;

/** Whether the quote at this place closes a string: no odd number of backslashes is before it. */
const isClosing = (text: string, at: number): boolean => {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
  return slashes % 2 === 0;
};

/** Characters of a name. Longer texts of one length have one hash in V8, so that each is compared with all others. */
export const LONG_NAME = 16_000;

/** The index of the quote that closes a string, or the end of a text in which none does. */
export const findClosingQuote = (text: string, from: number): number => {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    if (isClosing(text, end)) return end;
  }
  return text.length;
};

export type ExceededLimit = keyof JsonLimits | "digits";

/** What a scan of JSON text calls for each array and object, and for each number that may have more than 15 digits. */
export type JsonVisitor = {
  open?(at: number): void;
  /** `end`: behind the bracket. */
  close?(end: number): void;
  /** Digits and points; a sign or an exponent may be around them. */
  longNumber?(from: number, end: number): void;
};

/** Creates the counts of a scan. Each function returns the limit that is exceeded now. */
const createCounts = (limits: JsonLimits) => {
  const { depth = Infinity, arrayLength = Infinity, names: mostNames = Infinity } = limits;
  const { commas: mostCommas = Infinity, containers: mostContainers = Infinity } = limits;
  const { longNumbers: mostLongNumbers = Infinity, longNames: mostLongNames = Infinity } = limits;
  /** Items counted in each open array; for an object, its fields as a negative number. */
  const open: number[] = [];
  const names = new Set<string>();
  let [commas, containers, longNames, longNumbers] = [0, 0, 0, 0];
  return {
    addName(name: string): ExceededLimit | undefined {
      if (name.length > LONG_NAME) longNames += 1;
      if (longNames > mostLongNames) return "longNames";
      return names.add(name).size > mostNames ? "names" : undefined;
    },
    addLongNumber(): ExceededLimit | undefined {
      longNumbers += 1;
      return longNumbers > mostLongNumbers ? "longNumbers" : undefined;
    },
    open(unit: number): ExceededLimit | undefined {
      if (open.push(unit === OPEN_ARRAY ? 1 : -1) > depth) return "depth";
      containers += 1;
      return containers > mostContainers ? "containers" : undefined;
    },
    addComma(): ExceededLimit | undefined {
      commas += 1;
      if (commas > mostCommas) return "commas";
      const count = open.at(-1) ?? 0;
      if (count >= arrayLength) return "arrayLength";
      if (-count >= mostNames) return "names";
      if (count !== 0) open[open.length - 1] = count + Math.sign(count);
      return undefined;
    },
    close: () => void open.pop(),
  };
};

/**
 * Creates a scan of JSON text, which is continued up to a place at each call, and returns the first limit that the text
 * exceeds; text that is not JSON may exceed none.
 */
export const createLimitScan = (text: string, limits: JsonLimits, visitor: JsonVisitor = {}) => {
  const counts = createCounts(limits);
  /** `from` and `to`: the last string. */
  let [at, from, to] = [0, 0, 0];
  let isInString = false;

  const endString = (): void => {
    const quote = text.indexOf('"', at);
    at = quote === -1 ? text.length : quote;
    isInString = quote !== -1 && !isClosing(text, quote);
    to = at;
  };
  const readNumber = (): ExceededLimit | undefined => {
    const start = at;
    while (isDigit(text.charCodeAt(at + 1)) || text.charCodeAt(at + 1) === POINT) {
      at += 1;
      if (at - start >= MAX_NUMBER_LENGTH) return "digits";
    }
    if (at - start < MAX_DIGITS) return undefined;
    visitor.longNumber?.(start, at + 1);
    return counts.addLongNumber();
  };
  const readUnit = (unit: number): ExceededLimit | undefined => {
    if (isDigit(unit) || unit === POINT) return readNumber();
    if (unit === QUOTE) {
      isInString = true;
      from = at + 1;
    } else if (unit === COLON) {
      const name = text.slice(from, to);
      // A second colon must not read a long name once more.
      [from, to] = [0, 0];
      return counts.addName(name);
    } else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      visitor.open?.(at);
      return counts.open(unit);
    } else if (unit === COMMA) return counts.addComma();
    else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) {
      counts.close();
      visitor.close?.(at + 1);
    }
    return undefined;
  };

  return (end: number): ExceededLimit | undefined => {
    for (; at < end; at += 1) {
      if (isInString) endString();
      else {
        const exceeded = readUnit(text.charCodeAt(at));
        if (exceeded !== undefined) return exceeded;
      }
    }
    return undefined;
  };
};

/**
 * Returns the first limit that JSON text exceeds, or undefined; text that is not JSON may exceed none. Checked before the
 * text is parsed, because the parser takes most of a second for a megabyte of different names.
 */
export const findExceededLimit = (text: string, limits: JsonLimits): ExceededLimit | undefined =>
  createLimitScan(text, limits)(text.length);

/** Limits of a message that a host sends, and of JSON in its texts. Deep arguments are refused later, as a call. */
export const MESSAGE_LIMITS = {
  depth: 200_000,
  names: 10_000,
  longNames: 10,
  commas: 20_000,
  containers: 250_000,
} as const satisfies JsonLimits;

/** Limits of the body of a request to the platform, and of a record in a line of an import. */
export const RECORD_LIMITS = {
  depth: 32,
  arrayLength: 10_000,
  names: 2000,
  longNames: 10,
  commas: 500_000,
  containers: 100_000,
  longNumbers: 10_000,
} as const satisfies JsonLimits;

/** The parser takes long for these values alone. */
const MAY_BE_LARGE = /^\s*[[{\d-]/;

/** Returns the value of JSON text that a host sends; undefined for other text, and for more than a message may have. */
export const parseSent = (text: string): unknown =>
  MAY_BE_LARGE.test(text) && findExceededLimit(text, MESSAGE_LIMITS) !== undefined
    ? undefined
    : parseIfJson(text);

/** Whether a value is an object with fields: no array, and no number that a double would change. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof InexactNumber);

/** Returns the names of a record whose value is not undefined. */
export const namesIn = (record: object): string[] => Object.keys(omitUndefined(record));

/** Returns a record without the names whose value is undefined. */
export const omitUndefined = <T extends object>(record: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined),
  ) as Partial<T>;

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Whether a value has more than so many values in it, its own fields and items included. Stops at the limit. */
export const isLargerThan = (value: unknown, most: number): boolean => {
  const open = [value];
  for (let count = 0; open.length > 0;) {
    const one = open.pop();
    if (!isNested(one)) continue;
    const children: unknown[] = Array.isArray(one) ? one : Object.values(one);
    count += children.length;
    if (count > most) return true;
    for (const child of children) if (isNested(child)) open.push(child);
  }
  return false;
};

/** Whether arrays and objects are nested deeper than so many levels. */
export const isDeeperThan = (value: unknown, depth: number): boolean => {
  let level = [value].filter(isNested);
  for (let reached = 0; level.length > 0; reached += 1) {
    if (reached >= depth) return true;
    level = level.flatMap((one) => Object.values(one).filter(isNested));
  }
  return false;
};
