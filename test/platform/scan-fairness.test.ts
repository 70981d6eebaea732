import { beforeAll, expect, it } from "vitest";
import { announce, disputeWithFiles, put } from "../support/attachments.ts";
import { configure, onEveryStore, type Person } from "../support/platform.ts";
import { wholePdf } from "../support/uploads/samples.ts";
import { verifies } from "../support/verifies.ts";

/** A PDF that takes longer than a scan may: the parser looks for the end of each stream up to the end of the file. */
const slowPdf = (): Buffer =>
  Buffer.concat([
    Buffer.from("%PDF-1.7\n"),
    ...Array.from({ length: 60_000 }, (_, at) => Buffer.from(`${at} 0 obj<<>>stream stream\n`)),
  ]);

onEveryStore("scans of several tenants", (at) => {
  type Sender = { person: Person; path: string };
  let busy: Sender;
  let other: Sender;

  const createSender = async (name: string): Promise<Sender> => {
    const person = await at().tenant(name);
    const { reason } = await configure(person);
    const { path } = await disputeWithFiles(person, reason.reasonId);
    return { person, path };
  };

  const send = async ({ person, path }: Sender, bytes: Buffer): Promise<string> => {
    const { attachmentId, uploadUrl } = await announce(person, path, "a.pdf");
    expect((await put(at(), uploadUrl, Uint8Array.from(bytes))).status).toBe(204);
    return attachmentId;
  };

  const read = async ({ person, path }: Sender, id: string) =>
    (await person.call("GET", `${path}/${id}`)).body;

  beforeAll(async () => {
    busy = await createSender("busy");
    other = await createSender("other");
  });

  verifies("FL-01");
  it("go on while a tenant's file takes as long as a scan may", async () => {
    const worst = await send(busy, slowPdf());
    const next = await send(busy, wholePdf());
    const small = await send(other, wholePdf());
    const scanning = at().platform.worker.runDue();
    await expect
      .poll(async () => (await read(other, small)).status, { timeout: 60_000 })
      .toBe("Available");
    // The tenant's own next file waits, so that its files never take both places.
    expect((await read(busy, worst)).status).toBe("PendingScan");
    expect((await read(busy, next)).status).toBe("PendingScan");
    await scanning;
    expect((await read(busy, next)).status).toBe("Available");
    expect(await read(busy, worst)).toMatchObject({
      status: "Rejected",
      failureReasons: [{ code: "ARCHIVE_LIMIT", message: expect.stringContaining("seconds") }],
    });
  });
});
