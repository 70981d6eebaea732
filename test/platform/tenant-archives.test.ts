import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { HOUR } from "../../src/kit/clock.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { undoImport } from "../../src/platform/admin/imports.ts";
import { createUser } from "../../src/platform/admin/users.ts";
import { exportTenant } from "../../src/platform/admin/tenant-export.ts";
import { importTenant } from "../../src/platform/admin/tenant-import.ts";
import { deleteTenant } from "../../src/platform/admin/tenant-removal.ts";
import { readStoreId } from "../../src/platform/files/identity.ts";
import { addJob } from "../../src/platform/store/queries/jobs.ts";
import { readTenant } from "../../src/platform/store/queries/tenants.ts";
import { linesOf, needsOf, rewrite } from "../support/archives.ts";
import { announce, attach, disputeWithFiles } from "../support/attachments.ts";
import { configure, onEveryStore, useTenant } from "../support/platform.ts";
import { importRecords } from "../support/importing.ts";
import { ndjson } from "../support/payment-rows.ts";
import { everyPayment, SCHEDULES } from "../support/exports.ts";
import { findRow } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "stranger";
const HOOKS = "/api/v1/remittance-export/webhooks";
const FILE = { fileName: "agreement.txt", bytes: "a signed agreement" };

onEveryStore("a folder from a stranger", (at) => {
  let parent: string;
  let folder: string;
  const victim = useTenant(at, "victim");
  let victimPath: string;
  let victimFile: string;
  const mallory = useTenant(at, TENANT);
  let copies = 0;

  /** A copy of the exported tenant, with these tables in place of its own. */
  const forge = (tables: Record<string, object[]>): string => {
    copies += 1;
    const copy = join(parent, `copy-${copies}`);
    cpSync(folder, copy, { recursive: true });
    rewrite(copy, tables);
    return copy;
  };
  const take = (from: string) => importTenant(needsOf(at()), from);
  const remove = () => deleteTenant(needsOf(at()), { tenantId: TENANT, confirm: TENANT });
  const jobs = () => at().store.read.selectFrom("jobs").selectAll().orderBy("kind").execute();
  const readVictimFile = async () =>
    (await victim.call("GET", `${victimPath}/${victimFile}`)).body as Record<string, unknown>;
  const verdict = () => verifyAudit(at(), TENANT);

  beforeAll(async () => {
    parent = mkdtempSync(join(tmpdir(), "receivables-archives-"));
    folder = join(parent, "genuine");
    const { reason } = await configure(victim);
    ({ path: victimPath } = await disputeWithFiles(victim, reason.reasonId));
    ({ attachmentId: victimFile } = await attach(at(), victim, victimPath, FILE));
    const own = await configure(mallory);
    const { path } = await disputeWithFiles(mallory, own.reason.reasonId, "INV-7");
    await attach(at(), mallory, path, FILE);
    await announce(mallory, path, "late.txt");
    const exporter = await at().exportCaller(TENANT);
    const schedule = { intervalMs: HOUR, ...everyPayment };
    await exporter("POST", SCHEDULES, { body: schedule });
    const hook = { callbackUrl: "https://hooks.example/in" };
    await exporter("POST", HOOKS, { body: hook });
    const document = {
      document_number: "INV-0007",
      account_number: "ACC-1",
      invoice_date: "2026-01-01",
      due_date: "2026-02-01",
      denomination: 100,
      po_number: "PO 88-1",
    };
    await importRecords(at(), TENANT, "documents", ndjson([document]), { format: "ndjson" });
    await exportTenant(needsOf(at()), { tenantId: TENANT, folder });
    await remove();
  });

  /** The files of a folder, by their paths within it. */
  const listFiles = (from: string): string[] =>
    readdirSync(from, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name).slice(from.length + 1));

  verifies("C-108");
  it("reads nothing outside of itself: links and what is no file are refused", async () => {
    const stored = listFiles(folder).find((path) => path.startsWith("files"));
    const paths = ["manifest.json", "disputes.ndjson", "files", stored ?? ""];
    for (const path of paths) {
      const copy = forge({});
      // The same content, so that only the link is wrong.
      const outside = join(parent, `outside-${copies}`);
      renameSync(join(copy, path), outside);
      symlinkSync(outside, join(copy, path));
      await expect(take(copy), path).rejects.toThrow(/is a link, or in a folder that is one/);
    }
    const copy = forge({});
    rmSync(join(copy, "disputes.ndjson"));
    execFileSync("mkfifo", [join(copy, "disputes.ndjson")]);
    await expect(take(copy)).rejects.toThrow("is no file");
    const rows = await at().store.read.selectFrom("tenants").select("id").execute();
    expect(rows.map(({ id }) => id)).not.toContain(TENANT);
    // A folder that is reached through a link is one of the operator's.
    const linked = join(parent, "linked");
    symlinkSync(folder, linked);
    await take(linked);
    await remove();
  });

  verifies("C-108");
  it("brings no jobs: they follow from its records", async () => {
    const planned = { tenant_id: TENANT, lane: "x", due_at: 0, tries: 0, leased_until: 0 };
    const { connection_id } = await readTenant(at().store.read, "victim");
    const names = [
      ["dispute_attachment", victimFile],
      ["files.unclaimed", "store"],
      ["files.unclaimed", connection_id],
    ];
    const rows = names.map(([kind, id]) => ({ kind, id, ...planned, lease: null }));
    await take(forge({ jobs: rows }));
    const taken = (await jobs()).filter(({ tenant_id }) => tenant_id === TENANT);
    // One upload has not begun, and the other file is scanned again.
    const attachment = "dispute_attachment";
    expect(taken.map(({ kind }) => kind)).toEqual([attachment, attachment, "schedule"]);
    expect(taken.every(({ id, lease }) => lease === null && id !== victimFile)).toBe(true);
    at().clock.advance(2 * HOUR);
    await at().platform.worker.runDue();
    expect(await readVictimFile()).toMatchObject({ status: "Available" });
    await remove();
  });

  verifies("C-108");
  it("plans jobs that name a record of another tenant without any effect", async () => {
    const { files } = needsOf(at());
    await files.put("store/id", [Buffer.from("the store")], 100);
    const { connection_id } = await readTenant(at().store.read, "victim");
    const [dispute] = await at().store.read.selectFrom("disputes").select("id").execute();
    const kinds: [string, string][] = [
      ["dispute_attachment", victimFile],
      ["disputes.removal", dispute?.id ?? ""],
      ["webhook-delivery", victimFile],
      ["export-run", victimFile],
      ["schedule", victimFile],
      ["files.unclaimed", "store"],
      ["files.unclaimed", connection_id],
    ];
    for (const [kind, id] of kinds) {
      const job = { kind, id, tenantId: "nobody", lane: "x", dueAt: 0 };
      await at().store.transaction((tx) => addJob(tx, job));
    }
    await at().platform.worker.runDue();
    expect((await jobs()).filter(({ tenant_id }) => tenant_id === "nobody")).toEqual([]);
    expect(await readVictimFile()).toMatchObject({ status: "Available" });
    expect(await readStoreId(files)).toBe("the store");
    expect((await victim.call("GET", victimPath)).body).toHaveLength(1);
  });

  verifies("C-108");
  it("has the columns and totals that follow from its records", async () => {
    const [row] = linesOf(folder, "disputes");
    const wrong = { ...row, account_name: "Weber", account_name_folded: "x", amount_order: 9e9 };
    const totals = [{ tenant_id: TENANT, status: 2, total: 1_000_000 }];
    const [category] = linesOf(folder, "categories");
    const categories = [{ ...category, code_folded: "other", description_folded: "other" }];
    const [document] = linesOf(folder, "documents");
    const keys = { number_key: "INV9", invoice_key: "INV9", applies_to_key: "INV9", po_key: "PO9" };
    const documents = [{ ...document, ...keys }];
    await take(forge({ disputes: [wrong], dispute_totals: totals, categories, documents }));
    const { read } = at().store;
    const of = (table: "disputes" | "dispute_totals" | "categories" | "documents") =>
      read
        .selectFrom(table as "disputes")
        .selectAll()
        .where("tenant_id", "=", TENANT)
        .execute();
    expect(await of("disputes")).toMatchObject([
      { account_name_folded: "weber", amount_order: 10 },
    ]);
    expect((await of("dispute_totals")).map((one) => ({ ...one }))).toEqual([
      expect.objectContaining({ status: 0 }),
    ]);
    expect(await of("categories")).toMatchObject([{ code_folded: "price" }]);
    expect(await of("documents")).toMatchObject([
      { number_key: "INV7", invoice_key: null, applies_to_key: null, po_key: "PO881" },
    ]);
    await remove();
  });

  verifies("C-108");
  it("is refused where it names a file, an address or an interval that it may not have", async () => {
    const { connection_id } = await readTenant(at().store.read, "victim");
    const [attachment] = linesOf(folder, "dispute_attachments").filter((row) => row["file_key"]);
    const [tenant] = linesOf(folder, "tenants");
    const [webhook] = linesOf(folder, "webhooks");
    const [schedule] = linesOf(folder, "schedules");
    const refused: [Record<string, object[]>, RegExp][] = [
      [
        { dispute_attachments: [{ ...attachment, file_key: `${connection_id}/x` }] },
        /not one of the tenant's/,
      ],
      [{ dispute_attachments: [{ ...attachment, file_key: "store/id" }] }, /not one of/],
      [{ tenants: [{ ...tenant, connection_id: "store" }] }, /no id of a connection/],
      [{ webhooks: [{ ...webhook, callback_url: "https://u:p@10.0.0.1:22/" }] }, /address/],
      [{ schedules: [{ ...schedule, interval_ms: 1 }] }, /interval/],
      [{ categories: [{ tenant_id: TENANT, id: "x" }] }, /other columns|cannot be read/],
      [{ categories: [{ ...linesOf(folder, "categories")[0], tenant_id: "victim" }] }, /another/],
    ];
    for (const [tables, reason] of refused) {
      await expect(take(forge(tables)), String(reason)).rejects.toThrow(reason);
    }
    expect(await readVictimFile()).toMatchObject({ status: "Available" });
  });

  verifies("C-108");
  it("brings neither the outcome of a scan nor changes that an undo would put back", async () => {
    const script = "<script>alert(1)</script>";
    const stored = listFiles(folder).find((path) => path.startsWith("files")) ?? "";
    const [first, ...others] = linesOf(folder, "dispute_attachments");
    const file = { file_size: script.length, sha256: hash("sha256", script) };
    const html = { ...first, ...file, status: "Available", file_name: "page.html" };
    const [victimReason] = linesOf(folder, "reasons");
    const { tenant_id } = await findRow(at().store.read, "reasons", { tenant_id: "victim" });
    const [change] = linesOf(folder, "import_changes");
    const forged = {
      ...change,
      number: 99,
      table_name: "reasons",
      record_key: JSON.stringify([victimReason?.["id"]]),
      before: JSON.stringify({ ...victimReason, tenant_id, description: "forged" }),
    };
    const from = forge({
      dispute_attachments: [html, ...others],
      import_changes: [...linesOf(folder, "import_changes"), forged],
    });
    writeFileSync(join(from, stored), script);
    await take(from);
    const rows = at()
      .store.read.selectFrom("dispute_attachments")
      .where("id", "=", String(first?.["id"]));
    const readStatus = async () => (await rows.select("status").executeTakeFirst())?.status;
    expect(await readStatus()).toBe("PendingScan");
    await at().platform.worker.runDue();
    expect(["Infected", "Rejected"]).toContain(await readStatus());
    const changes = at().store.read.selectFrom("import_changes").select("number");
    expect(await changes.where("tenant_id", "=", TENANT).execute()).toEqual([]);
    const { store, clock } = at();
    const [{ id = "" } = {}] = linesOf(folder, "imports");
    await undoImport({ store, clock, record: async () => {} }, String(id));
    const reasons = store.read.selectFrom("reasons").select("id");
    expect(await reasons.where("description", "=", "forged").execute()).toEqual([]);
    await remove();
  });

  verifies("C-109");
  it("brings members only, and neither passwords nor keys; they get a link for a password", async () => {
    const [member] = linesOf(folder, "users");
    const guest = {
      ...member,
      id: "00000000-0000-4000-8000-00000000beef",
      email: "eve@bank.example",
    };
    const from = forge({ users: [member ?? {}, { ...guest, email_folded: "eve@bank.example" }] });
    const result = await take(from);
    expect(result).toMatchObject({ people: 1, peopleLeftOut: 1, passwordsLeftOut: 1 });
    expect(result.exportKeysLeftOut).toBe(linesOf(folder, "export_keys").length);
    const login = (email: string, password: string) =>
      at().call("POST", "/authentication/v1/login", { body: { email, password } });
    expect((await login(mallory.email, mallory.password)).status).toBe(401);
    const people = { firstName: "Eve", lastName: "Bank", roles: ["Viewer"] };
    const made = await createUser(
      needsOf(at()),
      { tenantId: "victim", email: "eve@bank.example", ...people },
      async () => "eleven purple accordions",
    );
    expect(made.password).toBe("set");
    expect((await login("eve@bank.example", mallory.password)).status).toBe(401);
    expect((await login("eve@bank.example", "eleven purple accordions")).status).toBe(200);
    const again = await createUser(
      needsOf(at()),
      { tenantId: "victim", email: mallory.email, ...people },
      async () => "a password that nothing uses",
    );
    expect(again.password).toBe("kept");
    await remove();
  });

  verifies("C-113");
  it("has its audit log verified without regard to its manifest", async () => {
    const entries = linesOf(folder, "audit_logs");
    const renumbered = entries.toSpliced(1, 1).map((row, index) => ({ ...row, seq: index + 1 }));
    const [head] = linesOf(folder, "audit_heads");
    const heads = [{ ...head, seq: renumbered.length }];
    const from = forge({ audit_logs: renumbered, audit_heads: heads });
    const { audit } = await take(from);
    expect(audit).toMatchObject({ chain: "kept", wasValid: false });
    expect(await verdict()).toMatchObject({ ok: false });
    // Further entries do not heal it.
    await exportTenant(needsOf(at()), { tenantId: TENANT, folder: join(parent, "invalid") });
    expect(await verdict()).toMatchObject({ ok: false });
    await remove();
  });

  verifies("C-113");
  it("has its log signed again only where no entry of it is this store's", async () => {
    const entries = linesOf(folder, "audit_logs").toSpliced(1, 1);
    const [head] = linesOf(folder, "audit_heads");
    const heads = [{ ...head, key_id: "0123456789abcdef" }];
    const from = forge({ audit_logs: entries, audit_heads: heads });
    const path = join(from, "manifest.json");
    const manifest = JSON.parse(readFileSync(path, "utf8")) as { audit: object };
    writeFileSync(path, JSON.stringify({ ...manifest, audit: { keyId: "0123", ok: true } }));
    expect((await take(from)).audit).toMatchObject({ chain: "kept", wasValid: false });
    expect(await verdict()).toMatchObject({ ok: false });
    await remove();
  });

  verifies("C-113");
  it("of an earlier version, without a code, counts as one of an unknown writer", async () => {
    const from = forge({});
    const path = join(from, "manifest.json");
    const { mac, ...manifest } = JSON.parse(readFileSync(path, "utf8")) as { mac: string };
    expect(mac).toMatch(/^[\da-f]{64}$/);
    writeFileSync(path, JSON.stringify(manifest));
    expect(await take(from)).toMatchObject({
      origin: "unknown",
      exportKeysLeftOut: 1,
      audit: { chain: "kept", wasValid: true },
    });
    await remove();
    expect(await take(folder)).toMatchObject({ origin: "own", exportKeysLeftOut: 0 });
    await remove();
  });
});
