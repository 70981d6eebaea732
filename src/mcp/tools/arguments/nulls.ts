import type { z } from "zod";
import type { Fault } from "../../../contract/errors.ts";
import { isRecord } from "../../../kit/json.ts";
import { findSpelling } from "../../../kit/spelling.ts";

type Values = Record<string, unknown>;

const MAX_SHOWN = 60;

/**
 * Returns values in which the fields that `clear` names are null, and a fault for each name of a field that cannot be
 * empty or that has a value too.
 */
export const clearFields = (
  values: Values,
  clear: readonly string[],
  shape: Readonly<Record<string, z.ZodType>>,
): { values: Values; wrong: Fault[] } => {
  if (clear.length === 0) return { values, wrong: [] };
  const known = Object.keys(shape).filter((name) => shape[name]?.safeParse(null).success === true);
  const wrong: Fault[] = [];
  const cleared: Values = {};
  for (const [at, sent] of clear.entries()) {
    const name = findSpelling(sent, known);
    const field = `clear[${at}]`;
    const shown = JSON.stringify(name.slice(0, MAX_SHOWN));
    if (!known.includes(name)) {
      wrong.push({ field, code: "unknown", message: `${shown} is not a field that can be empty` });
    } else if (Object.hasOwn(values, name) && values[name] !== null) {
      wrong.push({ field, code: "conflict", message: `${shown} is sent with a value too` });
    } else cleared[name] = null;
  }
  return { values: { ...values, ...cleared }, wrong };
};

/** Returns a copy of a value without the members at these paths; what is not on a path is shared. */
const withoutPaths = (value: unknown, paths: readonly (readonly PropertyKey[])[]): unknown => {
  if (paths.length === 0) return value;
  const byKey = Map.groupBy(paths, ([key]) => String(key));
  const change = (child: unknown, key: string): unknown =>
    withoutPaths(
      child,
      (byKey.get(key) ?? []).map((path) => path.slice(1)),
    );
  if (Array.isArray(value)) return value.map((item, at) => change(item, String(at)));
  if (!isRecord(value)) return value;
  const isRemoved = (key: string): boolean =>
    byKey.get(key)?.some((path) => path.length === 1) === true;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]) =>
      isRemoved(key) ? [] : [[key, change(child, key)]],
    ),
  );
};

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((part, key) => (part as Values | undefined)?.[String(key)], value);

/**
 * Returns values without the nested members that are null where the schema takes no null: typed hosts write null for what
 * they leave out. Items of lists stay.
 */
export const withoutRefusedNulls = (schema: z.ZodType, values: Values): Values => {
  const { error } = schema.safeParse(values);
  const paths = (error?.issues ?? [])
    .map(({ path }) => path)
    .filter((path) => typeof path.at(-1) === "string" && valueAt(values, path) === null);
  return withoutPaths(values, paths) as Values;
};
