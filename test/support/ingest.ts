import { beforeAll } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { createTenant, type NewTenant } from "../../src/platform/admin/tenants.ts";
import type { Caller, Reply, TestPlatform } from "./platform.ts";

export const INGEST = "/api/v1/ingest";

export const accountAt = (number: string): string =>
  `${INGEST}/accounts/${encodeURIComponent(number)}`;

export const documentAt = (number: string): string =>
  `${INGEST}/documents/${encodeURIComponent(number)}`;

/** Requests to one account or document. */
export const recordAt = (call: Caller, path: string) => {
  const send =
    (method: string, below = "") =>
    (body?: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
      call(method, `${path}${below}`, { headers, ...(body === undefined ? {} : { body }) });
  return {
    post: send("POST"),
    put: send("PUT"),
    get: send("GET"),
    patch: send("PATCH"),
    close: send("POST", "/closure"),
    note: send("POST", "/notes"),
  };
};

/** The least that an account and a document need. */
export const ACCOUNT = { name: "Northwind Tools", currency: "USD" };
export const DOCUMENT = {
  account_number: "A-1",
  invoice_date: "2026-01-31",
  due_date: "2026-03-02",
};

/** A tenant without people, and a key of it. */
export const ingestTenant = async (
  at: TestPlatform,
  tenantId: string,
  more: Partial<NewTenant> = {},
): Promise<Caller> => {
  const needs = { store: at.store, clock: at.clock, newId: randomId };
  await createTenant(needs, { tenantId, name: tenantId, ...more });
  return at.exportCaller(tenantId, ["ingest:read", "ingest:write"]);
};

/** Makes a tenant before the tests, and returns calls that may read and write its accounts and documents. */
export const useIngestTenant = (at: () => TestPlatform, tenantId: string): Caller => {
  let call: Caller;
  beforeAll(async () => {
    call = await ingestTenant(at(), tenantId);
  });
  return (...request) => call(...request);
};

/** An account with every field. */
export const WHOLE_ACCOUNT = {
  name: "Übermöbel & Söhne 株式会社",
  display_reference: "UMS",
  currency: "EUR",
  language: "de",
  billing_address: {
    address1: "Hauptstraße 1",
    address2: "",
    city: "Köln",
    state: "NW",
    zip: "50667",
    country: "DE",
  },
  remit_to: { address1: "PO Box 7", country: "US" },
  phone: "+49 221 1",
  mobile_phone: "+49 170 1",
  fax: "+49 221 2",
  email: "ar@ubermobel.example",
  payment_terms: "NET 30",
  credit_limit: 123456789.1234,
  account_group: "Retail",
  parent_account_number: "HEAD",
  is_parent_account: false,
  branch_name: "West",
  description: "Key account",
  vat: "DE123456789",
  company_registration_number: "HRB 1",
  data_providers: { dnb: "12-345", "Any Key": { deep: [1, null, "x"] }, empty: null },
  custom_fields: {
    collections: {
      Segment: { type: "text", value: "A" },
      Score: { type: "number", value: 0.1 },
      Since: { type: "date", value: "2020-02-29" },
      Vip: { type: "boolean", value: true },
    },
    region: "west",
    rank: 3,
    flagged: false,
  },
};
