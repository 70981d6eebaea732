import { truncateSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { createPlatformListener, type Served, serve } from "../../src/server/serve.ts";
import { attach, disputeWithFiles, targetOf } from "../support/attachments.ts";
import { filesUnder } from "../support/pdf.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { copyDispute } from "../support/many-disputes.ts";
import { type RawSocket, rawSocket } from "../support/raw-socket.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "sockets";
/** More than the buffers of a connection hold: about 24 MiB of JSON. */
const COPIES = 6000;
const LONG_NAME = "n".repeat(4000);
const CHUNK_HEAD = /\r\n[0-9a-f]+\r\n/g;
const FILE_BYTES = 24 * 1024 * 1024;
/** When the rest of an answer is read into a file, and when its view would expire. */
const [SPOOLED_MS, EXPIRED_MS, SILENT_MS] = [11_000, 31_000, 31 * 60_000];

onEveryStore("a client that reads slowly from a socket", (at) => {
  const admin = useTenant(at, TENANT);
  let served: Served;
  let released = 0;
  let downloadUrl: string;

  const countReleases = (): void => {
    const { store } = at();
    const open = store.snapshot.bind(store);
    store.snapshot = async (options) => {
      const view = await open(options);
      let isOpen = true;
      const close = async (): Promise<void> => {
        await view.close();
        if (isOpen) released += 1;
        isOpen = false;
      };
      return { ...view, close };
    };
  };

  beforeAll(async () => {
    const { reason } = await configure(admin);
    const { path } = await disputeWithFiles(admin, reason.reasonId);
    const bytes = Buffer.alloc(FILE_BYTES, "plain text ");
    const { body } = await attach(at(), admin, path, { fileName: "long.txt", bytes });
    downloadUrl = String(body["downloadUrl"]);
    await copyDispute(at().store, TENANT, COPIES, { account_name: LONG_NAME });
    countReleases();
    served = await serve(createPlatformListener(at().platform), { host: "127.0.0.1", port: 0 });
  }, 60_000);
  afterEach(() => {
    vi.useRealTimers();
    at().logged.length = 0;
  });
  afterAll(() => served.close());

  /** Requests a path, and stops reading after the first bytes. */
  const begin = async (path: string): Promise<RawSocket> => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const connection = await rawSocket(served.url);
    connection.socket.once("data", () => connection.socket.pause());
    const lines = ["Host: a", "Connection: close", `X-Platform-Auth: ${admin.token}`, "\r\n"];
    connection.say([`GET ${path} HTTP/1.1`, ...lines].join("\r\n"));
    await expect.poll(() => connection.heard()).toMatch(/^HTTP\/1\.1 200 /);
    return connection;
  };

  const list = DISPUTES.replace("{t}", TENANT);

  verifies("C-92", "OP-51");
  it("gets the whole list, and holds no view of the store meanwhile", async () => {
    const before = released;
    const connection = await begin(list);
    expect(released).toBe(before);
    await vi.advanceTimersByTimeAsync(SPOOLED_MS);
    await expect.poll(() => released, { timeout: 20_000 }).toBe(before + 1);
    await vi.advanceTimersByTimeAsync(EXPIRED_MS - SPOOLED_MS);
    connection.socket.resume();
    const answer = await connection.ended();
    expect(answer).toMatch(/\]\r\n0\r\n\r\n$/);
    const text = answer.replaceAll(CHUNK_HEAD, "");
    expect(text.split(LONG_NAME)).toHaveLength(COPIES + 1);
    expect(at().logged).toEqual([]);
  }, 60_000);

  verifies("C-92", "OP-51");
  it.each(["list", "file"])(
    "loses its connection when it does not read a %s on",
    async (what) => {
      const before = released;
      const connection = await begin(what === "list" ? list : targetOf(downloadUrl));
      await vi.advanceTimersByTimeAsync(SPOOLED_MS);
      const views = what === "list" ? 1 : 0;
      await expect.poll(() => released, { timeout: 20_000 }).toBe(before + views);
      // Again, because the silence begins when the buffers of the socket are full, which may be later.
      const wait = async (): Promise<number> => {
        await vi.advanceTimersByTimeAsync(SILENT_MS);
        return at().logged.length;
      };
      await expect.poll(wait, { timeout: 20_000 }).toBe(1);
      connection.socket.resume();
      const heard = await connection.ended();
      expect(heard.length).toBeLessThan(what === "list" ? COPIES * LONG_NAME.length : FILE_BYTES);
      expect(at().logged.map((line) => JSON.parse(line))).toMatchObject([
        { level: "warn", event: "answer.cut" },
      ]);
    },
    60_000,
  );

  verifies("C-99");
  it("notices that a file was cut while it was read", async () => {
    const file = filesUnder(at().files).find((path) => !path.includes(".drafts")) ?? "";
    const connection = await begin(targetOf(downloadUrl));
    truncateSync(file, 1024);
    connection.socket.resume();
    const heard = await connection.ended();
    expect(heard).toMatch(new RegExp(`\\r\\ncontent-length: ${FILE_BYTES}\\r\\n`, "i"));
    expect(heard.length).toBeLessThan(FILE_BYTES);
  }, 60_000);
});
