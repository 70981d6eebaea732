import type { Fault } from "../../contract/errors.ts";
import type { Layout } from "./layout.ts";
import type { Line } from "./lines.ts";

/** A row of a file: text cells from CSV, JSON values from NDJSON. */
export type Row = {
  line: number;
  cells: Record<string, unknown>;
  /** Whether it belongs to the same payment as the row before, so that both are written in one batch. */
  continues?: boolean;
};

/** A line that could not be read as a row. */
export type Unreadable = { line: number; fault: Fault; text: string };

export type Item = Row | Unreadable;

/** Converts lines to rows; `end` returns the rows of lines that were held back. */
export type Reader = {
  /** The column names once they are known; null if each row has its own names. */
  columns(): readonly string[] | null | undefined;
  /** The form of a text table once it is known. */
  layout?(): Layout | undefined;
  push(lines: readonly Line[]): Item[];
  end(): Item[];
};

export const isRow = (item: Item): item is Row => "cells" in item;

export const toUnreadable = ({ number, text }: Line, fault: Omit<Fault, "field">): Unreadable => ({
  line: number,
  fault: { field: "", ...fault },
  text,
});
