import { createFieldProblem, Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import { describeKnown } from "../contract/insights/arguments.ts";
import type { DisputeFilters } from "../contract/insights/dispute-filters.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { InsightContext } from "./insight.ts";

/** Folds case for comparisons, as the platform does. */
export const fold = (text: string): string =>
  text.normalize("NFC").toLowerCase().replaceAll("ς", "σ");

export const isPart = (text: string | null | undefined, part: string): boolean =>
  text !== null && text !== undefined && fold(text).includes(fold(part));

/** A record of the configuration as a filter finds it. */
type Named = { id: string; code: string; name: string };

/** The filters that name a record of the configuration. */
const NAMED = ["reason", "category", "department", "assignee", "resolution"] as const;
type NamedFilter = (typeof NAMED)[number];

const { reasons, categories, departments, assignees, resolutions } = contract;

const toNamed = (id: string, { code, description }: { code: string; description: string }) => ({
  id,
  code,
  name: description,
});

const READERS: Record<NamedFilter, (call: InsightContext["call"]) => Promise<Named[]>> = {
  reason: async (call) =>
    (await call(reasons.list, {})).output.map((one) => toNamed(one.reasonId, one)),
  category: async (call) =>
    (await call(categories.list, {})).output.map((one) => toNamed(one.categoryId, one)),
  department: async (call) =>
    (await call(departments.list, {})).output.map((one) => toNamed(one.departmentId, one)),
  assignee: async (call) =>
    (await call(assignees.list, {})).output.map(({ assigneeId, person }) => ({
      id: assigneeId,
      code: person.email,
      name: `${person.firstName} ${person.lastName}`.trim(),
    })),
  resolution: async (call) =>
    (await call(resolutions.list, {})).output.map((one) => toNamed(one.resolutionId, one)),
};

/** Returns the name of the record in a dispute. */
const nameIn = (dispute: Dispute, filter: NamedFilter): string | null | undefined =>
  filter === "resolution" ? dispute.resolutionCode : dispute[`${filter}Name` as const];

/** The ids that one filter names, or the comparison of names if the configuration cannot be read. */
export type NameCondition = {
  filter: NamedFilter;
  ids: ReadonlySet<string> | undefined;
  holds: (dispute: Dispute) => boolean;
};

export type NameConditions = { conditions: NameCondition[]; notes: string[] };

const isNamed = ({ code, name }: Named, word: string): boolean =>
  fold(code) === fold(word) || isPart(name, word);

const MOST_KNOWN = 20;

const refuseUnknown = (
  filter: NamedFilter,
  word: string,
  names: readonly string[],
  field: string = filter,
): never => {
  const near = describeKnown(word, [...new Set(names)], MOST_KNOWN);
  const message = `names no ${filter} of the configuration: ${JSON.stringify(word.slice(0, 100))}${near}`;
  throw createFieldProblem("invalid_parameter", {
    field,
    code: "unknown_reference",
    message,
  });
};

const listNames = (known: readonly Named[]): string[] =>
  known.flatMap(({ code, name }) => [code, name]);

const resolveName = async (
  { call }: InsightContext,
  filter: NamedFilter,
  word: string,
): Promise<{ condition: NameCondition; notes: string[] }> => {
  try {
    const known = await READERS[filter](call);
    const ids = new Set(known.filter((one) => isNamed(one, word)).map(({ id }) => id));
    if (ids.size === 0) refuseUnknown(filter, word, listNames(known));
    const holds = (dispute: Dispute): boolean => {
      const id = dispute[`${filter}Id` as const];
      return id !== null && ids.has(id);
    };
    return { condition: { filter, ids, holds }, notes: [] };
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 403) throw error;
    const holds = (dispute: Dispute): boolean => isPart(nameIn(dispute, filter), word);
    const { permission } = error.details;
    const missing =
      permission === undefined ? error.message : `the right "${permission}" is missing`;
    const note = `The ${filter} was compared with the names in the disputes only, because the configuration cannot be read (${missing}).`;
    return { condition: { filter, ids: undefined, holds }, notes: [note] };
  }
};

/**
 * Resolves the filters that name records of the configuration by code, e-mail or part of a name.
 *
 * @throws {Problem} invalid_parameter with similar names if nothing in the configuration fits
 */
export const resolveNames = async (
  context: InsightContext,
  filters: DisputeFilters,
): Promise<NameConditions> => {
  const named = NAMED.flatMap((filter) => {
    const word = filters[filter];
    return word === undefined ? [] : [resolveName(context, filter, word)];
  });
  const resolved = await Promise.all(named);
  return {
    conditions: resolved.map(({ condition }) => condition),
    notes: resolved.flatMap(({ notes }) => notes),
  };
};

/** The filters of lists of disputes that take an id, and those that take a part of a name. */
const BY_ID: Readonly<Record<string, NamedFilter>> = {
  AssigneeId: "assignee",
  DepartmentId: "department",
};
const BY_NAME: Readonly<Record<string, NamedFilter>> = {
  ReasonName: "reason",
  CategoryName: "category",
  DepartmentName: "department",
};

/** Returns the records that a filter may name; none if the configuration cannot be read. */
const readNamed = async (call: InsightContext["call"], filter: NamedFilter): Promise<Named[]> => {
  try {
    return await READERS[filter](call);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [];
  }
};

const checkFilter = async (
  call: InsightContext["call"],
  field: string,
  word: unknown,
): Promise<void> => {
  const filter = BY_ID[field] ?? BY_NAME[field];
  if (filter === undefined || typeof word !== "string") return;
  const known = await readNamed(call, filter);
  const isName = field in BY_NAME;
  const isKnown = known.some(({ id, name }) => (isName ? isPart(name, word) : id === word));
  if (known.length === 0 || isKnown) return;
  refuseUnknown(filter, word, isName ? known.map(({ name }) => name) : listNames(known), field);
};

/**
 * Checks the filters of an empty list of disputes, which is the platform's answer to names that it does not have.
 *
 * @throws {Problem} invalid_parameter with similar names if nothing in the configuration fits
 */
export const checkFilters = async (
  call: InsightContext["call"],
  filters: Readonly<Record<string, unknown>>,
): Promise<void> => {
  await Promise.all(Object.entries(filters).map(([field, word]) => checkFilter(call, field, word)));
};
