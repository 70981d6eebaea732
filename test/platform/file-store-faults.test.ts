import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HOUR } from "../../src/kit/clock.ts";
import type { FileStore } from "../../src/platform/files/port.ts";
import { createS3Files } from "../../src/platform/files/s3.ts";
import { StoreUnavailable } from "../../src/platform/store/port.ts";
import { pieces, readText } from "../support/file-store.ts";
import { type FakeS3, type Fault, S3_ENVIRONMENT, startFakeS3 } from "../support/s3/server.ts";
import { verifies } from "../support/verifies.ts";

const MIB = 1024 * 1024;
const PREFIX = "files";
const LARGE = Buffer.concat(Array.from({ length: 11 }, () => randomBytes(MIB)));

let s3: FakeS3;
let files: FileStore;

beforeEach(async () => {
  for (const [name, value] of Object.entries(S3_ENVIRONMENT)) vi.stubEnv(name, value);
  s3 = await startFakeS3(2);
  files = createS3Files(s3.location(PREFIX), { connectMs: 1000, waitMs: 400 });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await s3.stop();
});

/** The fault of the first so many requests for an operation. */
const failing = (name: string, fault: Fault, times = Infinity) => {
  let left = times;
  s3.fault = (operation) => {
    if (operation !== name || left <= 0) return undefined;
    left -= 1;
    return fault;
  };
};

const put = (bytes: Buffer = LARGE) => files.put("own/file", pieces(bytes), 100 * MIB);

/** The error code of an outage, as `/ready` shows it. */
const outageOf = async (act: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await act.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreUnavailable);
  return ((error as StoreUnavailable).cause as { code?: unknown }).code;
};

const SLOW_DOWN = { status: 503, code: "SlowDown" };
const INTERNAL = { status: 500, code: "InternalError" };

