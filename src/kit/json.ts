/** A JSON number with more significant digits than a double holds. No schema accepts it. */
export class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

const MAX_DIGITS = 15;
const ZERO = 0x30;
const isDigit = (unit: number): boolean => unit >= ZERO && unit <= 0x39;
/** Whether this is `e` or `E`. */
const isExponent = (unit: number): boolean => unit === 0x65 || unit === 0x45;

/** Counts significant digits: without sign, point, exponent, leading and trailing zeros. */
const significantDigits = (source: string): number => {
  let [digits, trailingZeros] = [0, 0];
  for (let at = 0; at < source.length; at += 1) {
    const unit = source.charCodeAt(at);
    if (isExponent(unit)) break;
    if (!isDigit(unit) || (digits === 0 && unit === ZERO)) continue;
    digits += 1;
    trailingZeros = unit === ZERO ? trailingZeros + 1 : 0;
  }
  return digits - trailingZeros;
};

// A decimal of up to 15 significant digits survives the round trip through a double; only longer ones are checked.
const MAYBE_LONG = /[\d.]{16,}/;

/**
 * Parses JSON. Numbers that a double would change become {@link InexactNumber}.
 *
 * @throws {SyntaxError}
 */
export const parseJson = (text: string): unknown => {
  if (!MAYBE_LONG.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === "number" &&
    context?.source !== undefined &&
    significantDigits(context.source) > MAX_DIGITS
      ? new InexactNumber(context.source)
      : value,
  );
};

/** Maximum nesting of arrays and objects, and maximum items in one array. */
export type JsonLimits = { depth: number; arrayLength: number };

/** Returns the first limit that a value exceeds, or undefined. */
export const brokenLimit = (value: unknown, limits: JsonLimits): keyof JsonLimits | undefined => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limits.depth) return "depth";
    const next: unknown[] = [];
    for (const item of level) {
      if (item === null || typeof item !== "object") continue;
      if (Array.isArray(item) && item.length > limits.arrayLength) return "arrayLength";
      for (const child of Object.values(item)) {
        if (child !== null && typeof child === "object") next.push(child);
      }
    }
    level = next;
  }
  return undefined;
};
