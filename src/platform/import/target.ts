import type { Fault } from "../../contract/errors.ts";
import type { Checked } from "../../contract/faults.ts";
import type { Db } from "../store/port.ts";
import type { Fields } from "./fields.ts";

/** A row that its target has parsed. */
export type Accepted<Values> = { values: Values; sourceKey: string | undefined };

/** The result of writing a row; faults mean that it was rejected. */
export type Outcome = "written" | "unchanged" | readonly Fault[];

/** A kind of record that can be imported. */
export type Target<Values = unknown> = {
  kind: string;
  fields: Fields;
  /** Number of rows written in one transaction. */
  batchRows: number;
  parse(record: Record<string, unknown>): Checked<Values>;
  /** Writes rows in order within one transaction and returns one outcome each. */
  write(tx: Db, rows: readonly Accepted<Values>[]): Promise<Outcome[]>;
  /** Releases resources other than the store. */
  close?(): void;
};
