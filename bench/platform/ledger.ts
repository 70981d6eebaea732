import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createLog } from "../../src/kit/log.ts";
import { createNetworks } from "../../src/kit/network.ts";
import { insertApiKey, insertExportKey } from "../../src/platform/admin/keys.ts";
import { insertTenant } from "../../src/platform/admin/tenants.ts";
import { insertUser } from "../../src/platform/admin/users.ts";
import { createScanner } from "../../src/platform/scan/scanner.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import type { FileStore } from "../../src/platform/files/port.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import { insertDisputes } from "../../src/platform/store/disputes.ts";
import type { Db, Store } from "../../src/platform/store/port.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import type { DisputeRow } from "../../src/platform/store/tables.ts";
import { SIGNING } from "./signing.ts";

const needs = { clock: systemClock, newId: randomId };
export const MASTER_KEY = Buffer.alloc(32, 1);
const BATCH_ROWS = 200;
const PER_ACCOUNT = 10;
const PER_ASSIGNEE = 100;
const MINUTE_MS = 60_000;

export type Ledger = {
  tenantId: string;
  apiKey: string;
  /** For the ingest API. */
  ingestKey: string;
  disputes: number;
};

const tracked = (at: number) => ({
  created_by: "bench",
  created_at: at,
  updated_by: "bench",
  updated_at: at,
  version: 1,
});

const insertConfiguration = async (tx: Db, tenant_id: string, assignees: number) => {
  const coded = { tenant_id, code: "C", code_folded: "c", description: "Pricing" };
  const folded = { ...coded, description_folded: "pricing", ...tracked(0) };
  await tx
    .insertInto("departments")
    .values({ ...folded, id: "department" })
    .execute();
  await tx
    .insertInto("categories")
    .values({
      ...folded,
      id: "category",
      default_internal_reason_id: null,
      default_external_reason_id: null,
      default_assignee_id: null,
    })
    .execute();
  await tx
    .insertInto("reasons")
    .values({ ...folded, id: "reason", category_id: "category", active: 1, visibility: "All" })
    .execute();
  for (let number = 0; number < assignees; number += 1) {
    const email = `a${number}@bench.example`;
    await tx
      .insertInto("assignees")
      .values({
        tenant_id,
        id: `assignee-${number}`,
        department_id: "department",
        user_id: null,
        email,
        email_folded: email,
        first_name: "Ada",
        last_name: String(number),
        name_folded: `ada ${number}`,
        person: "{}",
        active: 1,
        all_updates: 0,
        daily_digest: 0,
        ...tracked(0),
      })
      .execute();
  }
};

const disputeOf = (tenant_id: string, number: number, assignees: number): DisputeRow => {
  const amount = (((number * 7919) % 1_000_000) + 100) / 100;
  const status = number % 10 === 0 ? 2 : number % 3 === 0 ? 1 : 0;
  const at = Date.UTC(2026, 0, 1) + number * MINUTE_MS;
  return {
    tenant_id,
    id: `dispute-${number}`,
    code: `D-${number}-01`,
    document_number: String(number),
    account_number: `account-${Math.floor(number / PER_ACCOUNT)}`,
    account_name: null,
    account_name_folded: null,
    amount: String(amount),
    amount_order: amount,
    currency_code: "USD",
    reason_id: "reason",
    external_reason_id: null,
    assignee_id: `assignee-${number % assignees}`,
    po_number: null,
    status,
    is_valid: 0,
    resolution_id: null,
    closed_at: status === 0 ? null : at,
    origin: "bench",
    source_key: null,
    source_row: null,
    ...tracked(at),
  };
};

/** A tenant with so many disputes, and a key of its administrator. */
const fill = (store: Store, tenantId: string, disputes: number): Promise<Ledger> =>
  store.transaction(async (tx) => {
    await insertTenant(tx, { ...needs, store }, { tenantId, name: tenantId });
    const person = { email: `admin@${tenantId}.example`, firstName: "A", lastName: "B" };
    const made = { ...person, tenantId, roles: ["Administrator"] };
    const userId = await insertUser(tx, needs, made, null);
    const { apiKey } = await insertApiKey(tx, needs, { tenantId, userId });
    const key = await insertExportKey(tx, needs, { tenantId, name: "bench" });
    const assignees = Math.max(1, disputes / PER_ASSIGNEE);
    await insertConfiguration(tx, tenantId, assignees);
    for (let from = 0; from < disputes; from += BATCH_ROWS) {
      const size = Math.min(BATCH_ROWS, disputes - from);
      const rows = Array.from({ length: size }, (_, index) =>
        disputeOf(tenantId, from + index, assignees),
      );
      await insertDisputes(tx, rows);
    }
    return { tenantId, apiKey, ingestKey: key.apiKey, disputes };
  });

export type Bench = {
  path: string;
  store: Store;
  platform: Platform;
  files: FileStore;
  ledgers: Ledger[];
  close(): Promise<void>;
};

/** A platform on a store of its own, with a tenant of each size. */
export const openLedgers = async (
  sizes: readonly number[],
  openStore: (path: string) => Promise<Store> = (path) => openSqlite(path, SIGNING),
): Promise<Bench> => {
  const folder = mkdtempSync(join(tmpdir(), "receivables-bench-"));
  const path = join(folder, "platform.db");
  const store = await openStore(path);
  const ledgers: Ledger[] = [];
  for (const size of sizes) {
    ledgers.push(await fill(store, `ledger-${size}`, size));
  }
  const files = createDiskFiles(join(folder, "files"));
  const platform = createPlatform({
    ...needs,
    store,
    files,
    log: createLog("error"),
    masterKey: MASTER_KEY,
    scanner: createScanner(),
    auditReads: "mcp",
    tenantFileBytes: Number.MAX_SAFE_INTEGER,
    urlLives: { upload: 9e5, download: 3.6e6 },
    publicUrl: undefined,
    ownUrl: async () => "http://localhost",
    lifetimes: {
      sessionIdle: 9e5,
      sessionNominal: 3.6e6,
      sessionLongest: 4.3e7,
      keyInactivity: 3e10,
    },
    limits: {
      gatewayPerMinute: 1e9,
      loginPerMinute: 0,
      visitorPerMinute: 0,
      exportPerMinute: 0,
      exportPerHour: 0,
    },
    retention: { auditLogs: 3.456e10, exportRuns: 2.592e9 },
    trustedProxies: [],
    webhooks: { hosts: { resolve: async () => [], allowed: createNetworks([]) }, delaysMs: [] },
    headerWord: "Platform",
    version: "bench",
  });
  return {
    path,
    store,
    platform,
    files,
    ledgers,
    async close() {
      await platform.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
