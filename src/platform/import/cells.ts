/** A day or time of a workbook cell that is formatted as a date. */
export class DateCell {
  readonly day: string;
  readonly time: string | undefined;

  constructor(day: string, time: string | undefined) {
    this.day = day;
    this.time = time;
  }

  toJSON(): string {
    return this.time === undefined ? this.day : `${this.day}T${this.time}`;
  }
}

/** An error such as `#N/A` in a workbook cell. */
export class ErrorCell {
  readonly error: string;

  constructor(error: string) {
    this.error = error;
  }

  toJSON(): string {
    return this.error;
  }
}

export type Cells = Record<string, unknown>;

export const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "string" && value.trim() === "");

const DASH = /^\p{Sc}?\s{0,20}[-\u2013\u2014\u2212]{1,2}$/u;

/** Whether a cell has only a dash, also behind a currency sign: formats of accounting show a zero so. */
export const isDash = (value: unknown): boolean =>
  typeof value === "string" && value.length < 40 && DASH.test(value.trim());

/** Reads a cell by column name, or by a dotted path into nested objects; undefined if it is blank. */
export const readCell = (cells: Cells, column: string): unknown => {
  let value: unknown = cells;
  if (Object.hasOwn(cells, column)) {
    value = cells[column];
    return isBlank(value) ? undefined : value;
  }
  for (const name of column.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) {
      return undefined;
    }
    value = (value as Cells)[name];
  }
  return isBlank(value) ? undefined : value;
};

/** Returns a cell as trimmed text. */
export const toText = (value: unknown): string => {
  if (typeof value === "string") return value.trim();
  return value instanceof DateCell ? value.toJSON() : JSON.stringify(value);
};

const RULE = /^\s*[*=_-]{3,60}\s*$/;

/** Whether a row is a line that is drawn below the header, as some banks have it in each column. */
export const isRuled = (cells: readonly unknown[]): boolean =>
  typeof cells[0] === "string" &&
  RULE.test(cells[0]) &&
  cells.every((cell) => isBlank(cell) || (typeof cell === "string" && RULE.test(cell)));
