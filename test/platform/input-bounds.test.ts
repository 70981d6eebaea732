import { beforeAll, describe, expect, it } from "vitest";
import {
  CONFIGURATION,
  configure,
  DISPUTES,
  onEveryStore,
  useTenant,
} from "../support/platform.ts";
import { ACCOUNT, accountAt, DOCUMENT, documentAt, ingestTenant } from "../support/ingest.ts";
import { parseAmount } from "../../src/platform/import/bank/file.ts";
import { DISPUTE_SORT } from "../../src/contract/operations/disputes.ts";
import { Amount, PositiveAmount } from "../../src/contract/fields.ts";
import { createOpenApi } from "../../src/contract/openapi.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("bounds of input", (at) => {
  const admin = useTenant(at, "bounds");
  const base = { accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" };
  beforeAll(() => configure(admin));

  const sorted = (sort: string) =>
    admin.call("GET", `${DISPUTES}?Sort=${encodeURIComponent(sort)}`);

  verifies("C-99");
  it.each([
    ["2,150 terms", Array.from({ length: 2150 }, () => "Amount").join(",")],
    ["2,150 terms in turn", Array.from({ length: 1075 }, () => "Amount,-Status").join(",")],
    ["a field twice", "Amount,Amount"],
    ["a field up and down", "Amount,-Amount"],
    ["a field twice in other case", "Amount, AMOUNT"],
    ["every field and one more", `${DISPUTE_SORT.join(",")},-${DISPUTE_SORT[0]}`],
  ])("refuses a sort of %s", async (_what, sort) => {
    const { status, body } = await sorted(sort);
    expect([status, body.code]).toEqual([400, "invalid_parameter"]);
    expect(body.errors).toMatchObject([{ field: "Sort", code: "repeated" }]);
  });

  verifies("C-99");
  it("accepts a sort of every field once, and refuses many unknown fields briefly", async () => {
    expect((await sorted(DISPUTE_SORT.map((field) => `-${field}`).join(","))).status).toBe(200);
    const { status, body } = await sorted(Array.from({ length: 2000 }, (_, n) => `f${n}`).join());
    expect([status, body.errors.length]).toEqual([400, 1]);
  });

  it("says of a text in place of a list, and the reverse, only that it is one", async () => {
    const key = await at().exportCaller("bounds", ["export:read"]);
    const path = "/api/v1/remittance-export/payments/summary";
    const text = await key("POST", path, {
      body: { source: "cashapp", groupBy: "paymentDate:month" },
    });
    expect(text.body.error.message).toBe(
      'groupBy must be a list of fields, such as ["payerName", "paymentDate:month"].',
    );
    const accountNumber = Array.from({ length: 300 }, () => "A");
    const list = await admin.call("POST", DISPUTES, {
      body: { ...base, amount: 1, accountNumber },
    });
    expect(list.body.errors).toEqual([
      { field: "accountNumber", code: "type", message: "must be a string" },
    ]);
  });

  verifies("C-99");
  it("answers thousands of repeated parameters without an internal error", async () => {
    const many = (name: string) =>
      admin.call("GET", `${DISPUTES}?${`${name}=1&`.repeat(1500).slice(0, -1)}`);
    for (const name of ["Status", "Sort", "Page", "Colour"]) {
      expect((await many(name)).status, name).toBeLessThan(500);
    }
    const fields = { source: "cashapp", fields: Array.from({ length: 9999 }, () => "paymentId") };
    const key = await at().exportCaller("bounds", ["export:read"]);
    const path = "/api/v1/remittance-export/payments/query";
    expect((await key("POST", path, { body: fields })).status).toBe(400);
    const list = Array.from({ length: 1000 }, (_, number) => `P${number}`);
    const filters = { and: Array.from({ length: 99 }, () => ({ paymentId: { in: list } })) };
    const query = await key("POST", path, { body: { source: "cashapp", filters } });
    expect(query.status).toBeLessThan(500);
  });

  verifies("OP-50");
  it("refuses a body with thousands of different names, before it is parsed", async () => {
    const others = Array.from({ length: 2001 }, (_, number) => [`n${number}`, 1]);
    const body = { ...base, amount: 1, ...Object.fromEntries(others) };
    const refused = await admin.call("POST", DISPUTES, { body });
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_request"]);
    expect(refused.body.detail).toContain("2000 names");
    const taken = { ...base, amount: 1, ...Object.fromEntries(others.slice(0, 1900)) };
    expect((await admin.call("POST", DISPUTES, { body: taken })).status).toBe(201);
  });

  verifies("C-100");
  it.each(["1e300", "1e15", "1000000000001000", "1.7e308", "1e400"])(
    "refuses an amount of %s",
    async (amount) => {
      const raw = `${JSON.stringify(base).slice(0, -1)},"amount":${amount}}`;
      const made = await admin.call("POST", DISPUTES, { raw });
      expect([made.status, made.body.code]).toEqual([400, "invalid_request"]);
      expect(made.body.errors[0].field).toBe("amount");
    },
  );

  verifies("C-100");
  it("accepts the largest amount, and refuses a change to a larger one", async () => {
    const body = { ...base, amount: 999_999_999_999_999 };
    const made = await admin.call("POST", DISPUTES, { body });
    expect([made.status, made.body.amount]).toEqual([201, body.amount]);
    const path = `${DISPUTES}/${made.body.disputeId}`;
    const changed = await admin.call("PUT", path, { body: { amount: 1e300 } });
    expect(changed.status).toBe(400);
    expect((await admin.call("GET", path)).body.amount).toBe(body.amount);
  });

  verifies("C-100");
  it("refuses accounts and documents with such amounts, and stores nothing of them", async () => {
    const call = await ingestTenant(at(), "bounds-ingest");
    const account = (more: object) =>
      call("POST", accountAt("A-1"), { body: { ...ACCOUNT, ...more } });
    for (const credit_limit of [1e300, -1e300, 1e15]) {
      expect((await account({ credit_limit })).status).toBe(422);
    }
    expect((await call("GET", accountAt("A-1"))).status).toBe(404);
    await account({});
    for (const more of [
      { denomination: 1e300 },
      { denomination_in_base_currency: -1e15 },
      { tax_amount: 1e22 },
      { line_items: [{ line_number: 1, quantity: 1e300 }] },
      { line_items: [{ line_number: 1, unit_price: 1e16 }] },
    ]) {
      const body = { ...DOCUMENT, ...more };
      const made = await call("POST", documentAt("INV-1"), { body });
      expect([made.status, JSON.stringify(made.body.errors)]).toEqual([
        422,
        expect.stringContaining("15 digits before the decimal point"),
      ]);
    }
    expect((await call("GET", documentAt("INV-1"))).status).toBe(404);
  });

  const TIMES = (count: number, item: string): string => `[${`${item},`.repeat(count - 1)}${item}]`;

  verifies("C-114");
  it.each<[what: string, raw: string, message: string]>([
    ["fields of one name", `{${'"name":1,'.repeat(2000)}"name":1}`, "2000 names of fields"],
    ["objects", `{"custom":${TIMES(11, TIMES(9999, "{}"))}}`, "100000 arrays and objects"],
    ["long numbers", `{"custom":${TIMES(2, TIMES(5001, "1.23456789012345678"))}}`, "10000 numbers"],
    ["levels", '{"custom":'.repeat(100_000), "nested deeper than 32"],
    ["items", `{"custom":${TIMES(10_001, "1")}}`, "10000 items"],
  ])("refuses a body with too many %s, and stores nothing", async (what, raw, message) => {
    const call = await ingestTenant(at(), `bombs-${what.replaceAll(" ", "-")}`);
    const sent = await call("PUT", documentAt("B-1"), { raw });
    expect([sent.status, sent.body.error]).toEqual([422, "validation_failed"]);
    expect(sent.body.message).toContain(message);
    expect(sent.text.length).toBeLessThan(1000);
    expect((await call("GET", documentAt("B-1"))).status).toBe(404);
  });

  verifies("C-114");
  it("names the first of thousands of faults, each by its path, and stores nothing", async () => {
    const call = await ingestTenant(at(), "faults");
    await call("POST", accountAt("A-1"), { body: ACCOUNT });
    const lines = Array.from({ length: 9000 }, () => ({ quantity: "x", amount: {} }));
    const details = { a: { b: [1, Array.from({ length: 5000 }, () => "\ud800")] } };
    for (const [more, field, code] of [
      [{ line_items: lines }, "line_items[0].quantity", "type"],
      [{ line_items: [{}, {}, ...lines] }, "line_items[2].quantity", "type"],
      [{ invoicing_detail: details }, "invoicing_detail.a.b[1][0]", "format"],
    ] as const) {
      const sent = await call("PUT", documentAt("F-1"), { body: { ...DOCUMENT, ...more } });
      expect([sent.status, sent.body.errors[0]]).toMatchObject([422, { field, code }]);
      expect(sent.body.errors.length).toBeLessThanOrEqual(100);
      expect(sent.text.length).toBeLessThan(20_000);
    }
    const exact = JSON.stringify({ ...DOCUMENT, invoicing_detail: { a: [{ b: 0 }] } });
    const raw = exact.replace('{"b":0}', '{"b":12345678901234567}');
    expect((await call("PUT", documentAt("F-1"), { raw })).body.errors).toMatchObject([
      { field: "invoicing_detail.a[0].b", code: "type" },
    ]);
    expect((await call("GET", documentAt("F-1"))).status).toBe(404);
    expect((await call("PUT", documentAt("F-1"), { raw: exact })).status).toBe(201);
  });

  verifies("C-107");
  it.each([
    "application/json; charset=utf-16",
    "application/json;charset=UTF-16BE",
    'application/json; charset="utf-16"',
    "application/json; charset=utf-8; charset=latin1",
    "application/merge-patch+json; charset=utf-32",
    "application/json; charset=",
  ])("refuses %s", async (type) => {
    const body = { raw: JSON.stringify({ ...base, amount: 1 }), headers: { "Content-Type": type } };
    const { status, body: problem } = await admin.call("POST", DISPUTES, body);
    expect([status, problem.code]).toEqual([415, "unsupported_media_type"]);
  });

  verifies("C-107");
  it.each([
    "application/json",
    "application/json; charset=utf-8",
    'Application/JSON;charset="UTF-8"',
  ])("takes %s", async (type) => {
    const raw = JSON.stringify({ code: `C${type.length}`, name: "N", description: "d" });
    const headers = { "Content-Type": type };
    const { status } = await admin.call("POST", `${CONFIGURATION}/categories`, { raw, headers });
    expect(status).not.toBe(415);
  });
});

verifies("C-100");
describe("money", () => {
  it("has its limits in the published document", () => {
    const text = JSON.stringify(createOpenApi({ headerWord: "Platform", version: "1" }));
    expect(text.split('"exclusiveMaximum":1000000000000000').length).toBeGreaterThan(10);
  });

  it("is limited in a bank file's amounts", () => {
    expect(Amount.safeParse(parseAmount("1000000000000000")).success).toBe(false);
    expect(Amount.safeParse(parseAmount(`1${"0".repeat(300)}`)).success).toBe(false);
    expect(PositiveAmount.safeParse(parseAmount("999999999999999")).success).toBe(true);
  });
});
