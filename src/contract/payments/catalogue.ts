import type { AuditMetadata } from "../operation.ts";
import { bpn } from "./bpn.ts";
import { cashapp } from "./cashapp.ts";
import type { Field } from "./field.ts";
import { iandp } from "./iandp.ts";

export const SOURCES = ["cashapp", "iandp", "bpn"] as const;
export type Source = (typeof SOURCES)[number];

export type SourceEntry = { source: Source; description: string; fields: readonly Field[] };

/** The payment sources that can be queried. The published schema, the filters and the store's columns derive from it. */
export const CATALOGUE: Readonly<Record<Source, SourceEntry>> = {
  cashapp: {
    source: "cashapp",
    description: "Cash application: customer payments and the documents they are applied to.",
    fields: cashapp,
  },
  iandp: {
    source: "iandp",
    description: "Invoices and payments: portal payments of invoices, with their status.",
    fields: iandp,
  },
  bpn: {
    source: "bpn",
    description: "Business payment network: one row per remittance line of a payment.",
    fields: bpn,
  },
};

/** Increases with every change of the catalogue. */
export const CATALOGUE_VERSION = "1";

export const isSource = (value: unknown): value is Source =>
  SOURCES.some((source) => source === value);

/** Returns the source that a request body names, for the audit entry; unknown sources are omitted. */
export const getSourceMetadata: AuditMetadata = ({ body }) => {
  const { source } = (body ?? {}) as { source?: unknown };
  return isSource(source) ? { source } : {};
};

export const findField = (source: Source, name: string): Field | undefined =>
  CATALOGUE[source].fields.find((field) => field.name === name);
