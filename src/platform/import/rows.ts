import type { Fault } from "../../contract/errors.ts";
import type { Line } from "./lines.ts";

/** A row as its file has it: text where the file is CSV, JSON values where it is NDJSON. */
export type Row = { line: number; cells: Record<string, unknown> };

/** What stands where a row should be. */
export type Unreadable = { line: number; fault: Fault; text: string };

export type Item = Row | Unreadable;

/** Turns lines into rows; `end` gives what the last lines still hold back. */
export type Reader = {
  /** The names of the columns, once they are known; null where each row names its own. */
  columns(): readonly string[] | null | undefined;
  push(lines: readonly Line[]): Item[];
  end(): Item[];
};

export const isRow = (item: Item): item is Row => "cells" in item;

export const unreadable = ({ number, text }: Line, fault: Omit<Fault, "field">): Unreadable => ({
  line: number,
  fault: { field: "", ...fault },
  text,
});
