import type { ImportedFile } from "./imports.ts";
import { noAccount, noNote } from "./kinds/accounts.ts";
import { noCategory } from "./kinds/configuration.ts";
import { noDispute, type TrackedDispute } from "./kinds/disputes.ts";
import { noDocument } from "./kinds/documents.ts";
import { nothing, type TrackedSchedule, type TrackedWebhook } from "./kinds/exports.ts";
import { noFile, type TrackedFile, type TrackedPdf } from "./kinds/files.ts";
import { noDisputeNote, type TrackedNote } from "./kinds/notes.ts";
import type { Tracked } from "./records.ts";
import { type TenantId, TENANTS } from "./settings.ts";

/** Payments that one transaction added. */
export type Block = {
  from: number;
  count: number;
  askedAt: number;
  /** Undefined while it is not known to be committed. */
  doneAt: number | undefined;
};

/** Everything that a tenant has, or may have, by the requests and answers so far. */
export type Population = {
  tenantId: TenantId;
  documents: Tracked<typeof noDocument>[];
  accounts: Tracked<typeof noAccount>[];
  references: Tracked<typeof noNote>[];
  categories: Tracked<typeof noCategory>[];
  disputes: TrackedDispute[];
  notes: TrackedNote[];
  files: TrackedFile[];
  pdfs: TrackedPdf[];
  schedules: TrackedSchedule[];
  webhooks: TrackedWebhook[];
  blocks: Block[];
  imports: ImportedFile[];
};

/** Records whose names are keys that both tenants have. */
const several = <S>(tenantId: TenantId, what: string, count: number, state: S): Tracked<S>[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `${what}-${index}`,
    tenantId,
    states: [state],
  }));

export const createPopulation = (tenantId: TenantId): Population => ({
  tenantId,
  documents: several(tenantId, "document", 2, noDocument),
  accounts: several(tenantId, "account", 1, noAccount),
  references: several(tenantId, "reference", 3, noNote),
  categories: several(tenantId, "category", 2, noCategory),
  disputes: [],
  notes: [],
  files: [],
  pdfs: [],
  schedules: [],
  webhooks: [],
  blocks: [],
  imports: [],
});

/** Creates a record that does not exist yet, under a name of its own. */
export const addTo = {
  disputes: (to: Population, documentNumber: string): TrackedDispute => {
    const name = `${to.tenantId}-dispute-${to.disputes.length}`;
    const { tenantId } = to;
    const dispute: TrackedDispute = { name, tenantId, states: [noDispute], documentNumber };
    to.disputes.push(dispute);
    return dispute;
  },
  notes: (to: Population): TrackedNote => {
    const name = `${to.tenantId}-note-${to.notes.length}`;
    const note: TrackedNote = { name, tenantId: to.tenantId, states: [noDisputeNote] };
    to.notes.push(note);
    return note;
  },
  files: (to: Population): TrackedFile => {
    const name = `${to.tenantId}-file-${to.files.length}`;
    const file = { name, tenantId: to.tenantId, states: [noFile], content: `the ${name}` };
    to.files.push(file);
    return file;
  },
  pdfs: (to: Population): TrackedPdf => {
    const name = `${to.tenantId}-pdf-${to.pdfs.length}`;
    const size = 2000 + 10 * to.pdfs.length;
    const file = { name, tenantId: to.tenantId, states: [{ isStored: false }], size };
    to.pdfs.push(file);
    return file;
  },
  schedules: (to: Population): TrackedSchedule => {
    const name = `${to.tenantId}-schedule-${to.schedules.length}`;
    const schedule = { name, tenantId: to.tenantId, states: [nothing] };
    to.schedules.push(schedule);
    return schedule;
  },
  webhooks: (
    to: Population,
    more: Pick<TrackedWebhook, "host" | "schedule" | "askedAt">,
  ): TrackedWebhook => {
    const name = `${to.tenantId}-webhook-${to.webhooks.length}`;
    const times = { madeBy: Infinity, removals: [] };
    const webhook = { name, tenantId: to.tenantId, states: [nothing], ...times, ...more };
    to.webhooks.push(webhook);
    return webhook;
  },
};

/** Text that only the other tenant's records have. */
export const FOREIGN: Record<TenantId, RegExp> = {
  amber: /birch|payment-2\d{6}/,
  birch: /amber|payment-1\d{6}/,
};

export const firstPayment = (tenantId: TenantId): number =>
  (TENANTS.indexOf(tenantId) + 1) * 1_000_000;
