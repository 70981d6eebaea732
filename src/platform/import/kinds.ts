import type { Source } from "../../contract/payments/catalogue.ts";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Store } from "../store/port.ts";
import { ACCOUNT_NOTE_FORM, createAccountNoteTarget } from "./account-notes.ts";
import { createAccountTarget } from "./accounts.ts";
import { createAuditLogTarget } from "./audit-logs.ts";
import { createBusinessUnitTarget } from "./business-units.ts";
import { createClosureTarget } from "./closures.ts";
import { createApplicationTarget } from "./credit-applications.ts";
import { createDisputeTarget, DISPUTE_FORM } from "./disputes.ts";
import { createDocumentTarget } from "./documents.ts";
import type { Format } from "./formats.ts";
import { createNoteTarget, NOTE_FORM } from "./notes.ts";
import { createPaymentForm, createPaymentTarget } from "./payments.ts";
import { createScoreTarget } from "./scores.ts";
import type { Form, Target } from "./target.ts";
import { createUserTarget, USER_FORM } from "./users.ts";

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

type KindSpec = {
  create: (needs: TargetNeeds) => Target;
  /** The form of rows in tables, for which a map can be proposed; a kind with nested lists has none. */
  form?: (source: Source) => Form;
  /** The format of files whose content does not tell it; CSV if absent. */
  usualFormat?: Format;
};

// A form only checks rows, so that neither tenant nor clock is used.
const UNUSED = { tenantId: "", clock: () => 0 };

/** The kinds of records that a file can be imported as. */
const SPECS = {
  accounts: { create: createAccountTarget, form: () => createAccountTarget(UNUSED) },
  documents: { create: createDocumentTarget, form: () => createDocumentTarget(UNUSED) },
  closures: { create: createClosureTarget, form: () => createClosureTarget(UNUSED) },
  disputes: { create: createDisputeTarget, form: () => DISPUTE_FORM },
  payments: { create: createPaymentTarget, form: createPaymentForm },
  notes: { create: createNoteTarget, form: () => NOTE_FORM },
  "account-notes": { create: createAccountNoteTarget, form: () => ACCOUNT_NOTE_FORM },
  users: { create: createUserTarget, form: () => USER_FORM },
  "business-units": { create: createBusinessUnitTarget, usualFormat: "ndjson" },
  scores: { create: createScoreTarget },
  "credit-applications": { create: createApplicationTarget, usualFormat: "ndjson" },
  "audit-logs": { create: createAuditLogTarget },
} as const satisfies Record<string, KindSpec>;

export type Kind = keyof typeof SPECS;

const getSpec = (kind: Kind): KindSpec => SPECS[kind];

export const KINDS = Object.keys(SPECS) as Kind[];

/** The kinds for whose files a map can be proposed. */
export const SUGGEST_KINDS = KINDS.filter((kind) => getSpec(kind).form !== undefined);

export const getUsualFormat = (kind: Kind): Format => getSpec(kind).usualFormat ?? "csv";

export const createTarget = (kind: Kind, needs: TargetNeeds): Target => getSpec(kind).create(needs);

/** Returns the form of a kind's rows; undefined if a table cannot have them. */
export const findForm = (kind: Kind, source: Source): Form | undefined =>
  getSpec(kind).form?.(source);
