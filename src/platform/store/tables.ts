/**
 * The store's tables, one file per area. Times are epoch milliseconds, flags 0 or 1, JSON is text, `*_folded` is the
 * result of `fold` for the column of that name, `version` counts a record's changes from 1.
 */
import type { AccountsTables } from "./tables/accounts.ts";
import type { DisputesTables } from "./tables/disputes.ts";
import type { ImportTables } from "./tables/imports.ts";
import type { PaymentTables } from "./tables/payments.ts";
import type { PeopleTables } from "./tables/people.ts";
import type { WorkTables } from "./tables/work.ts";

export type { Flag } from "./tables/column.ts";
export type * from "./tables/people.ts";
export type * from "./tables/disputes.ts";
export type * from "./tables/accounts.ts";
export type * from "./tables/payments.ts";
export type * from "./tables/imports.ts";
export type * from "./tables/work.ts";

export type Tables = PeopleTables &
  DisputesTables &
  AccountsTables &
  PaymentTables &
  ImportTables &
  WorkTables;
