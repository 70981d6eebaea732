import { BAI2_CREDITS } from "./bai2-credits.ts";
import { BAI2_DEBITS } from "./bai2-debits.ts";
import type { ReaderOptions } from "./file.ts";
import { createTypeRules, type FindType, type RecordType } from "./types.ts";

/** Types of BAI2 transactions that are imported (credits, and debits that return them) or left out. */
export const BAI2_TYPES: readonly RecordType[] = [...BAI2_CREDITS, ...BAI2_DEBITS];

// Appendix A: these credit types are totals ("Summary" level), which belong into 03 records.
const SUMMARIES: ReadonlySet<string> = new Set(
  (
    "100 101 105 106 107 109 110 120 130 131 140 146 150 160 162 163 167 170 178 180 182 185 186 188 190 200 205 207 " +
    "210 215 230 231 239 245 250 251 256 260 270 271 280 285 294 302 303 304 305 307 309 310 315 316 318 319 320 321 " +
    "324 325 326 327 328 329 330 332 336 338 340 341 343 350 352 355 356 360 361 370 385 389 390"
  ).split(" "),
);

/** Whether a type is that of a total of transactions. */
export const isTotal = (type: string): boolean => SUMMARIES.has(type);

export type Direction = "credit" | "debit" | "none";

/**
 * Returns the direction of a type. BAI2 2005, type codes: 100 to 399 are credits, 400 to 699 debits, 920 to 959
 * customized credits, 960 to 999 customized debits; others (status, loan balances, non-monetary) move no money.
 */
export const findDirection = (type: string): Direction => {
  const code = Number(type);
  if ((code >= 100 && code <= 399) || (code >= 920 && code <= 959)) return "credit";
  if ((code >= 400 && code <= 699) || (code >= 960 && code <= 999)) return "debit";
  return "none";
};

const describeUnlisted = (type: string, direction: Direction): RecordType => {
  const name = Number(type) >= 900 ? "customized type of the bank" : "unlisted type";
  if (direction === "none")
    return { type, name, take: false, reason: "a status or a notice, which moves no money" };
  if (SUMMARIES.has(type))
    return { type, name: "Total", take: false, reason: "a total, not a transaction" };
  // Money that came in is never dropped for an unknown type; an unknown debit is no return.
  return direction === "credit"
    ? { type, name, take: true, reason: "a credit" }
    : { type, name, take: false, reason: "a debit, not the return of a customer's payment" };
};

export type Bai2Rule = RecordType & { direction: Direction; isListed: boolean };

export const createBai2Rules = (options?: ReaderOptions): ((type: string) => Bai2Rule) => {
  const find: FindType = createTypeRules(BAI2_TYPES, options);
  return (type) => {
    const direction = findDirection(type);
    const listed = find(type);
    return {
      ...(listed ?? describeUnlisted(type, direction)),
      direction,
      isListed: listed !== undefined || SUMMARIES.has(type) || direction === "none",
    };
  };
};