describe("S3 that fails for a moment", () => {
  const STEPS = ["CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload"];

  verifies("OP-21");
  it.each([
    ...STEPS.map((step) => [step, INTERNAL] as const),
    ["UploadPart", SLOW_DOWN] as const,
    ["UploadPart", "silence"] as const,
  ])("stores a file whose %s is answered by %j at first", async (step, fault) => {
    failing(step, fault, 1);
    expect(await put()).toMatchObject({ size: LARGE.length });
    expect(s3.objects.get(`${PREFIX}/own/file`)?.bytes.equals(LARGE)).toBe(true);
    expect(s3.uploads.size).toBe(0);
  });

  it.each([{ cut: 3 * MIB }, { stop: 3 * MIB }])(
    "continues a file whose body ends early: %j",
    async (fault) => {
      await put();
      failing("GetObject", fault, 3);
      const file = await files.open("own/file");
      if (file === undefined) throw new Error("the file is missing");
      expect((await buffer(file.bytes)).equals(LARGE)).toBe(true);
      expect(s3.seen.filter((operation) => operation === "GetObject")).toHaveLength(4);
    },
  );

  it("continues a span of a file", async () => {
    await put();
    failing("GetObject", { cut: MIB }, 2);
    const [from, to] = [2 * MIB, 6 * MIB];
    const file = await files.open("own/file", { from, to });
    if (file === undefined) throw new Error("the file is missing");
    expect(file.size).toBe(to - from);
    expect((await buffer(file.bytes)).equals(LARGE.subarray(from, to))).toBe(true);
  });

  it("continues a file whose reader paused for longer than a request may take", async () => {
    await put();
    const file = await files.open("own/file");
    const reader = file?.bytes.getReader();
    const read: Uint8Array[] = [];
    for (;;) {
      const next = await reader?.read();
      if (next?.value === undefined) break;
      read.push(next.value);
      if (read.length === 1) await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    expect(Buffer.concat(read).equals(LARGE)).toBe(true);
  });
});

describe("S3 that keeps failing", () => {
  verifies("OP-21", "C-06");
  it.each([
    ["PutObject", INTERNAL, "InternalError", 1],
    ["PutObject", "silence", "ETIMEDOUT", 1],
    ["CreateMultipartUpload", INTERNAL, "InternalError", 11],
    ["UploadPart", INTERNAL, "InternalError", 11],
    ["CompleteMultipartUpload", INTERNAL, "InternalError", 11],
  ] as const)("is an outage if %s is answered by %j, and nothing is left", async (...given) => {
    const [step, fault, code, mib] = given;
    failing(step, fault);
    expect(await outageOf(put(LARGE.subarray(0, mib * MIB)))).toBe(code);
    expect(s3.seen.filter((operation) => operation === step)).toHaveLength(3);
    expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0]);
  });

  it("is an outage for each operation", async () => {
    await put();
    s3.fault = () => INTERNAL;
    const all = async () => {
      for await (const { key } of files.list("own")) expect(key).toBe("");
    };
    expect(await outageOf(files.open("own/file"))).toBe("InternalError");
    expect(await outageOf(files.remove("own/file"))).toBe("InternalError");
    expect(await outageOf(all())).toBe("InternalError");
    expect(await outageOf(files.discardUnfinished(0))).toBe("InternalError");
    await s3.stop();
    expect(await outageOf(files.open("own/file"))).toBe("ECONNREFUSED");
    s3 = await startFakeS3();
  });

  it("ends the read of a file that brings no more bytes", async () => {
    await put();
    failing("GetObject", { cut: 0 });
    const file = await files.open("own/file");
    if (file === undefined) throw new Error("the file is missing");
    await outageOf(buffer(file.bytes));
    expect(s3.seen.filter((operation) => operation === "GetObject")).toHaveLength(3);
  });

  it("is an outage if it refuses the credentials", async () => {
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "another");
    const other = createS3Files(s3.location(PREFIX));
    expect(await outageOf(other.put("own/file", pieces("x"), 10))).toMatch(/SignatureDoesNotMatch/);
    expect(s3.objects.size).toBe(0);
  });

  it("does not hide the error of a source, though the upload cannot be aborted", async () => {
    failing("AbortMultipartUpload", INTERNAL);
    async function* broken() {
      yield LARGE;
      throw new Error("cut off");
    }
    await expect(files.put("own/file", broken(), 100 * MIB)).rejects.toThrow("cut off");
    expect(s3.uploads.size).toBe(1);
  });
});

describe("unfinished uploads on S3", () => {
  it("are discarded when nothing was written to them for a time, page by page", async () => {
    const now = Date.now();
    failing("AbortMultipartUpload", INTERNAL);
    for (let number = 0; number < 5; number += 1) {
      async function* broken() {
        yield LARGE;
        throw new Error("cut off");
      }
      await expect(files.put(`own/file-${number}`, broken(), 100 * MIB)).rejects.toThrow();
    }
    s3.fault = () => undefined;
    await files.put("own/whole", pieces("x"), 1);
    const [alive, ...dead] = s3.uploads.values();
    for (const upload of s3.uploads.values()) upload.at = now - 2 * HOUR;
    for (const { parts } of dead) for (const part of parts.values()) part.at = now - 2 * HOUR;
    expect(await files.discardUnfinished(now - HOUR)).toBe(4);
    expect([...s3.uploads.values()]).toEqual([alive]);
    expect(await files.discardUnfinished(now - HOUR)).toBe(0);
    expect(await readText(files, "own/whole")).toBe("x");
    expect(s3.refused).toEqual([]);
  });

  it("of other prefixes are left alone", async () => {
    const other = createS3Files(s3.location("files-of-others"));
    failing("AbortMultipartUpload", INTERNAL);
    async function* broken() {
      yield LARGE;
      throw new Error("cut off");
    }
    await expect(other.put("own/file", broken(), 100 * MIB)).rejects.toThrow();
    s3.fault = () => undefined;
    expect(await files.discardUnfinished(Date.now() + HOUR)).toBe(0);
    expect(await other.discardUnfinished(Date.now() + HOUR)).toBe(1);
  });
});
