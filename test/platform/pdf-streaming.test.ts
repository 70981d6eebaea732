import { existsSync, statSync } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPlatformListener, type Served, serve } from "../../src/server/serve.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { randomId } from "../../src/kit/ids.ts";
import { OPEN_FILES, openFiles } from "../support/open-files.ts";
import { connectionOf, DOCUMENTS, filesUnder, invoice, pdf, uploadPath } from "../support/pdf.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const MIB = 1024 * 1024;

type Answer = { status: number; text: string };

onEveryStore("PDF files over sockets", (at) => {
  const TENANT = "pdf-sockets";
  let serving: Served;
  let port: number;
  let key: string;
  let path: string;

  beforeAll(async () => {
    await at().tenant(TENANT);
    const needs = { store: at().store, clock: at().clock, newId: randomId };
    const scopes = ["ingest:read", "ingest:write"];
    key = (await issueKey(needs, { tenantId: TENANT, name: "socket", scopes })).apiKey;
    const call = await at().exportCaller(TENANT, scopes);
    const made = await call("POST", `${DOCUMENTS}/D`, { body: invoice("D") });
    if (made.status !== 201) throw new Error(made.text);
    path = uploadPath(await connectionOf(at().store, TENANT), "D");
    serving = await serve(createPlatformListener(at().platform), { host: "127.0.0.1", port: 0 });
    port = Number(new URL(serving.url).port);
  });
  afterAll(() => serving.close());

  const drafts = () => filesUnder(join(at().files, ".drafts"));
  const rows = () => at().store.read.selectFrom("document_attachments").selectAll().execute();

  /** Sends the head of an upload and a part of its body. */
  const begin = async (more: Record<string, string>, body: Uint8Array): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    const headers = { Host: "x", "X-API-Key": key, "Content-Type": "application/pdf", ...more };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    socket.write(body);
    return socket;
  };

  const written = async (bytes: number): Promise<void> => {
    await expect.poll(() => drafts().map((draft) => statSync(draft).size)).toEqual([bytes]);
  };

  const send = (body: Uint8Array, headers: Record<string, string> = {}, to = path) =>
    new Promise<Answer>((resolve, reject) => {
      const all = { "X-API-Key": key, "Content-Type": "application/pdf", ...headers };
      const sent = request({ port, method: "POST", path: to, headers: all }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      });
      sent.on("error", reject);
      sent.end(body);
    });

  verifies("D-PDF");
  it("writes an upload as it arrives, and stores it when it is complete", async () => {
    const bytes = pdf("streamed", 3 * MIB);
    const socket = await begin({ "Content-Length": String(3 * MIB) }, bytes.subarray(0, MIB));
    await written(MIB);
    socket.write(bytes.subarray(MIB, 2 * MIB));
    await written(2 * MIB);
    const answered = new Promise<string>((resolve) => {
      socket.once("data", (data) => resolve(data.toString()));
    });
    socket.write(bytes.subarray(2 * MIB));
    expect(await answered).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
    expect(drafts()).toEqual([]);
    expect((await rows()).map(({ file_size }) => file_size)).toEqual([3 * MIB]);
  });

  verifies("D-PDF");
  it.each([
    ["with a length", { "Content-Length": String(MIB) }, pdf("cut", MIB).subarray(0, MIB / 2)],
    [
      "in chunks",
      { "Transfer-Encoding": "chunked" },
      Buffer.concat([Buffer.from("80000\r\n"), pdf("cut", MIB / 2), Buffer.from("\r\n")]),
    ],
  ])("leaves nothing of an upload %s that is cut off", async (_how, headers, body) => {
    const before = { files: filesUnder(at().files), rows: await rows() };
    const socket = await begin(headers, body);
    await written(MIB / 2);
    socket.destroy();
    await expect.poll(drafts).toEqual([]);
    expect({ files: filesUnder(at().files), rows: await rows() }).toEqual(before);
  });

  verifies("D-PDF");
  it("accepts an upload in chunks, and refuses one that grows too large", async () => {
    const chunked = { "Transfer-Encoding": "chunked" };
    expect((await send(pdf("chunks", 2 * MIB), chunked)).status).toBe(200);
    const before = filesUnder(at().files);
    const socket = await begin(chunked, Buffer.alloc(0));
    const answered = new Promise<string>((resolve) => {
      socket.once("data", (data) => resolve(data.toString()));
    });
    const piece = Buffer.concat([Buffer.from("100000\r\n"), pdf("x", MIB), Buffer.from("\r\n")]);
    for (let number = 0; number < 26; number += 1) socket.write(piece);
    expect(await answered).toMatch(/^HTTP\/1.1 413 /);
    socket.destroy();
    expect(filesUnder(at().files)).toEqual(before);
  });

  verifies("D-PDF");
  it("refuses a request before it reads the body, if it can", async () => {
    const before = filesUnder(at().files);
    const refusals: [Record<string, string>, number][] = [
      [{ "X-API-Key": "none", "Content-Length": String(MIB) }, 401],
      [{ "Content-Type": "text/plain", "Content-Length": String(MIB) }, 400],
      [{ "Content-Length": String(25 * MIB + 1) }, 413],
    ];
    for (const [headers, status] of refusals) {
      const socket = await begin(headers, pdf().subarray(0, 20));
      const head = await new Promise<string>((resolve) => {
        socket.once("data", (data) => resolve(data.toString()));
      });
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      socket.destroy();
    }
    const unknown = await send(pdf("unknown", MIB), {}, path.replace(/D$/, "no-such"));
    expect([unknown.status, JSON.parse(unknown.text).error]).toEqual([404, "document_not_found"]);
    for (let number = 0; number < 5; number += 1) {
      const large = await send(pdf("large", 26 * MIB));
      expect([large.status, JSON.parse(large.text).error]).toEqual([413, "payload_too_large"]);
    }
    expect(filesUnder(at().files)).toEqual(before);
  });

  verifies("ID-18");
  it("reads a file through a socket", async () => {
    const bytes = pdf("read", 20 * MIB);
    const { id } = JSON.parse((await send(bytes)).text);
    const url = `${serving.url}${DOCUMENTS}/D/attachments/${id}`;
    const whole = await fetch(url, { headers: { "X-API-Key": key } });
    expect(whole.headers.get("content-length")).toBe(String(20 * MIB));
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    const head = await fetch(url, { method: "HEAD", headers: { "X-API-Key": key } });
    expect(head.headers.get("content-length")).toBe(String(20 * MIB));
  });

  verifies("ID-18");
  it.skipIf(!existsSync(OPEN_FILES))("closes a file whose reader leaves", async () => {
    const { id } = JSON.parse((await send(pdf("left", 20 * MIB))).text);
    const url = `${serving.url}${DOCUMENTS}/D/attachments/${id}`;
    const left = new AbortController();
    const partly = await fetch(url, { headers: { "X-API-Key": key }, signal: left.signal });
    await partly.body?.getReader().read();
    expect(openFiles(at().files)).toHaveLength(1);
    left.abort();
    await expect.poll(() => openFiles(at().files)).toEqual([]);
    await fetch(url, { method: "HEAD", headers: { "X-API-Key": key } });
    await expect.poll(() => openFiles(at().files)).toEqual([]);
  });
});
