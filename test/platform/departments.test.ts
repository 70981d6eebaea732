import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { below, faultsOf, FORGED, make, statusesOf } from "../support/configuration.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("departments", (at) => {
  const admin = useTenant(at, "acme");
  const call = below(admin);

  const department = (code: string, more: object = {}) =>
    make(admin, "/departments", { code, description: `About ${code}`, ...more });

  verifies("DE-01", "T-17");
  it("creates, changes, reads at /code/ in any case and lists in order", async () => {
    const lister = await at().tenant("lister");
    const other = below(lister);
    for (const code of ["sales", "AR", "Claims"]) {
      await make(lister, "/departments", { code, description: "x" });
    }
    const list = (await other("GET", "/departments")).body;
    expect(list.map(({ code }: { code: string }) => code)).toEqual(["AR", "Claims", "sales"]);
    const read = await other("GET", "/departments/code/SALES");
    expect([read.status, read.body]).toEqual([200, list[2]]);
    at().clock.advance(MINUTE);
    const changed = await other("PUT", `/departments/${read.body.departmentId}`, {
      body: { code: "OTHER", description: "Sales team" },
    });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({
      ...read.body,
      description: "Sales team",
      updateDate: new Date(at().clock()).toISOString(),
    });
    const unknown = await other("GET", "/departments/code/LEGAL");
    expect([unknown.status, unknown.body.detail]).toEqual([
      404,
      "There is no department with the code LEGAL.",
    ]);
  });

  verifies("DE-01", "D-CONF-7");
  it("keeps a description that is not sent", async () => {
    const made = await department("KEEP");
    const { body } = await call("PUT", `/departments/${made.departmentId}`, { body: {} });
    expect(body).toEqual(made);
  });

  verifies("DE-01");
  it("refuses a taken code in any case, also in concurrent requests", async () => {
    const all = await Promise.all(
      ["Race", "RACE", "race", "rAcE"].map((code) =>
        call("POST", "/departments", { body: { code, description: "x" } }),
      ),
    );
    expect(statusesOf(all)).toEqual([201, 409, 409, 409]);
    expect(all.find(({ status }) => status === 409)?.body.code).toBe("duplicate_code");
  });

  verifies("DE-01");
  it("requires a code and a description", async () => {
    const nothing = await call("POST", "/departments", { body: {} });
    expect([nothing.status, faultsOf(nothing.body)]).toEqual([
      400,
      { code: "required", description: "required" },
    ]);
    const empty = await call("POST", "/departments", { body: { code: "E", description: "" } });
    expect(faultsOf(empty.body)).toEqual({ description: "empty" });
  });

  verifies("DE-02");
  it("deletes by id and by code", async () => {
    const one = await department("ONE");
    const two = await department("TWO");
    expect((await call("DELETE", `/departments/${one.departmentId}`)).status).toBe(204);
    expect((await call("DELETE", "/departments/by-code/two")).status).toBe(204);
    for (const { departmentId, code } of [one, two]) {
      expect((await call("GET", `/departments/code/${code}`)).status).toBe(404);
      expect((await call("DELETE", `/departments/${departmentId}`)).status).toBe(404);
      expect((await call("DELETE", `/departments/by-code/${code}`)).status).toBe(404);
    }
  });

  verifies("DE-03");
  it("has the documented fields and no others", async () => {
    expect(await department("FIELDS")).toEqual({
      departmentId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tenantId: "acme",
      code: "FIELDS",
      description: "About FIELDS",
      createUser: admin.userId,
      createDate: new Date(at().clock()).toISOString(),
      updateUser: admin.userId,
      updateDate: new Date(at().clock()).toISOString(),
    });
  });

  verifies("CF-04");
  it("routes each path by its exact words", async () => {
    await department("by-code");
    expect((await call("GET", "/departments/by-code/by-code")).status).toBe(405);
    expect((await call("GET", "/departments/code/by-code")).body.code).toBe("by-code");
    expect((await call("DELETE", "/departments/code/by-code")).status).toBe(405);
    expect((await call("DELETE", "/departments/by-code/by-code")).status).toBe(204);
  });

  verifies("D-CONF-6");
  it("refuses to delete a department that has assignees, by id and by code", async () => {
    const { departmentId } = await department("STAFFED");
    const person = { firstName: "Ana", lastName: "Silva", email: "ana@staffed.example" };
    const { assigneeId } = await make(admin, "/assignees", { departmentId, person });
    for (const path of [`/departments/${departmentId}`, "/departments/by-code/STAFFED"]) {
      const refused = await call("DELETE", path);
      expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
    }
    await call("DELETE", `/assignees/${assigneeId}`);
    expect((await call("DELETE", `/departments/${departmentId}`)).status).toBe(204);
  });

  verifies("D-GEN-9");
  it("returns a version and refuses a stale one", async () => {
    const { departmentId } = await department("VERSION");
    const path = `/departments/${departmentId}`;
    const first = (await call("GET", path)).headers.get("etag") ?? "";
    expect((await call("GET", "/departments/code/VERSION")).headers.get("etag")).toBe(first);
    const headers = { "If-Match": first };
    const put = () => call("PUT", path, { body: { description: "y" }, headers });
    const changed = await put();
    expect(changed.headers.get("etag")).toBe((await call("GET", path)).headers.get("etag"));
    expect((await put()).body.code).toBe("precondition_failed");
    expect((await call("DELETE", path, { headers })).status).toBe(412);
  });

  verifies("C-39");
  it("ignores fields that only the platform sets", async () => {
    const made = await department("FORGED", { ...FORGED, departmentId: "forged" });
    expect(made).toMatchObject({ tenantId: "acme", createUser: admin.userId });
    const { body } = await call("PUT", `/departments/${made.departmentId}`, {
      body: { ...FORGED, departmentId: "forged" },
    });
    expect(body).toEqual({ ...made, updateDate: expect.any(String) });
  });
});
