import type { z } from "zod";
import { isRecord } from "../../../kit/json.ts";

type Values = Record<string, unknown>;

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
