import type { AuditMetadata } from "../operation.ts";
import { bpn } from "./bpn.ts";
import { cashapp } from "./cashapp.ts";
import type { Field } from "./field.ts";
import { iandp } from "./iandp.ts";

export const SOURCES = ["cashapp", "iandp", "bpn"] as const;
export type Source = (typeof SOURCES)[number];

export type SourceEntry = { source: Source; description: string; fields: readonly Field[] };

/** What can be queried: schema, validation of filters, rows and the store's columns come from it. */
export const CATALOGUE: Readonly<Record<Source, SourceEntry>> = {
  cashapp: {
    source: "cashapp",
    description: "Cash application: customers' payments and the documents they are applied to.",
    fields: cashapp,
  },
  iandp: {
    source: "iandp",
    description: "Invoices and payments: invoices paid through the portal, and how far each is.",
    fields: iandp,
  },
  bpn: {
    source: "bpn",
    description: "Business payment network: payments with their remittance, line by line.",
    fields: bpn,
  },
};

/** Another one with every change of the catalogue. */
export const CATALOGUE_VERSION = "1";

export const isSource = (value: unknown): value is Source =>
  SOURCES.some((source) => source === value);

/** The source that a body names, for the audit entry; other text is left out. */
export const sourceMetadata: AuditMetadata = ({ body }) => {
  const { source } = (body ?? {}) as { source?: unknown };
  return isSource(source) ? { source } : {};
};

export const findField = (source: Source, name: string): Field | undefined =>
  CATALOGUE[source].fields.find((field) => field.name === name);
