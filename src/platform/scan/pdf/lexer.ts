import { mismatch } from "../scan-context.ts";
import type { Refusal } from "../port.ts";
import { readFileSpecification } from "./file-specification.ts";
import { decodeName, findRefusal } from "./names.ts";
import type { Dictionary, Value } from "./values.ts";

export const createUnreadableRefusal = (): Refusal =>
  mismatch("The PDF cannot be read completely: it is damaged, or has an unusual structure.");

const MAX_DEPTH = 64;
const MAX_TOKEN_BYTES = 1024;

const REGULAR = 0;
const WHITE = 1;
const DELIMITER = 2;
const KINDS = new Uint8Array(256);
for (const byte of [0, 9, 10, 12, 13, 32]) KINDS[byte] = WHITE;
for (const byte of Buffer.from("()<>[]{}/%")) KINDS[byte] = DELIMITER;

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

const toCharCode = (text: string): number => text.charCodeAt(0);
const [OPEN, CLOSE, LESS, MORE] = [
  toCharCode("("),
  toCharCode(")"),
  toCharCode("<"),
  toCharCode(">"),
];
const [SLASH, PERCENT, BACKSLASH] = [toCharCode("/"), toCharCode("%"), toCharCode("\\")];
const [CR, LF] = [13, 10];

/** Reads the objects of a PDF in the order of its bytes. @throws {Refusal} for a refused name */
export class Lexer {
  at: number;
  /** The number of names `First` that were read: at least one per object stream. */
  firsts = 0;
  /** The objects that hold attached files, for each dictionary of such a file. */
  readonly attached: number[][] = [];
  #tokenAt = 0;
  readonly bytes: Buffer;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  #byte(at = this.at): number {
    return this.bytes[at] ?? -1;
  }

  #skipSpace(): void {
    for (;;) {
      const byte = this.#byte();
      if (byte === PERCENT) {
        while (this.at < this.bytes.length && this.#byte() !== CR && this.#byte() !== LF) {
          this.at += 1;
        }
      } else if (byte < 0 || KINDS[byte] !== WHITE) return;
      else this.at += 1;
    }
  }

  #regular(): string {
    const start = this.at;
    while (this.at < this.bytes.length && KINDS[this.#byte()] === REGULAR) this.at += 1;
    if (this.at - start > MAX_TOKEN_BYTES) throw createUnreadableRefusal();
    return this.bytes.toString("latin1", start, this.at);
  }

  #string(): void {
    let depth = 0;
    for (; this.at < this.bytes.length; this.at += 1) {
      const byte = this.#byte();
      if (byte === BACKSLASH) this.at += 1;
      else if (byte === OPEN) depth += 1;
      else if (byte === CLOSE) depth -= 1;
      if (depth > 0) continue;
      this.at += 1;
      return;
    }
    throw createUnreadableRefusal();
  }

  #hexString(): void {
    const end = this.bytes.indexOf(MORE, this.at);
    if (end < 0) throw createUnreadableRefusal();
    this.at = end + 1;
  }

  #name(): string {
    this.at += 1;
    const name = decodeName(this.#regular());
    const refusal = findRefusal(name);
    if (refusal !== undefined) throw refusal;
    if (name === "First") this.firsts += 1;
    return `/${name}`;
  }

  /** Returns the next token: a name with its slash, `(` for a string, `<` for a hexadecimal one, "" at the end. */
  token(): string {
    this.#skipSpace();
    this.#tokenAt = this.at;
    const byte = this.#byte();
    if (byte < 0) return "";
    if (byte === SLASH) return this.#name();
    if (byte === OPEN) {
      this.#string();
      return "(";
    }
    if (KINDS[byte] === REGULAR) return this.#regular();
    const isPair = (byte === LESS || byte === MORE) && this.#byte(this.at + 1) === byte;
    this.at += isPair ? 2 : 1;
    if (byte === LESS && !isPair) {
      this.#hexString();
      return "<";
    }
    return isPair ? String.fromCharCode(byte, byte) : String.fromCharCode(byte);
  }

  #list(end: string, depth: number): Value[] {
    if (depth > MAX_DEPTH) throw createUnreadableRefusal();
    const values: Value[] = [];
    for (let token = this.token(); token !== end; token = this.token()) {
      if (token === "R") {
        const [number, generation] = values.splice(-2);
        if (typeof number !== "number" || typeof generation !== "number")
          throw createUnreadableRefusal();
        values.push({ ref: number });
      } else values.push(this.#valueFrom(token, depth));
    }
    return values;
  }

  #dictionary(depth: number): Dictionary {
    const values = this.#list(">>", depth);
    if (values.length % 2 !== 0) throw createUnreadableRefusal();
    const dictionary: Dictionary = new Map();
    for (let at = 0; at < values.length; at += 2) {
      const key = values[at];
      // PDF readers differ in which of two entries with the same key they use.
      if (typeof key !== "string" || dictionary.has(key)) throw createUnreadableRefusal();
      dictionary.set(key, values[at + 1] ?? null);
    }
    if (dictionary.has("/EF")) this.attached.push(readFileSpecification(dictionary, this.bytes));
    return dictionary;
  }

  #valueFrom(token: string, depth: number): Value {
    if (token === "<<") return this.#dictionary(depth + 1);
    if (token === "[") return this.#list("]", depth + 1);
    if (token.startsWith("/")) return token;
    if (token === "(" || token === "<") return { from: this.#tokenAt, to: this.at };
    if (["true", "false", "null"].includes(token)) return null;
    if (!NUMBER.test(token)) throw createUnreadableRefusal();
    return Number(token);
  }

  value(): Value {
    return this.#valueFrom(this.token(), 0);
  }

  integer(): number {
    const token = this.token();
    if (!/^\d{1,12}$/.test(token)) throw createUnreadableRefusal();
    return Number(token);
  }

  expect(...words: string[]): string {
    const token = this.token();
    if (!words.includes(token)) throw createUnreadableRefusal();
    return token;
  }

  /** Skips tokens while they match. */
  skip(pattern: RegExp): void {
    for (;;) {
      const { at } = this;
      if (pattern.test(this.token())) continue;
      this.at = at;
      return;
    }
  }

  /** Moves behind the line end that follows the word `stream`. */
  skipLineEnd(): void {
    if (this.#byte() === CR) this.at += 1;
    if (this.#byte() === LF) this.at += 1;
  }
}
