import { beforeAll, expect, it } from "vitest";
import {
  CONFIGURATION,
  configure,
  DISPUTES,
  onEveryStore,
  useTenant,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

type Configured = Awaited<ReturnType<typeof configure>>;

const base = { amount: 125.5, accountNumber: "ACC-1", documentNumber: "INV-1" };

onEveryStore("disputes: create", (at) => {
  const admin = useTenant(at, "create");
  let made: Configured;
  const create = (body: unknown, who = admin) => who.call("POST", DISPUTES, { body });
  beforeAll(async () => {
    made = await configure(admin);
  });

  verifies(
    "DC-01",
    "DC-08",
    "DC-09",
    "DC-11",
    "DC-12",
    "DC-13",
    "DC-14",
    "CONV-02",
    "CONV-04",
    "CONV-05",
  );
  it("returns the whole dispute", async () => {
    const { status, body } = await create({ ...base, reasonId: made.reason.reasonId });
    const now = new Date(at().clock()).toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({
      disputeId: expect.any(String),
      disputeCode: "D-INV-1-01",
      tenantId: "create",
      categoryId: made.category.categoryId,
      categoryName: "Pricing",
      externalReasonCategoryId: null,
      externalReasonCategoryName: null,
      reasonId: made.reason.reasonId,
      reasonName: "Wrong price",
      externalReasonId: null,
      externalReasonName: null,
      assigneeId: null,
      assigneeName: null,
      departmentId: null,
      departmentName: null,
      status: 0,
      amount: 125.5,
      isValid: false,
      resolutionId: null,
      resolutionCode: null,
      closedDate: null,
      platformAccountId: null,
      documentNumber: "INV-1",
      poNumber: null,
      accountNumber: "ACC-1",
      accountName: null,
      userId: null,
      currencyCode: "USD",
      originSystem: "api",
      createUser: admin.userId,
      createDate: now,
      updateUser: admin.userId,
      updateDate: now,
    });
  });

  verifies("DC-02", "D-ERR-3");
  it.each(["amount", "accountNumber", "documentNumber"])(
    "refuses a body without %s",
    async (name) => {
      const { status, body } = await create({
        ...base,
        reasonCode: "WRONG",
        [name]: undefined,
      });
      expect([status, body.code]).toEqual([400, "invalid_request"]);
      expect(body.errors).toEqual([{ field: name, code: "required", message: "is required" }]);
    },
  );

  verifies("DC-03", "D-GEN-3");
  it("requires an amount above 0 that is exact in its currency", async () => {
    const amounts = async (raw: string) =>
      (
        await admin.call("POST", DISPUTES, {
          raw: `{"amount":${raw},"accountNumber":"A","documentNumber":"AMT","reasonCode":"WRONG"}`,
        })
      ).status;
    for (const bad of [
      "0",
      "-1",
      "-0.01",
      "1.234",
      "1e400",
      "123456789012345678",
      '"100"',
      "null",
    ]) {
      expect([bad, await amounts(bad)]).toEqual([bad, 400]);
    }
    const long = await admin.call("POST", DISPUTES, {
      raw: '{"amount":1234567890123456.7,"accountNumber":"A","documentNumber":"A","reasonCode":"WRONG"}',
    });
    expect(long.body.detail).toBe("amount must be a number of at most 15 digits.");
    for (const good of [
      "0.01",
      "1e2",
      "123456789012.345e1",
      "9999999999999.99",
      "100.000000000000000000",
    ]) {
      expect([good, await amounts(good)]).toEqual([good, 201]);
    }
    const { body } = await admin.call("GET", `${DISPUTES}?DocumentNumber=AMT&Sort=Amount`);
    expect(body.map((dispute: { amount: number }) => dispute.amount)).toEqual([
      0.01, 100, 100, 1234567890123.45, 9999999999999.99,
    ]);
  });

  verifies("DC-04");
  it("requires any one of the four reason fields", async () => {
    for (const reason of [
      { reasonId: made.reason.reasonId },
      { reasonCode: "wrong" },
      { externalReasonId: made.externalReason.reasonId },
      { externalReasonCode: "CUST-PRICE" },
    ]) {
      expect((await create({ ...base, ...reason })).status).toBe(201);
    }
    const unused = {
      reasonId: null,
      reasonCode: null,
      externalReasonId: null,
      externalReasonCode: null,
      categoryId: null,
      categoryCode: null,
    };
    const one = await create({ ...base, ...unused, reasonCode: "WRONG" });
    expect([one.status, one.body.reasonId]).toEqual([201, made.reason.reasonId]);
    for (const reasons of [{}, unused]) {
      const none = await create({ ...base, ...reasons });
      expect([none.status, none.body.errors[0].field]).toEqual([400, "reasonId"]);
    }
  });

  verifies("DC-05");
  it("requires the category's default internal reason for an external one alone", async () => {
    await admin.call("POST", `${CONFIGURATION}/categories`, {
      body: { code: "BARE", description: "Bare" },
    });
    await admin.call("POST", `${CONFIGURATION}/reasons`, {
      body: { code: "EXT", description: "External", categoryCode: "BARE", visibility: "External" },
    });
    const { status, body } = await create({ ...base, externalReasonCode: "EXT" });
    expect([status, body.errors[0].field]).toEqual([400, "externalReasonId"]);
  });

  verifies("DC-06", "T-24");
  it("derives the default internal reason, and its category, from an external one", async () => {
    const other = await admin.call("POST", `${CONFIGURATION}/categories`, {
      body: {
        code: "PORTAL",
        description: "Portal",
        defaultInternalReasonId: made.reason.reasonId,
      },
    });
    const reason = await admin.call("POST", `${CONFIGURATION}/reasons`, {
      body: {
        code: "P1",
        description: "Portal one",
        categoryCode: "PORTAL",
        visibility: "External",
      },
    });
    const { body } = await create({ ...base, externalReasonCode: "P1" });
    expect(body).toMatchObject({
      reasonId: made.reason.reasonId,
      reasonName: "Wrong price",
      categoryId: made.category.categoryId,
      externalReasonId: reason.body.reasonId,
      externalReasonName: "Portal one",
      externalReasonCategoryId: other.body.categoryId,
      externalReasonCategoryName: "Portal",
    });
  });

  verifies("DC-07", "DC-10");
  it("accepts assignee and purchase order, both optional; the department follows the assignee", async () => {
    const { body } = await create({
      ...base,
      reasonCode: "WRONG",
      assigneeId: made.assignee.assigneeId,
      poNumber: "PO-7",
    });
    expect(body).toMatchObject({
      assigneeId: made.assignee.assigneeId,
      assigneeName: "Ana Silva",
      departmentId: made.department.departmentId,
      departmentName: "Sales",
      userId: null,
      poNumber: "PO-7",
    });
    for (const assigneeId of ["", null]) {
      const none = await create({ ...base, reasonCode: "WRONG", assigneeId });
      expect([none.status, none.body.assigneeId]).toEqual([201, null]);
    }
  });

  verifies("DC-15");
  it("requires CREATE; other rights do not suffice", async () => {
    const others = await at().person("create", {
      grants: [
        "Dispute Management : READ",
        "Dispute Management : UPDATE",
        "Dispute Management : DELETE",
      ],
    });
    const creator = await at().person("create", { grants: ["Dispute Management : CREATE"] });
    expect((await create({ ...base, reasonCode: "WRONG" }, others)).status).toBe(403);
    expect((await create({ ...base, reasonCode: "WRONG" }, creator)).status).toBe(201);
  });

  verifies("D-DISP-10");
  it("requires a category for a code of several categories; ids and codes must agree", async () => {
    for (const code of ["DUP-A", "DUP-B"]) {
      await admin.call("POST", `${CONFIGURATION}/categories`, {
        body: { code, description: code },
      });
      await admin.call("POST", `${CONFIGURATION}/reasons`, {
        body: { code: "SAME", description: `Same ${code}`, categoryCode: code },
      });
    }
    const ambiguous = await create({ ...base, reasonCode: "SAME" });
    expect([ambiguous.status, ambiguous.body.code]).toEqual([400, "ambiguous_reason_code"]);
    const clear = await create({ ...base, reasonCode: "SAME", categoryCode: "dup-b" });
    expect(clear.body.reasonName).toBe("Same DUP-B");
    const { categoryId } = clear.body;
    const byId = await create({ ...base, reasonCode: "SAME", categoryId });
    expect(byId.body.reasonName).toBe("Same DUP-B");
    const disagree = await create({ ...base, reasonId: made.reason.reasonId, reasonCode: "SAME" });
    expect(disagree.status).toBe(400);
    const external = await create({ ...base, reasonId: made.externalReason.reasonId });
    expect(external.status).toBe(400);
  });

  verifies("D-DISP-10");
  it("keeps an internal and an external reason as given", async () => {
    const { body } = await create({
      ...base,
      reasonCode: "CODED",
      externalReasonCode: "CUST-PRICE",
    });
    expect(body.errors[0].field).toBe("reasonCode");
    await admin.call("POST", `${CONFIGURATION}/reasons`, {
      body: { code: "CODED", description: "Coded", categoryCode: "PRICE", visibility: "All" },
    });
    const both = await create({ ...base, reasonCode: "CODED", externalReasonCode: "CUST-PRICE" });
    expect([both.body.reasonName, both.body.externalReasonId]).toEqual([
      "Coded",
      made.externalReason.reasonId,
    ]);
    const twice = await create({ ...base, reasonCode: "WRONG", externalReasonCode: "CODED" });
    expect([twice.body.reasonName, twice.body.externalReasonName]).toEqual([
      "Wrong price",
      "Coded",
    ]);
  });

  verifies("D-DISP-10", "D-DISP-11");
  it("refuses inactive reasons and assignees", async () => {
    const reason = await admin.call("POST", `${CONFIGURATION}/reasons`, {
      body: { code: "OLD", description: "Old", categoryCode: "PRICE", active: false },
    });
    expect(reason.status).toBe(201);
    const old = await create({ ...base, reasonCode: "OLD" });
    expect([old.status, old.body.errors[0].field]).toEqual([400, "reasonCode"]);
    const byId = await create({ ...base, reasonId: reason.body.reasonId });
    expect([byId.status, byId.body.errors[0].field]).toEqual([400, "reasonId"]);
    const gone = await admin.call("POST", `${CONFIGURATION}/assignees`, {
      body: {
        departmentCode: "SALES",
        active: false,
        person: { firstName: "Gone", lastName: "Away", email: "gone@sales.example" },
      },
    });
    const refused = await create({
      ...base,
      reasonCode: "WRONG",
      assigneeId: gone.body.assigneeId,
    });
    expect([refused.status, refused.body.errors[0].field]).toEqual([400, "assigneeId"]);
    expect((await create({ ...base, reasonCode: "WRONG", assigneeId: "nobody" })).status).toBe(400);
  });

  verifies("D-DISP-1", "C-09");
  it("numbers codes per document, each once, also concurrently and after deletions", async () => {
    const one = async () => {
      for (;;) {
        const reply = await create({ ...base, documentNumber: "MANY", reasonCode: "WRONG" });
        // Too many at once for a slow machine: refused before anything was done.
        if (reply.status !== 503) return reply;
      }
    };
    const many = await Promise.all(Array.from({ length: 100 }, one));
    const codes = many.map(({ body }) => body.disputeCode);
    expect(new Set(codes).size).toBe(100);
    expect(codes.toSorted().slice(0, 2)).toEqual(["D-MANY-01", "D-MANY-02"]);
    expect(codes).toContain("D-MANY-100");
    await admin.call("DELETE", `${DISPUTES}/${many[99]?.body.disputeId}`);
    const next = await create({ ...base, documentNumber: "MANY", reasonCode: "WRONG" });
    expect(next.body.disputeCode).toBe("D-MANY-101");
  });

  verifies("D-DISP-8");
  it("records that a request came through the MCP server", async () => {
    const { body } = await admin.call("POST", DISPUTES, {
      body: { ...base, reasonCode: "WRONG" },
      headers: { "X-Platform-Client": "mcp" },
    });
    expect(body.originSystem).toBe("mcp");
  });

  verifies("C-39");
  it("ignores fields that only the server sets", async () => {
    const { body } = await create({
      ...base,
      reasonCode: "WRONG",
      tenantId: "other",
      disputeId: "mine",
      createUser: "me",
      closedDate: "2020-01-01T00:00:00.000Z",
      status: 1,
      disputeCode: "D-1",
    });
    expect(body).toMatchObject({
      tenantId: "create",
      createUser: admin.userId,
      closedDate: null,
      status: 0,
    });
    expect(body.disputeId).not.toBe("mine");
  });
});
