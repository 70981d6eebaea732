import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { below, dispute, faultsOf, FORGED, make } from "../support/configuration.ts";
import { setRoute } from "../../src/platform/admin/routes.ts";
import { configure, onEveryStore } from "../support/platform.ts";
import { byEmail, EMPTY_ADDRESS, FULL_PERSON, setUpAssignees } from "../support/assignees.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("assignees: update and delete", (at) => {
  const { on, person, assignee } = setUpAssignees(at);

  verifies("AS-07");
  it("requires name and address without a user, and reports all missing fields", async () => {
    const post = async (sent: object) =>
      (await on.call("POST", "/assignees", { body: { departmentCode: "SALES", ...sent } })).body;
    expect(faultsOf(await post({}))).toEqual({
      "person.firstName": "required",
      "person.lastName": "required",
      "person.email": "required",
    });
    const { firstName, lastName } = FULL_PERSON;
    expect(faultsOf(await post({ userId: null, person: { firstName, lastName } }))).toEqual({
      "person.email": "required",
    });
    expect(faultsOf(await post({ person: person({ email: "not an address" }) }))).toEqual({
      "person.email": "format",
    });
  });

  describe("changes", () => {
    verifies("AS-08", "CONV-05");
    it("accepts the fields of create, and records author and time", async () => {
      const made = await assignee();
      at().clock.advance(MINUTE);
      const editor = await at().person("acme", { grants: ["Dispute Configuration : UPDATE"] });
      const changed = await below(editor)("PUT", byEmail(made.person.email), {
        body: {
          departmentId: on.claims.departmentId,
          active: false,
          allUpdates: true,
          dailyDigest: true,
          person: { ...FULL_PERSON, email: made.person.email },
        },
      });
      expect(changed.status).toBe(200);
      expect(changed.body).toEqual({
        ...made,
        departmentId: on.claims.departmentId,
        active: false,
        allUpdates: true,
        dailyDigest: true,
        person: { ...FULL_PERSON, email: made.person.email },
        updateUser: editor.userId,
        updateDate: new Date(at().clock()).toISOString(),
      });
    });

    verifies("AS-08", "D-CONF-7");
    it("keeps absent fields, also of person and address; null clears a field", async () => {
      const email = "keeper@acme.example";
      const made = await assignee({ allUpdates: true, person: { ...FULL_PERSON, email } });
      const put = async (sent: object) =>
        (await on.call("PUT", byEmail(email), { body: { departmentCode: "SALES", person: sent } }))
          .body;
      expect(await put({})).toEqual(made);
      const { address } = FULL_PERSON;
      expect((await put({ title: null, address: { city: "York", zip: null } })).person).toEqual({
        ...made.person,
        title: null,
        address: { ...address, city: "York", zip: null },
      });
      expect((await put({ timeZone: null, address: null })).person).toMatchObject({
        timezone: null,
        address: EMPTY_ADDRESS,
        language: "en-GB",
      });
    });

    verifies("AS-08", "D-CONF-10");
    it("may change the address, but not to one that is taken", async () => {
      const made = await assignee();
      const taken = await assignee();
      const put = (path: string, email: string) =>
        on.call("PUT", path, { body: { departmentCode: "SALES", person: { email } } });
      const old = byEmail(made.person.email);
      const refused = await put(old, taken.person.email.toUpperCase());
      expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
      const moved = await put(old, "moved@acme.example");
      expect(moved.body).toMatchObject({
        assigneeId: made.assigneeId,
        person: { email: "moved@acme.example" },
      });
      expect((await on.call("GET", old)).status).toBe(404);
      const recased = await put(byEmail("moved@acme.example"), "Moved@acme.example");
      expect(recased.body.person.email).toBe("Moved@acme.example");
    });

    verifies("D-CONF-10");
    it("shows in the disputes that name the assignee", async () => {
      const shown = await at().tenant("shown");
      const { reason, assignee: ana } = await configure(shown);
      const { assigneeId } = ana;
      const { disputeId } = await dispute(shown, { reasonId: reason.reasonId, assigneeId });
      await below(shown)("PUT", byEmail("ana@sales.example"), {
        body: { departmentCode: "SALES", person: { lastName: "Souza" } },
      });
      const { body } = await below(shown)("GET", `/disputes/${disputeId}`);
      expect(body.assigneeName).toBe("Ana Souza");
    });

    verifies("D-GEN-9");
    it("returns a version and refuses a stale one", async () => {
      const made = await assignee();
      const path = byEmail(made.person.email);
      const first = await on.call("GET", path);
      const headers = { "If-Match": first.headers.get("etag") ?? "" };
      const put = () => on.call("PUT", path, { body: { departmentCode: "SALES" }, headers });
      expect((await put()).status).toBe(200);
      expect((await put()).body.code).toBe("precondition_failed");
      expect((await on.call("DELETE", `/assignees/${made.id}`, { headers })).status).toBe(412);
    });

    verifies("C-39");
    it("ignores fields that only the platform sets", async () => {
      const forged = { ...FORGED, assigneeId: "forged" };
      const made = await assignee(forged);
      expect(made).toMatchObject({ tenantId: "acme", createUser: on.admin.userId, active: true });
      const { body } = await on.call("PUT", byEmail(made.person.email), {
        body: { ...forged, departmentCode: "SALES" },
      });
      expect(body).toEqual(made);
    });
  });

  verifies("AS-10", "D-CONF-3");
  it("returns the flags as stored, with their defaults, and accepts only booleans", async () => {
    expect(await assignee()).toMatchObject({ active: true, allUpdates: false, dailyDigest: false });
    expect(await assignee({ active: false, allUpdates: true, dailyDigest: true })).toMatchObject({
      active: false,
      allUpdates: true,
      dailyDigest: true,
    });
    const { status, body } = await on.call("POST", "/assignees", {
      body: { departmentCode: "SALES", person: person(), allUpdates: "true", dailyDigest: 1 },
    });
    expect([status, faultsOf(body)]).toEqual([400, { allUpdates: "type", dailyDigest: "type" }]);
  });

  describe("removal", () => {
    verifies("AS-09");
    it("deletes by id", async () => {
      const { assigneeId, person: gone } = await assignee();
      const deleted = await on.call("DELETE", `/assignees/${assigneeId}`);
      expect([deleted.status, deleted.text]).toEqual([204, ""]);
      expect((await on.call("GET", byEmail(gone.email))).status).toBe(404);
      expect((await on.call("DELETE", `/assignees/${assigneeId}`)).status).toBe(404);
    });

    verifies("AS-09");
    it("deletes by department code and address if they belong together", async () => {
      const { assigneeId, person: gone } = await assignee();
      const path = (code: string) =>
        `/departments/by-code/${code}${byEmail(gone.email.toUpperCase())}`;
      const elsewhere = await on.call("DELETE", path("CLAIMS"));
      expect([elsewhere.status, elsewhere.body.detail]).toEqual([
        404,
        `There is no assignee in the department Claims with the e-mail address ${gone.email.toUpperCase()}.`,
      ]);
      expect((await on.call("DELETE", path("NONE"))).body.detail).toBe(
        "There is no department with the code NONE.",
      );
      expect((await on.call("GET", `/assignees/${assigneeId}`)).status).toBe(200);
      expect((await on.call("DELETE", path("sales"))).status).toBe(204);
      expect((await on.call("GET", `/assignees/${assigneeId}`)).status).toBe(404);
    });

    verifies("D-CONF-6", "D-CONF-10");
    it("refuses to delete an assignee of a dispute or a category", async () => {
      const busy = await at().tenant("busy");
      const { reason, assignee: ana } = await configure(busy);
      const { assigneeId } = ana;
      const remove = () => below(busy)("DELETE", `/assignees/${assigneeId}`);
      const needs = { store: at().store, clock: at().clock };
      const wish = { tenantId: "busy", category: "PRICE", assignee: "ana@sales.example" };
      await setRoute(needs, wish);
      const routed = await remove();
      expect([routed.status, routed.body.code]).toEqual([409, "in_use"]);
      expect(routed.body.detail).toContain("PRICE");
      await dispute(busy, { reasonId: reason.reasonId });
      const named = await below(busy)(
        "DELETE",
        `/departments/by-code/SALES${byEmail("ana@sales.example")}`,
      );
      expect([named.status, named.body.code]).toEqual([409, "in_use"]);
      expect(named.body.detail).toContain("named by disputes");
    });
  });

  verifies("CF-04");
  it("routes each path by its exact words", async () => {
    const { assigneeId, person: one } = await assignee();
    expect((await on.call("GET", `/assignees/email/${one.email}`)).status).toBe(404);
    expect((await on.call("PUT", `/assignees/${assigneeId}`, { body: {} })).status).toBe(405);
    expect((await on.call("DELETE", byEmail(one.email))).status).toBe(405);
    expect((await on.call("GET", "/assignees/by-email")).status).toBe(404);
  });

  verifies("CONV-06", "D-CONF-11");
  it("finds records of its own tenant only", async () => {
    const made = await assignee();
    const path = `/assignees/${made.assigneeId}`;
    const mail = byEmail(made.person.email);
    const stranger = await at().tenant("stranger");
    const foreign = below(stranger);
    await make(stranger, "/departments", { code: "SALES", description: "x" });
    const body = { departmentCode: "SALES" };
    const answers = [
      await foreign("GET", path),
      await foreign("GET", mail),
      await foreign("PUT", mail, { body }),
      await foreign("DELETE", path),
      await foreign("DELETE", `/departments/by-code/SALES${mail}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    const { departmentId } = on.sales;
    const post = { departmentId, person: person() };
    expect((await foreign("POST", "/assignees", { body: post })).status).toBe(400);
    expect((await foreign("GET", `/assignees?DepartmentId=${departmentId}`)).body).toEqual([]);
    expect((await on.call("GET", path)).body).toEqual(made);
  });
});
