import { createMalformed, type Warn } from "./file.ts";

/** One segment of an X12 interchange; the first element is its name. */
export type Segment = { number: number; elements: readonly string[] };

const LONGEST = 1024 * 1024;
const ELEMENTS = 16;
const FIXED_LENGTH = 106;
const START = /(?<![\p{L}\p{N}])ISA[^\p{L}\p{N}\s]/u;
const START_LENGTH = 4;

type Separators = { element: string; segment: string };

/**
 * Finds the separators in an ISA segment: the element separator follows the name, the segment terminator follows the
 * sixteenth element. Elements are counted because senders do not always keep the fixed lengths of X12.5.
 */
const findSeparators = (text: string): (Separators & { length: number }) | undefined => {
  const element = text.charAt(3);
  let at = 3;
  for (let count = 1; count < ELEMENTS; count += 1) {
    at = text.indexOf(element, at + 1);
    if (at === -1) return undefined;
  }
  const end = at + 2;
  return text.length > end ? { element, segment: text.charAt(end), length: end + 1 } : undefined;
};

/** Splits a stream of text into segments; text before the first interchange is skipped. */
export class X12Reader {
  readonly #warn: Warn;
  #text = "";
  #separators: Separators | undefined;
  #number = 0;
  #passedOver = false;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  push(text: string): Segment[] {
    this.#text += text;
    const segments: Segment[] = [];
    for (let found = this.#next(); found !== undefined; found = this.#next()) segments.push(found);
    if (this.#text.length > LONGEST) {
      throw createMalformed(`segment ${this.#number + 1}`, `is longer than ${LONGEST} characters`);
    }
    return segments;
  }

  /** Returns the remaining segments; the end of the file can replace the last terminator. */
  end(): Segment[] {
    const left = this.push(this.#separators?.segment ?? "");
    if (this.#number === 0)
      throw createMalformed("segment 1", "is not there: no ISA begins the file");
    if (this.#separators !== undefined) {
      throw createMalformed(`segment ${this.#number}`, "is the last one, and no IEA ends the file");
    }
    return left;
  }

  #next(): Segment | undefined {
    if (this.#separators === undefined && !this.#begin()) return undefined;
    const { element, segment } = this.#separators ?? { element: "", segment: "" };
    const start = /\S/.exec(this.#text)?.index ?? this.#text.length;
    if (start === this.#text.length) return undefined;
    const end = this.#text.indexOf(segment, start);
    if (end === -1) return undefined;
    const elements = this.#text.slice(start, end).trim().split(element);
    this.#text = this.#text.slice(end + segment.length);
    this.#number += 1;
    if (elements[0] === "IEA") this.#separators = undefined;
    return { number: this.#number, elements };
  }

  #begin(): boolean {
    const start = START.exec(this.#text)?.index;
    if (start === undefined) {
      this.#passOver(this.#text.slice(0, -START_LENGTH));
      this.#text = this.#text.slice(-START_LENGTH);
      return false;
    }
    this.#passOver(this.#text.slice(0, start));
    this.#text = this.#text.slice(start);
    const found = findSeparators(this.#text);
    if (found === undefined) return false;
    this.#separators = found;
    if (found.length !== FIXED_LENGTH) {
      const message = `has ${found.length} characters where ISA has ${FIXED_LENGTH}`;
      this.#warn(`segment ${this.#number + 1}`, message);
    }
    return true;
  }

  #passOver(text: string): void {
    if (this.#passedOver || text.trim() === "") return;
    this.#passedOver = true;
    this.#warn(`segment ${this.#number + 1}`, "has text before it, which is passed over");
  }
}
