import { beforeAll, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { createStorageQuota } from "../../src/platform/files/quota.ts";
import { createSignedUrls } from "../../src/platform/files/signed-urls.ts";
import { createTransfers } from "../../src/platform/services/dispute-attachments/transfers.ts";
import { countStoredBytes } from "../../src/platform/store/queries/stored-files.ts";
import { announce, attach, disputeWithFiles, put } from "../support/attachments.ts";
import { configure, onEveryStore, startPlatform, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const LIMIT = 1000;

verifies("C-98", "OP-51");
onEveryStore("the storage quota of a tenant", (at) => {
  const admin = useTenant(at, "quota");
  let path: string;

  beforeAll(async () => {
    const { reason } = await configure(admin);
    ({ path } = await disputeWithFiles(admin, reason.reasonId));
  });

  it("counts stored files and running uploads, and releases both", async () => {
    const quota = createStorageQuota(at().store, LIMIT);
    const first = await quota.reserve("quota", 600);
    await expect(quota.reserve("quota", 401)).rejects.toMatchObject({
      code: "storage_quota_exceeded",
      status: 507,
    });
    const other = await quota.reserve("another", LIMIT);
    const second = await quota.reserve("quota", 400);
    expect(() => second.add(1)).toThrow("MiB");
    first.release();
    second.release();
    other.release();
    const { attachmentId } = await attach(at(), admin, path, {
      fileName: "a.txt",
      bytes: "x".repeat(700),
    });
    await expect(quota.reserve("quota", 301)).rejects.toMatchObject({ status: 507 });
    (await quota.reserve("quota", 300)).release();
    await admin.call("DELETE", `${path}/${attachmentId}`);
    (await quota.reserve("quota", LIMIT)).release();
  });

  it("stops a stream at the byte that exceeds it", async () => {
    const quota = createStorageQuota(at().store, LIMIT);
    const reservation = await quota.reserve("quota", 0);
    async function* pieces() {
      for (let count = 0; count < 10; count += 1) yield new Uint8Array(300);
    }
    let taken = 0;
    const read = async () => {
      for await (const piece of reservation.meter(pieces())) taken += piece.byteLength;
    };
    await expect(read()).rejects.toMatchObject({ code: "storage_quota_exceeded" });
    expect(taken).toBe(900);
    reservation.release();
    (await quota.reserve("quota", LIMIT)).release();
  });

  it("accepts parallel uploads of several processes up to the quota exactly", async () => {
    const { store, clock, files: folder } = at();
    const signedUrls = createSignedUrls(Buffer.alloc(32, 7));
    const startProcess = () =>
      createTransfers({
        store,
        files: createDiskFiles(folder),
        clock,
        newId: randomId,
        log: silentLog,
        signedUrls,
        quota: createStorageQuota(store, LIMIT),
        wake: () => {},
        recordRead: undefined,
      });
    const processes = Array.from({ length: 8 }, startProcess);
    const ids: string[] = [];
    for (const index of processes.keys()) {
      ids.push((await announce(admin, path, `${index}.txt`)).attachmentId);
    }
    const upload = (process: ReturnType<typeof startProcess>, id: string): Promise<void> => {
      const grant = { method: "PUT", tenantId: "quota", id } as const;
      const { searchParams } = new URL(signedUrls.urlOf("http://x", grant, clock() + MINUTE));
      const claim = {
        expires: searchParams.get("expires") ?? "",
        sig: searchParams.get("sig") ?? "",
      };
      const body = new Blob(["x".repeat(300)]).stream();
      return process.upload(id, claim, { size: 300, body });
    };
    const sent = await Promise.allSettled(
      processes.map((process, index) => upload(process, ids[index] ?? "")),
    );
    const refusals = sent.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(refusals).toHaveLength(5);
    for (const reason of refusals) {
      expect(reason).toMatchObject({ code: "storage_quota_exceeded" });
    }
    expect(await countStoredBytes(store.read, "quota")).toBe(900);
    for (const id of ids) await admin.call("DELETE", `${path}/${id}`);
  });

  it("accepts one upload to a URL at a time", async () => {
    const { uploadUrl } = await announce(admin, path, "twice.txt");
    const sent = await Promise.all(
      Array.from({ length: 5 }, () => put(at(), uploadUrl, "x".repeat(100_000))),
    );
    const statuses = sent.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([204, 409, 409, 409, 409]);
    expect(sent.some(({ text }) => text.includes("under way"))).toBe(true);
  });
});

verifies("C-98", "OP-51");
it("answers an upload beyond the quota with 507 and stores nothing", async () => {
  const platform = await startPlatform(undefined, { tenantFileBytes: LIMIT });
  try {
    const admin = await platform.tenant("full");
    const { reason } = await configure(admin);
    const { path } = await disputeWithFiles(admin, reason.reasonId);
    const { uploadUrl } = await announce(admin, path, "a.txt");
    const refused = await put(platform, uploadUrl, "x".repeat(LIMIT + 1));
    expect([refused.status, refused.text]).toEqual([
      507,
      expect.stringContaining("storage_quota_exceeded"),
    ]);
    expect((await put(platform, uploadUrl, "x".repeat(LIMIT))).status).toBe(204);
  } finally {
    await platform.close();
  }
});

verifies("C-98");
it("scans the files of one tenant one at a time, so that another tenant's file need not wait", async () => {
  const scanning: string[] = [];
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const platform = await startPlatform(undefined, {
    scanner: {
      async scan({ fileName }) {
        scanning.push(fileName);
        await mayEnd;
        return { status: "Available", warnings: [] };
      },
    },
  });
  try {
    const { worker } = platform.platform;
    const upload = async (tenantId: string, names: readonly string[]): Promise<void> => {
      const admin = await platform.tenant(tenantId);
      const { reason } = await configure(admin);
      const { path } = await disputeWithFiles(admin, reason.reasonId);
      for (const name of names) {
        await put(platform, (await announce(admin, path, name)).uploadUrl, "x");
        platform.clock.advance(1);
      }
    };
    await upload("busy", ["1.txt", "2.txt"]);
    const first = worker.runDue();
    await expect.poll(() => scanning).toContain("1.txt");
    await upload("other", ["3.txt"]);
    const second = worker.runDue();
    await expect.poll(() => scanning).toContain("3.txt");
    expect(scanning).toEqual(["1.txt", "3.txt"]);
    end();
    await Promise.all([first, second]);
    expect(scanning).toHaveLength(3);
  } finally {
    await platform.close();
  }
});
