import type { ReaderOptions } from "./file.ts";

/** The treatment of records of a type. */
export type RecordType = {
  type: string;
  name: string;
  /** Whether a credit is a customer's payment, or a debit returns one; other records are left out by name. */
  take: boolean;
  reason: string;
};

type Group = { take: boolean; reason: string; types: readonly (readonly [string, string])[] };

export const createTypeTable = (groups: readonly Group[]): RecordType[] =>
  groups.flatMap(({ take, reason, types }) =>
    types.map(([type, name]) => ({ type, name, take, reason })),
  );

export type FindType = (...types: readonly string[]) => RecordType | undefined;

/**
 * Creates a lookup in a table of types, of which the most specific is named first. Types that the import map names
 * win over the table.
 */
export const createTypeRules = (
  table: readonly RecordType[],
  { take = [], leaveOut = [] }: ReaderOptions = {},
): FindType => {
  const standard = new Map(table.map((rule) => [rule.type, rule]));
  const own = new Map<string, RecordType>();
  const add = (types: readonly string[], taken: boolean): void => {
    for (const text of types) {
      const type = text.replace(/^BAI2 /, "");
      const name = standard.get(type)?.name ?? type;
      own.set(type, { type, name, take: taken, reason: "named by the import map" });
    }
  };
  add(leaveOut, false);
  add(take, true);
  return (...types) => {
    for (const rules of [own, standard]) {
      for (const type of types) {
        const found = rules.get(type);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };
};
