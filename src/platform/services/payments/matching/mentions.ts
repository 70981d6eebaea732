import { toNumberKey } from "../../../../contract/number-key.ts";
import { textOf, type Values } from "./values.ts";

/** Fields that may mention a document or a customer, best first. */
const MENTIONING = ["paymentReference", "remittanceId", "remittanceText", "payerName"] as const;

const MOST_CHARACTERS = 2000;
const MOST_WORDS = 60;
const MOST_LENGTH = 40;
const LEAST_DIGITS = 4;

// Most words begin and end with a plain letter or digit.
const PLAIN = /^[A-Za-z0-9](?:.{0,78}[A-Za-z0-9])?$/;
const BETWEEN = /[\s,;:()[\]{}"'<>|=]+/;
const EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]{1,20}$/gu;
const DIGIT = /\p{N}/u;
const LETTER = /\p{L}/u;
const LETTERS = /^\p{L}{1,6}$/u;

const trimSigns = (word: string): string => (PLAIN.test(word) ? word : word.replaceAll(EDGES, ""));

const listWords = (text: string): string[] => {
  const words = text
    .slice(0, MOST_CHARACTERS)
    .split(BETWEEN, MOST_WORDS)
    .map((word) => trimSigns(word.slice(0, 2 * MOST_LENGTH)))
    .filter((word) => word !== "");
  // A prefix and its number may be two words.
  const pairs = words.flatMap((word, place) => {
    const next = words[place + 1];
    return next !== undefined && LETTERS.test(word) && DIGIT.test(next) ? [`${word} ${next}`] : [];
  });
  return [...words, ...pairs].filter((word) => word.length <= MOST_LENGTH);
};

const listTexts = (values: Values): string[] =>
  MENTIONING.flatMap((name) => textOf(values, name) ?? []);

/** Lists the words of a payment that may be the number of a document. */
export const listMentions = (values: Values): string[] => [
  ...new Set(
    listTexts(values)
      .flatMap(listWords)
      .filter((word) => DIGIT.test(word) && toNumberKey(word).length >= 3),
  ),
];

/** Lists the words of a payment that may be the number of a customer's account; few digits may be anything. */
export const listAccountMentions = (values: Values): string[] => [
  ...new Set(
    listTexts(values)
      .flatMap(listWords)
      .filter((word) => word.length > 1 && (LETTER.test(word) || word.length >= LEAST_DIGITS)),
  ),
];
