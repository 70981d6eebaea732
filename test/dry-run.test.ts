import { readdirSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import { DRY_RUN, hasDryRun, toDryRun } from "../src/contract/dry-run.ts";
import { extensions, operations } from "../src/contract/index.ts";
import type { Operation } from "../src/contract/operation.ts";
import { connectionOf } from "./support/pdf.ts";
import { type Caller, onEveryStore, type Person } from "./support/platform.ts";
import { type Records, seed } from "./support/records.ts";
import { type Arguments, SAMPLES, wire } from "./support/samples.ts";
import { listTables } from "./support/tables.ts";
import { verifies } from "./support/verifies.ts";

const TENANT = "rehearsing";
const changing = operations
  .filter(hasDryRun)
  .map((operation) => [operation.id, operation] as const);

/** Columns that every request writes: when a credential was used. */
const COUNTED = new Set(["used_at", "last_used_at", "last_activity"]);
/** Indexes of SQLite that cannot be read as tables. */
const INDEX = /_triples/;

const isRecordId = (name: string): boolean => name !== "tenantId";

it("is announced", () => {
  expect(extensions).toContain(DRY_RUN.name);
});

onEveryStore("a dry run", (at) => {
  let admin: Person;
  let keyed: Caller;
  let records: Records;
  let counter = 0;

  beforeAll(async () => {
    admin = await at().tenant(TENANT);
    keyed = await at().exportCaller(TENANT);
    const path = "/authentication/v1/tenants/{t}/users/profile/api-key";
    const { keyId } = (await admin.call("POST", path)).body;
    records = await seed({
      admin,
      tenantId: TENANT,
      keyId,
      auditor: keyed,
      ingester: keyed,
      exporter: keyed,
      connectionId: await connectionOf(at().store, TENANT),
      store: at().store,
      mark: "1",
    });
  });

  const send = (operation: Operation, args: Arguments, headers = {}) => {
    const { method, path, body } = wire(operation, operation, { tenantId: TENANT, ...args });
    const caller = operation.service === "gateway" ? admin.call : keyed;
    return caller(method, path, { ...(body === undefined ? {} : { body }), headers });
  };

  /** Every row of the store, and every stored file. */
  const dump = async (): Promise<unknown> => {
    const tables = await listTables(at().store.read);
    const rows = Promise.all(
      tables
        .filter(({ name }) => !INDEX.test(name))
        .map(async ({ name }) => {
          const rows = await at()
            .store.read.selectFrom(name as "disputes")
            .selectAll()
            .execute();
          const hide = (key: string, value: unknown) => (COUNTED.has(key) ? 0 : value);
          return [name, rows.map((row) => JSON.stringify(row, hide)).toSorted()];
        }),
    );
    return { rows: await rows, files: readdirSync(at().files, { recursive: true }).toSorted() };
  };

  it.each(changing)("of %s is accepted, and leaves no trace", async (id, operation) => {
    const args = SAMPLES[id]?.[0]?.(records, `dry-${(counter += 1)}`) ?? {};
    const before = await dump();
    const reply = await send(toDryRun(operation), args, { "Idempotency-Key": `key-${id}` });
    expect([reply.status, reply.text]).toEqual([204, ""]);
    expect(await dump()).toEqual(before);
  });

  it.each(changing.filter(([, { params }]) => Object.keys(params.shape).some(isRecordId)))(
    "of %s is refused as the change would be, without an audit entry",
    async (id, operation) => {
      const sample = SAMPLES[id]?.[0]?.(records, `no-${(counter += 1)}`) ?? {};
      const ids = Object.keys(operation.params.shape).filter(isRecordId);
      const args = { ...sample, ...Object.fromEntries(ids.map((name) => [name, "none"])) };
      const before = await dump();
      const dry = await send(toDryRun(operation), args);
      expect(await dump()).toEqual(before);
      if (dry.status === 204)
        return expect(operation.upsert || /^(accounts|documents).create$/.test(id)).toBe(true);
      const real = await send(operation, args);
      expect([dry.status, dry.body.code]).toEqual([real.status, real.body.code]);
    },
  );

  it("requires the permission of the change, and its refusal is audited", async () => {
    const reader = await at().person(TENANT, { grants: [] });
    const { disputeId } = records.dispute;
    const path = `/dry-run/dispute/v1/tenants/{t}/disputes/${disputeId}`;
    expect((await reader.call("DELETE", path)).status).toBe(403);
    const newest = await at()
      .store.read.selectFrom("audit_logs")
      .select(["action", "status_code"])
      .where("tenant_id", "=", TENANT)
      .orderBy("seq", "desc")
      .executeTakeFirst();
    expect(newest).toEqual({ action: "dispute.deleted", status_code: 403 });
  });

  verifies("C-57");
  it("is at one spelling of its path", async () => {
    const { disputeId } = records.dispute;
    const rest = `dispute/v1/tenants/{t}/disputes/${disputeId}`;
    const before = await dump();
    for (const path of ["/dry%2Drun/", "/dry-run//", "//dry-run/", "/Dry-Run/", "/dry-run%2F"]) {
      expect([path, (await admin.call("DELETE", path + rest)).status]).toEqual([path, 404]);
    }
    expect((await admin.call("DELETE", `/dry-run/${rest}/`)).status).toBe(404);
    expect(await dump()).toEqual(before);
  });

  it("exists for changes by a JSON request alone", async () => {
    const path = "/dry-run/dispute/v1/tenants/{t}/disputes";
    expect((await admin.call("GET", path)).status).toBe(405);
    expect((await at().call("POST", "/dry-run/authentication/v1/login")).status).toBe(404);
  });
});
