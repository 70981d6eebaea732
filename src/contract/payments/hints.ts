import { findNearest } from "../../kit/nearest.ts";
import { CATALOGUE, findField, type Source, SOURCES } from "./catalogue.ts";
import type { Field } from "./field.ts";
import { type Operator, OPERATOR_NAMES, OPERATOR_SYNONYMS } from "./operators.ts";
import { MAX_DAYS_AGO } from "./relative-days.ts";
import { checkValue, abbreviate } from "./value.ts";

export const GROUPS = ["and", "or", "not"] as const;
type Group = (typeof GROUPS)[number];

export const FILTER_EXAMPLE = `{"paymentDate": {"gte": "2026-01-01"}}`;

const GROUP_SYNONYMS: ReadonlyMap<string, Group> = new Map([
  ["and", "and"],
  ["all", "and"],
  ["or", "or"],
  ["any", "or"],
  ["not", "not"],
  ["nor", "not"],
]);

/** Common words for things that the fields name differently. */
const FIELD_SYNONYMS: readonly [RegExp, string][] = [
  [/customer|client|buyer|debtor/i, "account"],
  [/che(ck|que)num(ber)?|check(no|ref)|traceno/i, "paymentReference"],
];

/** No name is longer. A word of a longer one would be compared with those of every field, which takes seconds. */
const MAX_NAME = 100;

const normalizeWord = (word: string): string =>
  word
    .slice(0, MAX_NAME)
    .toLowerCase()
    .replaceAll(/[_\s$-]/g, "");

