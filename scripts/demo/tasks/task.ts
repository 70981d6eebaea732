import type { CallArguments } from "../../../src/contract/operation.ts";
import { z } from "zod";

export const Result = z.record(z.string(), z.unknown());

/** The structured result of a tool. */
export type Result = z.infer<typeof Result>;

/** Rows of cells as results have them. */
export type Figures = unknown[][];

type ToolCall = readonly [tool: string, args: CallArguments];

/** A task of an analyst over the demo tenant. */
export type Task = {
  question: string;
  /** At most three. */
  calls: readonly ToolCall[];
  /**
   * The calls that tell the same without past days of documents, parents, precedents, claims, changes and statements:
   * all pages of each, whose rows are then added up and compared by hand. Empty where nothing else tells it, absent
   * where `calls` need none of these.
   */
  before?: readonly ToolCall[];
  /** Picks the answer out of the results, without adding, sorting or comparing anything. */
  read: (results: readonly Result[]) => Figures;
  /** The same figures from the rows of the demo tenant, by the tables of `test/support/demo-sql.ts`. */
  sql?: string;
};

const valueAt = (value: unknown, path: string): unknown =>
  path
    .split("/")
    .reduce<unknown>((found, name) => (found as Result | null | undefined)?.[name], value);

/** Reads a row of values of one result by their paths, such as `counts/opened`. */
export const rowOf =
  (...paths: string[]) =>
  (results: readonly Result[]): Figures => [paths.map((path) => valueAt(results[0], path))];

/** Reads a row of values of each member of lists, such as the items of each result. */
export const listOf =
  (list: string, ...paths: string[]) =>
  (results: readonly Result[]): Figures =>
    results.flatMap((result) =>
      (valueAt(result, list) as readonly unknown[]).map((one) =>
        paths.map((path) => valueAt(one, path)),
      ),
    );

export const itemsBy = (...paths: string[]) => listOf("items", ...paths);

export const totals = listOf("currencyTotals", "currencyCode", "count", "amount");

/** Days that questions name: today, last Friday, and last month. */
export type Days = {
  today: string;
  friday: string;
  month: { from: string; to: string; name: string };
  before: (days: number) => string;
};

/** The branches of Northgate Home Centers. */
export const BRANCHES = ["C-10628", "C-10640", "C-10657", "C-10674", "C-10679", "C-10680"];
