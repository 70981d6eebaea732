import { DateCell, isDash, toText } from "../cells.ts";
import { type DayPattern, parseTimestamp, parseDayPattern, SERIAL } from "../dates.ts";
import { type NumberForm, isPlainDecimal, readAmount } from "../numbers.ts";

/** The values of a column that are not blank, in the order of the rows. */
export type Values = readonly unknown[];

const ORDERS = [
  ["D", "M", "YYYY"],
  ["M", "D", "YYYY"],
  ["D", "M", "YY"],
  ["M", "D", "YY"],
  ["YYYY", "M", "D"],
  ["D", "MMM", "YYYY"],
  ["D", "MMM", "YY"],
] as const;
const SEPARATORS = [".", "/", "-", " ", ". "];
const TIMES = ["", " HH:mm:ss", " HH:mm", " h:mm:ss A", " h:mm A", "THH:mm:ss"];
const SPECIAL = ["YYYYMMDD", "DDMMYYYY", "MMM D, YYYY", "D. MMM YYYY", "DMMMYYYY", "DMMMYY"];

// Numbers of days from 2000 to 2064: other numbers of five digits are seldom days.
const FIRST_SERIAL = 36_526;
const LAST_SERIAL = 60_000;

const isSerial = (text: string): boolean =>
  /^\d{5}(?:\.\d{1,17})?$/.test(text) && Number(text) >= FIRST_SERIAL && Number(text) < LAST_SERIAL;

const PATTERNS: readonly DayPattern[] = [
  ...ORDERS.flatMap((order) => SEPARATORS.map((sign) => order.join(sign))),
  ...SPECIAL,
].flatMap((day) => TIMES.flatMap((time) => parseDayPattern(`${day}${time}`) ?? []));

export const hasDigits = (value: unknown): boolean => /\p{N}/u.test(toText(value));

/** The patterns of the days in a column; none for days as `YYYY-MM-DD`. */
export type DayForms = { isIso: boolean; patterns: readonly DayPattern[] };

/** Returns the forms in which every value is a day; undefined if there is none. */
export const findDayForms = (values: Values): DayForms | undefined => {
  const texts = values.flatMap((value) => (value instanceof DateCell ? [] : [value]));
  if (values.length > 0 && texts.length === 0) return { isIso: true, patterns: [] };
  const serial = parseDayPattern(SERIAL);
  const shown = texts.map((value) => toText(value).trim());
  if (serial !== undefined && shown.length === values.length && shown.every(isSerial)) {
    return { isIso: false, patterns: [serial] };
  }
  const written = texts.filter((value) => typeof value === "string").map((text) => text.trim());
  if (written.length === 0 || written.length < texts.length) return undefined;
  if (written.every((text) => parseTimestamp(text) !== undefined))
    return { isIso: true, patterns: [] };
  const patterns = PATTERNS.filter(({ read }) => written.every((text) => read(text) !== undefined));
  return patterns.length === 0 ? undefined : { isIso: false, patterns };
};

const isMonthFirst = ({ pattern }: DayPattern): boolean => pattern.startsWith("M");

/** Returns the reading of the order of day and month that all patterns share; undefined if both remain. */
export const findOrder = ({ patterns }: DayForms): "day" | "month" | undefined => {
  const [first] = patterns;
  if (first === undefined) return undefined;
  const isMonth = isMonthFirst(first);
  const isOne = patterns.every((one) => isMonthFirst(one) === isMonth);
  return isOne ? (isMonth ? "month" : "day") : undefined;
};

/** Chooses a pattern by the order of day and month. */
export const choosePattern = ({ patterns }: DayForms, order: "day" | "month"): string | undefined =>
  (patterns.find((one) => isMonthFirst(one) === (order === "month")) ?? patterns[0])?.pattern;

