import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { createInProcessTransport } from "../../src/client/in-process.ts";
import type { Client, Transport } from "../../src/client/port.ts";
import { createRemoteTransport } from "../../src/client/remote.ts";
import { Problem } from "../../src/contract/errors.ts";
import { contract } from "../../src/contract/index.ts";
import { silentLog } from "../../src/kit/log.ts";
import { json, wildServer, type WildServer } from "../support/wild-server.ts";
import { verifies } from "../support/verifies.ts";

const readFile = contract.document_attachments.get;
const args = { document_number: "INV/1", id: "a-1" };
const PDF = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x2d, 0xff, 0xfe, 0x00, 0x0d, 0x0a]);

let server: WildServer;
let client: Client;

const clientOver = (transport: Transport): Client =>
  createClient({ transport, headerWord: "Platform", log: silentLog });

const call = (maxFileBytes: number | undefined = 100) =>
  client.call(readFile, args, {}, { tool: "a_tool", maxFileBytes });

const sends = (headers: Record<string, string>, body: Buffer | undefined = PDF) => {
  server.behave((_request, response) => {
    response.writeHead(200, headers);
    response.end(body);
  });
};

const named = (disposition: string) => ({
  "content-type": "application/pdf",
  "content-disposition": disposition,
});

beforeEach(async () => {
  server = await wildServer();
  const baseUrls = { gateway: "http://127.0.0.1:1", export: server.url };
  client = clientOver(createRemoteTransport({ baseUrls, requestMs: 2000 }));
});

afterEach(async () => {
  await client.close();
  await server.close();
});

describe("a file from the platform", () => {
  verifies("ID-18");
  it("is returned byte for byte, with the data of its headers", async () => {
    sends(named('attachment; filename="INV 1.pdf"'));
    const { output, bytes } = await call();
    expect(output).toEqual({ fileName: "INV 1.pdf", mimeType: "application/pdf", fileSize: 10 });
    expect(Buffer.from(bytes ?? [])).toEqual(PDF);
    expect(server.seen[0]).toMatchObject({
      url: "/api/v1/ingest/documents/INV%2F1/attachments/a-1",
      headers: { accept: "*/*" },
    });
  });

  it("is returned by an embedded platform in the same way", async () => {
    const headers = { ...named("attachment; filename=a.pdf"), "content-length": "10" };
    const transport = createInProcessTransport({
      fetch: async () => new Response(PDF, { headers }),
      requestMs: 2000,
    });
    const embedded = clientOver(transport);
    const options = { tool: "a_tool", maxFileBytes: 10 };
    const { output, bytes } = await embedded.call(readFile, args, {}, options);
    expect(output).toMatchObject({ fileName: "a.pdf", fileSize: 10 });
    expect(Buffer.from(bytes ?? [])).toEqual(PDF);
    const less = await embedded.call(readFile, args, {}, { tool: "a_tool", maxFileBytes: 9 });
    expect(less).not.toHaveProperty("bytes");
  });

  it("is not read if it is larger than allowed", async () => {
    const large = Buffer.alloc(4 * 1024 * 1024, 1);
    sends(
      { ...named("attachment; filename=a.pdf"), "content-length": String(large.length) },
      large,
    );
    for (const most of [undefined, 100, large.length - 1]) {
      const options = { tool: "a_tool", maxFileBytes: most };
      const reply = await client.call(readFile, args, {}, options);
      expect(reply.output).toMatchObject({ fileSize: large.length });
      expect(reply).not.toHaveProperty("bytes");
    }
    expect((await call(large.length)).bytes?.byteLength).toBe(large.length);
  });

  it("is read up to the limit if it has no length", async () => {
    server.behave((_request, response) => {
      response.writeHead(200, named("attachment; filename=a.pdf"));
      response.write(Buffer.alloc(60));
      response.end(Buffer.alloc(60));
    });
    await expect(call()).rejects.toThrow("too large to read");
    expect((await call(120)).output).toMatchObject({ fileSize: 120 });
  });

  it.each([
    ["attachment; filename=plain.pdf", "plain.pdf"],
    ['attachment; filename="a \\"b\\".pdf"', 'a "b".pdf'],
    [`attachment; filename="x.pdf"; filename*=UTF-8''K%C3%A4se%20%E2%82%AC.pdf`, "Käse €.pdf"],
    [`attachment; filename="x.pdf"; filename*=UTF-8''%zz.pdf`, "x.pdf"],
    ['attachment; filename="../../etc/passwd"', "passwd"],
    [`attachment; filename*=UTF-8''..%5C..%5Cboot.ini`, "boot.ini"],
  ])("is named by %s", async (disposition, fileName) => {
    sends(named(disposition));
    expect((await call()).output).toMatchObject({ fileName });
  });

  it.each([
    ["has no name", { "content-type": "application/pdf" }],
    ["is a page of another server", { "content-type": "text/html" }],
  ])("is none when it %s", async (_how, headers) => {
    sends(headers);
    const refusal = await call().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Problem);
    expect(refusal).toMatchObject({ code: "unavailable" });
  });

  verifies("D-ERR-7");
  it("is a Problem after a refusal", async () => {
    server.behave((_request, response) => {
      json(response, 404, { error: "attachment_not_found", message: "There is no such file." });
    });
    const refusal = await call().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "attachment_not_found", status: 404 });
  });
});
