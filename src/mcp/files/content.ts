import type { Picture, Unit } from "./port.ts";

/** Rows of a sheet that follow one another, counted from 0. */
export type Rows = {
  first: number;
  rows: string[];
  /** The number of columns of the widest row. */
  columns: number;
  /** The row to go on with; null: none follow. */
  next: number | null;
};

/** One page, sheet or part of a file as its format reads it; texts are not sanitized yet. */
export type Section =
  /** A page with little text over a picture has also `draw`. */
  | { name: string; text: string; draw?: () => Promise<Picture> }
  | ({ name: string } & Rows)
  /** A page without text. `draw` is absent for a blank page. */
  | { name: string; draw?: () => Promise<Picture> };

/** A file whose sections can be read one by one. */
export type Content = {
  unit: Unit;
  /** The number of sections. */
  total: number;
  /** Reads a section, counted from 1. Rows are read from an offset on, up to so many characters. */
  read(section: number, offset: number, characters: number): Promise<Section>;
  /** Frees what the file takes. */
  close?(): void;
};

/** Creates the content of a file that is one text, or a few. */
export const toParts = (parts: readonly { name: string; text: string }[]): Content => ({
  unit: "part",
  total: parts.length,
  async read(section) {
    return parts[section - 1] ?? { name: "", text: "" };
  },
});
