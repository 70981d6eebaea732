import { beforeAll, expect, it } from "vitest";
import { announce, disputeWithFiles, put } from "../support/attachments.ts";
import { connectionOf, DOCUMENTS, filesUnder, invoice, uploadPath } from "../support/pdf.ts";
import { configure, onEveryStore, useTenant } from "../support/platform.ts";
import { goodUploads, hostileUploads } from "../support/uploads.ts";
import { harmless } from "../support/uploads/harmless.ts";
import type { Upload } from "../support/uploads/upload.ts";
import { verifies } from "../support/verifies.ts";

type Seen = { title: string; status: string; code?: string };

onEveryStore("uploads that must not be kept", (at) => {
  const admin = useTenant(at, "corpus");
  let path: string;

  beforeAll(async () => {
    const { reason } = await configure(admin);
    ({ path } = await disputeWithFiles(admin, reason.reasonId));
  });

  /** The whole way of a file; its id, where its name is taken at all. */
  const send = async ({ fileName, bytes }: Upload): Promise<string | undefined> => {
    const made = await admin.call("POST", path, { body: { fileName } });
    if (made.status === 400) return undefined;
    const sent = await put(at(), made.body.uploadUrl, Uint8Array.from(bytes));
    expect(sent.status, sent.text).toBe(204);
    return made.body.attachmentId;
  };

  const verdict = async (title: string, id: string | undefined): Promise<Seen> => {
    if (id === undefined) return { title, status: "refused" };
    const { body } = await admin.call("GET", `${path}/${id}`);
    const [reason] = body.failureReasons;
    return { title, status: body.status, ...(reason === undefined ? {} : { code: reason.code }) };
  };

  const verdicts = async (uploads: readonly Upload[]): Promise<Seen[]> => {
    const ids = new Map<Upload, string | undefined>();
    for (const upload of uploads) ids.set(upload, await send(upload));
    await at().platform.worker.runDue();
    return Promise.all(uploads.map((upload) => verdict(upload.title, ids.get(upload))));
  };

  verifies("C-52");
  it("makes no hostile file Available, and stores none of its bytes", async () => {
    const before = filesUnder(at().files);
    const seen = await verdicts(hostileUploads);
    const expected = hostileUploads.map(({ title, status, code }, index) =>
      seen[index]?.status === "refused" ? { title, status: "refused" } : { title, status, code },
    );
    expect(seen).toEqual(expected);
    const taken = seen.filter(({ status }) => status !== "refused");
    expect(taken.length).toBeGreaterThan(hostileUploads.length / 2);
    expect(filesUnder(at().files)).toEqual(before);
    const listed = await admin.call("GET", path);
    expect(listed.body).toHaveLength(taken.length);
    expect(listed.text).not.toContain("Available");
  });

  verifies("AT-03");
  it("makes every sound file Available", async () => {
    const seen = await verdicts(goodUploads);
    expect(seen.map(({ status }) => status)).toEqual(goodUploads.map(() => "Available"));
  });

  verifies("FL-03");
  it("records the warnings of an accepted file, in its record and in lists", async () => {
    const upload = harmless.find(({ title }) => title === "an XLSX with a formula of the network");
    if (upload === undefined) throw new Error("the sample is missing");
    const id = await send(upload);
    await at().platform.worker.runDue();
    const warnings = [
      { code: "NETWORK_FORMULA", message: expect.stringContaining("xl/worksheets/sheet1.xml") },
    ];
    const { body } = await admin.call("GET", `${path}/${id}`);
    expect(body).toMatchObject({ status: "Available", failureReasons: [], warnings });
    const listed = await admin.call("GET", path);
    expect(listed.body).toContainEqual(expect.objectContaining({ attachmentId: id, warnings }));
  });

  verifies("C-52", "D-PDF");
  it("stores no file that the scanner refuses", async () => {
    const call = await at().exportCaller("corpus", ["ingest:read", "ingest:write"]);
    await call("POST", `${DOCUMENTS}/D`, { body: invoice("D") });
    const to = uploadPath(await connectionOf(at().store, "corpus"), "D");
    const before = filesUnder(at().files);
    const pdfs = hostileUploads.filter(
      ({ bytes }) =>
        bytes.subarray(0, 5).toString("latin1") === "%PDF-" &&
        bytes.subarray(-1024).includes("%%EOF"),
    );
    const hostile = pdfs.filter(({ fileName }) => /^[\w-]+\.pdf$/.test(fileName));
    expect(hostile.length).toBeGreaterThan(3);
    for (const { title, bytes } of hostile) {
      const headers = { "Content-Type": "application/pdf" };
      const reply = await call("POST", to, { raw: Uint8Array.from(bytes), headers });
      expect([title, reply.status, reply.body.error]).toEqual([title, 400, "invalid_request"]);
      expect(reply.body.errors[0]).toMatchObject({ field: "", message: expect.any(String) });
    }
    expect((await call("GET", `${DOCUMENTS}/D/attachments`)).body.attachments).toEqual([]);
    expect(filesUnder(at().files)).toEqual(before);
  });

  it("counts no storage for an announced file without upload", async () => {
    const before = filesUnder(at().files);
    await announce(admin, path, "never.pdf");
    expect(filesUnder(at().files)).toEqual(before);
  });
});
