import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { setApplyWhenInvoiceClosed } from "../../src/platform/admin/resolutions.ts";
import { below, dispute, faultsOf, FORGED, make, statusesOf } from "../support/configuration.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("resolutions", (at) => {
  const admin = useTenant(at, "acme");
  const call = below(admin);

  const resolution = (code: string, more: object = {}) =>
    make(admin, "/resolutions", { code, description: `About ${code}`, ...more });

  verifies("RS-01", "T-17");
  it("creates, changes, reads at /by-code/ in any case and lists in order", async () => {
    const lister = await at().tenant("lister");
    const other = below(lister);
    for (const code of ["write-off", "CREDIT", "Denied"]) {
      await make(lister, "/resolutions", { code, description: "x" });
    }
    const list = (await other("GET", "/resolutions")).body;
    expect(list.map(({ code }: { code: string }) => code)).toEqual([
      "CREDIT",
      "Denied",
      "write-off",
    ]);
    const read = await other("GET", "/resolutions/by-code/credit");
    expect([read.status, read.body]).toEqual([200, list[0]]);
    at().clock.advance(MINUTE);
    const body = { code: "OTHER", description: "Credit issued", active: false, isValid: true };
    const changed = await other("PUT", `/resolutions/${read.body.resolutionId}`, { body });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({
      ...read.body,
      description: "Credit issued",
      active: false,
      isValid: true,
      updateDate: new Date(at().clock()).toISOString(),
    });
    expect((await other("GET", "/resolutions/by-code/NONE")).body.detail).toBe(
      "There is no resolution with the code NONE.",
    );
  });

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

  verifies("RS-01");
  it("refuses a taken code in any case, also in concurrent requests", async () => {
    const all = await Promise.all(
      ["Race", "RACE", "race", "rAcE"].map((code) =>
        call("POST", "/resolutions", { body: { code, description: "x" } }),
      ),
    );
    expect(statusesOf(all)).toEqual([201, 409, 409, 409]);
    expect(all.find(({ status }) => status === 409)?.body.code).toBe("duplicate_code");
  });

  verifies("RS-02");
  it("deletes by id and by code", async () => {
    const one = await resolution("ONE");
    await resolution("TWO");
    expect((await call("DELETE", `/resolutions/${one.resolutionId}`)).status).toBe(204);
    expect((await call("DELETE", "/resolutions/by-code/two")).status).toBe(204);
    expect((await call("GET", "/resolutions/by-code/ONE")).status).toBe(404);
    expect((await call("GET", "/resolutions/by-code/TWO")).status).toBe(404);
    expect((await call("DELETE", `/resolutions/${one.resolutionId}`)).status).toBe(404);
    expect((await call("DELETE", "/resolutions/by-code/TWO")).status).toBe(404);
  });

  verifies("RS-03", "C-39");
  it("shows applyWhenInvoiceClosed; ignores it and other fields that only the platform sets", async () => {
    const forged = { ...FORGED, resolutionId: "forged", applyWhenInvoiceClosed: true };
    const made = await resolution("FORGED", forged);
    expect(made).toEqual({
      resolutionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tenantId: "acme",
      code: "FORGED",
      description: "About FORGED",
      active: true,
      isValid: false,
      applyWhenInvoiceClosed: false,
      createUser: admin.userId,
      createDate: new Date(at().clock()).toISOString(),
      updateUser: admin.userId,
      updateDate: new Date(at().clock()).toISOString(),
    });
    const changed = await call("PUT", `/resolutions/${made.resolutionId}`, { body: forged });
    expect(changed.body).toEqual(made);
  });

  verifies("CF-04");
  it("routes each path by its exact words", async () => {
    await resolution("by-code");
    expect((await call("GET", "/resolutions/by-code/by-code")).body.code).toBe("by-code");
    expect((await call("GET", "/resolutions/code/by-code")).status).toBe(404);
    expect((await call("DELETE", "/resolutions/by-code/by-code")).status).toBe(204);
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

  verifies("D-GEN-9");
  it("returns a version and refuses a stale one", async () => {
    const { resolutionId } = await resolution("VERSION");
    const path = `/resolutions/${resolutionId}`;
    const headers = { "If-Match": (await call("GET", path)).headers.get("etag") ?? "" };
    const put = () => call("PUT", path, { body: { isValid: true }, headers });
    expect((await put()).status).toBe(200);
    expect((await put()).body.code).toBe("precondition_failed");
    expect((await call("DELETE", path, { headers })).status).toBe(412);
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
