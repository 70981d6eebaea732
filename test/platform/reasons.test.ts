import { beforeAll, describe, expect, it } from "vitest";
import { below, dispute, faultsOf, make } from "../support/configuration.ts";
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

  describe("changes", () => {
    verifies("RE-08", "D-CONF-7");
    it("keeps absent fields", async () => {
      const made = await reason("KEEP", { active: false, visibility: "External" });
      const { body } = await call("PUT", `/reasons/${made.reasonId}`, {
        body: { categoryId: price.categoryId },
      });
      expect(body).toEqual({ ...made, updateDate: body.updateDate });
    });

    verifies("RE-08");
    it("moves a reason to another category, unless its code is taken there", async () => {
      const made = await reason("MOVER");
      const moved = await call("PUT", `/reasons/${made.reasonId}`, {
        body: { categoryCode: "FREIGHT" },
      });
      expect(moved.body.categoryId).toBe(freight.categoryId);
      const twin = await reason("mover");
      const clash = await call("PUT", `/reasons/${twin.reasonId}`, {
        body: { categoryCode: "FREIGHT" },
      });
      expect([clash.status, clash.body.code]).toEqual([409, "duplicate_code"]);
      expect((await call("GET", `/reasons/${twin.reasonId}`)).body.categoryId).toBe(
        price.categoryId,
      );
    });

    verifies("C-50");
    it("treats __proto__ as data and uses the last of two equal keys", async () => {
      const raw =
        '{"__proto__":{"active":false},"code":"PROTO","description":"first","description":"last","categoryCode":"PRICE"}';
      const made = await call("POST", "/reasons", {
        raw,
        headers: { "Content-Type": "application/json" },
      });
      expect(made.body).toMatchObject({ active: true, description: "last" });
      expect(({} as { active?: boolean }).active).toBeUndefined();
    });
  });

  describe("values", () => {
    verifies("RE-11", "D-CONF-2");
    it("accepts and returns each visibility, Internal by default, and no other", async () => {
      expect((await reason("V-NONE")).visibility).toBe("Internal");
      for (const visibility of ["Internal", "External", "All"]) {
        expect((await reason(`V-${visibility}`, { visibility })).visibility).toBe(visibility);
      }
      const { status, body } = await call("POST", "/reasons", {
        body: { code: "V", description: "x", categoryCode: "PRICE", visibility: "internal" },
      });
      expect([status, faultsOf(body)]).toEqual([400, { visibility: "enum" }]);
    });

    verifies("D-CONF-3");
    it("is active by default and accepts only booleans", async () => {
      expect((await reason("ACTIVE")).active).toBe(true);
      for (const active of ["true", 1, null]) {
        const { body } = await call("POST", "/reasons", {
          body: { code: "B", description: "x", categoryCode: "PRICE", active },
        });
        expect([body.status, faultsOf(body)]).toEqual([400, { active: "type" }]);
      }
    });
  });

  describe("removal", () => {
    verifies("RE-09");
    it("deletes the reason of the named category, not one with the same code elsewhere", async () => {
      const here = await reason("SAME");
      const there = await reason("SAME", { categoryCode: "FREIGHT" });
      await call("DELETE", "/categories/by-code/FREIGHT/reasons/by-code/SAME");
      expect((await call("GET", `/reasons/${here.reasonId}`)).status).toBe(200);
      expect((await call("GET", `/reasons/${there.reasonId}`)).status).toBe(404);
    });

    verifies("D-CONF-6");
    it("refuses to delete a reason of a dispute, internal or external", async () => {
      const internal = await reason("USED");
      const external = await reason("USED-EXT", { visibility: "External" });
      const setDefault = (defaultInternalReasonId: string | null) =>
        call("PUT", `/categories/${price.categoryId}`, { body: { defaultInternalReasonId } });
      await setDefault(internal.reasonId);
      const opened = await dispute(admin, { externalReasonId: external.reasonId });
      expect(opened.reasonId).toBe(internal.reasonId);
      await setDefault(null);
      for (const code of ["USED", "USED-EXT"]) {
        const path = `/categories/by-code/PRICE/reasons/by-code/${code}`;
        const refused = await call("DELETE", path);
        expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
        expect(refused.body.detail).toContain("Disputes have the reason");
      }
    });
  });

  describe("default reasons", () => {
    let own: { reasonId: string };
    const put = (body: object) => call("PUT", `/reasons/${own.reasonId}`, { body });

    beforeAll(async () => {
      own = await reason("DEFAULT", { visibility: "All" });
      await make(admin, "/categories", {
        code: "DEFAULTING",
        description: "x",
        defaultInternalReasonId: own.reasonId,
      });
    });

    verifies("D-CONF-5");
    it("cannot be moved or deleted", async () => {
      const moved = await put({ categoryCode: "FREIGHT" });
      expect([moved.status, moved.body.code]).toEqual([409, "in_use"]);
      const deleted = await call("DELETE", "/categories/by-code/PRICE/reasons/by-code/DEFAULT");
      expect([deleted.status, deleted.body.code]).toEqual([409, "in_use"]);
      expect(deleted.body.detail).toContain("DEFAULTING");
    });

    verifies("D-CONF-4");
    it("keep the visibility that their role requires, and may change otherwise", async () => {
      const hidden = await put({ categoryCode: "PRICE", visibility: "External" });
      expect([hidden.status, hidden.body.code]).toEqual([409, "in_use"]);
      const fitting = await put({ categoryCode: "PRICE", visibility: "Internal", active: false });
      expect(fitting.body).toMatchObject({ visibility: "Internal", active: false });
    });
  });

  verifies("CONV-06", "D-CONF-11");
  it("finds records of its own tenant only", async () => {
    const made = await reason("BY-ID");
    const path = `/reasons/${made.reasonId}`;
    expect((await call("GET", path)).body).toEqual(made);
    const stranger = await at().tenant("stranger");
    const foreign = below(stranger);
    await make(stranger, "/categories", { code: "PRICE", description: "x" });
    const put = { body: { description: "stolen", categoryCode: "PRICE" } };
    const answers = [
      await foreign("GET", path),
      await foreign("PUT", path, put),
      await foreign("GET", "/reasons/by-category-code/PRICE/by-reason-code/BY-ID"),
      await foreign("DELETE", "/categories/by-code/PRICE/reasons/by-code/BY-ID"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    const { categoryId } = price;
    const body = { code: "X", description: "x", categoryId };
    expect((await foreign("POST", "/reasons", { body })).status).toBe(400);
    expect((await call("GET", path)).body).toEqual(made);
  });

  verifies("D-ERR-8");
  it("shortens repeated input", async () => {
    const { body } = await call("GET", `/reasons/${"x".repeat(120)}`);
    expect(body.detail).toBe(`There is no reason with the id ${"x".repeat(100)}.`);
  });
});
