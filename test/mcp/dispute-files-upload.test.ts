import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { OPEN_FILES, openFiles } from "../support/open-files.ts";
import { verifies } from "../support/verifies.ts";
import { createFileStore, scannedAfter } from "./dispute-file-store.ts";
import { HOSTS, connectModern, createOptions, readProblem, readText } from "./hosts.ts";
import { createDisputeFile } from "./records.ts";
import { type ScriptedReply, scriptBroker } from "./script.ts";

const UPLOAD = "dispute_attachments_upload";
const UPLOAD_URL = "https://files.example/uploads/file-1?sig=s";

const announced: ScriptedReply = () => ({
  uploadId: "file-1",
  uploadUrl: UPLOAD_URL,
  attachmentId: "file-1",
});

const recordSleeps = () => {
  const waited: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    waited.push(ms);
  };
  return { waited, wait: { sleep, chance: () => 0 } };
};

const uploading = async (
  plays: Record<string, ScriptedReply>,
  setup: Parameters<typeof createOptions>[1] = {},
) => {
  const broker = scriptBroker({ "dispute_attachments.create": announced, ...plays });
  const files = createFileStore();
  const { waited, wait } = recordSleeps();
  const needs = await createOptions(broker, { transfers: files.transfers, wait, ...setup });
  return { broker, sent: files.requests, waited, host: await connectModern(needs), needs };
};

describe.each(HOSTS)("uploading a file (%s)", (_name, open) => {
  it("creates, uploads and awaits it in one call", async () => {
    const { needs, broker, sent, waited } = await uploading({
      "dispute_attachments.get": scannedAfter(3),
    });
    const host = await open(needs);
    const args = { disputeId: "d-1", fileName: "claim.txt", text: "naïve", visibility: "All" };
    const result = await host.call(UPLOAD, args);
    expect(result.isError, readText(result)).not.toBe(true);
    expect(result.structuredContent).toMatchObject({ attachmentId: "file-1", status: "Available" });
    expect(sent).toEqual([{ url: UPLOAD_URL, text: "naïve" }]);
    expect(broker.seen.map(({ id }) => id.split(".")[1])).toEqual(["create", "get", "get", "get"]);
    expect(broker.seen[0]?.args).toEqual({
      disputeId: "d-1",
      fileName: "claim.txt",
      visibility: "All",
    });
    expect(broker.seen[0]?.options.idempotencyKey).toMatch(/./);
    expect(new Set(broker.seen.map(({ options }) => options.tool))).toEqual(new Set([UPLOAD]));
    expect(waited).toEqual([200, 400]);
  });
});

describe("uploading", () => {
  const args = { disputeId: "d-1", fileName: "claim.txt" };

  it.each([
    [{ ...args }, "text is required unless base64 or path is sent"],
    [{ ...args, text: "a", base64: "YQ==" }, "send exactly one of the three"],
    [{ ...args, base64: "no base64!" }, "base64 must be Base64 (A to Z"],
    [{ disputeId: "d-1", text: "a" }, "fileName is required"],
    [{ ...args, fileName: "a.exe", text: "a" }, "fileName must end in one of"],
    [{ ...args, fileName: "a.csv", text: "a" }, "put a file of another type into a ZIP"],
    [{ ...args, fileName: "../a.txt", text: "a" }, "fileName must be a plain file name"],
    [{ ...args, text: "a", url: "http://x" }, "url is not an argument"],
  ])("refuses %j before it creates an upload", async (sent, words) => {
    const { host, broker } = await uploading({});
    const result = await host.call(UPLOAD, sent);
    expect(readProblem(result)).toMatchObject({ code: "invalid_request" });
    expect(readText(result)).toContain(words);
    expect(broker.seen).toEqual([]);
  });

  verifies("FL-08");
  it("sends name.jpg as name.jpeg, and says so", async () => {
    const { host, broker } = await uploading({ "dispute_attachments.get": scannedAfter(1) });
    const result = await host.call(UPLOAD, { ...args, fileName: "photo.JPG", text: "a" });
    expect(broker.seen[0]?.args).toMatchObject({ fileName: "photo.jpeg" });
    expect(readText(result)).toContain("The file was sent as photo.jpeg");
  });

  it("sends the bytes of base64", async () => {
    const { host, sent } = await uploading({ "dispute_attachments.get": scannedAfter(1) });
    await host.call(UPLOAD, { ...args, base64: Buffer.from("bytes").toString("base64") });
    expect(sent.map(({ text }) => text)).toEqual(["bytes"]);
  });

  it("reports its progress step by step", async () => {
    const { host } = await uploading({ "dispute_attachments.get": scannedAfter(3) });
    const reported: { progress: number; message?: string | undefined }[] = [];
    await host.client.callTool(
      { name: UPLOAD, arguments: { ...args, text: "twelve bytes" } },
      { onprogress: (progress) => reported.push(progress) },
    );
    expect(reported.map(({ progress, message }) => `${progress} ${message}`)).toEqual([
      "1 Announced.",
      "2 Uploaded 12 bytes.",
      "3 Waiting for the scan.",
      "4 Waiting for the scan.",
    ]);
  });

  it("reports the status of a file that is not available", async () => {
    const failureReasons = [{ code: "MALWARE_DETECTED", message: "It is malware." }];
    const { host } = await uploading({
      "dispute_attachments.get": scannedAfter(1, { status: "Infected", failureReasons }),
    });
    const result = await host.call(UPLOAD, { ...args, text: "x" });
    expect(result.structuredContent).toMatchObject({ status: "Infected", failureReasons });
    expect(readText(result)).toContain(
      "The file is not available: Infected. failureReasons says why",
    );
  });

  it("stops waiting for a scan that does not end, and names the tool to continue with", async () => {
    const { host, waited } = await uploading({ "dispute_attachments.get": scannedAfter(1e6) });
    const result = await host.call(UPLOAD, { ...args, text: "x" });
    expect(result.isError).not.toBe(true);
    expect(readText(result)).toContain("dispute_attachments_get shows when it is");
    const whole = waited.reduce((sum, ms) => sum + ms, 0);
    expect(whole).toBeGreaterThan(60_000);
    expect(whole).toBeLessThan(120_000);
  });

  verifies("T-08");
  it("finds the attachment if the platform returns only the id of the upload", async () => {
    const { host, broker } = await uploading({
      "dispute_attachments.create": () => ({ uploadId: "up-9", uploadUrl: UPLOAD_URL }),
      "dispute_attachments.list": () => [
        createDisputeFile(1),
        createDisputeFile(9, { uploadId: "up-9", attachmentId: "other-9" }),
      ],
      "dispute_attachments.get": scannedAfter(1),
    });
    await host.call(UPLOAD, { ...args, text: "x" });
    expect(broker.seen.at(-1)?.args).toEqual({ disputeId: "d-1", attachmentId: "other-9" });
  });

  verifies("C-76");
  it("treats a file that exists already as its own under the same idempotencyKey", async () => {
    const taken = () => Promise.reject(new Problem("conflict", "It has been uploaded."));
    const transfers = { ...createFileStore().transfers, put: taken };
    const plays = { "dispute_attachments.get": scannedAfter(1) };
    const { host, broker } = await uploading(plays, { transfers });
    const again = await host.call(UPLOAD, { ...args, text: "x", idempotencyKey: "k" });
    expect(again.structuredContent).toMatchObject({ status: "Available" });
    expect(broker.seen[0]?.options.idempotencyKey).toBe("k");
    const without = await host.call(UPLOAD, { ...args, text: "x" });
    expect(readProblem(without)).toMatchObject({ code: "conflict" });
  });

  it("stops when the host cancels", async () => {
    const { needs, host } = await uploading({ "dispute_attachments.get": scannedAfter(1e6) });
    await host.close();
    const forever = {
      sleep: (_ms: number, signal?: AbortSignal) =>
        new Promise<void>((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
        }),
      chance: () => 0,
    };
    const { client, close } = await connectModern({
      ...needs,
      open: async () => ({ ...needs, wait: forever }),
    });
    const cancel = new AbortController();
    const call = client.callTool(
      { name: UPLOAD, arguments: { ...args, text: "x" } },
      { signal: cancel.signal },
    );
    cancel.abort("enough");
    await expect(call).rejects.toThrow();
    await close();
  });
});

