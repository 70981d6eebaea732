import type { Source } from "../../contract/payments/catalogue.ts";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Store } from "../store/port.ts";
import { createAccountTarget } from "./accounts.ts";
import { createAuditLogTarget } from "./audit-logs.ts";
import { createBusinessUnitTarget } from "./business-units.ts";
import { createClosureTarget } from "./closures.ts";
import { createApplicationTarget } from "./credit-applications.ts";
import { createDisputeTarget } from "./disputes.ts";
import { createDocumentTarget } from "./documents.ts";
import type { Format } from "./formats.ts";
import { createPaymentTarget } from "./payments.ts";
import { createScoreTarget } from "./scores.ts";
import type { Target } from "./target.ts";

/** The dependencies of the targets of an import. */
export type TargetNeeds = {
  tenantId: string;
  /** The source of payments. */
  source: Source;
  /** Whether to create the categories and reasons that disputes name. */
  createConfiguration: boolean;
  store: Pick<Store, "auditKey">;
  clock: Clock;
  newId: NewId;
};

/** The kinds of records that a file can be imported as. */
export const KINDS = [
  "accounts",
  "documents",
  "closures",
  "disputes",
  "payments",
  "business-units",
  "scores",
  "credit-applications",
  "audit-logs",
] as const;
export type Kind = (typeof KINDS)[number];

const TARGETS: Record<Kind, (needs: TargetNeeds) => Target> = {
  accounts: createAccountTarget,
  documents: createDocumentTarget,
  closures: createClosureTarget,
  disputes: createDisputeTarget,
  payments: createPaymentTarget,
  "business-units": createBusinessUnitTarget,
  scores: createScoreTarget,
  "credit-applications": createApplicationTarget,
  "audit-logs": createAuditLogTarget,
};

/** Kinds with nested lists, which tables cannot express; their files are NDJSON unless the format is said. */
const NESTED: ReadonlySet<Kind> = new Set(["business-units", "credit-applications"]);

export const getUsualFormat = (kind: Kind): Format => (NESTED.has(kind) ? "ndjson" : "csv");

export const createTarget = (kind: Kind, needs: TargetNeeds): Target => TARGETS[kind](needs);
