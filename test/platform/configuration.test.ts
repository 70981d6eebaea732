import { beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { below, faultsOf, FORGED, make, statusesOf } from "../support/configuration.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

/** What the kinds of records that a tenant names by a code differ in. */
const KINDS = [
  {
    noun: "department",
    list: "/departments",
    read: "/departments/code",
    remove: "/departments/by-code",
    own: {},
  },
  {
    noun: "category",
    list: "/categories",
    read: "/categories/code",
    remove: "/categories/by-code",
    own: {
      defaultInternalReasonId: null,
      defaultInternalReasonCode: null,
      defaultExternalReasonId: null,
      defaultExternalReasonCode: null,
    },
  },
  {
    noun: "resolution",
    list: "/resolutions",
    read: "/resolutions/by-code",
    remove: "/resolutions/by-code",
    own: { active: true, isValid: false, applyWhenInvoiceClosed: false },
  },
  {
    noun: "reason",
    list: "/reasons",
    read: "/reasons/by-category-code/price/by-reason-code",
    remove: "/categories/by-code/PRICE/reasons/by-code",
    sent: { categoryCode: "PRICE" },
    own: { active: true, visibility: "Internal" },
  },
];

onEveryStore("the configuration of disputes", (at) => {
  const admin = useTenant(at, "acme");
  const call = below(admin);
  let price: { categoryId: string };

  beforeAll(async () => {
    price = await make(admin, "/categories", { code: "PRICE", description: "Pricing" });
  });

  describe.each(KINDS)("$noun", ({ noun, list, read, remove, own, sent = {} }) => {
    const id = `${noun}Id`;
    const add = (code: string, more: object = {}) =>
      make(admin, list, { code, description: `About ${code}`, ...sent, ...more });
    const readOf = (code: string) => call("GET", `${read}/${encodeURIComponent(code)}`);
    const put = (record: Record<string, string>, body: object, headers = {}) =>
      call("PUT", `${list}/${record[id]}`, { body: { ...sent, ...body }, headers });

    verifies("DE-01", "CA-01", "RS-01", "RE-03", "D-CONF-1", "T-17");
    it("reads by code in any case, and names a code that is unknown", async () => {
      const made = await add("Über All");
      for (const code of ["Über All", "ÜBER ALL"]) {
        const found = await readOf(code);
        expect([found.status, found.body]).toEqual([200, made]);
      }
      const unknown = await readOf("LEGAL");
      expect(unknown.status).toBe(404);
      expect(unknown.body.detail).toMatch(
        new RegExp(`^There is no ${noun} (?:in the category PRICE )?with the code LEGAL.$`),
      );
    });

    verifies("DE-01", "CA-01", "RS-01", "RE-01");
    it("lists by code, ignoring case", async () => {
      const lister = await at().tenant(`lister-${noun}`);
      const category = { code: "PRICE", description: "x" };
      if (noun === "reason") await make(lister, "/categories", category);
      const made = [];
      for (const code of ["beta", "ALPHA", "Über", "gamma"]) {
        made.push(await make(lister, list, { code, description: "x", ...sent }));
      }
      const [beta, alpha, uber, gamma] = made;
      expect((await below(lister)("GET", list)).body).toEqual([alpha, beta, gamma, uber]);
    });

    verifies("DE-03", "CA-02", "RS-03", "RE-04", "CONV-04", "C-39");
    it("has the documented fields, of which nobody else sets those of the platform", async () => {
      const forged = {
        ...FORGED,
        [id]: "forged",
        defaultInternalReasonCode: "INT",
        applyWhenInvoiceClosed: true,
      };
      const made = await add("FORGED", forged);
      const now = new Date(at().clock()).toISOString();
      expect(made).toEqual({
        [id]: expect.stringMatching(/^[0-9a-f-]{36}$/),
        tenantId: "acme",
        code: "FORGED",
        description: "About FORGED",
        ...own,
        ...(noun === "reason" ? { categoryId: price.categoryId } : {}),
        createUser: admin.userId,
        createDate: now,
        updateUser: admin.userId,
        updateDate: now,
      });
      expect((await put(made, forged)).body).toEqual(made);
    });

    verifies("DE-01", "CA-02", "RS-01", "RE-08", "CONV-05", "D-CONF-7");
    it("changes by id without changing the code, and keeps what is not sent", async () => {
      const made = await add("CHANGE");
      at().clock.advance(MINUTE);
      const editor = await at().person("acme", { grants: ["Dispute Configuration : UPDATE"] });
      const changed = await below(editor)("PUT", `${list}/${made[id]}`, {
        body: { ...sent, code: "OTHER", description: "New words" },
      });
      expect(changed.status).toBe(200);
      expect(changed.body).toEqual({
        ...made,
        description: "New words",
        updateUser: editor.userId,
        updateDate: new Date(at().clock()).toISOString(),
      });
      expect(changed.body.updateDate).not.toBe(made.updateDate);
      const again = await below(editor)("PUT", `${list}/${made[id]}`, { body: sent });
      expect(again.body).toEqual(changed.body);
    });

    verifies("DE-01", "CA-02", "RS-01", "RE-05");
    it("refuses a taken code in any case, also in concurrent requests", async () => {
      const all = await Promise.all(
        ["Race", "RACE", "race", "rAcE"].map((code) =>
          call("POST", list, { body: { code, description: "x", ...sent } }),
        ),
      );
      expect(statusesOf(all)).toEqual([201, 409, 409, 409]);
      expect(all.find(({ status }) => status === 409)?.body.code).toBe("duplicate_code");
    });

    verifies("DE-01", "CA-02");
    it("requires a code and a description", async () => {
      const nothing = await call("POST", list, { body: sent });
      const faults = { code: "required", description: "required" };
      expect([nothing.status, faultsOf(nothing.body)]).toEqual([400, faults]);
      const empty = await call("POST", list, { body: { code: "E", description: "", ...sent } });
      expect(faultsOf(empty.body)).toEqual({ description: "empty" });
    });

    verifies("D-GEN-9");
    it("returns a version and refuses a stale one, also to delete", async () => {
      const made = await add("VERSION");
      const etagOf = async () =>
        (await call("GET", `${list}/${made[id]}`)).headers.get("etag") ?? "";
      const first = await etagOf();
      expect((await readOf("VERSION")).headers.get("etag")).toBe(first);
      const stale = { "If-Match": first };
      const changed = await put(made, { description: "y" }, stale);
      const second = changed.headers.get("etag") ?? "";
      expect([changed.status, second]).toEqual([200, await etagOf()]);
      expect(second).not.toBe(first);
      expect((await put(made, { description: "z" }, stale)).body.code).toBe("precondition_failed");
      expect((await call("DELETE", `${remove}/VERSION`, { headers: stale })).status).toBe(412);
      expect((await readOf("VERSION")).body.description).toBe("y");
      expect((await put(made, {}, { "If-Match": second })).status).toBe(200);
    });

    verifies("DE-02", "CA-04", "RS-02", "RE-09", "T-16");
    it("deletes by code in any case", async () => {
      const made = await add("GONE");
      const deleted = await call("DELETE", `${remove}/gone`);
      expect([deleted.status, deleted.text]).toEqual([204, ""]);
      expect((await call("GET", `${list}/${made[id]}`)).status).toBe(404);
      expect((await readOf("GONE")).status).toBe(404);
      expect((await call("DELETE", `${remove}/GONE`)).status).toBe(404);
    });

    const isById = noun === "department" || noun === "resolution";

    verifies("DE-02", "CA-04", "RS-02", "RE-09", "T-16");
    it(`${isById ? "deletes" : "does not delete"} by id`, async () => {
      const made = await add("BY-ID");
      const path = `${list}/${made[id]}`;
      const ends = isById ? [204, 404] : [405, 405];
      expect((await call("DELETE", path)).status).toBe(ends[0]);
      expect((await call("DELETE", path)).status).toBe(ends[1]);
      expect((await readOf("BY-ID")).status).toBe(isById ? 404 : 200);
    });
  });

  verifies("CF-04");
  it("routes each path by its exact words", async () => {
    for (const list of ["/departments", "/categories"]) {
      for (const code of ["code", "by-code", "HOME"]) {
        await make(admin, list, { code, description: "x" });
      }
      expect((await call("GET", `${list}/by-code/HOME`)).status).toBe(405);
      expect((await call("GET", `${list}/by-code/by-code`)).status).toBe(405);
      expect((await call("GET", `${list}/code/by-code`)).body.code).toBe("by-code");
      expect((await call("GET", `${list}/code`)).status).toBe(404);
      expect((await call("DELETE", `${list}/code/by-code`)).status).toBe(405);
      expect((await call("DELETE", `${list}/by-code/by-code`)).status).toBe(204);
    }
    expect((await call("GET", "/categories/by-code/code/reasons")).body).toEqual([]);
    await make(admin, "/resolutions", { code: "by-code", description: "x" });
    expect((await call("GET", "/resolutions/by-code/by-code")).body.code).toBe("by-code");
    expect((await call("GET", "/resolutions/code/by-code")).status).toBe(404);
    expect((await call("DELETE", "/resolutions/by-code/by-code")).status).toBe(204);
  });

  verifies("D-CONF-6");
  it("refuses to delete a department that has assignees, by id and by code", async () => {
    const staffed = { code: "STAFFED", description: "x" };
    const { departmentId } = await make(admin, "/departments", staffed);
    const person = { firstName: "Ana", lastName: "Silva", email: "ana@staffed.example" };
    const { assigneeId } = await make(admin, "/assignees", { departmentId, person });
    for (const path of [`/departments/${departmentId}`, "/departments/by-code/STAFFED"]) {
      const refused = await call("DELETE", path);
      expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
    }
    await call("DELETE", `/assignees/${assigneeId}`);
    expect((await call("DELETE", `/departments/${departmentId}`)).status).toBe(204);
  });
});