const splitWords = (name: string): string[] =>
  name
    .split(/(?=[A-Z])|[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase())
    .filter((word) => word.length > 2);

const MAX_SUGGESTIONS = 5;

/** Returns fields similar to a name: by spelling, by synonym, or by a shared word. */
const findSimilarFields = (source: Source, name: string): string[] => {
  const names = CATALOGUE[source].fields.map((field) => field.name);
  const renamed = FIELD_SYNONYMS.reduce(
    (replaced, [word, ours]) => replaced.replace(word, ours),
    name,
  );
  const near = [...findNearest(renamed, names), ...findNearest(name, names)];
  if (near.length > 0) return [...new Set(near)].slice(0, MAX_SUGGESTIONS);
  const words = splitWords(renamed);
  return names
    .filter((one) => splitWords(one).some((word) => words.includes(word)))
    .slice(0, MAX_SUGGESTIONS);
};

/** Returns the error message for a name that is not a field of the source. */
export const describeUnknownField = (source: Source, name: string): string => {
  const near = findSimilarFields(source, name.slice(0, MAX_NAME));
  const nearWords = near.length === 0 ? "" : `; similar: ${near.join(", ")}`;
  const elsewhere = SOURCES.filter((one) => findField(one, name) !== undefined);
  if (elsewhere.length > 0) {
    return `is not a field of ${source}, but of ${elsewhere.join(" and ")}${nearWords}`;
  }
  return `is not a field of ${source}${nearWords === "" ? "; the schema lists the fields" : nearWords}`;
};

/** Returns the error message for an unknown key of a filter, which may come from another query language. */
export const describeUnknownFilterKey = (source: Source, name: string): string => {
  if (name === "field" || name === "operator" || name === "value") {
    return `is not a field; write {"FIELD": {"OPERATOR": VALUE}}, such as ${FILTER_EXAMPLE}`;
  }
  const group = GROUP_SYNONYMS.get(normalizeWord(name));
  return group === undefined
    ? describeUnknownField(source, name)
    : `is not a field; write "${group}"`;
};

/** Converts a value to the field's type if a simple conversion makes it valid; otherwise returns it unchanged. */
const guessValue = (field: Field, sent: unknown): unknown => {
  // An object of JSON may have a field `toString`, which is no function.
  const text = typeof sent === "object" ? "" : String(sent);
  if (text.length > MAX_NAME) return sent;
  const number = text.trim() === "" ? undefined : Number(text);
  const flag = { true: true, false: false }[text.toLowerCase()];
  const day = /^\d{4}-\d\d-\d\d/.exec(text)?.[0];
  const [near] = findNearest(text, field.values, 1);
  const candidates = [sent, text, number, flag, day, near];
  return candidates.find((one) => "value" in checkValue(field, one)) ?? sent;
};

const MAX_SHOWN_VALUES = 20;

const isFlagFor = ({ type, nullable }: Field, sent: unknown): sent is boolean =>
  typeof sent === "boolean" && type !== "boolean" && nullable;

/** Returns the error message for a value without an operator, such as `{"amount": 5}`. */
export const describeBareValue = (field: Field, sent: unknown): string => {
  const needsOperator = "must have an operator; write ";
  if (Array.isArray(sent) && field.operators.includes("in")) {
    const values = abbreviate(sent.slice(0, MAX_SHOWN_VALUES).map((one) => guessValue(field, one)));
    const isSpan = sent.length === 2 && field.operators.includes("between");
    const one = `{"in": ${values}}`;
    return isSpan
      ? `${needsOperator}{"between": ${values}}, or ${one} for exactly these values`
      : needsOperator + one;
  }
  if (sent === null && field.nullable) return `${needsOperator}{"isNull": true}`;
  if (isFlagFor(field, sent)) return `${needsOperator}{"isNull": ${!sent}}`;
  return `${needsOperator}{"eq": ${abbreviate(guessValue(field, sent))}}`;
};

/** Returns a suggestion for a value that the operator does not accept; empty if the type fault suffices. */
export const suggestAlternative = (field: Field, operator: Operator, sent: unknown): string => {
  const isNot = operator === "ne" || operator === "nin";
  if (sent === null && field.nullable) {
    return `; for rows ${isNot ? "with" : "without"} a value write {"isNull": ${!isNot}}`;
  }
  const isOne = operator === "eq" || operator === "ne";
  return Array.isArray(sent) && isOne && field.operators.includes("in")
    ? `; for several values write {"${isNot ? "nin" : "in"}": ${abbreviate(sent)}}`
    : "";
};

/** Returns the error message for a day relative to the run that is not valid, or that the field does not take. */
export const describeRelativeDay = ({ type }: Field): string =>
  type === "date" || type === "datetime"
    ? `must be {"daysAgo": N} with a whole number of days from 0 to ${MAX_DAYS_AGO}`
    : "takes no days";

/** Returns the error message for a list operator that was sent another value. */
export const describeListForm = ({ type }: Field, operator: Operator): string => {
  const [first, last] = LIST_EXAMPLES[type] ?? ['"A"', '"B"'];
  const form = operator === "between" ? "two values, the lower one first" : "values";
  return `must be a list of ${form}, such as [${first}, ${last}]`;
};

const DAYS = ['"2026-01-01"', '"2026-01-31"'] as const;
const NUMBERS = ["0", "100"] as const;
const LIST_EXAMPLES: Partial<Record<Field["type"], readonly [string, string]>> = {
  date: DAYS,
  datetime: DAYS,
  money: NUMBERS,
  number: NUMBERS,
  integer: NUMBERS,
};

const HAS_VALUE = /^(exists|hasvalue|(is)?not(null|empty|blank))$/;
const HAS_NONE = /^(missing|(is)?(null|none|empty|blank))$/;
const NEGATED = /^(?:is|does|do)?(?:not|n(?=like|contain|between|start|end))(.+?)s?$/;
const OPPOSITES: Partial<Record<Operator, Operator>> = {
  eq: "ne",
  in: "nin",
  gt: "lte",
  lt: "gte",
};

/** Finds the operator that a word means, by spelling or as a synonym from another query language. */
const guessOperator = (word: string, known: readonly string[]): Operator | undefined => {
  const bare = normalizeWord(word);
  const other = Object.keys(OPERATOR_SYNONYMS).find((one) => normalizeWord(one) === bare);
  const name = other === undefined ? findNearest(bare, known, 1)[0] : OPERATOR_SYNONYMS[other];
  return OPERATOR_NAMES.find((one) => one === name && known.includes(one));
};

/** Suggests a filter for a negated word such as `notLike`: suggesting the operator itself would select the opposite rows. */
const suggestOpposite = ({ name, operators, nullable }: Field, word: string, sent: unknown) => {
  const bare = normalizeWord(word);
  if (nullable && HAS_VALUE.test(bare)) return `{"isNull": ${sent === false}}`;
  if (nullable && HAS_NONE.test(bare)) return `{"isNull": ${sent !== false}}`;
  const [, rest] = NEGATED.exec(bare) ?? [];
  const negated = rest === undefined ? undefined : guessOperator(rest, operators);
  if (negated === undefined) return undefined;
  const straight = OPPOSITES[negated];
  return straight !== undefined && operators.includes(straight)
    ? `{"${straight}": ${abbreviate(sent)}}`
    : `{"not": {"${name}": {"${negated}": ${abbreviate(sent)}}}} beside the fields`;
};

const describeMisplacedGroup = (field: Field, group: Group, sent: unknown): string => {
  const example =
    group === "not"
      ? `{"not": {"${field.name}": ${abbreviate(sent)}}}`
      : `{"${group}": [{"${field.name}": …}, {"${field.name}": …}]}`;
  return `must stand beside the fields, not inside one: ${example}; operators of this field: ${field.operators.join(", ")}`;
};

/** Returns the error message for an operator that the field does not accept. */
export const describeWrongOperator = (field: Field, word: string, sent: unknown): string => {
  const group = GROUPS.find((one) => one === normalizeWord(word));
  if (group !== undefined) return describeMisplacedGroup(field, group, sent);
  const known = `operators: ${field.operators.join(", ")}`;
  const isNot = `is not an operator of a field of type ${field.type}`;
  const written = suggestOpposite(field, word, sent);
  if (written !== undefined) return `${isNot}; write ${written}; ${known}`;
  const guessed = guessOperator(word, field.operators);
  return guessed === undefined ? `${isNot}; ${known}` : `${isNot}; similar: ${guessed}; ${known}`;
};
