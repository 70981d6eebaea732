import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { setApplyWhenInvoiceClosed } from "../../src/platform/admin/resolutions.ts";
import { below, dispute, faultsOf, make } from "../support/configuration.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("resolutions", (at) => {
  const admin = useTenant(at, "acme");
  const call = below(admin);

  const resolution = (code: string, more: object = {}) =>
    make(admin, "/resolutions", { code, description: `About ${code}`, ...more });

  verifies("RS-01", "D-CONF-3");
  it("is active and not valid by default, and accepts only booleans", async () => {
    expect(await resolution("DEFAULTS")).toMatchObject({ active: true, isValid: false });
    const { status, body } = await call("POST", "/resolutions", {
      body: { code: "B", description: "x", active: 1, isValid: "true" },
    });
    expect([status, faultsOf(body)]).toEqual([400, { active: "type", isValid: "type" }]);
  });

  verifies("RS-01", "D-CONF-7");
  it("keeps absent fields", async () => {
    const made = await resolution("KEEP", { active: false, isValid: true });
    const put = async (body: object) =>
      (await call("PUT", `/resolutions/${made.resolutionId}`, { body })).body;
    expect(await put({})).toEqual(made);
    expect(await put({ active: true })).toEqual({ ...made, active: true });
    expect(await put({ isValid: false })).toEqual({ ...made, active: true, isValid: false });
  });

  verifies("D-CONF-6");
  it("refuses to delete a resolution of a closed dispute, until the dispute is reopened", async () => {
    const busy = await at().tenant("busy");
    const { reason, resolution: credit } = await configure(busy);
    const { disputeId } = await dispute(busy, { reasonId: reason.reasonId });
    const put = (body: object) => busy.call("PUT", `${DISPUTES}/${disputeId}`, { body });
    expect((await put({ status: 1, resolutionCode: "CREDIT" })).status).toBe(200);
    for (const path of [`/resolutions/${credit.resolutionId}`, "/resolutions/by-code/CREDIT"]) {
      const refused = await below(busy)("DELETE", path);
      expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
    }
    await put({ status: 0 });
    expect((await below(busy)("DELETE", "/resolutions/by-code/CREDIT")).status).toBe(204);
  });

  verifies("D-CONF-8");
  describe("applied when an invoice is closed", () => {
    const set = (code: string, value: boolean, tenantId = "acme") =>
      setApplyWhenInvoiceClosed(
        { store: at().store, clock: at().clock },
        { tenantId, code, value },
      );

    verifies("RS-03");
    it("is chosen by the operator, for at most one resolution of the tenant", async () => {
      const made = await resolution("PAID");
      await resolution("PAID-TOO");
      at().clock.advance(MINUTE);
      const chosen = await set("paid", true);
      expect(chosen).toEqual({
        ...made,
        applyWhenInvoiceClosed: true,
        updateUser: "admin",
        updateDate: new Date(at().clock()).toISOString(),
      });
      expect((await call("GET", "/resolutions/by-code/PAID")).body).toEqual(chosen);
      expect((await set("PAID", true)).applyWhenInvoiceClosed).toBe(true);
      await expect(set("PAID-TOO", true)).rejects.toMatchObject({
        code: "conflict",
        message: expect.stringContaining("The resolution PAID is applied"),
      });
      expect((await set("PAID", false)).applyWhenInvoiceClosed).toBe(false);
      expect((await set("PAID-TOO", true)).applyWhenInvoiceClosed).toBe(true);
    });

    it("is kept when the resolution changes", async () => {
      const { resolutionId } = (await call("GET", "/resolutions/by-code/PAID-TOO")).body;
      const { body } = await call("PUT", `/resolutions/${resolutionId}`, {
        body: { description: "y" },
      });
      expect(body.applyWhenInvoiceClosed).toBe(true);
    });

    it("refuses a resolution or a tenant that does not exist, by name", async () => {
      await expect(set("NONE", true)).rejects.toThrow("There is no resolution with the code NONE.");
      await expect(set("PAID", true, "none")).rejects.toThrow("There is no tenant none.");
    });
  });
});
