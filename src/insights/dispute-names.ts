import { createFieldProblem, Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import { describeKnown } from "../contract/insights/arguments.ts";
import type { DisputeFilters } from "../contract/insights/dispute-filters.ts";
import type { Operation } from "../contract/operation.ts";
import type { Assignee } from "../contract/operations/assignees.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { Fields, InsightContext } from "./insight.ts";

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

type Kind = {
  operation: Operation;
  toNamed: (record: Fields) => Named;
  /** The id and the name that a dispute has of it. */
  ofDispute: (dispute: Dispute) => { id: string | null; name: string | null };
};

const coded =
  (idField: string) =>
  (record: Fields): Named => ({
    id: String(record[idField]),
    code: String(record["code"]),
    name: String(record["description"]),
  });

const toNamedAssignee = (record: Fields): Named => {
  const { assigneeId, person } = record as Assignee;
  const name = `${person.firstName} ${person.lastName}`.trim();
  return { id: assigneeId, code: person.email, name };
};

const KINDS: Readonly<Record<NamedFilter, Kind>> = {
  reason: {
    operation: contract.reasons.list,
    toNamed: coded("reasonId"),
    ofDispute: ({ reasonId: id, reasonName: name }) => ({ id, name }),
  },
  category: {
    operation: contract.categories.list,
    toNamed: coded("categoryId"),
    ofDispute: ({ categoryId: id, categoryName: name }) => ({ id, name }),
  },
  department: {
    operation: contract.departments.list,
    toNamed: coded("departmentId"),
    ofDispute: ({ departmentId: id, departmentName: name }) => ({ id, name }),
  },
  assignee: {
    operation: contract.assignees.list,
    toNamed: toNamedAssignee,
    ofDispute: ({ assigneeId: id, assigneeName: name }) => ({ id, name }),
  },
  resolution: {
    operation: contract.resolutions.list,
    toNamed: coded("resolutionId"),
    ofDispute: ({ resolutionId: id, resolutionCode: name }) => ({ id, name }),
  },
};

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

const refuseUnknown = (filter: NamedFilter, word: string, known: readonly Named[]): never => {
  const names = known.flatMap(({ code, name }) => [code, name]);
  const near = describeKnown(word, [...new Set(names)], MOST_KNOWN);
  const message = `names no ${filter} of the configuration: ${JSON.stringify(word.slice(0, 100))}${near}`;
  throw createFieldProblem("invalid_parameter", {
    field: filter,
    code: "unknown_reference",
    message,
  });
};

const isForbidden = (error: unknown): error is Problem =>
  error instanceof Problem && error.status === 403;

const resolveName = async (
  { call }: InsightContext,
  filter: NamedFilter,
  word: string,
): Promise<{ condition: NameCondition; notes: string[] }> => {
  const { operation, toNamed, ofDispute } = KINDS[filter];
  try {
    const { output } = await call(operation, {});
    const known = (output as Fields[]).map(toNamed);
    const ids = new Set(known.filter((one) => isNamed(one, word)).map(({ id }) => id));
    if (ids.size === 0) refuseUnknown(filter, word, known);
    const holds = (dispute: Dispute): boolean => {
      const { id } = ofDispute(dispute);
      return id !== null && ids.has(id);
    };
    return { condition: { filter, ids, holds }, notes: [] };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const holds = (dispute: Dispute): boolean => isPart(ofDispute(dispute).name, word);
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
