import type { z } from "zod";
import { forEachInTurns } from "../../../kit/in-turns.ts";
import { type Column, type Row, valueAt } from "../../files/saved/cells.ts";
import { type Raw, toRawSchema, typesOf } from "../listing/schemas.ts";

/** A field of a schema; an open one is an object with keys of any name. */
type Field = Column & { isOpen: boolean };

const toColumn = (path: readonly string[]): Column => ({ name: path.join("."), path });

/** A list is one column, also where an object can stand in its place, such as the reason why it was not read. */
const listFields = (raw: Raw, path: readonly string[] = []): Field[] => {
  const { properties = {} } =
    [raw, ...(raw.anyOf ?? [])].find(
      (one) => one.properties !== undefined && !typesOf(raw).includes("array"),
    ) ?? {};
  const entries = Object.entries(properties);
  return entries.length === 0
    ? [{ ...toColumn(path), isOpen: typesOf(raw).includes("object") }]
    : entries.flatMap(([name, child]) => listFields(child, [...path, name]));
};

/** Returns the columns of a list's rows: of the fields that they have, objects in them divided. */
export const columnsOfList = (
  row: z.ZodType | undefined,
  names: readonly string[],
): readonly Column[] => {
  const fields = row === undefined ? [] : listFields(toRawSchema(row));
  const all = names.length > 0 ? names : fields.map(({ path: [name = ""] }) => name);
  return [...new Set(all)].flatMap((name) => {
    const own = fields.filter(({ path }) => path[0] === name);
    return own.length === 0 ? [toColumn([name])] : own;
  });
};

/**
 * Returns the columns of an insight's items by their schema, without those in which no item has a value. An object with
 * keys of any name has a column for each key that an item has.
 */
export const columnsOfItems = async (
  item: z.ZodType,
  rows: readonly Row[],
): Promise<readonly Column[]> => {
  const fields = listFields(toRawSchema(item));
  if (rows.length === 0) return fields;
  const keys = new Map(fields.map((field) => [field, new Set<string>()]));
  const unfilled = new Set(fields);
  const look = (row: Row): void => {
    for (const [field, known] of keys) {
      if (!field.isOpen && !unfilled.has(field)) continue;
      const value = valueAt(row, field.path);
      if (value === null || value === undefined || value === "") continue;
      unfilled.delete(field);
      if (field.isOpen && typeof value === "object" && !Array.isArray(value)) {
        for (const key of Object.keys(value ?? {})) known.add(key);
      }
    }
  };
  await forEachInTurns(rows, look);
  return fields
    .filter((field) => !unfilled.has(field))
    .flatMap((field) => {
      const own = [...(keys.get(field) ?? [])];
      return own.length === 0 ? [field] : own.map((key) => toColumn([...field.path, key]));
    });
};
