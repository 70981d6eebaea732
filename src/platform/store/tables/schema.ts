/**
 * The store's tables, one file per area. Times are epoch milliseconds, flags 0 or 1, JSON is text, `*_folded` is the
 * result of `fold` for the column of that name, `version` counts a record's changes from 1.
 */
import type { AccountsTables } from "./accounts.ts";
import type { DisputesTables } from "./disputes.ts";
import type { ImportTables } from "./imports.ts";
import type { PaymentTables } from "./payments.ts";
import type { PeopleTables } from "./people.ts";
import type { WorkTables } from "./work.ts";

export type { Flag } from "./column.ts";
export type * from "./people.ts";
export type * from "./disputes.ts";
export type * from "./accounts.ts";
export type * from "./payments.ts";
export type * from "./imports.ts";
export type * from "./work.ts";

export type Tables = PeopleTables &
  DisputesTables &
  AccountsTables &
  PaymentTables &
  ImportTables &
  WorkTables;
