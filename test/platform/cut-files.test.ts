import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { createPlatformListener, type Served, serve } from "../../src/server/serve.ts";
import { attach, disputeWithFiles, targetOf } from "../support/attachments.ts";
import { configure, onEveryStore } from "../support/platform.ts";
import { rawSocket } from "../support/raw-socket.ts";
import { verifies } from "../support/verifies.ts";

const PIECE = "x".repeat(64 * 1024);
const TEXT = PIECE.repeat(16);
const SECRET = "EIO: i/o error, read /secret/place";

/** Reads like a disk that fails in the middle of the file. */
async function* failing(): AsyncGenerator<Buffer> {
  yield Buffer.from(PIECE);
  yield Buffer.from(PIECE);
  throw Object.assign(new Error(SECRET), { code: "EIO", syscall: "read" });
}

onEveryStore("a file that cannot be read to its end", (at) => {
  let served: Served;
  let target: string;

  beforeAll(async () => {
    const admin = await at().tenant("cut-files");
    const { reason } = await configure(admin);
    const { path } = await disputeWithFiles(admin, reason.reasonId);
    const { body } = await attach(at(), admin, path, { fileName: "a.txt", bytes: TEXT });
    target = targetOf(String(body["downloadUrl"]));
    served = await serve(createPlatformListener(at().platform), { host: "127.0.0.1", port: 0 });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(() => served.close());

  const download = async () => {
    const connection = await rawSocket(served.url);
    connection.say(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    return connection;
  };

  it("is sent whole while the disk works", async () => {
    const heard = await (await download()).ended();
    expect(heard).toContain(`Content-Length: ${TEXT.length}`);
    expect(heard.endsWith(TEXT)).toBe(true);
  });

  verifies("C-99");
  it("is cut short, and logged in one line", async () => {
    const handle = await open(fileURLToPath(import.meta.url));
    const prototype = Object.getPrototypeOf(handle) as typeof handle;
    await handle.close();
    vi.spyOn(prototype, "createReadStream").mockImplementation(
      () => Readable.from(failing()) as ReturnType<typeof handle.createReadStream>,
    );
    const printed = [vi.spyOn(console, "error"), vi.spyOn(console, "info")];
    at().logged.length = 0;
    const connection = await download();
    const heard = await connection.ended();
    expect(heard).not.toContain("EIO");
    expect(heard.length).toBeLessThan(TEXT.length);
    for (const print of printed) expect(print).not.toHaveBeenCalled();
    const [line = "", ...others] = at().logged;
    expect(others).toEqual([]);
    expect(line.trimEnd()).not.toContain("\n");
    expect(JSON.parse(line)).toMatchObject({ level: "error", event: "answer.cut", error: SECRET });
  });
});
