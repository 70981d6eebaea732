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
