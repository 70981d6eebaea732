import type { Arguments } from "./tool.ts";

/** As long as a number of a record may be, so that two numbers never look the same. */
const MAX_CHARACTERS = 128;

/** The places that a character takes when it is quoted and what begins markup is escaped. */
const widthOf = (character: string): number => {
  if (character === "<") return "&lt;".length;
  return /["\\\]!`~]/.test(character) ? 2 : JSON.stringify(character).length - 2;
};

/** Returns the characters that fit a question, so that no text of a record moves the rest of it out of view. */
const fit = (characters: readonly string[]): readonly string[] => {
  let width = 0;
  const end = characters.findIndex((one) => (width += widthOf(one)) > MAX_CHARACTERS);
  return end === -1 ? characters : [...characters.slice(0, end), "…"];
};

export const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "";

/** Returns the records of a list that was read. */
export const listItems = (list: Arguments | undefined): readonly Arguments[] | undefined =>
  list?.["items"] as readonly Arguments[] | undefined;

/** Returns a value in quotes, on one line, of at most 128 characters; fewer if some need to be escaped. */
export const quote = (value: unknown): string => {
  const text = [...String(value).replace(/\s+/g, " ").trim()];
  return JSON.stringify(fit(text).join(""));
};

/** Returns a URL in quotes; where its beginning does not tell the host that it leads to, also that. */
export const quoteUrl = (value: unknown): string => {
  const text = String(value);
  const url = URL.parse(text);
  if (url === null) return quote(text);
  const begins = `${url.protocol}//${url.host}`;
  const isPlain = text.length <= MAX_CHARACTERS && text.startsWith(begins) && url.username === "";
  return isPlain && /^(?:[/?#]|$)/.test(text.slice(begins.length))
    ? quote(text)
    : `${quote(text)} at ${url.host}`;
};

// No comma, question mark, quote or end of a sentence, so that a name from a record cannot imitate the question's text.
const PLAIN_NAME = /^(?!.*\. )[\p{L}\p{N}][\p{L}\p{N} .&'’_/@+-]{0,127}$/u;

const OTHER_SCRIPT =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}]/u;
/** Letters of phonetic alphabets that look like plain ones. */
const PHONETIC = /[\u0251\u0261\u0269\u028b\u1d00-\u1d2b]/u;
/** Whether a character is a further form of Latin letters or digits: fullwidth, mathematical, a Roman numeral. */
const isOtherForm = (letter: string): boolean =>
  PHONETIC.test(letter) || (letter > "\u00ff" && /^[0-9A-Za-z]+$/.test(letter.normalize("NFKC")));
/** Letters of other scripts that most fonts draw like Latin ones. */
const LOOK_ALIKES = new Set(
  "ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴⲞⲟⲤⲥⲢⲣⲎⲒⲔⲘⲚⲦⲬАВЕЅІЈКМНОРСТУХЗаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρυικα",
);

/**
 * Returns the letters of a name with which it imitates a Latin one: in a word of several scripts, or where nothing but
 * such letters is not Latin. A name in Cyrillic or Greek as people write it has others, too.
 */
const findImitations = (text: string): string[] => {
  const letters = [...text];
  const foreign = letters.filter((letter) => OTHER_SCRIPT.test(letter));
  const isMixed = text
    .split(/[^\p{L}\p{M}]/u)
    .some((word) => /\p{Script=Latin}/u.test(word) && OTHER_SCRIPT.test(word));
  const imitates = isMixed || foreign.every((letter) => LOOK_ALIKES.has(letter));
  const forms = letters.filter(isOtherForm);
  return [...new Set(imitates ? [...foreign, ...forms] : forms)];
};

const MOST_LETTERS = 5;

/**
 * Returns a value as is if it is a plain name, otherwise in quotes. Letters that only look like Latin ones are named:
 * the record may be another one than the person takes it for.
 */
export const formatName = (value: unknown): string => {
  const text = String(value);
  const letters = findImitations(text.slice(0, MAX_CHARACTERS));
  if (letters.length > 0) {
    return `${quote(text)} [not Latin: ${letters.slice(0, MOST_LETTERS).join(" ")}]`;
  }
  return PLAIN_NAME.test(text) ? text : quote(text);
};

const countDecimals = (currency: string): number =>
  /^[A-Z]{3}$/.test(currency)
    ? (new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions()
        .minimumFractionDigits ?? 2)
    : 2;

const MAX_DECIMALS = 15;

/** Formats an amount with all its decimals: `9,108.20 USD`. */
export const formatMoney = (amount: unknown, currency: unknown): string => {
  if (typeof amount !== "number" || typeof currency !== "string") return formatName(amount);
  const minimumFractionDigits = countDecimals(currency);
  const format = new Intl.NumberFormat("en", {
    minimumFractionDigits,
    maximumFractionDigits: MAX_DECIMALS,
  });
  return `${format.format(amount)} ${formatName(currency)}`;
};

/** Returns the first value that is not undefined, null or empty. */
const findFirstValue = (...values: unknown[]): unknown =>
  values.find((value) => value !== undefined && value !== null && value !== "");

/** Describes a dispute: `D-5111726-02 of Juniper Street Hardware, 9,108.20 USD`; by id if it could not be read. */
export const describeDispute = (record: Arguments | undefined, disputeId: unknown): string => {
  if (record === undefined) return quote(disputeId);
  const { disputeCode, accountName, accountNumber, amount, currencyCode } = record;
  const code = formatName(findFirstValue(disputeCode, disputeId));
  return `${code} of ${formatName(findFirstValue(accountName, accountNumber))}, ${formatMoney(amount, currencyCode)}`;
};

/** Describes a configuration entry: `BILLING (Billing and pricing)`; by the argument if it could not be read. */
export const describeEntry = (record: Arguments | undefined, argument: unknown): string =>
  record === undefined
    ? quote(argument)
    : `${formatName(findFirstValue(record["code"], argument))} (${formatName(record["description"])})`;

/** Describes a person: `Carla Jennings (carla.jennings@company.example)`. */
export const describePerson = (record: Arguments | undefined, argument: unknown): string => {
  const person = record?.["person"];
  if (typeof person !== "object" || person === null) return quote(argument);
  const { firstName, lastName, email } = person as Arguments;
  return `${formatName(`${String(firstName)} ${String(lastName)}`)} (${formatName(email)})`;
};

/** Formats the value of a field. */
export const formatValue = (value: unknown): string =>
  typeof value === "boolean" || typeof value === "number" ? String(value) : formatName(value);

/** Describes a changed field: `poNumber cleared`, `isValid true`. */
export const describeChange = (name: string, value: unknown): string =>
  findFirstValue(value) === undefined ? `${name} cleared` : `${name} ${formatValue(value)}`;

/** Describes an account: `ACC-1 (Northwind Traders)`; by number if it could not be read. */
export const describeAccount = (record: Arguments | undefined, accountNumber: unknown): string =>
  record === undefined
    ? quote(accountNumber)
    : `${formatName(accountNumber)} (${formatName(record["name"])})`;

// Amount fields of a document with their currency fields; the first one present is shown.
const DOCUMENT_AMOUNTS = [
  ["denomination", "currency"],
  ["denomination_in_original_currency", "original_currency"],
  ["denomination_in_base_currency", "base_currency"],
  ["original_denomination", "currency"],
] as const;

/** Describes a document: `INV-1 of account ACC-1, 1,204.55 USD`; by number if it could not be read. */
export const describeDocument = (
  record: Arguments | undefined,
  documentNumber: unknown,
): string => {
  if (record === undefined) return quote(documentNumber);
  const which = `${formatName(documentNumber)} of account ${formatName(record["account_number"])}`;
  const amount = DOCUMENT_AMOUNTS.find(([name]) => typeof record[name] === "number");
  return amount === undefined
    ? which
    : `${which}, ${formatMoney(record[amount[0]], record[amount[1]])}`;
};
