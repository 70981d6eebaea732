import type { z } from "zod";
import type { Fault } from "../../contract/errors.ts";
import type { Db } from "../store/port.ts";

/** A row that fits the target's schema. */
export type Accepted<Values> = { values: Values; sourceKey: string | undefined };

/** What became of a row: the faults refuse it. */
export type Outcome = "written" | "unchanged" | readonly Fault[];

/** A kind of record that files can be imported to. */
export type Target<Values = unknown> = {
  kind: string;
  schema: z.ZodObject & z.ZodType<Values>;
  /** Writes rows in their order, within one transaction; one outcome for each. */
  write(tx: Db, rows: readonly Accepted<Values>[]): Promise<Outcome[]>;
};
