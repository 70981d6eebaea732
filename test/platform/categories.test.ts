import { beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { setRoute } from "../../src/platform/admin/routes.ts";
import { below, dispute, faultsOf, FORGED, make, statusesOf } from "../support/configuration.ts";
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

  verifies("CA-01", "T-17");
  it("reads by code at /code/, in any case, and lists by code", async () => {
    const lister = await at().tenant("lister");
    for (const code of ["beta", "ALPHA", "Über", "gamma"]) {
      await make(lister, "/categories", { code, description: "x" });
    }
    const other = below(lister);
    const read = await other("GET", "/categories/code/alpha");
    expect([read.status, read.body.code]).toEqual([200, "ALPHA"]);
    const list = await other("GET", "/categories");
    expect(list.body.map(({ code }: { code: string }) => code)).toEqual([
      "ALPHA",
      "beta",
      "gamma",
      "Über",
    ]);
    expect(list.body[0]).toEqual(read.body);
    const unknown = await other("GET", "/categories/code/delta");
    expect([unknown.status, unknown.body.detail]).toEqual([
      404,
      "There is no category with the code delta.",
    ]);
  });

  verifies("CA-02", "CONV-05");
  it("creates, and changes by id without changing the code", async () => {
    const made = await category("TWO", { defaultInternalReasonId: reasons.internal.reasonId });
    expect(made).toEqual({
      categoryId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tenantId: "acme",
      code: "TWO",
      description: "About TWO",
      defaultInternalReasonId: reasons.internal.reasonId,
      defaultInternalReasonCode: "INT",
      defaultExternalReasonId: null,
      defaultExternalReasonCode: null,
      createUser: admin.userId,
      createDate: new Date(at().clock()).toISOString(),
      updateUser: admin.userId,
      updateDate: new Date(at().clock()).toISOString(),
    });
    at().clock.advance(MINUTE);
    const body = {
      code: "THREE",
      description: "New words",
      defaultInternalReasonId: reasons.all.reasonId,
      defaultExternalReasonId: reasons.external.reasonId,
    };
    const changed = await call("PUT", `/categories/${made.categoryId}`, { body });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({
      ...made,
      description: "New words",
      defaultInternalReasonId: reasons.all.reasonId,
      defaultInternalReasonCode: "BOTH",
      defaultExternalReasonId: reasons.external.reasonId,
      defaultExternalReasonCode: "EXT",
      updateDate: new Date(at().clock()).toISOString(),
    });
  });

  verifies("CA-02");
  it("refuses a taken code in any case, also in concurrent requests", async () => {
    const body = { code: "Race", description: "x" };
    const all = await Promise.all(
      ["Race", "RACE", "race", "rAcE"].map((code) =>
        call("POST", "/categories", { body: { ...body, code } }),
      ),
    );
    expect(statusesOf(all)).toEqual([201, 409, 409, 409]);
    expect(all.find(({ status }) => status === 409)?.body.code).toBe("duplicate_code");
  });

  verifies("CA-02");
  it("requires a code and a description", async () => {
    const { status, body } = await call("POST", "/categories", { body: {} });
    expect([status, faultsOf(body)]).toEqual([400, { code: "required", description: "required" }]);
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

  describe("removal", () => {
    verifies("CA-04", "T-16");
    it("deletes at /by-code/ only", async () => {
      const { categoryId } = await category("GONE");
      expect((await call("DELETE", `/categories/${categoryId}`)).status).toBe(405);
      expect((await call("DELETE", "/categories/code/GONE")).status).toBe(405);
      const deleted = await call("DELETE", "/categories/by-code/gone");
      expect([deleted.status, deleted.text]).toEqual([204, ""]);
      expect((await call("GET", `/categories/${categoryId}`)).status).toBe(404);
      expect((await call("DELETE", "/categories/by-code/GONE")).status).toBe(404);
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
  });

  verifies("CF-04");
  it("routes each path by its exact words", async () => {
    await category("code");
    await category("by-code");
    expect((await call("GET", "/categories/by-code/HOME")).status).toBe(405);
    expect((await call("GET", "/categories/code/by-code")).body.code).toBe("by-code");
    expect((await call("GET", "/categories/code")).status).toBe(404);
    expect((await call("GET", "/categories/by-code/code/reasons")).body).toEqual([]);
  });

  verifies("D-GEN-9");
  it("returns a version and refuses a stale one, also to delete", async () => {
    const { categoryId } = await category("VERSION");
    const path = `/categories/${categoryId}`;
    const first = (await call("GET", path)).headers.get("etag") ?? "";
    expect((await call("GET", "/categories/code/VERSION")).headers.get("etag")).toBe(first);
    const headers = { "If-Match": first };
    const put = () => call("PUT", path, { body: { description: "y" }, headers });
    expect((await put()).status).toBe(200);
    expect((await put()).status).toBe(412);
    const deleted = await call("DELETE", "/categories/by-code/VERSION", { headers });
    expect(deleted.status).toBe(412);
    expect((await call("GET", path)).body.description).toBe("y");
  });

  verifies("C-39");
  it("ignores fields that only the platform sets", async () => {
    const forged = { ...FORGED, categoryId: "forged", defaultInternalReasonCode: "INT" };
    const made = await category("FORGED", forged);
    expect(made).toMatchObject({
      tenantId: "acme",
      createUser: admin.userId,
      defaultInternalReasonId: null,
      defaultInternalReasonCode: null,
    });
    const { body } = await call("PUT", `/categories/${made.categoryId}`, { body: forged });
    expect(body).toEqual({ ...made, updateDate: expect.any(String) });
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
