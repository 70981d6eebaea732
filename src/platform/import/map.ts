import { z } from "zod";
import { type Fault, Problem } from "../../contract/errors.ts";
import { toFaults, formatFaults } from "../../contract/faults.ts";
import { isRecord, parseJson } from "../../kit/json.ts";
import { parseDayPattern, parseIsoDay } from "./dates.ts";
import type { Fields } from "./fields.ts";

const Day = z
  .string()
  .refine((text) => parseIsoDay(text) !== undefined, "must be a day as YYYY-MM-DD");

const Pattern = z.string().transform((text, context) => {
  const read = parseDayPattern(text);
  if (read !== undefined) return read;
  context.addIssue({ code: "custom", message: "must consist of YYYY, M or MM, and D or DD" });
  return z.NEVER;
});

const Column = z.string().min(1);
const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: "must be text, a number, true, false or null",
});

const FromColumn = z.strictObject({
  column: Column,
  date: Pattern.optional(),
  asOf: Day.optional(),
  values: z.record(z.string(), Scalar).optional(),
});
const Constant = z.strictObject({ value: Scalar });

const Equals = z.strictObject({ column: Column, equals: z.string() });
const NotEmpty = z.strictObject({ column: Column, notEmpty: z.literal(true) });
const NotAfter = z.strictObject({ column: Column, date: Pattern.optional(), notAfter: Day });

export type Entry = z.output<typeof FromColumn> | z.output<typeof Constant>;
export type Condition =
  | z.output<typeof Equals>
  | z.output<typeof NotEmpty>
  | z.output<typeof NotAfter>;

/** A parsed MAP.json: the source of each field, the conditions on rows, and the columns that identify a row. */
export type ImportMap = {
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
      found.push({ field: field === "" ? at : `${at}.${field}`, ...fault });
    }
    return undefined;
  };
};

const hasKey = (value: unknown, key: string): boolean =>
  isRecord(value) && Object.hasOwn(value, key);

const parseEntry = (check: Check, name: string, value: unknown): Entry | undefined => {
  if (typeof value === "string") return check(FromColumn, { column: value }, name);
  return hasKey(value, "value") ? check(Constant, value, name) : check(FromColumn, value, name);
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

/**
 * Parses a MAP.json for a target with these fields.
 *
 * @throws {Problem} invalid_request with every fault
 */
export const parseImportMap = (text: string, fields: Fields): ImportMap => {
  const { where, sourceKey, ...named } = parseObject(text);
  const found: Fault[] = [];
  const check = createCheck(found);
  const entries = new Map<string, Entry>();
  for (const [name, value] of Object.entries(named)) {
    const entry = fields.has(name) ? parseEntry(check, name, value) : undefined;
    if (entry !== undefined) entries.set(name, entry);
    if (fields.has(name)) continue;
    const message = `is none of ${[...fields.keys()].join(", ")}, where, sourceKey`;
    found.push({ field: name, code: "unknown", message });
  }
  const conditions = parseWhere(check, found, where);
  const key = typeof sourceKey === "string" ? [sourceKey] : sourceKey;
  const keyColumns =
    key === undefined ? undefined : check(z.array(Column).min(1), key, "sourceKey");
  if (found.length > 0) refuse(found);
  return { entries, where: conditions, sourceKey: keyColumns };
};

/** Returns every column that the map reads. */
export const collectColumns = ({ entries, where, sourceKey }: ImportMap): Set<string> =>
  new Set([
    ...[...entries.values()].flatMap((entry) => ("column" in entry ? [entry.column] : [])),
    ...where.map(({ column }) => column),
    ...(sourceKey ?? []),
  ]);