/** Returns whether days are in rising or falling order, as rows of exports mostly are. */
export const isSorted = (values: Values, pattern: DayPattern): boolean => {
  const days = values.map((value) => pattern.read(String(value).trim()) ?? "");
  const pairs = days.slice(1).map((day, place) => [days[place] ?? "", day] as const);
  return (
    pairs.every(([before, day]) => before <= day) || pairs.every(([before, day]) => before >= day)
  );
};

/** The forms of the numbers in a column. */
export type NumberForms = {
  /** Whether every value is a number with a decimal point and without other signs. */
  isPlain: boolean;
  forms: readonly NumberForm[];
};

const MARK = /(?:^|[^a-z])(?:DR|CR|[DCSH])\.?$/i;
const PREFIX = /^(?:DR|CR)\b/i;

const isMarked = (text: string): boolean => MARK.test(text.trim()) || PREFIX.test(text.trim());

const THOUSANDS = /\d([ '’\u00A0\u2009\u202F.,])\d{3}(?!\d)/;

/** Removes currency signs and codes, whose fit to the row's currency only the import checks. */
const removeCurrency = (text: string): string =>
  text.replaceAll(/\p{Sc}|\b(?!DR\b|CR\b)[A-Z]{3}\b|\bkr\b/giu, "").trim();

/** Returns the forms in which every value is a number, those with a decimal point first; undefined if there is none. */
export const findNumberForms = (values: Values): NumberForms | undefined => {
  if (values.length === 0) return undefined;
  if (values.some((value) => typeof value !== "number" && typeof value !== "string")) {
    return undefined;
  }
  const texts = values
    .filter((value) => typeof value === "string" && !isDash(value))
    .map((text) => String(text).trim());
  if (texts.length === 0 && values.every(isDash)) return undefined;
  if (texts.every(isPlainDecimal)) return { isPlain: true, forms: [{ decimal: "." }] };
  const negative = texts.some(isMarked) ? ("DR/CR" as const) : undefined;
  const bare = texts.map(removeCurrency);
  const forms = ([".", ","] as const).flatMap((decimal): NumberForm[] => {
    const sign = bare.map((text) => THOUSANDS.exec(text)?.[1]).find((one) => one !== undefined);
    const thousands = sign === undefined || sign === decimal ? undefined : toThousands(sign);
    const form = { decimal, thousands, negative };
    return bare.every((text) => "decimal" in readAmount(text, { form })) ? [form] : [];
  });
  return forms.length === 0 ? undefined : { isPlain: false, forms };
};

const toThousands = (sign: string): string => {
  if (sign === "’") return "'";
  return /[\u00A0\u2009\u202F]/.test(sign) ? " " : sign;
};

/** Marks of debits with those of credits that exports write beside them. */
const SIGN_MARKS: readonly (readonly [debit: string, credit: string])[] = [
  ["D", "C"],
  ["DR", "CR"],
  ["DB", "CR"],
  ["DEBIT", "CREDIT"],
  ["DBIT", "CRDT"],
  ["S", "H"],
  ["SOLL", "HABEN"],
  ["DEBE", "HABER"],
  ["DARE", "AVERE"],
  ["AF", "BIJ"],
  ["-", "+"],
];

/** Writes a word in the letter case of another one. */
const toCaseOf = (like: string, word: string): string => {
  if (like === like.toUpperCase()) return word;
  const rest = word.slice(1).toLowerCase();
  return like.charAt(0) === like.charAt(0).toLowerCase()
    ? word.toLowerCase()
    : `${word.charAt(0)}${rest}`;
};

/**
 * Returns the marks of debits and of credits of a column that has nothing else; undefined for another column. The
 * counterpart of each mark is among them: the next file can have it, or rows that were not looked at.
 */
export const findSignMarks = (
  values: Values,
): { debit: string[]; credit: string[] } | undefined => {
  const [debit, credit] = [new Set<string>(), new Set<string>()];
  for (const mark of new Set(values.map((value) => String(value).trim()))) {
    const word = mark.toUpperCase();
    const pair = SIGN_MARKS.find((marks) => marks.includes(word));
    if (pair === undefined) return undefined;
    debit.add(word === pair[0] ? mark : toCaseOf(mark, pair[0]));
    credit.add(word === pair[1] ? mark : toCaseOf(mark, pair[1]));
  }
  return debit.size === 0 ? undefined : { debit: [...debit], credit: [...credit] };
};

const TYPES: Readonly<Record<string, string>> = {
  invoice: "invoice inv rechnung re rg rv facture fa factura fattura factuur in",
  credit_note:
    "creditnote creditmemo credit cn cm gutschrift gu rechnungskorrektur avoir notedecredit abono notadecredito " +
    "notadicredito creditnota creditfactuur",
};

const TYPE_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(TYPES).flatMap(([type, words]) =>
    words.split(" ").map((word): [string, string] => [word, type]),
  ),
);

const STATUSES: Readonly<Record<string, string>> = {
  settled:
    "settled paid completed complete success succeeded successful approved captured posted bezahlt gezahlt erfolgreich " +
    "abgeschlossen paye payee regle pagado pagato betaald voldaan",
  pending:
    "pending processing inprocess inprogress open offen ausstehend enattente pendiente inattesa",
  scheduled: "scheduled geplant terminiert planifie programado pianificato gepland",
  failed:
    "failed declined rejected error fehlgeschlagen abgelehnt echoue refuse fallido rifiutato mislukt",
  refunded: "refunded refund erstattet rembourse reembolsado rimborsato terugbetaald",
  voided: "voided void canceled cancelled storniert annule anulado annullato geannuleerd",
  charged_back: "chargedback chargeback rueckbelastet ruckbelastet",
};
const STATUS_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(STATUSES).flatMap(([status, words]) =>
    words.split(" ").map((word): [string, string] => [word, status]),
  ),
);

