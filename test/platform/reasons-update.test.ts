import { beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { below, dispute, faultsOf, FORGED, make } from "../support/configuration.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("reasons: update and delete", (at) => {
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

  describe("changes", () => {
    verifies("RE-08", "CONV-05");
    it("accepts description, active and visibility, keeps the code, and records author and time", async () => {
      const made = await reason("CHANGE");
      at().clock.advance(MINUTE);
      const editor = await at().person("acme", { grants: ["Dispute Configuration : UPDATE"] });
      const body = {
        code: "OTHER",
        description: "New words",
        active: false,
        visibility: "All",
        categoryCode: "PRICE",
      };
      const changed = await below(editor)("PUT", `/reasons/${made.reasonId}`, { body });
      expect(changed.status).toBe(200);
      expect(changed.body).toEqual({
        ...made,
        description: "New words",
        active: false,
        visibility: "All",
        updateUser: editor.userId,
        updateDate: new Date(at().clock()).toISOString(),
      });
      expect(changed.body.updateDate).not.toBe(made.updateDate);
    });

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

    verifies("D-GEN-9");
    it("returns a version and refuses a stale one", async () => {
      const { reasonId } = await reason("VERSION");
      const path = `/reasons/${reasonId}`;
      const first = (await call("GET", path)).headers.get("etag") ?? "";
      const put = (etag: string) =>
        call("PUT", path, { body: { categoryCode: "PRICE" }, headers: { "If-Match": etag } });
      const second = await put(first);
      expect(second.status).toBe(200);
      expect(second.headers.get("etag")).not.toBe(first);
      expect((await put(first)).body.code).toBe("precondition_failed");
      expect((await put(second.headers.get("etag") ?? "")).status).toBe(200);
    });

    verifies("C-39");
    it("ignores fields that only the platform sets", async () => {
      const made = await reason("FORGED", { ...FORGED, reasonId: "forged" });
      expect(made).toMatchObject({ tenantId: "acme", createUser: admin.userId });
      expect(made.reasonId).not.toBe("forged");
      const { body } = await call("PUT", `/reasons/${made.reasonId}`, {
        body: { ...FORGED, categoryCode: "PRICE", reasonId: "forged" },
      });
      expect(body).toEqual({ ...made, updateDate: body.updateDate });
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
    verifies("RE-09", "T-16");
    it("deletes by category code and reason code only", async () => {
      const { reasonId } = await reason("GONE");
      const byId = await call("DELETE", `/reasons/${reasonId}`);
      expect(byId.status).toBe(405);
      const path = "/categories/by-code/PRICE/reasons/by-code/gone";
      const deleted = await call("DELETE", path);
      expect([deleted.status, deleted.text]).toEqual([204, ""]);
      expect((await call("GET", `/reasons/${reasonId}`)).status).toBe(404);
      expect((await call("DELETE", path)).status).toBe(404);
    });

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
