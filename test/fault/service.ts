import { expect } from "vitest";
import type { Store } from "../../src/platform/store/port.ts";
import {
  configure,
  DISPUTES,
  type Person,
  type Reply,
  startPlatform,
  type TestPlatform,
} from "../support/platform.ts";
import { findRows } from "../support/rows.ts";
import { type Database, type Dialect } from "../support/stores.ts";
import { checkChain } from "./check.ts";

export const TENANT = "faulty";
export const AUDIT_LOGS = "/api/v1/remittance-export/audit-logs";
/** Headers with which a request is recorded in the audit log. */
export const TOLD = { "X-Platform-Mcp-Tool": "faults" };

/** A configured tenant on a database that the test holds, too. */
export type Service = { at: TestPlatform; admin: Person; database: Database };

export const startService = async (
  dialect: Dialect,
  open: (database: Database) => Promise<Store> = (database) => database.open(),
): Promise<Service> => {
  const database = await dialect.createMigrated();
  const at = await startPlatform({
    name: dialect.name,
    createMigrated: async () => ({ ...database, open: () => open(database) }),
  });
  const admin = await at.tenant(TENANT);
  await configure(admin);
  return { at, admin, database };
};

export const create = ({ admin }: Service, key: string, po = key): Promise<Reply> => {
  const dispute = { amount: 5, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" };
  return admin.call("POST", DISPUTES, {
    body: { ...dispute, poNumber: po },
    headers: { ...TOLD, "Idempotency-Key": key },
  });
};

export const checkUnavailable = (reply: Reply): void => {
  expect(reply.status, reply.text).toBe(503);
  expect(reply.headers.get("Retry-After")).toBe("1");
  expect(reply.body).toMatchObject({ code: "unavailable", type: "urn:problem:unavailable" });
  expect(reply.text).not.toMatch(/sqlite|postgres|SQL|full|ECONN/i);
};

/** Counts the disputes with this purchase order number. */
export const rowsWith = async ({ at }: Service, po: string): Promise<number> => {
  const query = at.store.read.selectFrom("disputes").select("id").where("po_number", "=", po);
  return (await query.execute()).length;
};

/** The tenant's audit log is a chain without a gap. */
export const checkLog = async ({ at }: Service): Promise<void> => {
  const entries = await findRows(at.store.read, "audit_logs", { tenant_id: TENANT }, "seq");
  expect(entries.length).toBeGreaterThan(0);
  await checkChain(at.store, TENANT, entries);
};
