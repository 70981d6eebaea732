import { parseJson } from "../../kit/parse-json.ts";
import { abbreviate } from "../../contract/payments/value.ts";

/** The signs in the numbers of a file. */
export type NumberForm = {
  decimal: "." | ",";
  /** The sign between thousands; "" for none, undefined for any that is not the decimal sign. */
  thousands?: string | undefined;
  /** The mark of amounts below zero, beside a minus in front. Undefined for a minus behind or parentheses. */
  negative?: "minus" | "trailing" | "parentheses" | "DR/CR" | undefined;
};

/** The circumstances of an amount. */
export type AmountContext = {
  form?: NumberForm | undefined;
  /** The ISO 4217 code of the row, and its decimals; undefined if the row has no valid code. */
  currency?: string | undefined;
  decimals?: number | undefined;
  /** The mark of amounts below zero, if the form has DR and CR. */
  negativeMark?: "DR" | "CR" | undefined;
};

/** A decimal text such as `-1234.5`, or the fault of text that is none or has several readings. */
export type NumberReading = { decimal: string } | { code: string; message: string };

// Every decimal of 15 digits survives a double.
const EXACT_DIGITS = 15;
const LEADING_ZEROS = /^(-?)0+(?=\d)/;

/** Converts plain decimal text to a number; text with too many digits becomes a value that every schema refuses. */
export const toExactNumber = (decimal: string): unknown => {
  const source = decimal.replace(LEADING_ZEROS, "$1");
  // Adding 0 removes the sign of a zero.
  return source.length <= EXACT_DIGITS ? Number(source) + 0 : parseJson(source);
};

