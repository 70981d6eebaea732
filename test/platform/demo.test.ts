import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { readSheet } from "read-excel-file/node";
import { extractText } from "unpdf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contract, operations } from "../../src/contract/index.ts";
import { HOUR } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { insertApiKey } from "../../src/platform/credentials.ts";
import { DEMO_OWNER, type DemoOwner, loadDemo } from "../../src/platform/demo/load.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { builtInScanner } from "../../src/platform/scan/built-in.ts";
import {
  toAccountColumns,
  toDocumentColumns,
} from "../../src/platform/store/queries/listed-columns.ts";
import type { Store } from "../../src/platform/store/port.ts";
import type { Tables } from "../../src/platform/store/tables/schema.ts";
import { ACCOUNT, accountAt, DOCUMENT, documentAt } from "../support/ingest.ts";
import { type Caller, type Reply, startPlatform, type TestPlatform } from "../support/platform.ts";
import { filesUnder } from "../support/pdf.ts";
import { dialects } from "../support/stores.ts";

const TABLES = [
  "tenants",
  "users",
  "memberships",
  "membership_roles",
  "categories",
  "reasons",
  "departments",
  "assignees",
  "resolutions",
  "business_units",
  "company_scores",
  "credit_applications",
  "accounts",
  "account_notes",
  "documents",
  "document_attachments",
  "dispute_attachments",
  "document_closures",
  "csr_sequences",
  "disputes",
  "dispute_sequences",
  "dispute_notes",
  "payment_sequences",
  "cashapp_payments",
  "iandp_payments",
  "bpn_payments",
  "schedules",
  "export_runs",
  "run_chunks",
  "audit_logs",
  "api_keys",
] as const satisfies (keyof Tables)[];

// A credential's last use is written some time after it.
const withoutLastUse = (row: object): object => ({ ...row, used_at: undefined });

const contents = async ({ read }: Store) =>
  Object.fromEntries(
    await Promise.all(
      TABLES.map(async (table) => {
        const rows = await read.selectFrom(table).selectAll().execute();
        return [table, rows.map(withoutLastUse)];
      }),
    ),
  ) as Record<(typeof TABLES)[number], unknown[]>;

/** Of documents, of disputes, and one of each completed run. */
const FILES = 40 + 60 + 3;

const needsOf = (running: TestPlatform) => ({
  store: running.store,
  files: createDiskFiles(running.files),
  clock: running.clock,
  newId: randomId,
});

/** Reads the text of a file with a program other than the one that made it. */
const OPENED: Record<string, (bytes: Buffer) => Promise<string>> = {
  pdf: async (bytes) => (await extractText(Uint8Array.from(bytes), { mergePages: true })).text,
  xlsx: async (bytes) => JSON.stringify(await readSheet(bytes)),
  eml: async (bytes) => {
    const [head = "", ...body] = bytes.toString("utf8").split("\r\n\r\n");
    expect(head).toMatch(/^From: .+<.+@.+\.example>\r\nTo: .+\r\nSubject: .+\r\nDate: /);
    return body.join("\n");
  },
  png: async (bytes) => {
    const { width, height, data } = PNG.sync.read(bytes);
    expect([width, height]).toEqual([480, 320]);
    const colours = new Set<number>();
    for (let at = 0; at < data.length; at += 4) colours.add(data.readUIntBE(at, 3));
    expect(colours.size).toBeGreaterThan(6);
    return "";
  },
};

const at = (template: string): string => template.replace("{tenantId}", "demo");

