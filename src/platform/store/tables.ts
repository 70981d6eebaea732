/**
 * The store's tables, one file per area. Times are epoch milliseconds, flags 0 or 1, JSON is text, `*_folded` is the
 * result of `fold` for the column of that name, `version` counts a record's changes from 1.
 */
import type { AuditTables } from "./tables/audit.ts";
import type { ConfigurationTables } from "./tables/configuration.ts";
import type { CredentialsTables } from "./tables/credentials.ts";
import type { CreditTables } from "./tables/credit.ts";
import type { DisputesTables } from "./tables/disputes.ts";
import type { ExportTables } from "./tables/exports.ts";
import type { IngestTables } from "./tables/ingest.ts";
import type { PaymentTables } from "./tables/payments.ts";
import type { PeopleTables } from "./tables/people.ts";
import type { WebhookTables } from "./tables/webhooks.ts";
import type { WorkTables } from "./tables/work.ts";

export type { Flag } from "./tables/column.ts";
export type * from "./tables/people.ts";
export type * from "./tables/credentials.ts";
export type * from "./tables/configuration.ts";
export type * from "./tables/disputes.ts";
export type * from "./tables/ingest.ts";
export type * from "./tables/credit.ts";
export type * from "./tables/audit.ts";
export type * from "./tables/work.ts";
export type * from "./tables/payments.ts";
export type * from "./tables/webhooks.ts";
export type * from "./tables/exports.ts";

export type Tables = PeopleTables &
  CredentialsTables &
  ConfigurationTables &
  DisputesTables &
  IngestTables &
  CreditTables &
  AuditTables &
  WorkTables &
  PaymentTables &
  WebhookTables &
  ExportTables;