const SPACES = /[ \u00A0\u2007\u2009\u202F]/g;
const APOSTROPHES = /[’ʼ´`]/g;
const THOUSANDS = [",", ".", " ", "'"];

const normalizeSign = (sign: string): string =>
  sign.replaceAll(SPACES, " ").replaceAll(APOSTROPHES, "'");

/** Writes all kinds of spaces, apostrophes and minus signs as the ASCII ones. */
const normalize = (text: string): string => normalizeSign(text).replaceAll("−", "-").trim();

const isDigits = (text: string): boolean => /^\d+$/.test(text);

/** Returns the digits of a whole number with groups of three, or as in India two and at last three; else undefined. */
const joinGroups = (text: string, thousands: string): string | undefined => {
  const groups = text.split(thousands);
  const [first = "", ...others] = groups;
  if (!groups.every(isDigits) || first.startsWith("0")) return undefined;
  const sizes = others.map(({ length }) => length);
  const isWestern = first.length <= 3 && sizes.every((size) => size === 3);
  const isIndian =
    thousands === "," &&
    first.length <= 2 &&
    sizes.at(-1) === 3 &&
    sizes.slice(0, -1).every((size) => size === 2);
  return isWestern || isIndian ? groups.join("") : undefined;
};

/** Reads digits with the given signs; undefined if they do not fit. */
const readDigits = (
  text: string,
  decimal: string,
  thousands: readonly string[],
): string | undefined => {
  const at = text.lastIndexOf(decimal);
  const whole = at === -1 ? text : text.slice(0, at);
  const fraction = at === -1 ? undefined : text.slice(at + 1);
  if (fraction !== undefined && !isDigits(fraction)) return undefined;
  const used = thousands.find((sign) => whole.includes(sign));
  const digits = used === undefined ? whole : joinGroups(whole, used);
  if (digits === undefined || !isDigits(digits)) return undefined;
  return fraction === undefined ? digits : `${digits}.${fraction}`;
};

const simplify = (decimal: string): string => {
  const digits = decimal.includes(".")
    ? decimal.replace(/(?<!0)0+$/, "").replace(/\.$/, "")
    : decimal;
  return digits.replace(/^0+(?=\d)/, "");
};

/** Returns every value that the digits can have, the one with a decimal point first. */
const listReadings = (text: string, form: NumberForm | undefined): string[] => {
  const decimals = form === undefined ? [".", ","] : [form.decimal];
  const found = new Map<string, string>();
  for (const decimal of decimals) {
    const others = THOUSANDS.filter((sign) => sign !== decimal);
    const stated = form?.thousands === "" ? [] : [normalizeSign(form?.thousands ?? "")];
    const read = readDigits(text, decimal, form?.thousands === undefined ? others : stated);
    if (read !== undefined && !found.has(simplify(read))) found.set(simplify(read), read);
  }
  return [...found.values()];
};

/** Currencies whose amounts are commonly written with these signs. */
const SIGNS: Readonly<Record<string, readonly string[]>> = {
  $: ["USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "ARS", "CLP", "COP", "TWD"],
  US$: ["USD"],
  C$: ["CAD"],
  A$: ["AUD"],
  R$: ["BRL"],
  "€": ["EUR"],
  EURO: ["EUR"],
  "£": ["GBP"],
  "¥": ["JPY", "CNY"],
  "₹": ["INR"],
  "₩": ["KRW"],
  "₺": ["TRY"],
  "₽": ["RUB"],
  "₪": ["ILS"],
  ZŁ: ["PLN"],
  KČ: ["CZK"],
  FT: ["HUF"],
  KR: ["SEK", "NOK", "DKK", "ISK"],
  FR: ["CHF"],
  SFR: ["CHF"],
  RS: ["INR", "PKR", "LKR", "NPR", "MUR"],
  RM: ["MYR"],
};

const DEBITS: ReadonlySet<string> = new Set(["DR", "D", "S"]);
const CREDITS: ReadonlySet<string> = new Set(["CR", "C", "H"]);

type Parts = { digits: string; minus: "" | "front" | "behind" | "around"; marks: string[] };

const FRONT = /^([^\d]{0,8}?)(?=[\d])/u;
const BEHIND = /(?<=\d)([^\d]{0,8})$/u;

/** Parentheses around the number, also behind a currency sign as spreadsheets write it: `$ (5.00)`. */
const AROUND = /^([^\d()+-]{0,8})\(([^()]*)\)$/u;
/** A decimal sign before the first digit, which the zero before it is left out of: `.50`, `-,50`. */
const BARE_DECIMAL = /^([^\d\p{L}]{0,8}?|[^\d]{0,7}[\s+-])([.,]\d+)/u;

const addZero = (text: string): string => text.replace(BARE_DECIMAL, "$10$2");

/** Splits text into digits, sign and other marks; undefined if it has two signs. */
const splitParts = (text: string): Parts | undefined => {
  const [, outside = "", within] = AROUND.exec(text) ?? [];
  const inner = within === undefined ? undefined : `${outside}${within}`;
  const whole = addZero((inner ?? text).trim());
  const front = FRONT.exec(whole)?.[1];
  const behind = BEHIND.exec(whole)?.[1];
  if (front === undefined || behind === undefined) return undefined;
  const digits = whole.slice(front.length, whole.length - behind.length);
  const signs = [front, behind].map((part) => (part.match(/[+-]/g) ?? []).join(""));
  const [before = "", after = ""] = signs;
  if (before.length + after.length > (inner === undefined ? 1 : 0)) return undefined;
  const marks = [front, behind]
    .map((part) => part.replace(/[+-]/, " ").trim())
    .filter((mark) => mark !== "");
  if (inner !== undefined) return { digits, minus: "around", marks };
  if (before === "-") return { digits, minus: "front", marks };
  return { digits, minus: after === "-" ? "behind" : "", marks };
};

const show = (text: string): string => abbreviate(text);

const describeForm = ({ decimal, thousands, negative }: NumberForm): string => {
  const group = thousands ?? (decimal === "." ? "," : ".");
  const number = `1${group}234${decimal}56`;
  if (negative === "trailing") return `${number} or ${number}-`;
  if (negative === "parentheses") return `${number} or (${number})`;
  return negative === "DR/CR" ? `${number} DR or ${number} CR` : `${number} or -${number}`;
};

const refuseForm = ({ form }: AmountContext): { code: string; message: string } => ({
  code: "type",
  message: `must be a number such as ${form === undefined ? "1234.56 or -1234.56" : describeForm(form)}`,
});

/** Returns the mark DR or CR among the marks, without it. */
const takeDebitMark = (marks: readonly string[]): { mark?: "DR" | "CR"; others: string[] } => {
  const others: string[] = [];
  let mark: "DR" | "CR" | undefined;
  for (const one of marks) {
    const word = one.toUpperCase().replace(/\.$/, "");
    if (DEBITS.has(word)) mark = "DR";
    else if (CREDITS.has(word)) mark = "CR";
    else others.push(one);
  }
  return mark === undefined ? { others } : { mark, others };
};

const checkMarks = (marks: readonly string[], currency: string | undefined): string | undefined => {
  for (const mark of marks) {
    const word = mark.toUpperCase().replace(/(?<=.)\.$/, "");
    const fits = currency !== undefined && (word === currency || SIGNS[word]?.includes(currency));
    if (fits !== true && (DEBITS.has(word) || CREDITS.has(word)))
      return `${show(mark)} beside the number has a meaning only if the map says so, as ${DEBIT_MARKS}`;
    if (fits !== true)
      return `${show(mark)} beside the number is not the sign of the row's currency`;
  }
  return marks.length > 1 ? "two currency signs stand beside the number" : undefined;
};

