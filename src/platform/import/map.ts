import type { z } from "zod";
import { type Fault, Problem } from "../../contract/errors.ts";
import { toFaults, formatFaults } from "../../contract/faults.ts";
import { isRecord } from "../../kit/json.ts";
import { parseJson } from "../../kit/parse-json.ts";
import { findNearest, offerNames } from "../../kit/nearest.ts";
import type { Fields, FieldSpec } from "./fields.ts";
import {
  type Condition,
  Constant,
  DebitCredit,
  type Entry,
  Equals,
  FileOptions,
  FromColumn,
  Joined,
  NotAfter,
  NotEmpty,
  SourceKey,
  Sum,
} from "./map-schema.ts";

/**
 * A parsed MAP.json: how the file is read, the source of each field, the conditions on rows, and the columns that
 * identify a row.
 */
export type ImportMap = FileOptions & {
  entries: ReadonlyMap<string, Entry>;
  where: readonly Condition[];
  sourceKey: readonly string[] | undefined;
};

const refuse = (list: Fault[]): never => {
  throw new Problem("invalid_request", `The map is not usable: ${formatFaults(list)}`, {
    errors: list,
  });
};

type Check = <S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: string,
) => z.output<S> | undefined;

/** Creates a check that validates one part of the map and records faults with the part's path. */
const createCheck = (found: Fault[]): Check => {
  return (schema, value, at) => {
    const { data, error } = schema.safeParse(value, { reportInput: true });
    if (error === undefined) return data;
    for (const { field, ...fault } of toFaults(error)) {
      const path = [at, field].filter((part) => part !== "").join(".");
      found.push({ field: path, ...fault });
    }
    return undefined;
  };
};

const hasKey = (value: unknown, key: string): boolean =>
  isRecord(value) && Object.hasOwn(value, key);

const FORMS = { value: Constant, sum: Sum, debit: DebitCredit, credit: DebitCredit, join: Joined };

const parseForm = (check: Check, name: string, value: unknown): Entry | undefined => {
  if (typeof value === "string") return check(FromColumn, { column: value }, name);
  for (const [key, schema] of Object.entries(FORMS)) {
    if (hasKey(value, key)) return check(schema, value, name);
  }
  return check(FromColumn, value, name);
};

const AMOUNT_MEMBERS = ["sum", "debit", "credit", "number", "negate", "signFrom"] as const;

const parseEntry = (
  check: Check,
  found: Fault[],
  [name, value]: [string, unknown],
  { kind }: FieldSpec,
): Entry | undefined => {
  const misplaced = kind === "number" ? [] : AMOUNT_MEMBERS.filter((key) => hasKey(value, key));
  for (const key of misplaced) {
    const message = "is for amounts and other numbers only";
    found.push({ field: `${name}.${key}`, code: "unknown", message });
  }
  return misplaced.length > 0 ? undefined : parseForm(check, name, value);
};

const CONDITIONS = { equals: Equals, notEmpty: NotEmpty, notAfter: NotAfter };

const parseCondition = (
  check: Check,
  found: Fault[],
  value: unknown,
  at: string,
): Condition | undefined => {
  for (const [key, schema] of Object.entries(CONDITIONS)) {
    if (hasKey(value, key)) return check(schema, value, at);
  }
  const names = Object.keys(CONDITIONS).join(", ");
  found.push({ field: at, code: "required", message: `needs one of ${names}` });
  return undefined;
};

const parseWhere = (check: Check, found: Fault[], value: unknown): Condition[] => {
  if (value === undefined) return [];
  const many = Array.isArray(value);
  return (many ? value : [value]).flatMap(
    (one, place) => parseCondition(check, found, one, many ? `where[${place}]` : "where") ?? [],
  );
};

const parseObject = (text: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = parseJson(text.replace(/^\uFEFF/, ""));
  } catch {
    throw new Problem("invalid_json", "The map is not valid JSON.");
  }
  return isRecord(value)
    ? value
    : refuse([{ field: "", code: "type", message: "must be an object" }]);
};

