import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../src/kit/clock.ts";
import { updateUser } from "../../src/platform/admin/users.ts";
import { attach, disputeWithFiles, targetOf } from "../support/attachments.ts";
import { AUDIT_LOGS, rowsOf } from "../support/audit.ts";
import {
  CONFIGURATION,
  configure,
  DISPUTES,
  LIFETIMES,
  onEveryStore,
  startPlatform,
  type TestPlatform,
  useExportCaller,
  useTenant,
} from "../support/platform.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "scope";
const LOGIN = "/authentication/v1/login";
const NEW = { amount: 5, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" };

/** What the requests add to the tenant's log: action, status and metadata. */
const entriesOf = async ({ store }: TestPlatform, act: () => Promise<unknown>) => {
  const before = (await rowsOf(store.read, TENANT)).length;
  await act();
  return (await rowsOf(store.read, TENANT))
    .slice(before)
    .map((row) => [row.action, row.status_code, JSON.parse(row.metadata)]);
};

onEveryStore("the scope of the audit log", (at) => {
  const admin = useTenant(at, TENANT);
  const read = useExportCaller(at, TENANT, ["audit:read"]);
  let made: Awaited<ReturnType<typeof configure>>;
  const login = (email: string, password = "wrong") =>
    at().call("POST", LOGIN, { body: { email, password } });
  const countAll = async () =>
    (await at().store.read.selectFrom("audit_logs").select("id").execute()).length;

  beforeAll(async () => {
    made = await configure(admin);
  });

  verifies("OP-01", "OP-03", "D-AUD-2");
  it("has one entry for each attempted change without a tool, with its actor and record", async () => {
    const viewer = await at().person(TENANT, { roles: ["Viewer"] });
    const found = await admin.call("POST", DISPUTES, { body: NEW });
    const { disputeId } = found.body;
    const path = `${DISPUTES}/${disputeId}`;
    const stale = { "If-Match": '"9"' };
    const coded = `${CONFIGURATION}/departments/by-code/SALES`;
    const entries = await entriesOf(at(), async () => {
      await admin.call("GET", path);
      await admin.call("PUT", path, { body: { amount: -1 } });
      await admin.call("PUT", path, { body: { amount: 6 }, headers: stale });
      await viewer.call("PUT", path, { body: { amount: 6 } });
      await admin.call("PUT", `${DISPUTES}/none`, { body: { amount: 6 } });
      await admin.call("DELETE", coded, { headers: stale });
      await admin.call("DELETE", coded);
      await admin.call("DELETE", path);
    });
    const own = { disputeId, resourceId: disputeId, actor: admin.userId };
    const { departmentId } = made.department;
    const used = { resourceId: departmentId, actor: admin.userId };
    expect(entries).toEqual([
      ["dispute.updated", 400, own],
      ["dispute.updated", 412, own],
      ["dispute.updated", 403, { ...own, actor: viewer.userId }],
      ["dispute.updated", 404, { disputeId: "none", resourceId: "none", actor: admin.userId }],
      ["department.deleted", 412, used],
      ["department.deleted", 409, used],
      ["dispute.deleted", 204, own],
    ]);
    const { data } = (await read("GET", `${AUDIT_LOGS}?resourceId=${disputeId}`)).body;
    expect([data.length, data.at(-1).action]).toEqual([5, "dispute.created"]);
  });

  verifies("OP-03");
  it("names the created record of a repeated request too", async () => {
    const headers = { "Idempotency-Key": "once" };
    const create = () => admin.call("POST", DISPUTES, { body: NEW, headers });
    let disputeId = "";
    const entries = await entriesOf(at(), async () => {
      ({ disputeId } = (await create()).body);
      expect((await create()).headers.get("Idempotency-Replayed")).toBe("true");
    });
    const entry = ["dispute.created", 201, { resourceId: disputeId, actor: admin.userId }];
    expect(entries).toEqual([entry, entry]);
  });

  verifies("OP-01", "D-AUD-2", "T-25");
  it("has refused credentials only where they name a user, in the user's tenant", async () => {
    const person = await at().person(TENANT, { roles: ["Viewer"] });
    const path = DISPUTES.replace("{t}", TENANT);
    const change = (token: string) =>
      at().call("POST", path, { body: NEW, headers: { "X-Platform-Auth": token } });
    at().clock.advance(LIFETIMES.sessionIdle + MINUTE);
    const entries = await entriesOf(at(), async () => {
      expect((await change(person.token)).status).toBe(401);
      expect((await change("unknown")).status).toBe(401);
      expect((await at().call("POST", path, { body: NEW })).status).toBe(401);
    });
    expect(entries).toEqual([["dispute.created", 401, { actor: person.userId }]]);
  });

  verifies("OP-01", "T-25");
  it("has failed logins of known e-mail addresses, with the client's address", async () => {
    const person = await at().person(TENANT, { roles: ["Viewer"] });
    const told = { address: expect.any(String), actor: person.userId };
    const failed = ["auth.login_failed", 401, told];
    const { email } = person;
    expect(await entriesOf(at(), () => login(email.toUpperCase()))).toEqual([failed]);
    const before = await countAll();
    expect((await login("unknown@scope.example")).status).toBe(401);
    expect(await countAll()).toBe(before);
    const heads = at().store.read.selectFrom("audit_heads").select("seq");
    expect(await heads.where("tenant_id", "=", "").execute()).toEqual([]);
    await updateUser({ store: at().store }, { tenantId: TENANT, email, status: "Inactive" });
    expect(await entriesOf(at(), () => login(email, person.password))).toEqual([failed]);
  });

  verifies("OP-01");
  it("stops to grow while passwords are guessed", async () => {
    const { email } = await at().person(TENANT, { roles: ["Viewer"] });
    at().clock.advance(HOUR);
    let statuses: number[] = [];
    const entries = await entriesOf(at(), async () => {
      for (let guess = 0; guess < 15; guess += 1) statuses.push((await login(email)).status);
    });
    statuses = statuses.filter((status) => status === 401);
    expect(statuses).toHaveLength(10);
    expect(entries).toHaveLength(statuses.length);
  });

  it("commits as much for an unknown e-mail address as for a known one", async () => {
    if (at().store.dialect !== "sqlite") return;
    // `data_version` counts the commits of the other connections.
    using database = new DatabaseSync(join(at().files, "..", "receivables.db"));
    const version = database.prepare("pragma data_version");
    const commits = async (email: string): Promise<number> => {
      const before = Number(version.get()?.["data_version"]);
      await login(email);
      return Number(version.get()?.["data_version"]) - before;
    };
    const { email } = await at().person(TENANT, { roles: ["Viewer"] });
    const known = await commits(email);
    expect(known).toBeGreaterThan(0);
    expect(await commits("nobody@scope.example")).toBe(known);
  });
});

verifies("OP-01");
describe.each(dialects)("RECEIVABLES_AUDIT_READS=all ($name)", (dialect) => {
  let at: TestPlatform;
  beforeAll(async () => {
    at = await startPlatform(dialect, { auditReads: "all" });
  });
  afterAll(() => at.close());

  it("adds an entry for each read", async () => {
    const admin = await at.tenant(TENANT);
    const ingester = await at.exportCaller(TENANT, ["ingest:read"]);
    const entries = await entriesOf(at, async () => {
      await admin.call("GET", DISPUTES);
      await admin.call("GET", `${DISPUTES}/none`);
      await ingester("GET", "/api/v1/ingest/accounts/A-1");
    });
    expect(entries.map(([action, status]) => [action, status])).toEqual([
      ["dispute.listed", 200],
      ["dispute.read", 404],
      ["account.read", 404],
    ]);
  });

  it("adds an entry for each download by a signed URL", async () => {
    const admin = await at.person(TENANT, { roles: ["Administrator"] });
    const { reason } = await configure(admin);
    const { disputeId, path } = await disputeWithFiles(admin, reason.reasonId);
    const file = { fileName: "note.txt", bytes: "a note" };
    const { attachmentId, body } = await attach(at, admin, path, file);
    const url = targetOf(String(body["downloadUrl"]));
    const entries = await entriesOf(at, async () => {
      expect((await at.call("GET", url)).text).toBe("a note");
      await at.call("GET", url, { headers: { Range: "bytes=0-1" } });
      expect((await at.call("GET", url.replace(/sig=.{4}/, "sig=AAAA"))).status).toBe(403);
    });
    const metadata = { disputeId, attachmentId, resourceId: attachmentId };
    expect(entries).toEqual([
      ["dispute_attachment.downloaded", 200, metadata],
      ["dispute_attachment.downloaded", 206, metadata],
    ]);
  });
});
