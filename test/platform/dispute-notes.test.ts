import { beforeAll, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("dispute notes", (at) => {
  const admin = useTenant(at, "notes");
  let notes: string;
  const add = async (content: string, visibility?: string) =>
    (await admin.call("POST", notes, { body: { content, visibility } })).body;
  const newDispute = async () => {
    const { body } = await admin.call("POST", DISPUTES, {
      body: { amount: 5, accountNumber: "A", documentNumber: "N", reasonCode: "WRONG" },
    });
    return body;
  };

  beforeAll(async () => {
    await configure(admin);
    notes = `${DISPUTES}/${(await newDispute()).disputeId}/disputenotes`;
  });

  verifies("NO-01", "NO-02", "D-NOTE");
  it("a note has its documented fields and is Internal by default", async () => {
    const { status, body } = await admin.call("POST", notes, { body: { content: " Called.\n" } });
    const now = new Date(at().clock()).toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({
      disputeNoteId: expect.any(String),
      tenantId: "notes",
      disputeId: expect.any(String),
      content: " Called.\n",
      visibility: "Internal",
      createUser: admin.userId,
      createDate: now,
      updateUser: admin.userId,
      updateDate: now,
    });
    expect((await admin.call("GET", `${notes}/${body.disputeNoteId}`)).body).toEqual(body);
  });

  verifies("NO-03", "D-GEN-11");
  it("refuses other visibilities, empty and oversized content", async () => {
    for (const body of [
      { content: "x", visibility: "External" },
      { content: "x", visibility: "internal" },
      { content: "" },
      {},
      { content: "x".repeat(10_001) },
      { content: "nul\u0000" },
      { content: 5 },
    ]) {
      expect((await admin.call("POST", notes, { body })).status).toBe(400);
    }
    expect((await add("é".repeat(10_000))).content).toHaveLength(10_000);
  });

  verifies("NO-06");
  it("lists newest first, by visibility, in pages when asked", async () => {
    const dispute = await newDispute();
    const own = `${DISPUTES}/${dispute.disputeId}/disputenotes`;
    for (let number = 0; number < 25; number++) {
      at().clock.advance(1000);
      await admin.call("POST", own, {
        body: { content: `note ${number}`, visibility: number % 5 === 0 ? "All" : "Internal" },
      });
    }
    const contents = async (query = "") =>
      (await admin.call("GET", `${own}${query}`)).body.map(
        (note: { content: string }) => note.content,
      );
    expect(await contents()).toHaveLength(25);
    expect((await contents())[0]).toBe("note 24");
    expect(await contents("?Visibility=All")).toHaveLength(5);
    expect(await contents("?Visibility=All&Visibility=Internal")).toHaveLength(25);
    expect((await contents("?Sort=CreateDate"))[0]).toBe("note 0");
    expect(await contents("?Page=2")).toHaveLength(5);
    expect(await contents("?PageSize=7&Page=4")).toHaveLength(4);
    expect((await admin.call("GET", `${own}?Visibility=Nobody`)).status).toBe(400);
    expect((await admin.call("GET", `${DISPUTES}/none/disputenotes`)).status).toBe(404);
  });

  verifies("D-NOTE");
  it("keeps absent fields, and does not change the dispute itself", async () => {
    const dispute = await newDispute();
    const own = `${DISPUTES}/${dispute.disputeId}/disputenotes`;
    const note = (await admin.call("POST", own, { body: { content: "first" } })).body;
    at().clock.advance(MINUTE);
    const { body } = await admin.call("PUT", `${own}/${note.disputeNoteId}`, {
      body: { visibility: "All" },
    });
    expect(body).toMatchObject({
      content: "first",
      visibility: "All",
      createDate: note.createDate,
    });
    expect(body.updateDate).not.toBe(note.updateDate);
    const after = (await admin.call("GET", `${DISPUTES}/${dispute.disputeId}`)).body;
    expect(after.updateDate).toBe(dispute.updateDate);
  });

  verifies("D-GEN-9");
  it("returns a version and refuses a stale one, also to delete", async () => {
    const note = await add("versioned");
    const path = `${notes}/${note.disputeNoteId}`;
    const first = (await admin.call("GET", path)).headers.get("etag") ?? "";
    const send = (method: string, version: string, sent: object = {}) =>
      admin.call(method, path, { ...sent, headers: { "If-Match": version } });
    const changed = await send("PUT", first, { body: { content: "once" } });
    expect([changed.status, changed.body.content]).toEqual([200, "once"]);
    expect((await send("PUT", first, { body: { content: "twice" } })).status).toBe(412);
    expect((await send("DELETE", first)).status).toBe(412);
    expect((await admin.call("GET", path)).body.content).toBe("once");
    expect((await send("DELETE", changed.headers.get("etag") ?? "")).status).toBe(204);
  });

  verifies("NO-01");
  it("refuses a note of a dispute that does not exist", async () => {
    const body = { content: "lost" };
    const refused = await admin.call("POST", `${DISPUTES}/none/disputenotes`, { body });
    expect([refused.status, refused.body.detail]).toEqual([404, "There is no dispute none."]);
  });

  verifies("NO-04", "NO-05", "T-15");
  it("requires UPDATE to write, DELETE to delete", async () => {
    const note = await add("mine");
    const creator = await at().person("notes", { grants: ["Dispute Management : CREATE"] });
    const updater = await at().person("notes", { grants: ["Dispute Management : UPDATE"] });
    const deleter = await at().person("notes", { grants: ["Dispute Management : DELETE"] });
    const path = `${notes}/${note.disputeNoteId}`;
    const body = { content: "changed" };
    expect((await creator.call("POST", notes, { body })).status).toBe(403);
    expect((await updater.call("POST", notes, { body })).status).toBe(201);
    expect((await updater.call("PUT", path, { body })).status).toBe(200);
    expect((await updater.call("DELETE", path)).status).toBe(403);
    expect((await deleter.call("DELETE", path)).status).toBe(204);
    expect((await deleter.call("DELETE", path)).status).toBe(404);
  });

  verifies("NO-07", "C-36");
  it("does not find a note of another dispute", async () => {
    const note = await add("elsewhere");
    const other = `${DISPUTES}/${(await newDispute()).disputeId}/disputenotes/${note.disputeNoteId}`;
    expect((await admin.call("GET", other)).status).toBe(404);
    expect((await admin.call("PUT", other, { body: { content: "x" } })).status).toBe(404);
    expect((await admin.call("DELETE", other)).status).toBe(404);
    expect((await admin.call("GET", `${notes}/${note.disputeNoteId}`)).body.content).toBe(
      "elsewhere",
    );
  });
});
