import type { CallArguments } from "../contract/operation.ts";
import { isDeepStrictEqual } from "node:util";
import { contract } from "../contract/index.ts";
import { isSource, type Source } from "../contract/payments/catalogue.ts";
import { fold } from "./dispute-names.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { readPart } from "./read-part.ts";

const { accounts, disputes, documents, payments } = contract;

/** Documented operations compare numbers exactly, so other spellings of a number are sought and tried. */
export type NumberContext = Pick<InsightContext, "call" | "extensions" | "signal">;
export type NumberKind = "account" | "document";

/** The records that a search for a text reads. */
export const LISTED: Readonly<Record<NumberKind, number>> = { account: 1000, document: 100 };
const GROUPS_READ = 100;
const ROWS_READ = 1000;

/** Lists the numbers that a search for a text finds; none if the platform refuses it. */
export const listNumbers = async (
  context: NumberContext,
  kind: NumberKind,
  search: string,
  limit = LISTED[kind],
): Promise<string[]> => {
  if (kind === "account") {
    const part = await readPart(context, accounts.list, { search, limit });
    return part.refused === undefined ? part.value.data.map((one) => one.accountNumber) : [];
  }
  const part = await readPart(context, documents.list, { search, limit });
  return part.refused === undefined ? part.value.data.map((one) => one.documentNumber) : [];
};

/** Finds numbers by the platform's own searches, which ignore letter case. */
const findNumbers = async (
  context: NumberContext,
  kind: NumberKind,
  number: string,
): Promise<unknown[]> => {
  const [groups, listed] = await Promise.all([
    readPart(context, disputes.summary, {
      [`${kind}Number` as const]: number,
      groupBy: [kind],
      limit: GROUPS_READ,
    }),
    listNumbers(context, kind, number),
  ]);
  const grouped = groups.refused === undefined ? groups.value.items : [];
  return [...grouped.map(({ key }) => key[kind]), ...listed];
};

const findInPayments = async (
  context: NumberContext,
  source: Source,
  field: string,
  number: string,
): Promise<unknown[]> => {
  const filters = { [field]: { startsWith: number } };
  const query = { source, fields: [field], filters, limit: ROWS_READ };
  const part = await readPart(context, payments.query, query);
  return part.refused === undefined ? part.value.data.map((row) => row[field]) : [];
};

/** Whether the platform announces its searches of numbers; without them, spellings are guesses. */
export const canFindNumbers = ({ extensions }: Pick<NumberContext, "extensions">): boolean =>
  [disputes.summary, accounts.list, documents.list].every(({ id }) => extensions.has(id));

const selectOthers = (numbers: readonly unknown[], number: string): string[] => {
  const others = new Set(numbers.map(String));
  others.delete(number);
  return [...others].filter((one) => fold(one) === fold(number));
};

const searchSpellings = async (
  context: NumberContext,
  kind: NumberKind,
  number: string,
): Promise<string[]> => {
  if (canFindNumbers(context))
    return selectOthers(await findNumbers(context, kind, number), number);
  const paid = await findInPayments(context, "cashapp", `${kind}Number`, number);
  return selectOthers([number.toUpperCase(), number.toLowerCase(), ...paid], number);
};

const known = new WeakMap<NumberContext, Map<string, Promise<string[]>>>();

/**
 * Finds spellings of a number in another letter case: those that the platform has if it can search numbers, else capital
 * letters, small letters and those in payments.
 */
export const findSpellings = (
  context: NumberContext,
  kind: NumberKind,
  number: string,
): Promise<string[]> => {
  const found = known.get(context) ?? new Map<string, Promise<string[]>>();
  known.set(context, found);
  const name = `${kind} ${number}`;
  const spellings = found.get(name) ?? searchSpellings(context, kind, number);
  found.set(name, spellings);
  return spellings;
};

/** Reads with a number as it was sent, and with its other spellings if nothing is found. */
export const readInAnyCase = async <T>(
  context: NumberContext,
  kind: NumberKind,
  number: string,
  read: (number: string) => Promise<readonly T[]>,
): Promise<readonly T[]> => {
  const found = await read(number);
  if (found.length > 0) return found;
  const others = await findSpellings(context, kind, number);
  return (await Promise.all(others.map(read))).flat();
};

const NUMBER = /(?<kind>account|document)_?numbers?$/i;
const MOST_RESPELT = 20;

const kindOf = (field: string): NumberKind | undefined =>
  NUMBER.exec(field)?.groups?.["kind"]?.toLowerCase() as NumberKind | undefined;

/** Returns a number's other spellings, or one list with those of the first numbers of a list. */
const respell = async (
  context: NumberContext,
  kind: NumberKind,
  value: unknown,
): Promise<unknown[]> => {
  if (!Array.isArray(value)) return findSpellings(context, kind, String(value));
  const numbers = value.slice(0, MOST_RESPELT).map(String);
  const others = await Promise.all(numbers.map((one) => findSpellings(context, kind, one)));
  return others.flat().length === 0 ? [] : [[...value, ...others.flat()]];
};

/** Returns filters of payments in which an account or document number means each of its spellings in the payments. */
const respellFilters = async (
  context: NumberContext,
  source: Source,
  sent: unknown,
  field = "",
): Promise<unknown> => {
  if (Array.isArray(sent)) {
    return Promise.all(sent.map((one) => respellFilters(context, source, one)));
  }
  if (typeof sent !== "object" || sent === null) return sent;
  const respelt = Object.entries(sent).map(async ([name, value]: [string, unknown]) => {
    const isNumber = kindOf(field) !== undefined && (name === "eq" || name === "in");
    if (!isNumber) return [name, await respellFilters(context, source, value, name)];
    const numbers = [value].flat().slice(0, MOST_RESPELT).map(String);
    const found = await Promise.all(
      numbers.map(async (one) =>
        selectOthers(await findInPayments(context, source, field, one), one),
      ),
    );
    return found.flat().length === 0 ? [name, value] : ["in", [value, ...found].flat()];
  });
  return Object.fromEntries(await Promise.all(respelt));
};

/** Whether arguments of a list have account or document numbers, outside of filters. */
export const hasNumbers = (args: CallArguments): boolean =>
  Object.entries(args).some(([name, value]) => value !== undefined && kindOf(name) !== undefined);

/** Returns the arguments of a list with other spellings of the account and document numbers in them. */
export const respellArguments = async <Args extends Fields>(
  context: NumberContext,
  args: Args,
): Promise<Args[]> => {
  const respelt: [name: string, values: unknown[]][] = [];
  const { source, filters } = args;
  if (isSource(source) && filters !== undefined) {
    const others = await respellFilters(context, source, filters);
    return isDeepStrictEqual(others, filters) ? [] : [{ ...args, filters: others }];
  }
  for (const [name, value] of Object.entries(args)) {
    const kind = value === undefined ? undefined : kindOf(name);
    const values = kind === undefined ? [] : await respell(context, kind, value);
    if (values.length > 0) respelt.push([name, values]);
  }
  const most = Math.max(0, ...respelt.map(([, values]) => values.length));
  return Array.from({ length: most }, (_, place) => ({
    ...args,
    ...Object.fromEntries(respelt.map(([name, values]) => [name, values[place] ?? values.at(-1)])),
  }));
};
