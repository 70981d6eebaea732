import { beforeAll, describe, expect, it } from "vitest";
import { SECOND } from "../../src/kit/clock.ts";
import { announce, attach, disputeWithFiles, put, targetOf } from "../support/attachments.ts";
import { connectionOf, DOCUMENTS, filesUnder, invoice, pdf, uploadPath } from "../support/pdf.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { scriptedScanner } from "../support/scanner.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore(
  "dispute attachments: listing, access and signed URLs",
  (at) => {
    const admin = useTenant(at, "attach");

    let reasonId: string;

    let path: string;

    let disputeId: string;

    beforeAll(async () => {
      reasonId = (await configure(admin)).reason.reasonId;
      ({ path, disputeId } = await disputeWithFiles(admin, reasonId));
    });

    const read = async (attachmentId: string) =>
      (await admin.call("GET", `${path}/${attachmentId}`)).body;

    const jobs = () => at().store.read.selectFrom("jobs").select("id").execute();

    const file = (fileName: string, bytes = "a plain text") => ({ fileName, bytes });

    verifies("AT-09");
    it("filters by one visibility or several", async () => {
      const { path: own } = await disputeWithFiles(admin, reasonId, "INV-FILTER");
      for (const visibility of ["Internal", "All"]) {
        await announce(admin, own, `${visibility}.txt`, { visibility });
      }
      const names = async (query: string) => {
        const { body } = await admin.call("GET", own + query);
        return body.map(({ fileName }: { fileName: string }) => fileName).toSorted();
      };
      expect(await names("?Visibility=All")).toEqual(["All.txt"]);
      expect(await names("?Visibility=Internal&Visibility=All")).toEqual([
        "All.txt",
        "Internal.txt",
      ]);
      expect((await admin.call("GET", `${own}?Visibility=Nobody`)).status).toBe(400);
    });

    verifies("AT-10", "AT-11");
    it("changes only the visibility, and returns three fields", async () => {
      const { attachmentId, body: before } = await attach(at(), admin, path, file("change.txt"));
      at().clock.advance(SECOND);
      const body = {
        visibility: "All",
        fileName: "evil.exe",
        status: "PendingScan",
        attachmentStorageKey: "../x",
        downloadUrl: "http://evil.example",
        createUser: "nobody",
      };
      const changed = await admin.call("PUT", `${path}/${attachmentId}`, { body });
      expect(changed.body).toEqual({ attachmentId, disputeId, visibility: "All" });
      const after = await read(attachmentId);
      const { updateDate, downloadUrl, ...rest } = after;
      expect(rest).toEqual(
        expect.objectContaining({ fileName: "change.txt", status: "Available", visibility: "All" }),
      );
      expect([after.createUser, after.attachmentStorageKey]).toEqual([
        before["createUser"],
        before["attachmentStorageKey"],
      ]);
      expect(updateDate > String(before["updateDate"])).toBe(true);
      expect(downloadUrl).not.toBe("");
    });

    verifies("AT-10");
    it("refuses a change of a stale version", async () => {
      const { attachmentId } = await announce(admin, path, "version.txt");
      const etag = (await admin.call("GET", `${path}/${attachmentId}`)).headers.get("etag") ?? "";
      const change = (visibility: string) =>
        admin.call("PUT", `${path}/${attachmentId}`, {
          body: { visibility },
          headers: { "If-Match": etag },
        });
      expect((await change("All")).status).toBe(200);
      expect((await change("Internal")).status).toBe(412);
    });

    verifies("AT-12", "T-15");
    it("requires UPDATE to create, change and delete, and never DELETE", async () => {
      const editor = await at().person("attach", { grants: ["Dispute Management : UPDATE"] });
      const { attachmentId } = await announce(editor, path, "editor.txt");
      const one = `${path}/${attachmentId}`;
      expect((await editor.call("PUT", one, { body: { visibility: "All" } })).status).toBe(200);
      expect((await editor.call("GET", one)).status).toBe(403);
      const remover = await at().person("attach", { grants: ["Dispute Management : DELETE"] });
      expect((await remover.call("DELETE", one)).status).toBe(403);
      expect((await editor.call("DELETE", one)).status).toBe(204);
    });

    verifies("AT-13");
    it("deletes the record, the file, its URLs and its job", async () => {
      const before = { files: filesUnder(at().files), jobs: await jobs() };
      const { attachmentId, body } = await attach(at(), admin, path, file("gone.txt"));
      const waiting = await announce(admin, path, "waiting.txt");
      const uploaded = await announce(admin, path, "uploaded.txt");
      await put(at(), uploaded.uploadUrl, "not scanned yet");
      const download = targetOf(String(body["downloadUrl"]));
      expect((await at().call("GET", download)).status).toBe(200);
      for (const id of [attachmentId, waiting.attachmentId, uploaded.attachmentId]) {
        expect((await admin.call("DELETE", `${path}/${id}`)).status).toBe(204);
        expect((await admin.call("GET", `${path}/${id}`)).status).toBe(404);
        expect((await admin.call("DELETE", `${path}/${id}`)).status).toBe(404);
      }
      expect((await at().call("GET", download)).status).toBe(403);
      expect((await put(at(), waiting.uploadUrl, "too late")).status).toBe(403);
      expect({ files: filesUnder(at().files), jobs: await jobs() }).toEqual(before);
    });

    verifies("AT-13");
    it("deletes the files of a deleted dispute", async () => {
      const before = { files: filesUnder(at().files), jobs: await jobs() };
      const made = await disputeWithFiles(admin, reasonId, "INV-CASCADE");
      const { body } = await attach(at(), admin, made.path, file("cascade.txt"));
      const waiting = await announce(admin, made.path, "waiting.txt");
      expect((await admin.call("DELETE", `${DISPUTES}/${made.disputeId}`)).status).toBe(204);
      expect((await admin.call("GET", made.path)).status).toBe(404);
      expect((await at().call("GET", targetOf(String(body["downloadUrl"])))).status).toBe(403);
      expect((await put(at(), waiting.uploadUrl, "x")).status).toBe(403);
      expect({ files: filesUnder(at().files), jobs: await jobs() }).toEqual(before);
      const left = at().store.read.selectFrom("dispute_attachments").select("id");
      expect(await left.where("dispute_id", "=", made.disputeId).execute()).toEqual([]);
    });

    verifies("AT-14");
    it("returns the documented fields", async () => {
      const { attachmentId, body } = await attach(at(), admin, path, file("fields.txt"));
      expect(body).toEqual({
        attachmentId,
        tenantId: "attach",
        disputeId,
        fileName: "fields.txt",
        downloadUrl: expect.stringContaining(attachmentId),
        uploadId: attachmentId,
        status: "Available",
        visibility: "Internal",
        attachmentStorageKey: `attach/${disputeId}/${attachmentId}`,
        failureReasons: [],
        warnings: [],
        createUser: admin.userId,
        createDate: expect.stringMatching(/Z$/),
        updateUser: admin.userId,
        updateDate: expect.stringMatching(/Z$/),
      });
    });

    it("does not change the dispute itself, and works on a closed one", async () => {
      const made = await disputeWithFiles(admin, reasonId, "INV-CLOSED");
      const one = `${DISPUTES}/${made.disputeId}`;
      await admin.call("PUT", one, { body: { status: 1 } });
      const before = (await admin.call("GET", one)).body;
      at().clock.advance(SECOND);
      await attach(at(), admin, made.path, file("closed.txt"));
      expect((await admin.call("GET", one)).body).toEqual(before);
    });

    verifies("C-36");
    it("finds a file only under its own dispute", async () => {
      const other = await disputeWithFiles(admin, reasonId, "INV-OTHER");
      const { attachmentId } = await announce(admin, path, "own.txt");
      for (const method of ["GET", "PUT", "DELETE"]) {
        const body = method === "PUT" ? { body: { visibility: "All" } } : {};
        const reply = await admin.call(method, `${other.path}/${attachmentId}`, body);
        expect([method, reply.status]).toEqual([method, 404]);
      }
      expect((await admin.call("GET", `${DISPUTES}/none/attachments`)).status).toBe(404);
      const missing = { body: { fileName: "x.txt" } };
      expect((await admin.call("POST", `${DISPUTES}/none/attachments`, missing)).status).toBe(404);
    });

    verifies("D-PDF");
    it.each([
      ["infected", 400, "invalid_request"],
      ["rejected", 400, "invalid_request"],
      ["faulty", 503, "unavailable"],
    ])("keeps no document's file that is %s", async (word, status, error) => {
      const call = await at().exportCaller("attach", ["ingest:read", "ingest:write"]);
      await call("PUT", `${DOCUMENTS}/D`, { body: invoice("D") });
      const to = uploadPath(await connectionOf(at().store, "attach"), "D");
      const before = filesUnder(at().files);
      const sent = { raw: pdf(word), headers: { "Content-Type": "application/pdf" } };
      const reply = await call("POST", to, sent);
      expect([reply.status, reply.body.error]).toEqual([status, error]);
      expect(filesUnder(at().files)).toEqual(before);
      expect((await call("GET", `${DOCUMENTS}/D/attachments`)).body.attachments).toEqual([]);
    });

    describe("its signed URLs", () => {
      const spoilt = (url: string): Record<string, string> => {
        const expires = new URL(url).searchParams.get("expires") ?? "";
        const sig = new URL(url).searchParams.get("sig") ?? "";
        const bare = url.split("?")[0] ?? "";
        const flipped = (sig.startsWith("A") ? "B" : "A") + sig.slice(1);
        return {
          "another signature": `${bare}?expires=${expires}&sig=${flipped}`,
          "a shorter signature": `${bare}?expires=${expires}&sig=${sig.slice(1)}`,
          "no signature": `${bare}?expires=${expires}`,
          "an empty signature": `${bare}?expires=${expires}&sig=`,
          "a later end": `${bare}?expires=${Number(expires) + 1}&sig=${sig}`,
          "an end written otherwise": `${bare}?expires=0${expires}&sig=${sig}`,
          "no end": `${bare}?sig=${sig}`,
          "an end that is none": `${bare}?expires=Infinity&sig=${sig}`,
          nothing: bare,
        };
      };

      verifies("C-53");
      it("are refused when altered, for both methods", async () => {
        const waiting = await announce(admin, path, "altered.txt");
        for (const [how, url] of Object.entries(spoilt(waiting.uploadUrl))) {
          const { status, body } = await put(at(), url, "x");
          expect([how, status, body.code]).toEqual([how, 403, "signed_url_refused"]);
        }
        const { body } = await attach(at(), admin, path, file("altered-too.txt"));
        for (const [how, url] of Object.entries(spoilt(String(body["downloadUrl"])))) {
          const reply = await at().call("GET", targetOf(url));
          expect([how, reply.status]).toEqual([how, 403]);
        }
        expect((await put(at(), waiting.uploadUrl, "x")).status).toBe(204);
      });

      verifies("C-53");
      it("are valid for one method, and for one file of one tenant", async () => {
        const stranger = await at().tenant("attach-other");
        const theirs = await disputeWithFiles(
          stranger,
          (await configure(stranger)).reason.reasonId,
        );
        const foreign = await announce(stranger, theirs.path, "foreign.txt");
        const own = await announce(admin, path, "own.txt");
        const { attachmentId, body } = await attach(at(), admin, path, file("got.txt"));
        const search = (url: string): string => new URL(url).search;
        const download = String(body["downloadUrl"]);
        const refused: [method: string, target: string][] = [
          ["PUT", `/uploads/${foreign.attachmentId}${search(own.uploadUrl)}`],
          ["PUT", `/uploads/${own.attachmentId}${search(foreign.uploadUrl)}`],
          ["PUT", `/uploads/${own.attachmentId}${search(download)}`],
          ["PUT", `/uploads/no-such-id${search(own.uploadUrl)}`],
          // PostgreSQL refuses a NUL in text.
          ["PUT", `/uploads/%00${search(own.uploadUrl)}`],
          ["GET", `/downloads/%00${search(download)}`],
          ["GET", `/downloads/${attachmentId}${search(own.uploadUrl)}`],
          ["GET", `/downloads/${own.attachmentId}${search(download)}`],
          ["GET", `/downloads/${own.attachmentId}${search(own.uploadUrl)}`],
        ];
        for (const [method, target] of refused) {
          const { status, body: problem } =
            method === "PUT"
              ? await put(at(), `http://x${target}`, "x")
              : await at().call(method, target);
          expect([target, status, problem.code]).toEqual([target, 403, "signed_url_refused"]);
        }
        for (const [method, url] of [
          ["GET", own.uploadUrl],
          ["POST", own.uploadUrl],
          ["PUT", download],
          ["DELETE", download],
        ] as const) {
          const reply = await at().call(method, targetOf(url));
          expect([method, reply.status]).toEqual([method, 405]);
        }
      });

      verifies("C-53");
      it("accept one file, also if that file was refused", async () => {
        const { uploadUrl } = await attach(at(), admin, path, file("once.txt", "infected"));
        const again = await put(at(), uploadUrl, "harmless");
        expect([again.status, again.body.code]).toEqual([409, "conflict"]);
      });

      verifies("C-53");
      it("accept one of two concurrent files", async () => {
        const before = filesUnder(at().files);
        const { attachmentId, uploadUrl } = await announce(admin, path, "race.txt");
        const sent = await Promise.all([
          put(at(), uploadUrl, "left"),
          put(at(), uploadUrl, "right"),
        ]);
        expect(sent.map(({ status }) => status).toSorted()).toEqual([204, 409]);
        expect(filesUnder(at().files)).toHaveLength(before.length + 1);
        await at().platform.worker.runDue();
        const got = await at().call("GET", targetOf((await read(attachmentId)).downloadUrl));
        expect(got.text).toBe(sent[0]?.status === 204 ? "left" : "right");
      });

      verifies("C-54", "C-55");
      it("return a file to save, which browsers do not run", async () => {
        const name = 'Ra\u0308tsel "100%" \u{1f4c4}.TXT';
        const { body } = await attach(at(), admin, path, file(name, "<script>alert(1)</script>"));
        const got = await at().call("GET", targetOf(String(body["downloadUrl"])));
        const header = (key: string) => got.headers.get(key);
        expect(header("content-disposition")).toBe(
          `attachment; filename="R_tsel _100__ _.TXT"; filename*=UTF-8''${encodeURIComponent(name.normalize("NFC"))}`,
        );
        expect(header("content-type")).toBe("text/plain");
        expect(header("x-content-type-options")).toBe("nosniff");
        expect(header("content-security-policy")).toContain("sandbox");
        expect(header("cache-control")).toBe("no-store");
        expect(header("content-length")).toBe("25");
        const head = await at().call("HEAD", targetOf(String(body["downloadUrl"])));
        expect([head.status, head.text]).toEqual([200, ""]);
      });

      it("begin with the configured base", async () => {
        const { uploadUrl } = await announce(admin, path, "credential.txt");
        const length = { "Content-Length": "1" };
        const headers = { ...length, "X-Platform-Auth": admin.token };
        const bare = targetOf(uploadUrl).split("?")[0] ?? "";
        const reply = await at().call("PUT", bare, { raw: "x", headers });
        expect(reply.status).toBe(403);
      });
    });
  },
  { scanner: scriptedScanner },
);
