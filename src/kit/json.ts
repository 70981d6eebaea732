/** A number whose source text has more significant digits than a double keeps. No schema accepts it. */
export class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

const MAX_DIGITS = 15;

/** Digits that carry value: no sign, point, exponent, leading or trailing zeros. */
const significantDigits = (source: string): number =>
  source
    .replace(/e.*$/i, "")
    .replace(/[-+.]/g, "")
    .replace(/^0+|0+$/g, "").length;

// A decimal of at most 15 significant digits and its double name each other, so only longer ones need their source.
const MAYBE_LONG = /[\d.]{16,}/;

/** JSON text to values; numbers that a double would change become {@link InexactNumber}. Throws SyntaxError. */
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

/** How many lists and objects may stand in one another, and how many items in a list. */
export type JsonLimits = { depth: number; arrayLength: number };

/** What of the limits a value breaks, or undefined. */
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
