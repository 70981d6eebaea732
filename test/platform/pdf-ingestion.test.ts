import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { PdfReceipt } from "../../src/contract/pdf-ingestion.ts";
import { changeRows } from "../../src/platform/store/engine/rows.ts";
import { connectionOf, DOCUMENTS, filesUnder, invoice, pdf, uploadPath } from "../support/pdf.ts";
import { onEveryStore, useExportCaller } from "../support/platform.ts";
import { findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const MIB = 1024 * 1024;
onEveryStore("PDF files of documents", (at) => {
  const TENANT = "pdf-own";
  const call = useExportCaller(at, TENANT, ["ingest:read", "ingest:write"]);
  const other = useExportCaller(at, "pdf-other", ["ingest:read", "ingest:write"]);
  let connectionId: string;
  let counter = 0;

  beforeAll(async () => {
    await at().tenant(TENANT);
    await at().tenant("pdf-other");
    connectionId = await connectionOf(at().store, TENANT);
  });

  const document = async (fields: object = {}, number = `D-${(counter += 1)}`) => {
    const made = await call("POST", `${DOCUMENTS}/${encodeURIComponent(number)}`, {
      body: { ...invoice(number), ...fields },
    });
    expect(made.status, made.text).toBe(201);
    return number;
  };

  const upload = (
    number: string,
    body: Uint8Array<ArrayBuffer> | string | null = pdf(),
    { query = "", headers = {}, by = call, connection = connectionId } = {},
  ) =>
    by("POST", uploadPath(connection, number) + query, {
      headers: { "Content-Type": "application/pdf", ...headers },
      ...(body === null ? {} : { raw: body }),
    });

  const list = async (number: string) =>
    (await call("GET", `${DOCUMENTS}/${encodeURIComponent(number)}/attachments`)).body;

  const read = (number: string, id: string, method = "GET") =>
    call(method, `${DOCUMENTS}/${encodeURIComponent(number)}/attachments/${id}`);

  const kept = () => filesUnder(at().files);

  verifies("D-PDF");
  it("stores a PDF and returns its receipt", async () => {
    const number = await document();
    const bytes = pdf("whole", 3000);
    const reply = await upload(number, bytes);
    expect(reply.status, reply.text).toBe(200);
    expect(PdfReceipt.parse(reply.body)).toEqual(reply.body);
    expect(reply.body).toEqual({
      document_number: number,
      id: expect.any(String),
      fileSize: bytes.byteLength,
      uploadedAt: new Date(at().clock()).toISOString(),
    });
    const rows = await findRows(at().store.read, "document_attachments", { id: reply.body.id });
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(rows).toMatchObject([{ sha256, file_size: 3000, document_number: number }]);
    const path = join(at().files, rows[0]?.file_key ?? "");
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  verifies("ID-17", "T-11");
  it("lists a document's files", async () => {
    const number = await document();
    expect(await list(number)).toEqual({ document_number: number, attachments: [] });
    const { csrId } = (await call("GET", `${DOCUMENTS}/${number}`)).body;
    const { body } = await upload(number, pdf("listed", 2222));
    expect(await list(number)).toEqual({
      document_number: number,
      attachments: [
        {
          id: body.id,
          csrId,
          documentNumber: number,
          fileSize: 2222,
          uploadedAt: body.uploadedAt,
        },
      ],
    });
    const unknown = await call("GET", `${DOCUMENTS}/no-such/attachments`);
    expect([unknown.status, unknown.body.error]).toEqual([404, "document_not_found"]);
  });

  verifies("ID-18");
  it("returns a file's bytes, to be saved under the document's PDF name", async () => {
    const number = await document({ pdf_name: "Rechnung März.pdf" });
    const bytes = pdf("content", 70_000);
    const { id } = (await upload(number, bytes)).body;
    const reply = await read(number, id);
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(Buffer.from(bytes).toString());
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "content-type": "application/pdf",
      "content-length": "70000",
      "content-disposition": `attachment; filename="Rechnung M_rz.pdf"; filename*=UTF-8''Rechnung%20M%C3%A4rz.pdf`,
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("sandbox"),
    });
    const head = await read(number, id, "HEAD");
    expect([head.status, head.text, head.headers.get("content-length")]).toEqual([
      200,
      "",
      "70000",
    ]);
    const plain = await document();
    const made = (await upload(plain)).body;
    const { headers } = await read(plain, made.id);
    expect(headers.get("content-disposition")).toContain(`filename="${plain}.pdf"`);
  });

  verifies("ID-18", "C-36");
  it("finds no file of another document or tenant", async () => {
    const [number, next] = [await document(), await document()];
    const { id } = (await upload(number)).body;
    const replies = [
      await read(number, "no-such"),
      await read(next, id),
      await other("GET", `${DOCUMENTS}/${number}/attachments/${id}`),
      await other("GET", `${DOCUMENTS}/${number}/attachments`),
    ];
    expect(replies.map(({ status, body }) => [status, body.error])).toEqual([
      [404, "attachment_not_found"],
      [404, "attachment_not_found"],
      [404, "document_not_found"],
      [404, "document_not_found"],
    ]);
  });

  verifies("D-PDF");
  it("replaces records and files, and adds a file if `append` is set", async () => {
    const number = await document();
    const first = (await upload(number, pdf("first"))).body.id;
    const before = kept().length;
    at().clock.advance(1000);
    const second = (await upload(number, pdf("second"))).body.id;
    expect(kept()).toHaveLength(before);
    expect((await read(number, first)).status).toBe(404);
    at().clock.advance(1000);
    const third = (await upload(number, pdf("third"), { query: "?append=true" })).body.id;
    const ids = async () => (await list(number)).attachments.map(({ id }: { id: string }) => id);
    expect(await ids()).toEqual([second, third]);
    expect((await read(number, second)).text).toContain("second");
    const fourth = (await upload(number, pdf("fourth"), { query: "?append=false" })).body.id;
    expect(await ids()).toEqual([fourth]);
    expect(kept()).toHaveLength(before);
  });

  verifies("D-PDF");
  it("does not change the document", async () => {
    const number = await document();
    const before = await call("GET", `${DOCUMENTS}/${number}`);
    at().clock.advance(1000);
    await upload(number);
    const after = await call("GET", `${DOCUMENTS}/${number}`);
    expect(after.text).toBe(before.text);
    expect(after.headers.get("etag")).toBe(before.headers.get("etag"));
  });

  verifies("D-PDF");
  it.each([
    ["nothing", null],
    ["no bytes", ""],
    ["text", "hello"],
    ["a beginning of the mark", "%PD"],
    ["the mark alone", "%PDF-"],
    ["the mark and nothing in it", " %PDF-1.7\n%%EOF"],
    ["the mark behind the first KiB", `${" ".repeat(1020)}%PDF-1.7\n%%EOF`],
    ["no end", "%PDF-1.7\nxxx"],
    ["an end too far from it", `%PDF-1.7\n%%EOF${"x".repeat(1024)}`],
    ["a page", "<html>%PDF-1.7 %%EOF</html>"],
  ])("refuses %s, and keeps nothing of it", async (_what, body) => {
    const number = await document();
    const before = kept();
    const reply = await upload(number, body);
    expect([reply.status, reply.body.error]).toEqual([400, "invalid_request"]);
    expect(reply.body.errors).toMatchObject([{ field: "", code: expect.any(String) }]);
    expect(kept()).toEqual(before);
    expect((await list(number)).attachments).toEqual([]);
  });

  verifies("D-PDF", "FL-04");
  it("accepts a PDF whose header is within the first KiB", async () => {
    const number = await document();
    for (const before of ["\r\n", "\xef\xbb\xbf", " ".repeat(900)]) {
      const body = Uint8Array.from(Buffer.concat([Buffer.from(before, "latin1"), pdf()]));
      expect((await upload(number, body)).status, JSON.stringify(before)).toBe(200);
    }
  });

  verifies("D-PDF");
  it("accepts an end mark within the last KiB", async () => {
    const number = await document();
    // Text after the mark on its line is a comment.
    const ending = (count: number) =>
      Uint8Array.from(Buffer.concat([pdf().subarray(0, -1), Buffer.alloc(count, "x")]));
    expect((await upload(number, ending(1019))).status).toBe(200);
    expect((await upload(number, ending(1020))).status).toBe(400);
  });

  verifies("D-PDF");
  it("refuses another content type, and accepts this one with parameters", async () => {
    const number = await document();
    for (const type of ["application/json", "text/plain", "application/pdfx"]) {
      const reply = await upload(number, pdf(), { headers: { "Content-Type": type } });
      expect([reply.status, reply.body.error]).toEqual([400, "invalid_request"]);
      expect(reply.body.errors).toMatchObject([{ field: "Content-Type" }]);
    }
    const typed = { "Content-Type": "Application/PDF; version=1.7" };
    expect((await upload(number, pdf(), { headers: typed })).status).toBe(200);
  });

  verifies("D-PDF");
  it("accepts 25 MiB and not a byte more", async () => {
    const number = await document();
    const before = kept();
    const most = pdf("most", 25 * MIB);
    const more = pdf("more", 25 * MIB + 1);
    const refused = await upload(number, more);
    expect([refused.status, refused.body.error]).toEqual([413, "payload_too_large"]);
    expect(kept()).toEqual(before);
    const taken = await upload(number, most);
    expect([taken.status, taken.body.fileSize]).toEqual([200, 25 * MIB]);
    expect(kept()).toHaveLength(before.length + 1);
  });

  verifies("D-PDF");
  it("accepts only its own tenant's connection and documents", async () => {
    const number = await document();
    const theirs = await connectionOf(at().store, "pdf-other");
    const before = kept();
    for (const connection of [theirs, "no-such", "%00", "..%2F..", "x".repeat(5000)]) {
      const reply = await upload(number, pdf(), { connection });
      expect([reply.status, reply.body.error]).toEqual([404, "not_found"]);
    }
    const stranger = await upload(number, pdf(), { by: other });
    expect([stranger.status, stranger.body.error]).toEqual([404, "not_found"]);
    const strange = await upload(number, pdf(), { by: other, connection: theirs });
    expect([strange.status, strange.body.error]).toEqual([404, "document_not_found"]);
    const missing = await upload("no-such");
    expect([missing.status, missing.body.error]).toEqual([404, "document_not_found"]);
    expect(kept()).toEqual(before);
  });

  verifies("D-PDF");
  it("requires a key with write access", async () => {
    const number = await document();
    const reader = await at().exportCaller(TENANT, ["ingest:read", "export:read"]);
    const refused = await upload(number, pdf(), { by: reader });
    expect([refused.status, refused.body.error]).toEqual([403, "forbidden"]);
    const nobody = await upload(number, pdf(), { by: at().call });
    expect([nobody.status, nobody.body.error]).toEqual([401, "unauthorized"]);
    const writer = await at().exportCaller(TENANT, ["ingest:write"]);
    const path = `${DOCUMENTS}/${number}/attachments`;
    expect((await writer("GET", path)).status).toBe(403);
    expect((await writer("GET", `${path}/x`)).status).toBe(403);
  });

  verifies("D-PDF");
  it("refuses an unknown value of append, and a parameter that may be append misspelled", async () => {
    const number = await document();
    for (const [query, field] of [
      ["?append=yes", "append"],
      ["?apend=true", "apend"],
    ] as const) {
      const reply = await upload(number, pdf(), { query });
      expect([reply.status, reply.body.error]).toEqual([422, "validation_failed"]);
      expect(reply.body.errors).toMatchObject([{ field }]);
    }
  });

  verifies("C-51");
  it("uses no number or name as a path", async () => {
    const numbers = [
      "../../escape",
      "/etc/passwd",
      "...",
      "a\\..\\b",
      "C:\\x",
      "%2e%2e%2f",
      "..\\",
    ];
    for (const number of numbers) {
      await document({ pdf_name: `../../${number}` }, number);
      const reply = await upload(number);
      expect([number, reply.status]).toEqual([number, 200]);
      const { headers } = await read(number, reply.body.id);
      const name = /filename="([^"]*)"/.exec(headers.get("content-disposition") ?? "")?.[1] ?? "/";
      expect(name).not.toMatch(/[/\\:]|^\.|^$/);
    }
    const form = /^[0-9a-f-]{36}\/[0-9a-f-]{36}$/;
    const odd = kept().filter((path) => !form.test(path.slice(at().files.length + 1)));
    expect(odd).toEqual([]);
    const beside = readdirSync(join(at().files, ".."), { recursive: true, encoding: "utf8" });
    expect(beside.filter((name) => name.includes("escape"))).toEqual([]);
  });

  verifies("D-PDF");
  it("stores one file after concurrent uploads", async () => {
    const number = await document();
    const before = kept().length;
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) => upload(number, pdf(`race ${index}`, 5000))),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const { attachments } = await list(number);
    expect(attachments).toHaveLength(1);
    expect(kept()).toHaveLength(before + 1);
    expect((await read(number, attachments[0].id)).text).toContain("race");
  });

  it("reports a lost file as an internal error", async () => {
    const number = await document();
    const { id } = (await upload(number)).body;
    await at().store.transaction((tx) =>
      changeRows(
        tx,
        "document_attachments",
        { id },
        { file_key: `${connectionId}/${"0".repeat(36)}` },
      ),
    );
    expect((await read(number, id)).status).toBe(500);
  });
});
