import { existsSync, statSync, utimesSync } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPlatformListener, type Served, serve } from "../../src/server/serve.ts";
import { HOUR, MINUTE } from "../../src/kit/clock.ts";
import { removeRows } from "../../src/platform/store/engine/rows.ts";
import { announce, disputeWithFiles, put, targetOf } from "../support/attachments.ts";
import { OPEN_FILES, openFiles } from "../support/open-files.ts";
import { filesUnder } from "../support/pdf.ts";
import { configure, onEveryStore, useTenant } from "../support/platform.ts";
import { jpeg } from "../support/uploads/samples.ts";
import { verifies } from "../support/verifies.ts";

const MIB = 1024 * 1024;
const LIMIT = 50 * MIB;

onEveryStore("files of disputes over sockets", (at) => {
  let serving: Served;
  let port: number;
  const admin = useTenant(at, "transfer");
  let path: string;

  beforeAll(async () => {
    const { reason } = await configure(admin);
    ({ path } = await disputeWithFiles(admin, reason.reasonId));
    serving = await serve(createPlatformListener(at().platform), { host: "127.0.0.1", port: 0 });
    port = Number(new URL(serving.url).port);
  });
  afterAll(() => serving.close());

  const drafts = () => filesUnder(join(at().files, ".drafts"));
  const read = async (id: string) => (await admin.call("GET", `${path}/${id}`)).body;

  /** Sends the head of an upload and a part of its body. */
  const begin = (url: string, headers: Record<string, string>, body: Uint8Array): Socket => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    const lines = Object.entries({ Host: "x", ...headers }).map(
      ([name, text]) => `${name}: ${text}\r\n`,
    );
    socket.write(`PUT ${targetOf(url)} HTTP/1.1\r\n${lines.join("")}\r\n`);
    socket.write(body);
    return socket;
  };

  const statusLine = (socket: Socket): Promise<string> =>
    new Promise((resolve) => {
      socket.once("data", (data) => resolve(data.toString().split("\r\n")[0] ?? ""));
    });

  const written = async (bytes: number): Promise<void> => {
    await expect.poll(() => drafts().map((draft) => statSync(draft).size)).toEqual([bytes]);
  };

  const send = (url: string, bytes: Uint8Array): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { "Content-Length": bytes.byteLength };
      const sent = request({ port, method: "PUT", path: targetOf(url), headers }, (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
      });
      sent.on("error", reject);
      sent.end(bytes);
    });

  verifies("C-53", "D-RATE");
  it("limits an address that guesses signed URLs; valid URLs still work", async () => {
    at().clock.advance(2 * MINUTE);
    const { uploadUrl } = await announce(admin, path, "held.txt");
    const guess = () => put(at(), uploadUrl.replace(/sig=.{4}/, "sig=AAAA"), "x");
    for (let attempt = 0; attempt < 100; attempt++) expect((await guess()).status).toBe(403);
    const waiting = await guess();
    expect([waiting.status, waiting.headers.get("retry-after")]).toEqual([429, "60"]);
    expect((await put(at(), uploadUrl, "x")).status).toBe(204);
    at().clock.advance(2 * MINUTE);
  });

  verifies("AT-01");
  it("returns URLs at the address of the request", async () => {
    const listed = await fetch(`${serving.url}${path.replace("{t}", "transfer")}`, {
      method: "POST",
      headers: { "X-Platform-Auth": admin.token, "Content-Type": "application/json" },
      body: JSON.stringify({ fileName: "address.txt" }),
    });
    const { uploadUrl } = (await listed.json()) as { uploadUrl: string };
    expect(new URL(uploadUrl).origin).toBe(serving.url);
    expect(await send(uploadUrl, Buffer.from("x"))).toBe(204);
  });

  verifies("AT-04", "OP-01", "OP-03");
  it("writes an upload as it arrives, and stores it when it is complete", async () => {
    const { attachmentId, uploadUrl } = await announce(admin, path, "streamed.txt");
    const before = filesUnder(at().files);
    const bytes = Buffer.alloc(3 * MIB, "streamed ");
    const socket = begin(uploadUrl, { "Content-Length": String(3 * MIB) }, bytes.subarray(0, MIB));
    await written(MIB);
    socket.write(bytes.subarray(MIB, 2 * MIB));
    await written(2 * MIB);
    const answered = statusLine(socket);
    socket.write(bytes.subarray(2 * MIB));
    expect(await answered).toMatch(/^HTTP\/1.1 204 /);
    socket.destroy();
    expect(drafts()).toEqual([]);
    const logged = at().store.read.selectFrom("audit_logs").select("metadata");
    const uploads = await logged.where("action", "=", "dispute_attachment.uploaded").execute();
    expect(uploads.map(({ metadata }) => JSON.parse(metadata))).toContainEqual(
      expect.objectContaining({ resourceId: attachmentId, actor: admin.userId }),
    );
    expect(filesUnder(at().files)).toHaveLength(before.length + 1);
    await at().platform.worker.runDue();
    const { downloadUrl } = await read(attachmentId);
    const got = await fetch(serving.url + targetOf(downloadUrl));
    expect(got.headers.get("content-length")).toBe(String(3 * MIB));
    expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true);
  });

  verifies("AT-04", "FL-06", "FL-07");
  it.each([
    ["a text", "cut.txt", Buffer.alloc(0)],
    // The scan reads the beginning of a picture only, so it would accept half of one.
    ["a picture", "cut.jpeg", jpeg().subarray(0, -4)],
  ])(
    "stores nothing of %s that is cut off, and accepts the next one",
    async (_what, name, head) => {
      const { attachmentId, uploadUrl } = await announce(admin, path, name);
      const before = filesUnder(at().files);
      const length = { "Content-Length": String(MIB) };
      const rest = Buffer.alloc(MIB / 2 - head.byteLength, "cut ");
      const socket = begin(uploadUrl, length, Buffer.concat([head, rest]));
      await written(MIB / 2);
      socket.destroy();
      await expect.poll(drafts).toEqual([]);
      expect(filesUnder(at().files)).toEqual(before);
      await at().platform.worker.runDue();
      expect((await read(attachmentId)).status).toBe("PendingScan");
      expect(await send(uploadUrl, Buffer.from("whole"))).toBe(204);
    },
  );

  verifies("AT-04");
  it("refuses before reading: no length, chunks, too many bytes, an altered URL", async () => {
    const { uploadUrl } = await announce(admin, path, "refused.txt");
    const before = filesUnder(at().files);
    const altered = uploadUrl.replace(/sig=./, "sig=_");
    const chunked = { "Transfer-Encoding": "chunked" };
    const cases: [url: string, headers: Record<string, string>, status: number][] = [
      [uploadUrl, chunked, 411],
      [uploadUrl, {}, 411],
      [uploadUrl, { "Content-Length": String(LIMIT + 1) }, 413],
      [uploadUrl, { "Content-Length": "1e3" }, 400],
      [altered, { "Content-Length": String(MIB) }, 403],
    ];
    for (const [url, headers, status] of cases) {
      const socket = begin(url, headers, Buffer.alloc(0));
      expect([headers, await statusLine(socket)]).toEqual([
        headers,
        expect.stringMatching(new RegExp(`^HTTP/1.1 ${status} `)),
      ]);
      socket.destroy();
    }
    expect(filesUnder(at().files)).toEqual(before);
    expect(drafts()).toEqual([]);
    expect(await send(uploadUrl, Buffer.alloc(1, "x"))).toBe(204);
    expect(await send(uploadUrl, Buffer.alloc(1, "x"))).toBe(409);
  });

  verifies("AT-04");
  it("accepts a file of exactly the limit", async () => {
    const { attachmentId, uploadUrl } = await announce(admin, path, "limit.txt");
    const piece = Buffer.alloc(MIB, "a line of text\n");
    const socket = begin(uploadUrl, { "Content-Length": String(LIMIT) }, Buffer.alloc(0));
    const answered = statusLine(socket);
    for (let sent = 0; sent < LIMIT; sent += MIB) {
      // A socket's own buffer is no memory of the platform's.
      if (!socket.write(piece)) await new Promise((resolve) => socket.once("drain", resolve));
    }
    expect(await answered).toMatch(/^HTTP\/1.1 204 /);
    socket.destroy();
    await at().platform.worker.runDue();
    expect((await read(attachmentId)).status).toBe("Available");
    await admin.call("DELETE", `${path}/${attachmentId}`);
  });

  verifies("AT-04");
  it("accepts a file whose upload began before its URL expired", async () => {
    const { attachmentId, uploadUrl } = await announce(admin, path, "slow.txt");
    const socket = begin(uploadUrl, { "Content-Length": "8" }, Buffer.from("slow"));
    await written(4);
    at().clock.advance(HOUR);
    await at().platform.worker.runDue();
    expect((await read(attachmentId)).status).toBe("Expired");
    const answered = statusLine(socket);
    socket.write("done");
    expect(await answered).toMatch(/^HTTP\/1.1 204 /);
    socket.destroy();
    await at().platform.worker.runDue();
    expect(await read(attachmentId)).toMatchObject({ status: "Available", failureReasons: [] });
  });

  verifies("AT-13");
  it("stores nothing of a file whose record was deleted meanwhile", async () => {
    const { attachmentId, uploadUrl } = await announce(admin, path, "deleted.txt");
    const before = filesUnder(at().files);
    const socket = begin(uploadUrl, { "Content-Length": "8" }, Buffer.from("half"));
    await written(4);
    await admin.call("DELETE", `${path}/${attachmentId}`);
    const answered = statusLine(socket);
    socket.write("done");
    expect(await answered).toMatch(/^HTTP\/1.1 403 /);
    socket.destroy();
    expect(filesUnder(at().files)).toEqual(before);
  });

  verifies("AT-13");
  it("sweeps files without a record only", async () => {
    const { attachmentId, uploadUrl } = await announce(admin, path, "swept.txt");
    const before = new Set(filesUnder(at().files));
    await send(uploadUrl, Buffer.from("kept"));
    const kept = filesUnder(at().files).filter((name) => !before.has(name));
    expect(kept).toHaveLength(1);
    const old = new Date(at().clock() - 2 * HOUR);
    for (const name of kept) utimesSync(name, old, old);
    await at().platform.sweep();
    expect(kept.every((name) => existsSync(name))).toBe(true);
    await removeRows(at().store.read, "dispute_attachments", { id: attachmentId });
    await at().platform.sweep();
    expect(kept.some((name) => existsSync(name))).toBe(false);
    await at().platform.worker.runDue();
  });

  verifies("AT-06");
  it.skipIf(!existsSync(OPEN_FILES))("closes a file whose reader leaves", async () => {
    const { attachmentId, uploadUrl } = await announce(admin, path, "left.txt");
    await send(uploadUrl, Buffer.alloc(20 * MIB, "left "));
    await at().platform.worker.runDue();
    const url = serving.url + targetOf((await read(attachmentId)).downloadUrl);
    const left = new AbortController();
    const partly = await fetch(url, { signal: left.signal });
    await partly.body?.getReader().read();
    expect(openFiles(at().files)).toHaveLength(1);
    left.abort();
    await expect.poll(() => openFiles(at().files)).toEqual([]);
    const head = await fetch(url, { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe(String(20 * MIB));
    await expect.poll(() => openFiles(at().files)).toEqual([]);
  });
});
