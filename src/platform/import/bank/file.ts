import { hash } from "node:crypto";
import { Problem } from "../../../contract/errors.ts";
import { parseJson } from "../../../kit/parse-json.ts";
import { formatDay } from "../dates.ts";
import { type Line, readLines } from "../lines.ts";
import { createOccurrences } from "../occurrences.ts";
import type { BankItem } from "./entry.ts";

/** Receives a remark that is no reason to refuse a file; `place` is the line or segment. */
export type Warn = (place: string, message: string) => void;

export type ReaderOptions = {
  /** Type codes that an import map takes as customers' payments, or leaves out, against the table of the format. */
  take?: readonly string[] | undefined;
  leaveOut?: readonly string[] | undefined;
  /** Whether the store can have payments under the ids of version 0.1.0, which are derived only then. */
  hasFormer?: boolean | undefined;
};

/** Reads a bank file, which is UTF-8, as a stream of entries. Throws the Problem of {@link createMalformed}. */
export type ReadBankFile = (
  bytes: AsyncIterable<Uint8Array>,
  warn: Warn,
  options?: ReaderOptions,
) => AsyncGenerator<BankItem[], void, undefined>;

/** Creates the refusal of a file with a wrong format; `place` is the line or segment. */
export const createMalformed = (place: string, message: string): Problem =>
  new Problem("invalid_request", `The file is refused: ${place} ${message}. Nothing was changed.`);

/** Reads the entries of one file, line by line. */
type LineReader = { line(line: Line): BankItem[]; end(line: number): BankItem[] };

const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

/** Returns whether the first line ends with a carriage return alone; undefined if the bytes do not tell. */
const endsWithReturn = (bytes: Uint8Array): boolean | undefined => {
  const [feed, back] = [bytes.indexOf(LINE_FEED), bytes.indexOf(CARRIAGE_RETURN)];
  if (back === -1 || (feed !== -1 && feed <= back + 1)) return feed === -1 ? undefined : false;
  return back === bytes.length - 1 ? undefined : true;
};

/** Gives the lines of a file that end with carriage returns alone line feeds. */
async function* unifyLineEnds(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held = Buffer.alloc(0);
  let isOld: boolean | undefined;
  for await (const chunk of bytes) {
    const some = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    held = Buffer.alloc(0);
    isOld ??= endsWithReturn(some);
    // A line feed may follow.
    if (isOld === undefined && some.at(-1) === CARRIAGE_RETURN) held = Buffer.from(some);
    else if (isOld === true)
      yield some.map((byte) => (byte === CARRIAGE_RETURN ? LINE_FEED : byte));
    else yield some;
  }
  if (held.length > 0) yield held;
}

/** Passes the lines of a bank file to its reader. A line that is too long refuses the file; other faults are warnings. */
export async function* readEntriesByLine(
  bytes: AsyncIterable<Uint8Array>,
  warn: Warn,
  reader: LineReader,
): AsyncGenerator<BankItem[], void, undefined> {
  let last = 0;
  for await (const lines of readLines(unifyLineEnds(bytes))) {
    const items: BankItem[] = [];
    for (const line of lines) {
      if (line.fault?.code === "too_long")
        throw createMalformed(`line ${line.number}`, line.fault.message);
      if (line.fault !== undefined) warn(`line ${line.number}`, line.fault.message);
      for (const item of reader.line(line)) items.push(item);
      last = line.number;
    }
    yield items;
  }
  yield reader.end(last);
}

/** Derives a payment id from facts of the payment, so that repeated imports find the same payment. */
export const derivePaymentId = (format: string, ...facts: readonly string[]): string =>
  `${format}-${hash("sha256", JSON.stringify(facts), "hex").slice(0, 24)}`;

/** Derives payment ids of one file, in which equal facts again are another payment. */
export const createPaymentIds = (format: string) => {
  const met = createOccurrences();
  return {
    derive(...facts: readonly string[]): string {
      const id = derivePaymentId(format, ...facts);
      const count = met.count(id);
      return count === 1 ? id : `${id}-${count}`;
    },
    close: met.close,
  };
};
export type PaymentIds = ReturnType<typeof createPaymentIds>;

/** A decimal of so many characters is exact as a double. */
const EXACT_LENGTH = 15;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** Parses an amount exactly; one with too many digits becomes a value that rows refuse. Undefined for other text. */
export const parseAmount = (text: string): unknown => {
  if (!DECIMAL.test(text)) return undefined;
  if (text.length <= EXACT_LENGTH) return Number(text);
  const [whole = "", fraction = ""] = text.replace(/^[+-]/, "").split(".");
  const digits = `${whole.replace(/^0+/, "") || "0"}${fraction === "" ? "" : `.${fraction}`}`;
  return parseJson(`${text.startsWith("-") ? "-" : ""}${digits}`);
};

const PIVOT = 70;

/** Parses `YYMMDD` or `YYYYMMDD` to `YYYY-MM-DD`; undefined if the calendar does not have the day. */
export const parseCompactDay = (text: string): string | undefined => {
  const [, year, month, day] = /^(\d{4}|\d{2})(\d{2})(\d{2})$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const century = year.length === 4 ? "" : Number(year) < PIVOT ? "20" : "19";
  return formatDay(century + year, month, day);
};

/** Returns the last four characters of an account number; the rest is never stored. */
export const takeLast4 = (account: string): string | undefined => {
  const characters = account.replaceAll(/[^A-Za-z0-9]/g, "");
  return characters === "" ? undefined : characters.slice(-4);
};

/** Fields of a payment that is not matched to a document. */
export const UNAPPLIED = {
  applicationStatus: "unapplied",
  shortPay: false,
} as const;

/** Removes undefined and empty values. */
export const omitEmpty = (cells: Record<string, unknown>): Record<string, unknown> => {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(cells)) {
    const value = cells[name];
    if (value !== undefined && value !== "") kept[name] = value;
  }
  return kept;
};