for (const dialect of dialects) {
  describe(`the demo tenant (${dialect.name})`, () => {
    let running: TestPlatform;
    let apiKey = "";
    let ingest: Caller;
    let owner: DemoOwner | undefined;
    let call: Caller;

    beforeAll(async () => {
      running = await startPlatform(dialect);
      const needs = needsOf(running);
      await loadDemo({
        ...needs,
        credentials: async (tx, made) => {
          owner = made;
          ({ apiKey } = await insertApiKey(tx, needs, made));
        },
      });
      ingest = await running.exportCaller("demo", ["ingest:read", "ingest:write"]);
      call = (method, path, sent = {}) =>
        running.call(method, path, {
          ...sent,
          headers: { "X-Platform-Api-Key": apiKey, ...sent.headers },
        });
    });
    afterAll(() => running.close());

    it("answers every list in the shape of the contract", async () => {
      const lists = operations.filter(
        ({ id, service, method, path }) =>
          service === "gateway" &&
          id.endsWith(".list") &&
          method === "GET" &&
          !path.includes("{disputeId}"),
      );
      expect(lists.length).toBeGreaterThan(6);
      for (const { path, output, id } of lists) {
        const { status, body } = await call("GET", at(path));
        expect([id, status]).toEqual([id, 200]);
        expect([id, output?.safeParse(body).error]).toEqual([id, undefined]);
        expect([id, body.length > 1]).toEqual([id, true]);
      }
    });

    it("returns names, notes and status counts as in the data", async () => {
      const { body } = await call(
        "GET",
        "/dispute/v1/tenants/demo/disputes?Status=0&Sort=CreateDate",
      );
      expect(body).toHaveLength(165);
      expect(body.every((one: { reasonName: string }) => one.reasonName !== "")).toBe(true);
      const notes = await Promise.all(
        body
          .slice(0, 20)
          .map(({ disputeId }: { disputeId: string }) =>
            call("GET", `/dispute/v1/tenants/demo/disputes/${disputeId}/disputenotes`),
          ),
      );
      expect(notes.flatMap((reply) => reply.body).length).toBeGreaterThan(10);
    });

    it("gives a document's next dispute the number after its last", async () => {
      const { body: all } = await call("GET", "/dispute/v1/tenants/demo/disputes?Sort=-CreateDate");
      const again = all.find((one: { disputeCode: string }) => one.disputeCode.endsWith("-02"));
      const { status, body } = await call("POST", "/dispute/v1/tenants/demo/disputes", {
        body: {
          amount: 10.5,
          accountNumber: again.accountNumber,
          documentNumber: again.documentNumber,
          reasonId: again.reasonId,
        },
      });
      expect(status).toBe(201);
      expect(body.disputeCode).toBe(`D-${again.documentNumber}-03`);
    });

    it("lists and searches accounts and documents by the columns that a change would write", async () => {
      const { read } = running.store;
      const accounts = await read.selectFrom("accounts").selectAll().execute();
      for (const { fields, ...row } of accounts) {
        expect(row).toMatchObject(toAccountColumns(row.account_number, JSON.parse(fields)));
      }
      const documents = await read.selectFrom("documents").selectAll().execute();
      for (const { fields, ...row } of documents) {
        expect(row).toMatchObject(toDocumentColumns(row.document_number, JSON.parse(fields)));
      }
      expect([accounts.length > 50, documents.length > 400]).toEqual([true, true]);
      const { body } = await ingest("GET", "/api/v1/ingest/accounts?search=sawtooth");
      expect(body.data).toMatchObject([{ accountNumber: "C-10864" }]);
    });

    it("has the account and the document of every dispute, with matching facts", async () => {
      const { body: all } = await call("GET", "/dispute/v1/tenants/demo/disputes");
      const documents = new Map<string, Promise<Reply>>();
      const accounts = new Map<string, Promise<Reply>>();
      for (const { documentNumber, accountNumber } of all) {
        documents.set(documentNumber, ingest("GET", documentAt(documentNumber)));
        accounts.set(accountNumber, ingest("GET", accountAt(accountNumber)));
      }
      for (const dispute of all) {
        const document = await documents.get(dispute.documentNumber);
        const account = await accounts.get(dispute.accountNumber);
        expect([document?.status, account?.status]).toEqual([200, 200]);
        expect(contract.documents.get.output.parse(document?.body)).toMatchObject({
          account_number: dispute.accountNumber,
          currency: dispute.currencyCode,
          document_type: "invoice",
        });
        expect(contract.accounts.get.output.parse(account?.body).name).toBe(dispute.accountName);
        const { denomination, original_denomination, status } = document?.body ?? {};
        const most = dispute.status === 0 ? denomination : original_denomination;
        expect(dispute.amount).toBeLessThanOrEqual(most);
        if (dispute.status === 0) expect(status).toBe("open");
      }
    });

    it("has invoices as PDF files with the facts of their documents", async () => {
      const { read } = running.store;
      const attachments = await read.selectFrom("document_attachments").selectAll().execute();
      for (const { document_number: number, id, file_key, file_size, uploaded_at } of attachments) {
        const { body: document } = await ingest("GET", documentAt(number));
        const path = `${documentAt(number)}/attachments/${id}`;
        const reply = await ingest("GET", path);
        expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/pdf"]);
        expect(uploaded_at).toBeGreaterThan(Date.parse(document.invoice_date));
        const bytes = Uint8Array.from(readFileSync(join(running.files, file_key)));
        expect(bytes.byteLength).toBe(file_size);
        const { text, totalPages } = await extractText(bytes, { mergePages: true });
        expect(totalPages).toBe(1);
        for (const said of [
          `Number ${number}`,
          `Date ${document.invoice_date}`,
          `Due ${document.due_date}`,
          document.line_items[0].description,
          document.original_denomination.toLocaleString("en-US", { minimumFractionDigits: 2 }),
        ]) {
          expect(text).toContain(said);
        }
      }
    });

    it("has files of disputes that open in other programs and pass the scanner", async () => {
      const { read } = running.store;
      const attachments = await read.selectFrom("dispute_attachments").selectAll().execute();
      const disputes = await read.selectFrom("disputes").selectAll().execute();
      const kinds = new Set<string>();
      for (const { file_key, file_name, file_size, dispute_id, ...row } of attachments) {
        const dispute = disputes.find(({ id }) => id === dispute_id);
        const bytes = readFileSync(join(running.files, file_key ?? ""));
        expect([row.status, bytes.byteLength]).toEqual(["Available", file_size]);
        expect(row.created_at).toBeGreaterThanOrEqual(dispute?.created_at ?? Infinity);
        expect(row.uploaded_at).toBeLessThanOrEqual(dispute?.closed_at ?? running.clock());
        const open = async () => new Blob([bytes]).stream();
        const scanned = { fileName: file_name, size: bytes.byteLength, open };
        expect([file_name, await builtInScanner.scan(scanned)]).toEqual([
          file_name,
          { status: "Available", warnings: [] },
        ]);
        const kind = file_name.split(".").at(-1) ?? "";
        kinds.add(kind);
        const said = await OPENED[kind]?.(bytes);
        if (kind !== "png") expect(said).toContain(dispute?.document_number ?? "?");
      }
      expect(kinds).toEqual(new Set(["pdf", "png", "xlsx", "eml"]));
    });

    it("has spreadsheets whose lines add up to the claim", async () => {
      const { read } = running.store;
      const sheets = await read
        .selectFrom("dispute_attachments as a")
        .innerJoin("disputes as d", "d.id", "a.dispute_id")
        .select(["a.file_key", "d.amount_order"])
        .where("a.file_name", "like", "%.xlsx")
        .execute();
      expect(sheets.length).toBeGreaterThan(5);
      for (const { file_key, amount_order } of sheets) {
        const rows = await readSheet(readFileSync(join(running.files, file_key ?? "")));
        const end = rows.findIndex(([first]) => first === "Claimed");
        let sum = 0;
        for (const [, , , quantity, billed, agreed, difference] of rows.slice(1, end)) {
          if (difference == null) continue;
          const taken = Number(quantity) * (Number(billed) - Number(agreed));
          expect(taken).toBeCloseTo(Number(difference), 4);
          expect(Number(agreed)).toBeGreaterThanOrEqual(-0.001);
          sum += Number(difference);
        }
        expect(sum).toBeCloseTo(amount_order, 4);
        expect(rows[end]?.at(-1)).toBe(amount_order);
      }
    });

    it("returns the files of a dispute as the contract says, with download URLs", async () => {
      const { read } = running.store;
      const rows = await read.selectFrom("dispute_attachments").selectAll().limit(5).execute();
      const { list, get } = contract.dispute_attachments;
      for (const { id, dispute_id } of rows) {
        const path = (of: string) =>
          at(of).replace("{disputeId}", dispute_id).replace("{attachmentId}", id);
        const all = await call("GET", path(list.path));
        expect(list.output.parse(all.body).map(({ attachmentId }) => attachmentId)).toContain(id);
        const { body } = await call("GET", path(get.path));
        expect(get.output.parse(body)).toMatchObject({ status: "Available" });
        expect(body.downloadUrl).toContain(id);
      }
    });

    it("keeps its files through a sweep", async () => {
      running.clock.advance(2 * HOUR);
      await running.platform.worker.runDue();
      expect(await running.platform.sweep()).toEqual({ unfinished: 0, unknown: 0 });
      expect(filesUnder(running.files)).toHaveLength(FILES);
    });

    it("lists its credit applications, and reads each with its company's score", async () => {
      const { body } = await call("POST", at(contract.credit_applications.list.path), {
        body: { activityType: "LASTMODIFIED", startDate: "2025-01-01", endDate: "2026-12-31" },
      });
      expect(body.applications).toHaveLength(60);
      expect(body.applicationStatusSummary).toHaveLength(10);
      for (const { applicationId, company } of body.applications) {
        const path = contract.credit_applications.get.path.replace(
          "{applicationId}",
          applicationId,
        );
        const one = await call("GET", at(path));
        expect(contract.credit_applications.get.output.parse(one.body)).toEqual(one.body);
        const id = String(company.companyId);
        const score = await call(
          "GET",
          at(contract.company_scores.get.path).replace("{companyId}", id),
        );
        expect([
          score.status,
          contract.company_scores.get.output.safeParse(score.body).error,
        ]).toEqual([200, undefined]);
      }
    });

    it("numbers the next document and account after its last", async () => {
      const account = await ingest("POST", accountAt("C-1"), { body: ACCOUNT });
      expect([account.status, account.body.csrId]).toEqual([201, 101]);
      const document = await ingest("POST", documentAt("N-1"), { body: DOCUMENT });
      expect([document.status, document.body.csrId]).toEqual([201, 2001]);
    });

    it("makes its owner an administrator, and colleagues in other roles without a password", async () => {
      const { body } = await call("GET", "/user/v3/tenants/demo/users");
      const mine = body.find((user: { email: string }) => user.email === DEMO_OWNER.email);
      expect(mine.userId).toBe(owner?.userId);
      expect(mine.userTenantProfile.roles[0].roleName).toBe("Administrator");
      const { status } = await running.call("POST", "/authentication/v1/login", {
        body: { email: body.find((user: { email: string }) => user !== mine).email, password: "x" },
      });
      expect(status).toBe(401);
      expect(body.filter((user: { status: string }) => user.status === "Inactive")).toHaveLength(1);
    });

    it("changes nothing when it is loaded again", async () => {
      const before = await contents(running.store);
      running.clock.advance(86_400_000);
      const again = await loadDemo({
        ...needsOf(running),
        credentials: () => Promise.reject(new Error("asked for credentials again")),
      });
      expect(again).toBe(false);
      expect(await contents(running.store)).toEqual(before);
    });
  });

  describe(`loading the demo tenant (${dialect.name})`, () => {
    it("leaves no record behind when it fails half way, and its files for an hour at most", async () => {
      const running = await startPlatform(dialect);
      const failing = loadDemo({
        ...needsOf(running),
        credentials: () => Promise.reject(new Error("no disk for keys")),
      });
      await expect(failing).rejects.toThrow("no disk for keys");
      expect(Object.values(await contents(running.store)).flat()).toEqual([]);
      expect(filesUnder(running.files)).toHaveLength(FILES);
      await running.platform.worker.runDue();
      expect(filesUnder(running.files)).toHaveLength(FILES);
      running.clock.advance(HOUR);
      await running.platform.worker.runDue();
      expect(filesUnder(running.files)).toEqual([]);
      await running.close();
    });
  });
}
