import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createLog } from "../../src/kit/log.ts";
import { createNetworks } from "../../src/kit/network.ts";
import { insertExportKey } from "../../src/platform/admin/keys.ts";
import { insertApiKey } from "../../src/platform/credentials.ts";
import { insertTenant } from "../../src/platform/admin/tenants.ts";
import { insertUser } from "../../src/platform/admin/users.ts";
import { createScanner } from "../../src/platform/clamd/scanner.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import type { FileStore } from "../../src/platform/files/port.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import type { DisputeRow } from "../../src/platform/store/tables/schema.ts";
import {
  disputeRow,
  insertConfiguration,
  insertManyDisputes,
} from "../../test/support/many-disputes.ts";
import { SIGNING } from "./signing.ts";

const needs = { clock: systemClock, newId: randomId };
export const MASTER_KEY = Buffer.alloc(32, 1);
const PER_ASSIGNEE = 100;
const MINUTE_MS = 60_000;

export type Ledger = {
  tenantId: string;
  apiKey: string;
  /** For the ingest API. */
  ingestKey: string;
  disputes: number;
};

export const isOpenDispute = (number: number): boolean => number % 10 !== 0 && number % 3 !== 0;

const disputeOf = (tenant_id: string, number: number, assignees: number): DisputeRow =>
  disputeRow(number, {
    tenant_id,
    document_number: String(number),
    status: isOpenDispute(number) ? 0 : number % 10 === 0 ? 2 : 1,
    assignee_id: `assignee-${number % assignees}`,
    amount: (((number * 7919) % 1_000_000) + 100) / 100,
    createdAt: Date.UTC(2026, 0, 1) + number * MINUTE_MS,
  });

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
    await insertManyDisputes(tx, disputes, (number) => disputeOf(tenantId, number, assignees));
    return { tenantId, apiKey, ingestKey: key.apiKey, disputes };
  });

export type Bench<Ledgers extends readonly Ledger[] = readonly Ledger[]> = {
  path: string;
  store: Store;
  platform: Platform;
  files: FileStore;
  ledgers: Ledgers;
  close(): Promise<void>;
};

/** A ledger of each size. */
export type Ledgers<Sizes extends readonly number[]> = { [Place in keyof Sizes]: Ledger };

/** A platform on a store of its own, with a tenant of each size. */
export const openLedgers = async <const Sizes extends readonly number[]>(
  sizes: Sizes,
  openStore: (path: string) => Promise<Store> = (path) => openSqlite(path, SIGNING),
): Promise<Bench<Ledgers<Sizes>>> => {
  const folder = mkdtempSync(join(tmpdir(), "receivables-bench-"));
  const path = join(folder, "platform.db");
  const store = await openStore(path);
  const ledgers: Ledger[] = [];
  for (const size of sizes) ledgers.push(await fill(store, `ledger-${size}`, size));
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
    ledgers: ledgers as Ledgers<Sizes>,
    async close() {
      await platform.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
