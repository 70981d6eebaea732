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
  /** The field of the id, of the record and of a dispute that has it. */
  id: `${NamedFilter}Id`;
  /** The field of a dispute with its name. */
  name: keyof Dispute & `${NamedFilter}${"Name" | "Code"}`;
};

const KINDS: Readonly<Record<NamedFilter, Kind>> = {
  reason: { operation: contract.reasons.list, id: "reasonId", name: "reasonName" },
  category: { operation: contract.categories.list, id: "categoryId", name: "categoryName" },
  department: { operation: contract.departments.list, id: "departmentId", name: "departmentName" },
  assignee: { operation: contract.assignees.list, id: "assigneeId", name: "assigneeName" },
  resolution: { operation: contract.resolutions.list, id: "resolutionId", name: "resolutionCode" },
};

const toNamed = (record: Fields, { id }: Kind): Named => {
  if (!("person" in record)) {
    const { [id]: recordId, code, description } = record;
    return { id: String(recordId), code: String(code), name: String(description) };
  }
  const { assigneeId, person } = record as Assignee;
  const name = `${person.firstName} ${person.lastName}`.trim();
  return { id: assigneeId, code: person.email, name };
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
  const kind = KINDS[filter];
  try {
    const { output } = await call(kind.operation, {});
    const known = (output as Fields[]).map((record) => toNamed(record, kind));
    const ids = new Set(known.filter((one) => isNamed(one, word)).map(({ id }) => id));
    if (ids.size === 0) refuseUnknown(filter, word, known);
    const holds = (dispute: Dispute): boolean => {
      const id = dispute[kind.id];
      return id !== null && ids.has(id);
    };
    return { condition: { filter, ids, holds }, notes: [] };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const holds = (dispute: Dispute): boolean => isPart(dispute[kind.name], word);
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
