import { beforeAll, expect, it } from "vitest";
import { announce, attach, disputeWithFiles, put, targetOf } from "../support/attachments.ts";
import { filesUnder } from "../support/pdf.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const NOTES = 1300;
const ATTACHMENTS = 120;

onEveryStore("the deletion of a dispute with many notes and attachments", (at) => {
  const admin = useTenant(at, "removal");
  let reasonId: string;

  beforeAll(async () => {
    ({ reasonId } = (await configure(admin)).reason);
  });

  const addNotes = (disputeId: string) => {
    const tracked = { created_by: "u", created_at: 1, updated_by: "u", updated_at: 1, version: 1 };
    const rows = Array.from({ length: NOTES }, (_, index) => ({
      tenant_id: "removal",
      id: `note-${disputeId}-${index}`,
      dispute_id: disputeId,
      content: "Called.",
      visibility: "Internal" as const,
      ...tracked,
    }));
    return at().store.transaction((tx) => tx.insertInto("dispute_notes").values(rows).execute());
  };

  const countLeft = async (disputeId: string): Promise<{ notes: number; attachments: number }> => {
    const { read } = at().store;
    const [notes, attachments] = await Promise.all(
      (["dispute_notes", "dispute_attachments"] as const).map((table) =>
        read.selectFrom(table).select("id").where("dispute_id", "=", disputeId).execute(),
      ),
    );
    return { notes: notes?.length ?? 0, attachments: attachments?.length ?? 0 };
  };

  verifies("OP-50", "C-91");
  it("hides all of them at once, and removes them in bounded steps", async () => {
    const kept = await disputeWithFiles(admin, reasonId, "KEPT");
    await addNotes(kept.disputeId);
    const { disputeId, path } = await disputeWithFiles(admin, reasonId, "GONE");
    await addNotes(disputeId);
    const before = filesUnder(at().files);
    const stored = await attach(at(), admin, path, { fileName: "a.txt", bytes: "text" });
    const announced = [];
    for (let index = 1; index < ATTACHMENTS; index += 1)
      announced.push(await announce(admin, path, `file-${index}.txt`));

    expect((await admin.call("DELETE", `${DISPUTES}/${disputeId}`)).status).toBe(204);

    const left = await countLeft(disputeId);
    expect(left.notes).toBeGreaterThan(0);
    expect(left.notes).toBeLessThan(NOTES);
    expect(left.attachments).toBeGreaterThan(0);
    expect(left.attachments).toBeLessThan(ATTACHMENTS);
    for (let index = 0; index < NOTES; index += 100) {
      const note = `${DISPUTES}/${disputeId}/disputenotes/note-${disputeId}-${index}`;
      expect((await admin.call("GET", note)).status).toBe(404);
      expect((await admin.call("PUT", note, { body: { content: "x" } })).status).toBe(404);
      expect((await admin.call("DELETE", note)).status).toBe(404);
    }
    for (const { attachmentId } of announced) {
      expect((await admin.call("GET", `${path}/${attachmentId}`)).status).toBe(404);
    }
    // Not of all: an address may send a limited number of refused requests.
    for (const { uploadUrl } of announced.filter((_, index) => index % 8 === 0)) {
      expect((await put(at(), uploadUrl, "text")).status).toBe(403);
    }
    expect((await at().call("GET", targetOf(String(stored.body["downloadUrl"])))).status).toBe(403);

    await at().platform.worker.runDue();
    expect(await countLeft(disputeId)).toEqual({ notes: 0, attachments: 0 });
    expect(await countLeft(kept.disputeId)).toEqual({ notes: NOTES, attachments: 0 });
    expect(filesUnder(at().files)).toEqual(before);
    expect(await at().store.read.selectFrom("jobs").selectAll().execute()).toEqual([]);
  });
});
