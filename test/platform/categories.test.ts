import { beforeAll, describe, expect, it } from "vitest";
import { setRoute } from "../../src/platform/admin/routes.ts";
import { below, dispute, faultsOf, make } from "../support/configuration.ts";
import { configure, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("categories", (at) => {
  const admin = useTenant(at, "acme");
  const call = below(admin);
  let reasons: Record<"internal" | "external" | "all", { reasonId: string; code: string }>;

  const category = (code: string, more: object = {}) =>
    make(admin, "/categories", { code, description: `About ${code}`, ...more });

  beforeAll(async () => {
    await category("HOME");
    const reason = (code: string, visibility: string) =>
      make(admin, "/reasons", { code, description: code, categoryCode: "HOME", visibility });
    reasons = {
      internal: await reason("INT", "Internal"),
      external: await reason("EXT", "External"),
      all: await reason("BOTH", "All"),
    };
  });

  verifies("CA-02", "CONV-05");
  it("creates and changes with default reasons", async () => {
    const made = await category("TWO", { defaultInternalReasonId: reasons.internal.reasonId });
    expect(made).toMatchObject({
      defaultInternalReasonId: reasons.internal.reasonId,
      defaultInternalReasonCode: "INT",
      defaultExternalReasonId: null,
      defaultExternalReasonCode: null,
    });
    const body = {
      defaultInternalReasonId: reasons.all.reasonId,
      defaultExternalReasonId: reasons.external.reasonId,
    };
    const changed = await call("PUT", `/categories/${made.categoryId}`, { body });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({
      ...made,
      defaultInternalReasonId: reasons.all.reasonId,
      defaultInternalReasonCode: "BOTH",
      defaultExternalReasonId: reasons.external.reasonId,
      defaultExternalReasonCode: "EXT",
    });
  });

  describe("default reasons", () => {
    const post = (body: object) =>
      call("POST", "/categories", { body: { code: "REFUSED", description: "x", ...body } });

    verifies("CA-03", "D-CONF-4");
    it("returns the codes of reasons of any category", async () => {
      const { body } = await post({
        code: "ELSEWHERE",
        defaultInternalReasonId: reasons.internal.reasonId,
        defaultExternalReasonId: reasons.all.reasonId,
      });
      expect(body).toMatchObject({
        defaultInternalReasonCode: "INT",
        defaultExternalReasonId: reasons.all.reasonId,
        defaultExternalReasonCode: "BOTH",
      });
      expect((await call("GET", "/categories/code/ELSEWHERE")).body).toEqual(body);
    });

    verifies("CA-03", "D-CONF-7");
    it("keeps those not sent and clears those sent as null", async () => {
      const made = await category("CLEAR", {
        defaultInternalReasonId: reasons.all.reasonId,
        defaultExternalReasonId: reasons.all.reasonId,
      });
      const put = async (body: object) =>
        (await call("PUT", `/categories/${made.categoryId}`, { body })).body;
      expect(await put({})).toEqual({ ...made, updateDate: expect.any(String) });
      expect(await put({ defaultInternalReasonId: null })).toMatchObject({
        description: "About CLEAR",
        defaultInternalReasonId: null,
        defaultInternalReasonCode: null,
        defaultExternalReasonCode: "BOTH",
      });
    });

    verifies("D-CONF-4");
    it("must have a suitable visibility", async () => {
      const external = await post({ defaultInternalReasonId: reasons.external.reasonId });
      expect([external.status, faultsOf(external.body)]).toEqual([
        400,
        { defaultInternalReasonId: "visibility" },
      ]);
      const internal = await post({ defaultExternalReasonId: reasons.internal.reasonId });
      expect(faultsOf(internal.body)).toEqual({ defaultExternalReasonId: "visibility" });
      const { categoryId } = await category("FITTING");
      const changed = await call("PUT", `/categories/${categoryId}`, {
        body: { defaultExternalReasonId: reasons.internal.reasonId },
      });
      expect(changed.status).toBe(400);
      expect((await call("GET", "/categories/code/REFUSED")).status).toBe(404);
    });

    verifies("D-CONF-4");
    it("must be reasons of this tenant", async () => {
      const foreign = await configure(await at().tenant("foreign"));
      const ids = [foreign.reason.reasonId, "nothing"];
      for (const defaultInternalReasonId of ids) {
        const { status, body } = await post({ defaultInternalReasonId });
        expect([status, faultsOf(body)]).toEqual([
          400,
          { defaultInternalReasonId: "unknown_reference" },
        ]);
      }
    });
  });

  verifies("D-CONF-6");
  it("refuses to delete a category that has reasons, used by disputes or not", async () => {
    const inUse = await call("DELETE", "/categories/by-code/HOME");
    expect([inUse.status, inUse.body.code]).toEqual([409, "in_use"]);
    await category("BUSY");
    const body = { code: "R", description: "x", categoryCode: "BUSY" };
    const { reasonId } = await make(admin, "/reasons", body);
    await dispute(admin, { reasonId });
    expect((await call("DELETE", "/categories/by-code/BUSY")).status).toBe(409);
    expect((await call("GET", "/categories/code/BUSY")).status).toBe(200);
  });

  describe("routes", () => {
    let made: Awaited<ReturnType<typeof configure>>;
    const needs = () => ({ store: at().store, clock: at().clock });
    const route = (category: string, assignee: string, tenantId = "routed") =>
      setRoute(needs(), { tenantId, category, assignee });
    const routed = useTenant(at, "routed");

    beforeAll(async () => {
      made = await configure(routed);
    });

    verifies("D-DISP-11");
    it("assigns a category's disputes to its default assignee", async () => {
      expect(await route("price", "ANA@sales.example")).toEqual({
        tenantId: "routed",
        categoryCode: "PRICE",
        assigneeEmail: "ana@sales.example",
      });
      const opened = await dispute(routed, { reasonId: made.reason.reasonId });
      expect(opened.assigneeId).toBe(made.assignee.assigneeId);
      const { body } = await below(routed)("GET", "/categories/code/PRICE");
      expect(body.updateUser).toBe("admin");
    });

    it("survives a change of the category", async () => {
      await below(routed)("PUT", `/categories/${made.category.categoryId}`, {
        body: { description: "Prices" },
      });
      const opened = await dispute(routed, { reasonId: made.reason.reasonId });
      expect(opened.assigneeId).toBe(made.assignee.assigneeId);
    });

    verifies("D-DISP-11");
    it("assigns nothing to an inactive assignee", async () => {
      const active = (value: boolean) =>
        below(routed)("PUT", "/assignees/by-email/ana@sales.example", {
          body: { departmentCode: "SALES", active: value },
        });
      await active(false);
      const opened = await dispute(routed, { reasonId: made.reason.reasonId });
      expect(opened.assigneeId).toBeNull();
      await active(true);
    });

    it("refuses unknown or inactive names", async () => {
      const person = { firstName: "Ivo", lastName: "Gone", email: "ivo@sales.example" };
      await make(routed, "/assignees", { departmentCode: "SALES", active: false, person });
      await expect(route("PRICE", "ivo@sales.example")).rejects.toMatchObject({
        code: "conflict",
        message: "The assignee ivo@sales.example is inactive.",
      });
      await expect(route("NONE", "ana@sales.example")).rejects.toThrow(
        "There is no category with the code NONE.",
      );
      await expect(route("PRICE", "no@sales.example")).rejects.toThrow(
        "There is no assignee with the e-mail address no@sales.example.",
      );
      await expect(route("PRICE", "ana@sales.example", "none")).rejects.toThrow(
        "There is no tenant none.",
      );
      await expect(route("HOME", "ana@sales.example", "acme")).rejects.toMatchObject({
        code: "not_found",
      });
    });
  });
});
