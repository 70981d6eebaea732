import { beforeAll, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../src/kit/clock.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import {
  CONFIGURATION,
  configure,
  DISPUTES,
  onEveryStore,
  useTenant,
} from "../support/platform.ts";
import { findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

type Configured = Awaited<ReturnType<typeof configure>>;

const base = { amount: 125.5, accountNumber: "ACC-1", documentNumber: "INV-1" };

onEveryStore("disputes: update and delete", (at) => {
  const admin = useTenant(at, "update");
  let made: Configured;
  const create = async (extra: object = {}) =>
    (await admin.call("POST", DISPUTES, { body: { ...base, reasonCode: "WRONG", ...extra } })).body;
  const update = (id: string, body: unknown, headers: Record<string, string> = {}) =>
    admin.call("PUT", `${DISPUTES}/${id}`, { body, headers });

  beforeAll(async () => {
    made = await configure(admin);
  });

  verifies("DU-01", "DU-02", "DU-03", "DU-06", "T-05");
  it("accepts the documented body; the department follows the assignee", async () => {
    const dispute = await create();
    at().clock.advance(HOUR);
    const other = await at().person("update", { roles: ["Dispute Analyst"] });
    const { status, body } = await other.call("PUT", `${DISPUTES}/${dispute.disputeId}`, {
      body: {
        amount: 99.99,
        reasonId: made.reason.reasonId,
        assigneeEmail: "ANA@sales.example",
        poNumber: "PO-1",
      },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      amount: 99.99,
      assigneeName: "Ana Silva",
      departmentName: "Sales",
      poNumber: "PO-1",
      createUser: admin.userId,
      createDate: dispute.createDate,
      updateUser: other.userId,
      updateDate: new Date(at().clock()).toISOString(),
    });
    expect(body).not.toHaveProperty("accountName");
  });

  verifies("D-DISP-2");
  it("keeps absent fields, clears empty ones, ignores read-only ones", async () => {
    const dispute = await create({ assigneeId: made.assignee.assigneeId, poNumber: "PO-2" });
    const kept = await update(dispute.disputeId, {
      documentNumber: "X",
      accountNumber: "Y",
      createUser: "Z",
    });
    expect(kept.body).toMatchObject({
      documentNumber: "INV-1",
      accountNumber: "ACC-1",
      createUser: admin.userId,
      poNumber: "PO-2",
      assigneeId: made.assignee.assigneeId,
      updateDate: dispute.updateDate,
    });
    expect((await update(dispute.disputeId, { assigneeEmail: "" })).body.assigneeId).toBeNull();
    await update(dispute.disputeId, { assigneeEmail: "ana@sales.example" });
    expect((await update(dispute.disputeId, { assigneeId: null })).body.departmentName).toBeNull();
  });

  verifies("DU-04", "DU-05", "DU-11");
  it.each([1, "Closed", "closed"])("closes with status %s", async (status) => {
    const dispute = await create();
    const { body } = await update(dispute.disputeId, { status });
    expect(body).toMatchObject({ status: 1, closedDate: new Date(at().clock()).toISOString() });
  });

  verifies("D-DISP-3");
  it("changes between statuses according to the table", async () => {
    const { disputeId } = await create();
    const move = async (status: number) => (await update(disputeId, { status })).status;
    const moves: [number, number][] = [
      [2, 200],
      [1, 409],
      [2, 200],
      [0, 200],
      [1, 200],
      [1, 200],
      [2, 409],
      [0, 200],
    ];
    for (const [to, expected] of moves) expect([to, await move(to)]).toEqual([to, expected]);
    await move(1);
    const refused = await update(disputeId, { status: 2 });
    expect(refused.body.code).toBe("invalid_transition");
  });

  verifies("D-DISP-4", "D-DISP-5");
  it("derives validity from the resolution; reopening clears both", async () => {
    const { disputeId } = await create();
    const closed = await update(disputeId, { status: 1, resolutionCode: "credit" });
    expect(closed.body).toMatchObject({
      resolutionId: made.resolution.resolutionId,
      resolutionCode: "CREDIT",
      isValid: true,
    });
    const reopened = await update(disputeId, { status: 0, amount: 7 });
    expect(reopened.body).toMatchObject({
      status: 0,
      amount: 7,
      closedDate: null,
      resolutionId: null,
      resolutionCode: null,
      isValid: false,
    });
    const explicit = await update(disputeId, {
      status: 1,
      resolutionCode: "CREDIT",
      isValid: false,
    });
    expect(explicit.body.isValid).toBe(false);
    const canceled = await create();
    expect((await update(canceled.disputeId, { status: 2, resolutionCode: "CREDIT" })).status).toBe(
      400,
    );
    expect((await update(canceled.disputeId, { status: 2 })).body).toMatchObject({
      status: 2,
      resolutionId: null,
      closedDate: expect.any(String),
    });
  });

  verifies("D-DISP-4");
  it("refuses inactive and unknown resolutions, and closing without a required one", async () => {
    await admin.call("POST", `${CONFIGURATION}/resolutions`, {
      body: { code: "OLD", description: "Old", active: false },
    });
    const { disputeId } = await create();
    expect((await update(disputeId, { status: 1, resolutionCode: "OLD" })).status).toBe(400);
    expect((await update(disputeId, { status: 1, resolutionId: "none" })).status).toBe(400);
    const early = await update(disputeId, { resolutionCode: "CREDIT" });
    expect(early.body.errors).toEqual([
      { field: "resolutionCode", code: "conflict", message: "goes with status 1 only" },
    ]);
    const closed = await create();
    await update(closed.disputeId, { status: 1 });
    await setTenant({ store: at().store }, "update", ["requireResolutionOnClose=true"]);
    expect((await update(closed.disputeId, { status: 1 })).status).toBe(200);
    expect((await update(disputeId, { status: 1 })).body.errors[0].field).toBe("resolutionId");
    expect((await update(disputeId, { status: 1, resolutionCode: "CREDIT" })).status).toBe(200);
    await setTenant({ store: at().store }, "update", ["requireResolutionOnClose=false"]);
  });

  verifies("D-DISP-6");
  it("changes a closed dispute only by reopening it; an equal value is no change", async () => {
    const { disputeId } = await create();
    await update(disputeId, { status: 1 });
    expect((await update(disputeId, { amount: 1 })).body.code).toBe("conflict");
    expect((await update(disputeId, { status: 1, poNumber: "X" })).status).toBe(409);
    expect((await update(disputeId, { amount: base.amount })).status).toBe(200);
  });

  verifies("D-DISP-6");
  it("accepts an unchanged dispute in full, closed or open, without a change", async () => {
    const { disputeId } = await create({ externalReasonCode: "CUST-PRICE" });
    const whole = async () => (await admin.call("GET", `${DISPUTES}/${disputeId}`)).body;
    const sendBack = async (change: object = {}) => {
      at().clock.advance(MINUTE);
      return update(disputeId, { ...(await whole()), ...change });
    };
    const opened = await whole();
    expect((await sendBack()).body.updateDate).toBe(opened.updateDate);
    expect((await sendBack({ externalReasonId: null })).body.externalReasonId).toBeNull();
    const bare = await whole();
    expect((await sendBack()).body.updateDate).toBe(bare.updateDate);
    const { resolutionId } = made.resolution;
    expect((await sendBack({ status: 1, resolutionId, isValid: true })).status).toBe(200);
    const closed = await whole();
    expect((await sendBack()).body.updateDate).toBe(closed.updateDate);
    expect((await sendBack({ status: 0 })).body).toMatchObject({
      status: 0,
      closedDate: null,
      resolutionId: null,
      isValid: false,
      reasonId: opened.reasonId,
    });
  });

  verifies("D-DISP-6");
  it("names the reasons of a dispute although they were changed or deleted", async () => {
    const post = async (path: string, body: object) =>
      (await admin.call("POST", `${CONFIGURATION}${path}`, { body })).body;
    const { categoryId } = await post("/categories", { code: "FADING", description: "Fading" });
    const categoryCode = "FADING";
    const inner = await post("/reasons", { code: "IN", description: "In", categoryCode });
    const visibility = "External";
    const outer = await post("/reasons", {
      code: "OUT",
      description: "Out",
      categoryCode,
      visibility,
    });
    const category = (body: object) =>
      admin.call("PUT", `${CONFIGURATION}/categories/${categoryId}`, { body });
    await category({ defaultInternalReasonId: inner.reasonId });
    const dispute = await create({ reasonCode: undefined, externalReasonId: outer.reasonId });
    await category({ defaultInternalReasonId: null });
    for (const { reasonId } of [inner, outer]) {
      const body = { active: false, visibility, categoryCode };
      await admin.call("PUT", `${CONFIGURATION}/reasons/${reasonId}`, { body });
    }
    await admin.call("PUT", `${CONFIGURATION}/reasons/${outer.reasonId}`, {
      body: { visibility: "Internal", categoryCode },
    });
    const { disputeId, reasonId, externalReasonId, updateDate } = dispute;
    at().clock.advance(MINUTE);
    for (const body of [{ reasonId, externalReasonId }, { externalReasonId }]) {
      const kept = await update(disputeId, body);
      expect([kept.status, kept.body.reasonId, kept.body.updateDate]).toEqual([
        200,
        inner.reasonId,
        updateDate,
      ]);
    }
    const other = await create();
    for (const body of [{ reasonId }, { externalReasonId }]) {
      expect((await update(other.disputeId, body)).status).toBe(400);
    }
  });

  verifies("D-DISP-2");
  it("refuses an id that disagrees with a code or an address", async () => {
    const { disputeId } = await create();
    await admin.call("POST", `${CONFIGURATION}/resolutions`, {
      body: { code: "DENIED", description: "Denied" },
    });
    const { resolutionId } = made.resolution;
    const { assigneeId } = made.assignee;
    for (const [field, body] of [
      ["resolutionCode", { status: 1, resolutionId, resolutionCode: "DENIED" }],
      ["assigneeEmail", { assigneeId, assigneeEmail: "somebody@sales.example" }],
    ] as const) {
      const refused = await update(disputeId, body);
      expect([refused.status, refused.body.errors?.[0].field]).toEqual([400, field]);
    }
    const agreed = { assigneeId, assigneeEmail: "Ana@Sales.example", resolutionId };
    const both = await update(disputeId, { ...agreed, resolutionCode: "credit", status: 1 });
    expect(both.body).toMatchObject({ assigneeId, resolutionCode: "CREDIT" });
  });

  verifies("D-DISP-6", "D-DISP-11");
  it("keeps an assignee who becomes inactive, but assigns them no other dispute", async () => {
    const person = { firstName: "Ivo", lastName: "Leaving", email: "ivo@sales.example" };
    const { assigneeId } = (
      await admin.call("POST", `${CONFIGURATION}/assignees`, {
        body: { departmentCode: "SALES", person },
      })
    ).body;
    const [his, other] = [await create({ assigneeId }), await create()];
    await admin.call("PUT", `${CONFIGURATION}/assignees/by-email/${person.email}`, {
      body: { departmentCode: "SALES", active: false },
    });
    const kept = await update(his.disputeId, { assigneeId, poNumber: "PO-3" });
    expect([kept.status, kept.body.assigneeName]).toEqual([200, "Ivo Leaving"]);
    expect((await update(other.disputeId, { assigneeEmail: person.email })).status).toBe(400);
  });

  verifies("D-DISP-10");
  it("refuses a category without a reason", async () => {
    const { disputeId } = await create();
    for (const body of [{ categoryCode: "PRICE" }, { categoryId: made.category.categoryId }]) {
      const refused = await update(disputeId, { ...body, poNumber: "PO-9" });
      expect([refused.status, refused.body.errors[0].field]).toEqual([400, "reasonId"]);
    }
    expect((await admin.call("GET", `${DISPUTES}/${disputeId}`)).body.poNumber).toBeNull();
  });

  verifies("DU-10");
  it("applies the rule of create to an external reason", async () => {
    const { disputeId } = await create();
    const { body } = await update(disputeId, { externalReasonCode: "CUST-PRICE" });
    expect(body).toMatchObject({
      externalReasonId: made.externalReason.reasonId,
      reasonName: "Wrong price",
    });
    expect((await update(disputeId, { externalReasonCode: "WRONG" })).status).toBe(400);
  });

  verifies("DU-07", "DU-08");
  it("deletes a dispute and keeps a closed one", async () => {
    const [closed, deleted] = [await create(), await create()];
    await update(closed.disputeId, { status: 1 });
    await admin.call("POST", `${DISPUTES}/${deleted.disputeId}/disputenotes`, {
      body: { content: "x" },
    });
    const gone = await admin.call("DELETE", `${DISPUTES}/${deleted.disputeId}`);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect((await admin.call("DELETE", `${DISPUTES}/${deleted.disputeId}`)).status).toBe(404);
    expect((await admin.call("GET", `${DISPUTES}/${deleted.disputeId}`)).status).toBe(404);
    const listed = (await admin.call("GET", `${DISPUTES}?Status=1`)).body.map(
      (d: { disputeId: string }) => d.disputeId,
    );
    expect(listed).toContain(closed.disputeId);
    const orphans = await findRows(at().store.read, "dispute_notes", {
      dispute_id: deleted.disputeId,
    });
    expect(orphans).toEqual([]);
  });

  verifies("C-11");
  it("refuses the second of two changes of the same version", async () => {
    const { disputeId } = await create();
    const etag = (await admin.call("GET", `${DISPUTES}/${disputeId}`)).headers.get("etag") ?? "";
    const answers = await Promise.all([
      update(disputeId, { poNumber: "one" }, { "If-Match": etag }),
      update(disputeId, { poNumber: "two" }, { "If-Match": etag }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412]);
    const next = answers.find(({ status }) => status === 200)?.headers.get("etag") ?? "";
    expect(next).not.toBe(etag);
    const listed = { "If-Match": `"another", ${next}` };
    expect((await update(disputeId, { poNumber: "three" }, listed)).status).toBe(200);
    expect((await update(disputeId, { poNumber: "four" }, { "If-Match": "*" })).status).toBe(200);
    const remove = (version: string) =>
      admin.call("DELETE", `${DISPUTES}/${disputeId}`, { headers: { "If-Match": version } });
    const stale = await remove(next);
    expect([stale.status, stale.body.code]).toEqual([412, "precondition_failed"]);
    const gone = await remove("*");
    expect([gone.status, gone.headers.get("etag")]).toEqual([204, null]);
  });
});
