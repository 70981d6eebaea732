import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StoreUnavailable } from "../../src/platform/store/port.ts";
import { formatTimestamp, HOUR } from "../../src/kit/clock.ts";
import { startPlatform, configure, type TestPlatform } from "./platform.ts";
import { attach, disputeWithFiles, targetOf } from "./attachments.ts";
import {
  everyPayment,
  EXPORTS,
  exportingTenant,
  paymentIds,
  runsOf,
  SCHEDULES,
} from "./exports.ts";
import { type OpenedFiles, pieces } from "./file-store.ts";
import { connectionOf, DOCUMENTS, invoice, pdf, uploadPath } from "./pdf.ts";
import { dialects } from "./stores.ts";
import { EICAR } from "./uploads/eicar.ts";
import { verifies } from "./verifies.ts";

const MIB = 1024 * 1024;
const TENANT = "in-use";
const ROWS = 12_000;

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Uses of files by the platform: uploads, scans, downloads, snapshots, deletions and the sweep. */
export const describeFilesInUse = (name: string, open: () => Promise<OpenedFiles>): void => {
  describe(`files of the platform ${name}`, () => {
    let opened: OpenedFiles;
    let at: TestPlatform;

    beforeEach(async () => {
      opened = await open();
      const { files } = opened;
      at = await startPlatform(dialects[1], { files });
    });
    afterEach(async () => {
      await at.close();
      await opened.close();
    });

    const fetchFile = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
      Promise.resolve(
        at.platform.fetch(new Request(`http://platform.test${targetOf(url)}`, { headers })),
      );

    verifies("OP-21");
    it("are uploaded, scanned, downloaded and deleted", async () => {
      const admin = await at.tenant(TENANT);
      const { reason } = await configure(admin);
      const { path } = await disputeWithFiles(admin, reason.reasonId);
      const bytes = Buffer.from("A claim, line by line.\n".repeat(300_000));
      const { attachmentId, body } = await attach(at, admin, path, {
        fileName: "claim.txt",
        bytes,
      });
      expect(body).toMatchObject({ status: "Available" });
      expect(await opened.stored()).toHaveLength(1);
      const whole = await fetchFile(String(body["downloadUrl"]));
      expect([whole.status, hashOf(Buffer.from(await whole.arrayBuffer()))]).toEqual([
        200,
        hashOf(bytes),
      ]);
      const range = { Range: "bytes=5999990-6000009" };
      const part = await fetchFile(String(body["downloadUrl"]), range);
      expect([part.status, part.headers.get("content-range")]).toEqual([
        206,
        "bytes 5999990-6000009/6900000",
      ]);
      expect(await part.text()).toBe(bytes.subarray(5_999_990, 6_000_010).toString());
      const bad = await attach(at, admin, path, { fileName: "bad.txt", bytes: EICAR });
      expect(bad.body).toMatchObject({ status: "Infected" });
      expect(await opened.stored()).toHaveLength(1);
      const deleted = await admin.call("DELETE", `${path}/${attachmentId}`);
      expect(deleted.status).toBe(204);
      await at.platform.worker.runDue();
      expect(await opened.stored()).toEqual([]);
    });

    verifies("OP-21");
    it("are scanned after an outage, however long it took", async () => {
      const admin = await at.tenant(TENANT);
      const { reason } = await configure(admin);
      const { path } = await disputeWithFiles(admin, reason.reasonId);
      const outage = vi.spyOn(opened.files, "open").mockRejectedValue(new StoreUnavailable("down"));
      const file = { fileName: "claim.txt", bytes: "A claim." };
      const { attachmentId, body } = await attach(at, admin, path, file);
      const read = async () => (await admin.call("GET", `${path}/${attachmentId}`)).body.status;
      expect(body).toMatchObject({ status: "PendingScan" });
      for (let minute = 0; minute < 10; minute += 1) {
        at.clock.advance(60_000);
        await at.platform.worker.runDue();
        expect(await read()).toBe("PendingScan");
      }
      outage.mockRestore();
      at.clock.advance(60_000);
      await at.platform.worker.runDue();
      expect(await read()).toBe("Available");
    });

    verifies("OP-21");
    it("are rows of export runs, and are removed when they are older than allowed", async () => {
      const call = await exportingTenant(at, TENANT, ROWS);
      const due = { firstRunAt: formatTimestamp(at.clock()), intervalMs: 1000 * HOUR };
      const made = await call("POST", SCHEDULES, { body: { ...everyPayment, ...due } });
      expect(made.status, made.text).toBe(201);
      await at.platform.worker.runDue();
      const [run] = await runsOf(call, made.body.id);
      expect(run).toMatchObject({ status: "completed", rowCount: ROWS });
      const kept = await opened.stored();
      expect(kept.length).toBeGreaterThan(1);
      const ids: string[] = [];
      let cursor = "";
      do {
        const path = `${EXPORTS}/export-runs/${made.body.id}/data?limit=5000${cursor}`;
        const page = await call("GET", path);
        expect(page.status, page.text).toBe(200);
        ids.push(...page.body.data.map(({ id }: { id: string }) => id));
        const { cursor: next } = page.body.pagination;
        cursor = next === null ? "" : `&cursor=${next}`;
      } while (cursor !== "");
      expect(ids).toEqual(paymentIds(1, ROWS));
      at.clock.advance(31 * 24 * HOUR);
      await at.platform.purge();
      expect(await opened.stored()).toEqual([]);
    });

    verifies("OP-21");
    it("are swept an hour after they were stored, unless they have a record", async () => {
      await at.tenant(TENANT);
      const call = await at.exportCaller(TENANT, ["ingest:read", "ingest:write"]);
      const connection = await connectionOf(at.store, TENANT);
      await call("POST", `${DOCUMENTS}/D`, { body: invoice("D") });
      const headers = { "Content-Type": "application/pdf" };
      const raw = pdf("kept", 7 * MIB);
      const sent = await call("POST", uploadPath(connection, "D"), { raw, headers });
      expect(sent.status, sent.text).toBe(200);
      const kept = await opened.stored();
      for (let number = 0; number < 7; number += 1) {
        await opened.files.put(`${connection}/orphan-${number}`, pieces("x"), 1);
      }
      at.clock.set(formatTimestamp(Date.now()));
      expect(await at.platform.sweep()).toEqual({ unfinished: 0, unknown: 0 });
      at.clock.advance(HOUR + 60_000);
      expect(await at.platform.sweep()).toEqual({ unfinished: 0, unknown: 7 });
      expect(await opened.stored()).toEqual(kept);
      const read = await call("GET", `${DOCUMENTS}/D/attachments/${sent.body.id}`);
      expect(read.status).toBe(200);
    });
  });
};
