import type { CallArguments, Operation } from "../../contract/operation.ts";
import { isRecord } from "../../kit/json.ts";
import type { Fields } from "./budget.ts";

/** Names every field of a row. */
const ALL = "*";

/** Whether a tool cuts the rows of a list: the operation declares which fields come by default. */
export const hasRowFields = ({ list }: Operation): boolean => list?.defaultFields != null;

/** Whether the platform itself takes the names of the fields. */
export const selectsFields = ({ body, query }: Operation): boolean =>
  "fields" in { ...query.shape, ...body?.shape };

/** Returns a value without the nulls in its objects. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, child]) =>
      child === null ? [] : [[name, withoutNulls(child)]],
    ),
  );
};

const pick = (row: Fields, names: ReadonlySet<string>): Fields =>
  Object.fromEntries(Object.entries(row).filter(([name]) => names.has(name)));

/** The arguments for the platform, and the form of a row in the answer. */
export type RowChoice = {
  args: CallArguments;
  shape: (row: Fields) => Fields;
  /** The fields of a row, in their order. */
  names: readonly string[];
};

const namesOf = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value.map(String) : undefined;

/**
 * Decides which fields the rows of a list have in an answer: the named ones, all for `["*"]`, or the operation's
 * default ones. Where the platform takes `fields`, it is asked for no others.
 */
export const chooseRows = (
  operation: Operation,
  args: CallArguments,
  fields?: string[],
): RowChoice => {
  const { list } = operation;
  const known = list?.fieldsOf(args) ?? [];
  if (list === null || list.defaultFields === null) {
    return { args, shape: (row) => row, names: known };
  }
  const isOurs = !selectsFields(operation);
  const named = isOurs ? fields : namesOf(args["fields"]);
  const isAll = named?.includes(ALL) === true;
  const defaults = list.defaultFields.filter((name) => known.includes(name));
  const selected = isAll ? known : (named ?? defaults);
  if (!isOurs) {
    const chosen = selected.length === 0 ? {} : { fields: selected };
    const shape = (row: Fields) => withoutNulls(row) as Fields;
    return { args: { ...args, ...chosen }, shape, names: selected };
  }
  const names = new Set(selected);
  return {
    args,
    shape: (row) => withoutNulls(isAll ? row : pick(row, names)) as Fields,
    names: selected,
  };
};

/** Returns the names that no row of the list has. */
export const findUnknownFields = ({ list }: Operation, fields: readonly string[]): string[] => {
  const known = list?.fieldsOf({}) ?? [];
  return fields.filter((name) => name !== ALL && !known.includes(name));
};
