import { beforeAll, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../src/kit/clock.ts";
import { createSignedUrls } from "../../src/platform/files/signed-urls.ts";
import { changeRows } from "../../src/platform/store/engine/rows.ts";
import { announce, attach, disputeWithFiles, put, targetOf } from "../support/attachments.ts";
import { filesUnder } from "../support/pdf.ts";
import { configure, MASTER_KEY, onEveryStore, useTenant } from "../support/platform.ts";
import { scriptedScanner } from "../support/scanner.ts";
import { verifies } from "../support/verifies.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const EXTENSIONS = "pdf zip eml jpeg gif png mov mp4 docx xlsx txt rtf".split(" ");

onEveryStore(
  "dispute attachments",
  (at) => {
    const admin = useTenant(at, "attach");

    let reasonId: string;

    let path: string;

    beforeAll(async () => {
      reasonId = (await configure(admin)).reason.reasonId;
      ({ path } = await disputeWithFiles(admin, reasonId));
    });

    const read = async (attachmentId: string) =>
      (await admin.call("GET", `${path}/${attachmentId}`)).body;

    const reasonCodes = (body: { failureReasons: { code: string }[] }) =>
      body.failureReasons.map(({ code }) => code);

    const file = (fileName: string, bytes = "a plain text") => ({ fileName, bytes });

    verifies("AT-01", "T-08");
    it("returns the upload's id and URL, and the attachment's id, which is the same", async () => {
      const made = await admin.call("POST", path, { body: { fileName: "claim.pdf" } });
      expect(made.status, made.text).toBe(201);
      expect(Object.keys(made.body)).toEqual(["uploadId", "uploadUrl", "attachmentId"]);
      const { uploadId, uploadUrl, attachmentId } = made.body;
      expect(uploadId).toMatch(UUID);
      expect(attachmentId).toBe(uploadId);
      const { origin, pathname, searchParams } = new URL(uploadUrl);
      expect([origin, pathname]).toEqual(["http://platform.test", `/uploads/${uploadId}`]);
      expect([...searchParams.keys()]).toEqual(["expires", "sig"]);
      expect(Number(searchParams.get("expires"))).toBe(
        Math.floor((at().clock() + 15 * MINUTE) / SECOND),
      );
    });

    verifies("AT-01");
    it("returns the same URL for a repeat with the Idempotency-Key, and creates nothing", async () => {
      const headers = { "Idempotency-Key": "attach once" };
      const body = { fileName: "once.pdf" };
      const first = await admin.call("POST", path, { body, headers });
      const again = await admin.call("POST", path, { body, headers });
      expect(again.body).toEqual(first.body);
      expect(again.headers.get("idempotency-replayed")).toBe("true");
    });

    verifies("AT-02");
    it.each([
      [{}, "required"],
      [{ fileName: "" }, "empty"],
      [{ fileName: 7 }, "type"],
      [{ fileName: `${"x".repeat(252)}.pdf` }, "too_long"],
      [{ fileName: "no extension" }, "enum"],
    ])("refuses %j", async (body, code) => {
      const { status, body: problem } = await admin.call("POST", path, { body });
      expect(status).toBe(400);
      expect(problem.code).toBe("invalid_request");
      expect(problem.errors[0]).toMatchObject({ field: "fileName", code });
    });

    verifies("AT-03");
    it.each(EXTENSIONS)("accepts .%s in any case", async (extension) => {
      for (const fileName of [`file.${extension}`, `file.${extension.toUpperCase()}`]) {
        expect((await admin.call("POST", path, { body: { fileName } })).status).toBe(201);
      }
    });

    verifies("AT-03");
    it.each(
      "a.exe a.jpg a.html a.svg a a.pdf.exe a.pdf. a.tif .pdf a.pdf/ a.xls a.docm".split(" "),
    )("refuses %s", async (fileName) => {
      expect((await admin.call("POST", path, { body: { fileName } })).status).toBe(400);
    });

    verifies("AT-02", "C-51", "C-55");
    it.each([
      "../../etc/passwd.txt",
      "..\\up.txt",
      "C:\\boot.txt",
      "/abs.txt",
      "stream:x.txt",
      ".hidden.txt",
      "nul\u0000.txt",
      "cr\r\nX-Evil: 1.txt",
      "tab\t.txt",
      "\u202etxt.exe.txt",
      "\u2066a.txt",
      "lone\ud800.txt",
    ])("refuses the name %j", async (fileName) => {
      const before = filesUnder(at().files);
      const { status, body } = await admin.call("POST", path, { body: { fileName } });
      expect([status, body.errors[0].field]).toEqual([400, "fileName"]);
      expect(filesUnder(at().files)).toEqual(before);
    });

    verifies("AT-02");
    it("normalizes a name to composed form", async () => {
      const { attachmentId } = await announce(admin, path, "re\u0301sume\u0301.txt");
      expect((await read(attachmentId)).fileName).toBe("r\u00e9sum\u00e9.txt");
    });

    verifies("AT-15");
    it("has two visibilities, Internal by default", async () => {
      const plain = await announce(admin, path, "plain.txt");
      expect((await read(plain.attachmentId)).visibility).toBe("Internal");
      const open = await announce(admin, path, "open.txt", { visibility: "All" });
      expect((await read(open.attachmentId)).visibility).toBe("All");
      const body = { fileName: "other.txt", visibility: "External" };
      expect((await admin.call("POST", path, { body })).status).toBe(400);
    });

    verifies("AT-04");
    it("stores an upload to the URL, without a credential", async () => {
      const { attachmentId, uploadUrl } = await announce(admin, path, "stored.txt");
      const before = filesUnder(at().files);
      const sent = await put(at(), uploadUrl, "the very bytes");
      expect([sent.status, sent.text]).toEqual([204, ""]);
      expect(filesUnder(at().files)).toHaveLength(before.length + 1);
      await at().platform.worker.runDue();
      const { downloadUrl } = await read(attachmentId);
      const got = await at().call("GET", targetOf(downloadUrl));
      expect([got.status, got.text]).toEqual([200, "the very bytes"]);
    });

    verifies("AT-05");
    it("is PendingScan before the upload and until the scan has ended", async () => {
      const { attachmentId, uploadUrl } = await announce(admin, path, "pending.txt");
      expect((await read(attachmentId)).status).toBe("PendingScan");
      await put(at(), uploadUrl, "pending");
      const before = await admin.call("GET", `${path}/${attachmentId}`);
      expect(before.body.status).toBe("PendingScan");
      await at().platform.worker.runDue();
      const after = await admin.call("GET", `${path}/${attachmentId}`);
      expect(after.body).toMatchObject({ status: "Available", failureReasons: [] });
      expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
    });

    verifies("AT-05");
    it.each([
      ["infected", "Infected", "MALWARE_DETECTED"],
      ["rejected", "Rejected", "TYPE_MISMATCH"],
    ])("keeps the record and not the file of what is %s", async (bytes, status, code) => {
      const before = filesUnder(at().files);
      const { body } = await attach(at(), admin, path, file("bad.txt", bytes));
      expect(body).toMatchObject({ status, downloadUrl: "" });
      expect(reasonCodes(body as never)).toEqual([code]);
      expect(filesUnder(at().files)).toEqual(before);
    });

    verifies("AT-05");
    it("is Failed after the scanner has failed three times", async () => {
      const before = filesUnder(at().files);
      const { attachmentId, body } = await attach(at(), admin, path, file("faulty.txt", "faulty"));
      expect(body["status"]).toBe("PendingScan");
      const seen: string[] = [];
      for (const wait of [5, 10, 15]) {
        at().clock.advance(wait * SECOND);
        await at().platform.worker.runDue();
        seen.push((await read(attachmentId)).status);
      }
      expect(seen).toEqual(["PendingScan", "PendingScan", "Failed"]);
      expect(reasonCodes(await read(attachmentId))).toEqual(["SCAN_ERROR"]);
      expect(filesUnder(at().files)).toEqual(before);
    });

    verifies("AT-05");
    it("is Expired if no file was uploaded in time, and its URL is invalid", async () => {
      const { attachmentId, uploadUrl } = await announce(admin, path, "late.txt");
      at().clock.advance(15 * MINUTE - SECOND);
      await at().platform.worker.runDue();
      expect((await read(attachmentId)).status).toBe("PendingScan");
      at().clock.advance(SECOND);
      await at().platform.worker.runDue();
      const expired = await read(attachmentId);
      expect(expired).toMatchObject({ status: "Expired", downloadUrl: "" });
      expect(reasonCodes(expired)).toEqual(["UPLOAD_EXPIRED"]);
      const sent = await put(at(), uploadUrl, "late");
      expect([sent.status, sent.body.code]).toEqual([403, "signed_url_refused"]);
    });

    verifies("AT-06", "T-07");
    it("returns a download URL by id when Available, else an empty string", async () => {
      const { attachmentId } = await announce(admin, path, "empty-url.txt");
      expect((await read(attachmentId)).downloadUrl).toBe("");
      const { body } = await attach(at(), admin, path, file("has-url.txt"));
      expect(String(body["downloadUrl"])).toMatch(
        /^http:\/\/platform\.test\/downloads\/.+expires=/,
      );
    });

    verifies("AT-06");
    it("serves no file before its scan to any caller", async () => {
      const { attachmentId, uploadUrl } = await announce(admin, path, "waits.txt");
      await put(at(), uploadUrl, "not looked at yet");
      const grant = { method: "GET", tenantId: "attach", id: attachmentId } as const;
      const signed = createSignedUrls(MASTER_KEY).urlOf("", grant, at().clock() + MINUTE);
      expect((await at().call("GET", signed)).status).toBe(403);
      await at().platform.worker.runDue();
      expect((await at().call("GET", signed)).text).toBe("not looked at yet");
    });

    verifies("AT-04");
    it("stores nothing of a file that is shorter than its announced size", async () => {
      const { attachmentId, uploadUrl } = await announce(admin, path, "short.txt");
      const before = filesUnder(at().files);
      const headers = { "Content-Length": "10" };
      const sent = await at().call("PUT", targetOf(uploadUrl), { raw: "short", headers });
      expect([sent.status, sent.body.code]).toEqual([400, "invalid_request"]);
      expect(filesUnder(at().files)).toEqual(before);
      expect((await read(attachmentId)).status).toBe("PendingScan");
      expect((await put(at(), uploadUrl, "whole")).status).toBe(204);
    });

    verifies("AT-07");
    it("accepts a download URL for one hour", async () => {
      const { attachmentId, body } = await attach(at(), admin, path, file("hour.txt"));
      const target = targetOf(String(body["downloadUrl"]));
      at().clock.advance(60 * MINUTE - SECOND);
      expect((await at().call("GET", target)).status).toBe(200);
      at().clock.advance(SECOND);
      const late = await at().call("GET", target);
      expect([late.status, late.body.code]).toEqual([403, "signed_url_refused"]);
      const anew = await read(attachmentId);
      expect((await at().call("GET", targetOf(anew.downloadUrl))).status).toBe(200);
    });

    verifies("OP-21");
    it("answers a range of a file, and all of it to what is no range", async () => {
      const bytes = "0123456789";
      const { body } = await attach(at(), admin, path, { fileName: "range.txt", bytes });
      const target = targetOf(String(body["downloadUrl"]));
      const ask = (headers: Record<string, string>, method = "GET") =>
        at().call(method, target, { headers });
      const whole = await ask({});
      const etag = whole.headers.get("etag") ?? "";
      expect([whole.headers.get("accept-ranges"), etag]).toEqual(["bytes", expect.any(String)]);
      const parts = [
        ["bytes=0-0", "0", "bytes 0-0/10"],
        ["bytes=4-", "456789", "bytes 4-9/10"],
        ["bytes=8-99", "89", "bytes 8-9/10"],
        ["bytes=-3", "789", "bytes 7-9/10"],
        ["bytes=-99", bytes, "bytes 0-9/10"],
        ["bytes=8-18446744073709551615", "89", "bytes 8-9/10"],
        ["Bytes = 1 - 2", "12", "bytes 1-2/10"],
      ] as const;
      for (const [range, text, span] of parts) {
        const part = await ask({ Range: range, "If-Range": etag });
        const { headers } = part;
        expect([part.status, part.text], range).toEqual([206, text]);
        expect(headers.get("content-range")).toBe(span);
        expect(headers.get("content-length")).toBe(String(text.length));
      }
      for (const range of ["bytes=10-", "bytes=-0", "bytes=18446744073709551615-"]) {
        const none = await ask({ Range: range });
        expect([none.status, none.body.code]).toEqual([416, "range_not_satisfiable"]);
        expect(none.headers.get("content-range")).toBe("bytes */10");
      }
      for (const range of ["bytes=5-4", "bytes=0-1,3-4", "bytes=-", "lines=1-2", "bytes=x-"]) {
        const all = await ask({ Range: range });
        expect([all.status, all.text], range).toEqual([200, bytes]);
      }
      for (const version of ['"other"', `W/${etag}`, "Fri, 20 Nov 2026 12:00:00 GMT"]) {
        const other = await ask({ Range: "bytes=0-1", "If-Range": version });
        expect([other.status, other.text], version).toEqual([200, bytes]);
      }
      expect((await ask({ Range: "bytes=0-1" }, "HEAD")).status).toBe(200);
    });

    verifies("AT-08", "T-07");
    it("lists attachments of every status without a download URL, newest first", async () => {
      const { path: own } = await disputeWithFiles(admin, reasonId, "INV-LIST");
      const first = await attach(at(), admin, own, file("one.txt"));
      at().clock.advance(1);
      await attach(at(), admin, own, file("two.txt", "infected"));
      at().clock.advance(1);
      await announce(admin, own, "three.txt");
      const { status, body, headers } = await admin.call("GET", own);
      expect(status).toBe(200);
      expect(body.map(({ fileName }: { fileName: string }) => fileName)).toEqual([
        "three.txt",
        "two.txt",
        "one.txt",
      ]);
      expect(new Set(body.map(({ downloadUrl }: { downloadUrl: unknown }) => downloadUrl))).toEqual(
        new Set([null]),
      );
      expect(headers.get("x-total-count")).toBe("3");
      await at().store.transaction((tx) =>
        changeRows(
          tx,
          "dispute_attachments",
          { id: first.attachmentId },
          { created_at: at().clock() + 1 },
        ),
      );
      const [newest] = (await admin.call("GET", own)).body;
      expect(newest.fileName).toBe("one.txt");
    });
  },
  { scanner: scriptedScanner },
);