const OPTIONS: readonly string[] = Object.keys(FileOptions.shape);

/** Separates the members that say how the file is read from those of fields. */
const splitMembers = (value: Record<string, unknown>, fields: Fields) => {
  const isOption = (name: string): boolean => OPTIONS.includes(name) && !fields.has(name);
  const members = Object.entries(value);
  return {
    options: Object.fromEntries(members.filter(([name]) => isOption(name))),
    named: members.filter(([name]) => !isOption(name)),
  };
};

/** Creates the fault of a member that is unknown, with the nearest names. */
const createUnknownFault = (name: string, known: readonly string[]): Fault => {
  const near = offerNames(findNearest(name, known));
  return { field: name, code: "unknown", message: `is none of ${known.join(", ")}${near}` };
};

/**
 * Parses a MAP.json for a target with these fields.
 *
 * @throws {Problem} invalid_request with every fault
 */
export const parseImportMap = (text: string, fields: Fields): ImportMap => {
  const { where, sourceKey, ...members } = parseObject(text);
  const { options, named } = splitMembers(members, fields);
  const found: Fault[] = [];
  const check = createCheck(found);
  const file = check(FileOptions, options, "");
  for (const name of ["take", "leaveOut"]) {
    if (!Object.hasOwn(options, name)) continue;
    found.push({ field: name, code: "unknown", message: "is for bank files only" });
  }
  const entries = new Map<string, Entry>();
  for (const [name, value] of named) {
    const spec = fields.get(name);
    const entry = spec && parseEntry(check, found, [name, value], spec);
    if (entry !== undefined) entries.set(name, entry);
    if (spec !== undefined) continue;
    found.push(createUnknownFault(name, [...fields.keys(), "where", "sourceKey", ...OPTIONS]));
  }
  const conditions = parseWhere(check, found, where);
  const key = typeof sourceKey === "string" ? [sourceKey] : sourceKey;
  const keyColumns = key === undefined ? undefined : check(SourceKey, key, "sourceKey");
  if (found.length > 0) refuse(found);
  return { ...file, entries, where: conditions, sourceKey: keyColumns };
};

/** A map for a bank file: the codes of records to take as payments and to leave out, and the encoding. */
export type BankMap = Pick<FileOptions, "take" | "leaveOut" | "encoding">;

const BankOptions = FileOptions.pick({ take: true, leaveOut: true, encoding: true }).strict();

/**
 * Parses a MAP.json for a bank file.
 *
 * @throws {Problem} invalid_request with every fault
 */
export const parseBankMap = (text: string): BankMap => {
  const found: Fault[] = [];
  const parsed = createCheck(found)(BankOptions, parseObject(text), "");
  const twice = parsed?.take?.filter((code) => parsed.leaveOut?.includes(code)) ?? [];
  if (twice.length > 0) {
    found.push({ field: "take", code: "format", message: `has ${twice[0]}, as leaveOut has` });
  }
  return parsed === undefined || found.length > 0 ? refuse(found) : parsed;
};

const listOwnColumns = (entry: Entry): (string | undefined)[] => {
  switch (entry.from) {
    case "value":
      return [];
    case "debitCredit":
      return [entry.debit, entry.credit];
    case "sum":
      return [entry.sum, entry.signFrom?.column];
    case "join":
      return [...entry.join, entry.signFrom?.column];
    default:
      return [entry.column, entry.signFrom?.column];
  }
};

/** Returns the columns from which a field is read. */
export const listEntryColumns = (entry: Entry): string[] =>
  listOwnColumns(entry).filter((name) => name !== undefined);

/** Returns every column that the map reads. */
export const collectColumns = ({ entries, where, sourceKey }: ImportMap): Set<string> =>
  new Set([
    ...[...entries.values()].flatMap(listEntryColumns),
    ...where.map(({ column }) => column),
    ...(sourceKey ?? []),
  ]);
