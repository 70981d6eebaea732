import type {
  AccountNoteRow,
  AccountRow,
  BusinessUnitRow,
  CompanyScoreRow,
  CreditApplicationRow,
  CsrSequenceRow,
  DisputeAttachmentRow,
  DisputeNoteRow,
  DisputeRow,
  DisputeSequenceRow,
  DocumentAttachmentRow,
  DocumentClosureRow,
  DocumentRow,
} from "../store/tables.ts";
import type { NewEntry } from "../store/audit-entries.ts";
import { groupingRow } from "../services/business-units.ts";
import { type Configuration, configuration, type Making } from "./configuration.ts";
import { applicationRow } from "../services/credit-applications/record.ts";
import { applications } from "./credit/applications.ts";
import { scoreRows } from "./credit/buyer.ts";
import { groupings, unitsOf } from "./credit/units.ts";
import { auditEntries } from "./audit.ts";
import { createDice } from "./dice.ts";
import { disputes } from "./disputes.ts";
import { type Exports, exports } from "./exports.ts";
import { createFake } from "./fake.ts";
import { accountNotes } from "./ledger/account-notes.ts";
import { accountRows } from "./ledger/account-rows.ts";
import { documentRows } from "./ledger/document-rows.ts";
import { createLedger } from "./ledger/ledger.ts";
import { notes } from "./notes.ts";
import { disputeFiles } from "./papers/dispute-files.ts";
import { documentFiles } from "./papers/document-files.ts";
import type { Kept, Paper } from "./papers/paper.ts";
import { type Payments, payments } from "./payments/payments.ts";

/** The rows of all that the demo tenant's people work with. */
export type DemoRows = Configuration & {
  businessUnits: BusinessUnitRow[];
  scores: CompanyScoreRow[];
  applications: CreditApplicationRow[];
  accounts: AccountRow[];
  accountNotes: AccountNoteRow[];
  documents: DocumentRow[];
  closures: DocumentClosureRow[];
  csrSequences: CsrSequenceRow[];
  disputes: DisputeRow[];
  sequences: DisputeSequenceRow[];
  notes: DisputeNoteRow[];
};

/** The rows, the files that some of them have, and what went on between them and other systems. */
export type Demo = {
  rows: DemoRows;
  payments: Payments;
  exports: Exports;
  auditEntries: NewEntry[];
  documentFiles: Paper<Kept<DocumentAttachmentRow>>[];
  disputeFiles: Paper<Kept<DisputeAttachmentRow>>[];
};

export type DemoOptions = Omit<Making, "dice" | "fake"> & { seed: number };

const lastCsrIds = (tenant_id: string, counts: Record<CsrSequenceRow["noun"], number>) =>
  Object.entries(counts).map(([noun, last]) => ({
    tenant_id,
    noun: noun as CsrSequenceRow["noun"],
    last,
  }));

const PAYMENTS = 2;

/** The same seed, moment and users give the same rows and files; another moment gives the same story on its own dates. */
export const generateDemo = ({ seed, ...options }: DemoOptions): Demo => {
  const making: Making = { ...options, dice: createDice(seed), fake: createFake(seed) };
  const known = configuration(making);
  const ledger = createLedger(making.dice, making.fake);
  const units = groupings(making.dice);
  const made = disputes(making, ledger.cases, known);
  const accounts = accountRows(making, ledger.accounts);
  const { documents, closures } = documentRows(making, ledger);
  const rows = {
    ...known,
    businessUnits: units.map((unit) => groupingRow(options.tenantId, unit)),
    scores: scoreRows(making, ledger.accounts),
    applications: applications(making, ledger.accounts, unitsOf(making.dice, units)).map((one) =>
      applicationRow(options.tenantId, one),
    ),
    accounts,
    accountNotes: accountNotes(making, ledger.accounts),
    documents,
    closures,
    csrSequences: lastCsrIds(options.tenantId, {
      account: accounts.length,
      document: documents.length,
    }),
    disputes: made.disputes.map(({ row }) => row),
    sequences: made.sequences,
    notes: notes(making, made.disputes, ledger.creditNotes),
  };
  // Throws of their own, so that what they are does not change everything else.
  const apart: Making = { ...making, dice: createDice(seed + PAYMENTS) };
  const paid = payments(apart, ledger, made.disputes);
  const exported = exports(apart, paid);
  return {
    rows,
    payments: paid,
    exports: exported,
    auditEntries: auditEntries(apart, exported),
    documentFiles: documentFiles(making, ledger),
    disputeFiles: disputeFiles(making, made.disputes),
  };
};