const DEBIT_MARKS = '"number": {"decimal": ".", "negative": "DR/CR"}';

const TWO_SIGNS = /^\([^()]{1,50}\) ?(?:CR|DR|C|D)\.?$/i;

const isSignAllowed = ({ minus }: Parts, form: NumberForm | undefined): boolean => {
  const { negative } = form ?? {};
  if (minus === "" || minus === "front" || negative === undefined) return true;
  return negative === (minus === "around" ? "parentheses" : "trailing");
};

const OTHER_WAY =
  'or say in the map how numbers are written, as "number": {"decimal": ".", "thousands": ","}';

/** Says how to write a number that has two readings. */
const describeReadings = (readings: readonly string[], decimals = 2): string => {
  const example = decimals === 0 ? "1000" : `1000.${"0".repeat(decimals)}`;
  return (
    `can be read as ${readings.map(simplify).join(" or as ")}; write it with a decimal point, no sign ` +
    `between thousands and ${decimals} decimals, such as ${example}, ${OTHER_WAY}`
  );
};

/** The value to take of several readings: three decimals after a point are right where the currency has three. */
const decide = (
  [first = "", second]: readonly string[],
  { decimals }: AmountContext,
  text: string,
): NumberReading => {
  if (second === undefined) return { decimal: first };
  const isPoint = text.includes(".") && !text.includes(",");
  if (isPoint && decimals === 3) return { decimal: first };
  return { code: "format", message: describeReadings([first, second], decimals) };
};

const MOST_CHARACTERS = 60;

/** Reads an amount in any form that has one meaning only. */
export const readAmount = (text: string, context: AmountContext): NumberReading => {
  const { form, currency, negativeMark } = context;
  if (text.length > MOST_CHARACTERS) return refuseForm(context);
  if (TWO_SIGNS.test(normalize(text))) {
    const message = `${refuseForm(context).message}; parentheses and a mark such as CR are two signs: keep one of them, for CR and DR with ${DEBIT_MARKS} in the map`;
    return { code: "format", message };
  }
  const parts = splitParts(normalize(text));
  if (parts === undefined || !isSignAllowed(parts, form)) return refuseForm(context);
  const marked = form?.negative === "DR/CR";
  const { mark, others } = marked ? takeDebitMark(parts.marks) : { others: parts.marks };
  if (mark !== undefined && parts.minus !== "") return refuseForm(context);
  const wrong = checkMarks(others, currency);
  if (wrong !== undefined) {
    return { code: "format", message: `${refuseForm(context).message}; ${wrong}` };
  }
  const readings = listReadings(parts.digits, form);
  if (readings.length === 0) return refuseForm(context);
  const decided = decide(readings, context, parts.digits);
  if ("message" in decided) return decided;
  const isNegative = parts.minus !== "" || (mark !== undefined && mark === negativeMark);
  return { decimal: isNegative ? `-${decided.decimal}` : decided.decimal };
};

// Text has two readings only if three digits follow its single sign.
const PLAIN = /^-?(\d+)(?:\.(\d+))?$/;

/** Returns whether text is a plain decimal number that has one reading; the usual case, without further work. */
export const isPlainDecimal = (text: string): boolean => {
  const [, whole, fraction] = PLAIN.exec(text) ?? [];
  if (whole === undefined) return false;
  return fraction?.length !== 3 || whole.length > 3 || whole.startsWith("0");
};