/** Returns what the values of a column mean; undefined if one is unknown. */
const findMeanings = (
  values: Values,
  meanings: ReadonlyMap<string, string>,
): Record<string, string> | undefined => {
  const distinct = [...new Set(values.map((value) => String(value).trim()))];
  const known = distinct.flatMap((value): [string, string][] => {
    const plain = value
      .normalize("NFD")
      .replaceAll(/[^A-Za-z]/g, "")
      .toLowerCase();
    const meaning = meanings.get(plain);
    return meaning === undefined ? [] : [[value, meaning]];
  });
  return known.length > 0 && known.length === distinct.length
    ? Object.fromEntries(known)
    : undefined;
};

/** Returns what the values of a column of document types mean; undefined if one is unknown. */
export const findDocumentTypes = (values: Values) => findMeanings(values, TYPE_OF);

/** Returns what the values of a column of payments' statuses mean; undefined if one is unknown. */
export const findStatuses = (values: Values) => findMeanings(values, STATUS_OF);

const NEGATIVE = /^\s*[-(−]|-\s*$/;

/** Whether amounts are on both sides of zero. */
export const isSigned = (values: Values): boolean => {
  const negative = values.filter((value) =>
    typeof value === "number" ? value < 0 : NEGATIVE.test(toText(value)),
  );
  return negative.length > 0 && negative.length < values.length;
};

/** Returns the columns that entries of a map name. */
export const collectUsed = (value: unknown): string[] => {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const parts = Object.entries(value).filter(
    ([name]) => !["value", "values", "date"].includes(name),
  );
  return parts.flatMap(([, part]) => (Array.isArray(part) ? part.map(String) : collectUsed(part)));
};

/** Whether the rows of each payment repeat one amount. */
export const hasOneTotal = (ids: Values, amounts: Values): boolean => {
  if (ids.length !== amounts.length) return true;
  const known = new Map<string, string>();
  return ids.every((value, place) => {
    const text = toText(amounts[place]);
    const before = known.get(toText(value)) ?? text;
    known.set(toText(value), before);
    return before === text;
  });
};
