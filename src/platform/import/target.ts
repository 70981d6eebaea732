import type { Fault } from "../../contract/errors.ts";
import type { Checked } from "../services/ingest/body.ts";
import type { Db } from "../store/port.ts";
import type { Fields } from "./fields.ts";

/** A row that its target can read. */
export type Accepted<Values> = { values: Values; sourceKey: string | undefined };

/** What became of a row: the faults refuse it. */
export type Outcome = "written" | "unchanged" | readonly Fault[];

/** A kind of record that files can be imported to. */
export type Target<Values = unknown> = {
  kind: string;
  fields: Fields;
  /** How many rows are written in one transaction. */
  batchRows: number;
  parse(record: Record<string, unknown>): Checked<Values>;
  /** Writes rows in their order, within one transaction; one outcome for each. */
  write(tx: Db, rows: readonly Accepted<Values>[]): Promise<Outcome[]>;
  /** Lets go of what it keeps beside the store. */
  close?(): void;
};
