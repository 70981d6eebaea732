import { beforeAll, describe, expect, it } from "vitest";
import { below, faultsOf, make, statusesOf } from "../support/configuration.ts";
import { type Caller, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const codesOf = (body: { code: string }[]): string[] => body.map(({ code }) => code);

onEveryStore("reasons", (at) => {
  const admin = useTenant(at, "acme");
  const call = below(admin);

  let price: { categoryId: string };

  let freight: { categoryId: string };

  const reason = (code: string, more: Record<string, unknown> = {}) =>
    make(admin, "/reasons", { code, description: `About ${code}`, categoryCode: "PRICE", ...more });

  beforeAll(async () => {
    price = await make(admin, "/categories", { code: "PRICE", description: "Pricing" });
    freight = await make(admin, "/categories", { code: "Freight", description: "Freight" });
  });

  describe("lists", () => {
    let other: Caller;

    beforeAll(async () => {
      const lister = await at().tenant("lister");
      other = below(lister);
      await make(lister, "/categories", { code: "A", description: "First" });
      await make(lister, "/categories", { code: "B", description: "Second" });
      for (const [code, categoryCode, visibility] of [
        ["beta", "A", "Internal"],
        ["ALPHA", "B", "External"],
        ["gamma", "A", "All"],
        ["Ärger", "A", "Internal"],
      ]) {
        await make(lister, "/reasons", { code, description: "x", categoryCode, visibility });
      }
    });

    verifies("RE-01", "D-CONF-9");
    it("lists all reasons of the tenant by code, ignoring case", async () => {
      const { status, body, headers } = await other("GET", "/reasons");
      expect(status).toBe(200);
      expect(codesOf(body)).toEqual(["ALPHA", "beta", "gamma", "Ärger"]);
      expect(headers.get("x-total-count")).toBe("4");
    });

    verifies("RE-02");
    it("lists one category's reasons, named in any case", async () => {
      const { body } = await other("GET", "/categories/by-code/a/reasons");
      expect(codesOf(body)).toEqual(["beta", "gamma", "Ärger"]);
      expect((await other("GET", "/categories/by-code/B/reasons")).body).toHaveLength(1);
    });

    verifies("RE-02");
    it("finds no category that does not exist", async () => {
      const { status, body } = await other("GET", "/categories/by-code/NONE/reasons");
      expect(status).toBe(404);
      expect(body.detail).toBe("There is no category with the code NONE.");
    });

    verifies("D-CONF-2");
    it("filters by one or several visibilities", async () => {
      const all = (await other("GET", "/reasons?Visibility=External&Visibility=All")).body;
      expect(codesOf(all)).toEqual(["ALPHA", "gamma"]);
      const mine = (await other("GET", "/categories/by-code/A/reasons?Visibility=Internal")).body;
      expect(codesOf(mine)).toEqual(["beta", "Ärger"]);
      expect((await other("GET", "/reasons?Visibility=Public")).status).toBe(400);
      expect((await other("GET", "/reasons?visibility=All")).status).toBe(400);
    });
  });

  verifies("RE-03", "D-CONF-1");
  it("reads one by category code and reason code, in any case, as it was created", async () => {
    await reason("Short Pay", { description: "Paid less" });
    const read = await call("GET", "/reasons/by-category-code/price/by-reason-code/SHORT%20PAY");
    expect(read.status).toBe(200);
    expect(read.body).toMatchObject({ code: "Short Pay", description: "Paid less" });
  });

  verifies("RE-03");
  it("reports whether the category or the reason is missing", async () => {
    const noReason = await call("GET", "/reasons/by-category-code/PRICE/by-reason-code/NOPE");
    expect([noReason.status, noReason.body.code]).toEqual([404, "not_found"]);
    expect(noReason.body.detail).toBe(
      "There is no reason in the category PRICE with the code NOPE.",
    );
    const noCategory = await call("GET", "/reasons/by-category-code/NOPE/by-reason-code/WRONG");
    expect(noCategory.body.detail).toBe("There is no category with the code NOPE.");
  });

  verifies("RE-04", "CONV-04");
  it("has the documented fields and no others", async () => {
    const made = await reason("FIELDS", { active: false, visibility: "All" });
    expect(made).toEqual({
      reasonId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tenantId: "acme",
      code: "FIELDS",
      description: "About FIELDS",
      active: false,
      categoryId: price.categoryId,
      visibility: "All",
      createUser: admin.userId,
      createDate: new Date(at().clock()).toISOString(),
      updateUser: admin.userId,
      updateDate: new Date(at().clock()).toISOString(),
    });
  });

  describe("codes", () => {
    verifies("RE-05");
    it("accepts a code once per category", async () => {
      await reason("TWICE");
      const again = await call("POST", "/reasons", {
        body: { code: "twice", description: "x", categoryCode: "PRICE" },
      });
      expect([again.status, again.body.code]).toEqual([409, "duplicate_code"]);
      expect((await reason("Twice", { categoryCode: "FREIGHT" })).code).toBe("Twice");
    });

    verifies("RE-05", "D-CONF-1");
    it("compares codes after Unicode composition", async () => {
      await reason("Caf\u00e9");
      const again = await call("POST", "/reasons", {
        body: { code: "CAFE\u0301", description: "x", categoryCode: "PRICE" },
      });
      expect(again.status).toBe(409);
    });

    verifies("RE-05");
    it("accepts a code from one of many concurrent requests", async () => {
      const body = { code: "RACE", description: "x", categoryCode: "PRICE" };
      const all = await Promise.all(
        Array.from({ length: 6 }, () => call("POST", "/reasons", { body })),
      );
      expect(statusesOf(all)).toEqual([201, 409, 409, 409, 409, 409]);
    });

    verifies("D-CONF-1");
    it.each([
      ["", "empty"],
      ["   ", "empty"],
      ["a/b", "format"],
      [".", "format"],
      ["..", "format"],
      ["a\u0007b", "format"],
      ["x".repeat(65), "too_long"],
      [7, "type"],
    ])("refuses the code %j", async (code, fault) => {
      const { status, body } = await call("POST", "/reasons", {
        body: { code, description: "x", categoryCode: "PRICE" },
      });
      expect(status).toBe(400);
      expect(body.errors[0]).toMatchObject({ field: "code", code: fault });
    });

    verifies("D-CONF-1");
    it("trims a code and keeps its case", async () => {
      expect((await reason("  Padded ")).code).toBe("Padded");
    });
  });

  describe("naming the category", () => {
    verifies("RE-06");
    it("accepts its id, its code, or both", async () => {
      const { categoryId } = freight;
      const bodies = [
        { categoryId },
        { categoryCode: "fReIgHt" },
        { categoryId, categoryCode: "Freight" },
        { categoryId: null, categoryCode: "Freight" },
        { categoryId, categoryCode: null },
      ];
      for (const [index, category] of bodies.entries()) {
        const body = { code: `NAMED-${index}`, description: "x", ...category };
        expect((await make(admin, "/reasons", body)).categoryId).toBe(categoryId);
      }
    });

    verifies("RE-06", "D-CONF-5");
    it("refuses an id and a code that disagree, or are unknown", async () => {
      const body = { code: "ODD", description: "x" };
      const { categoryId } = price;
      const post = async (category: object) =>
        (await call("POST", "/reasons", { body: { ...body, ...category } })).body;
      const odd = await post({ categoryId, categoryCode: "FREIGHT" });
      expect([odd.status, faultsOf(odd)]).toEqual([400, { categoryCode: "mismatch" }]);
      const unknownId = await post({ categoryId: "nowhere" });
      expect(faultsOf(unknownId)).toEqual({ categoryId: "unknown_reference" });
      const unknownCode = await post({ categoryId, categoryCode: "NOWHERE" });
      expect(faultsOf(unknownCode)).toEqual({ categoryCode: "unknown_reference" });
    });

    verifies("RE-07");
    it("is required to create or change", async () => {
      const created = await call("POST", "/reasons", { body: { code: "C", description: "x" } });
      expect([created.status, faultsOf(created.body)]).toEqual([400, { categoryId: "required" }]);
      const { reasonId } = await reason("HOMELESS");
      const changed = await call("PUT", `/reasons/${reasonId}`, { body: { description: "y" } });
      expect([changed.status, faultsOf(changed.body)]).toEqual([400, { categoryId: "required" }]);
    });
  });
});