describe("uploading a local file", () => {
  let folder: string;
  let outside: string;

  beforeAll(async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "upload-folders-")));
    folder = join(root, "allowed");
    outside = join(root, "allowed-not");
    await mkdir(join(folder, "deeper"), { recursive: true });
    await mkdir(outside);
    await writeFile(join(folder, "claim.txt"), "from a file");
    await writeFile(join(folder, "deeper", "empty.txt"), "");
    await writeFile(join(outside, "secret.txt"), "secret");
    await symlink(join(outside, "secret.txt"), join(folder, "link.txt"));
    await symlink(outside, join(folder, "linked"));
    await symlink(folder, join(outside, "back"));
    execFileSync("mkfifo", [join(folder, "pipe.txt")]);
  });

  const upload = async (path: string, uploadFolders = [folder]) => {
    const opened = await uploading(
      { "dispute_attachments.get": scannedAfter(1) },
      { uploadFolders },
    );
    const result = await opened.host.call(UPLOAD, { disputeId: "d", fileName: "a.txt", path });
    await opened.host.close();
    return { result, sent: opened.sent, calls: opened.broker.seen.length };
  };

  it("sends files below an allowed folder, through links too", async () => {
    expect((await upload(join(folder, "claim.txt"))).sent[0]?.text).toBe("from a file");
    expect((await upload(join(folder, "deeper", "empty.txt"))).sent[0]?.text).toBe("");
    const back = join(outside, "back", "claim.txt");
    expect((await upload(back)).sent[0]?.text).toBe("from a file");
    const viaLink = await upload(join(folder, "claim.txt"), [join(outside, "back")]);
    expect(viaLink.sent[0]?.text).toBe("from a file");
    if (existsSync(OPEN_FILES)) expect(openFiles(folder)).toEqual([]);
  });

  verifies("C-51");
  it("sends no file outside of the folders, and does not reveal which exist", async () => {
    const refused = [
      join(outside, "secret.txt"),
      join(outside, "no-such-file.txt"),
      join(folder, "no-such-file.txt"),
      join(folder, "..", "allowed-not", "secret.txt"),
      join(folder, "link.txt"),
      join(folder, "linked", "secret.txt"),
      folder,
      join(folder, "deeper"),
      join(folder, "pipe.txt"),
      "/dev/stdin",
      "/proc/self/environ",
      `${folder}/claim.txt\0.txt`,
    ];
    const texts = new Set<string>();
    for (const path of refused) {
      const { result, sent, calls } = await upload(path);
      expect([path, result.isError, sent, calls]).toEqual([path, true, [], 0]);
      texts.add(readText(result));
    }
    expect([...texts]).toHaveLength(1);
    expect(readText((await upload("claim.txt")).result)).toContain("path must be absolute");
  });

  it("sends no file if no folder is allowed", async () => {
    const { result, calls } = await upload(join(folder, "claim.txt"), []);
    expect([result.isError, calls]).toEqual([true, 0]);
    expect(readText(result)).toContain("RECEIVABLES_UPLOAD_FOLDERS");
  });
});
