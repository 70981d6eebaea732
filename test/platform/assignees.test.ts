import { describe, expect, it } from "vitest";
import { below, faultsOf, make, statusesOf } from "../support/configuration.ts";
import { onEveryStore } from "../support/platform.ts";
import { byEmail, EMPTY_ADDRESS, FULL_PERSON, setUpAssignees } from "../support/assignees.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("assignees", (at) => {
  const { on, person, assignee } = setUpAssignees(at);

  verifies("AS-01", "AS-03", "CONV-04");
  it("answers with the documented fields, the id twice", async () => {
    const made = await make(on.admin, "/assignees", {
      departmentId: on.sales.departmentId,
      active: false,
      userId: null,
      allUpdates: true,
      dailyDigest: true,
      person: FULL_PERSON,
    });
    expect(made).toEqual({
      id: made.assigneeId,
      assigneeId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      departmentId: on.sales.departmentId,
      active: false,
      tenantId: "acme",
      userId: null,
      allUpdates: true,
      dailyDigest: true,
      person: FULL_PERSON,
      createUser: on.admin.userId,
      createDate: new Date(at().clock()).toISOString(),
      updateUser: on.admin.userId,
      updateDate: new Date(at().clock()).toISOString(),
    });
    const path = byEmail(FULL_PERSON.email);
    const changed = await on.call("PUT", path, { body: { departmentCode: "SALES" } });
    const answers = [
      (await on.call("GET", path)).body,
      (await on.call("GET", `/assignees/${made.assigneeId}`)).body,
      changed.body,
      (await on.call("GET", "/assignees")).body.find(({ id }: { id: string }) => id === made.id),
    ];
    for (const answer of answers) expect(answer).toEqual(made);
  });

  verifies("AS-03");
  it("returns every key of person and address, null where unknown", async () => {
    const sent = person({ address: { city: "Oslo" } });
    const made = await assignee({ person: sent });
    expect(made.person).toEqual({
      ...sent,
      officePhone: null,
      cellPhone: null,
      fax: null,
      title: null,
      language: null,
      timezone: null,
      address: { ...EMPTY_ADDRESS, city: "Oslo" },
    });
  });

  verifies("AS-02", "T-03");
  it("accepts timeZone or timezone and returns timezone", async () => {
    const documented = await assignee({ person: person({ timeZone: "Asia/Tokyo" }) });
    expect(documented.person.timezone).toBe("Asia/Tokyo");
    expect(documented.person).not.toHaveProperty("timeZone");
    const echoed = await assignee({ person: person({ timezone: "Asia/Seoul" }) });
    expect(echoed.person.timezone).toBe("Asia/Seoul");
    const both = await assignee({ person: person({ timeZone: "UTC", timezone: "Asia/Seoul" }) });
    expect(both.person.timezone).toBe("UTC");
  });

  describe("by e-mail", () => {
    verifies("AS-04");
    it("reads with an encoded @ and +, in any case", async () => {
      const made = await assignee({ person: person({ email: "lee+ar@acme.example" }) });
      for (const path of [
        "/assignees/by-email/lee%2Bar%40acme.example",
        "/assignees/by-email/LEE+AR@ACME.example",
      ]) {
        const read = await on.call("GET", path);
        expect([read.status, read.body]).toEqual([200, made]);
      }
      const unknown = await on.call("GET", byEmail("nobody@acme.example"));
      expect([unknown.status, unknown.body.detail]).toEqual([
        404,
        "There is no assignee with the e-mail address nobody@acme.example.",
      ]);
    });

    verifies("D-CONF-10");
    it("accepts an address once per tenant, in any case, from one of many concurrent requests", async () => {
      const post = (email: string) =>
        on.call("POST", "/assignees", {
          body: { departmentCode: "SALES", person: person({ email }) },
        });
      const all = await Promise.all(
        ["race@acme.example", "RACE@acme.example", "Race@Acme.example"].map(post),
      );
      expect(statusesOf(all)).toEqual([201, 409, 409]);
      expect(all.find(({ status }) => status === 409)?.body.code).toBe("conflict");
      const elsewhere = await at().tenant("elsewhere");
      await make(elsewhere, "/departments", { code: "SALES", description: "x" });
      const body = { departmentCode: "SALES", person: person({ email: "race@acme.example" }) };
      expect((await make(elsewhere, "/assignees", body)).person.email).toBe("race@acme.example");
    });
  });

  verifies("AS-05", "D-CONF-9");
  it("lists all assignees, or a department's, by e-mail address", async () => {
    const lister = await at().tenant("lister");
    const other = below(lister);
    const one = await make(lister, "/departments", { code: "ONE", description: "x" });
    await make(lister, "/departments", { code: "TWO", description: "x" });
    for (const [email, departmentCode] of [
      ["beta@x.example", "ONE"],
      ["Alpha@x.example", "TWO"],
      ["gamma@x.example", "ONE"],
    ]) {
      await make(lister, "/assignees", { departmentCode, person: person({ email }) });
    }
    const emails = async (query: string) =>
      (await other("GET", `/assignees${query}`)).body.map(
        (row: { person: { email: string } }) => row.person.email,
      );
    expect(await emails("")).toEqual(["Alpha@x.example", "beta@x.example", "gamma@x.example"]);
    expect(await emails(`?DepartmentId=${one.departmentId}`)).toEqual([
      "beta@x.example",
      "gamma@x.example",
    ]);
    expect(await emails(`?DepartmentId=${one.departmentId.slice(0, -1)}`)).toEqual([]);
    expect((await other("GET", "/assignees?departmentId=x")).status).toBe(400);
  });

  verifies("AS-06");
  describe("naming the department", () => {
    it("accepts its id, its code, or both, to create and to change", async () => {
      const { departmentId } = on.claims;
      for (const department of [
        { departmentId },
        { departmentCode: "cLaImS" },
        { departmentId, departmentCode: "CLAIMS" },
        { departmentId: null, departmentCode: "CLAIMS" },
        { departmentId, departmentCode: null },
      ]) {
        const made = await make(on.admin, "/assignees", { ...department, person: person() });
        expect(made.departmentId).toBe(departmentId);
        const path = byEmail(made.person.email);
        await on.call("PUT", path, { body: { departmentCode: "SALES" } });
        const back = await on.call("PUT", path, { body: department });
        expect(back.body.departmentId).toBe(departmentId);
      }
    });

    it("refuses no department, an unknown one, and two that disagree", async () => {
      const made = await assignee();
      const refuse = async (department: object) => {
        const body = { ...department, person: person() };
        const created = await on.call("POST", "/assignees", { body });
        const changed = await on.call("PUT", byEmail(made.person.email), { body: department });
        expect([created.status, changed.status]).toEqual([400, 400]);
        expect(faultsOf(changed.body)).toEqual(faultsOf(created.body));
        return faultsOf(created.body);
      };
      const none = { departmentId: null, departmentCode: null };
      for (const sent of [{}, none]) {
        expect(await refuse(sent)).toEqual({ departmentId: "required" });
      }
      expect(await refuse({ departmentId: "x" })).toEqual({ departmentId: "unknown_reference" });
      expect(await refuse({ departmentCode: "X" })).toEqual({
        departmentCode: "unknown_reference",
      });
      const { departmentId } = on.sales;
      expect(await refuse({ departmentId, departmentCode: "CLAIMS" })).toEqual({
        departmentCode: "mismatch",
      });
    });
  });

  verifies("AS-07");
  describe("based on a user", () => {
    verifies("D-CONF-10");
    it("fills the absent fields of the person", async () => {
      const user = await at().person("acme", { roles: ["Viewer"] });
      const made = await make(on.admin, "/assignees", {
        departmentCode: "SALES",
        userId: user.userId,
        person: { firstName: "Patricia", title: "Lead", language: null },
      });
      expect(made.userId).toBe(user.userId);
      expect(made.person).toMatchObject({
        firstName: "Patricia",
        lastName: expect.stringContaining("Person"),
        email: user.email,
        title: "Lead",
        language: null,
        timezone: "UTC",
      });
      const again = await on.call("POST", "/assignees", {
        body: { departmentCode: "SALES", userId: user.userId },
      });
      expect([again.status, again.body.code]).toEqual([409, "conflict"]);
    });

    it("fills from the user's profile in the tenant", async () => {
      const user = await at().person("acme", { roles: ["Viewer"] });
      await at().store.transaction((tx) =>
        tx
          .updateTable("memberships")
          .set({
            profile: JSON.stringify({
              title: "Clerk",
              mobilePhone: "1",
              faxNumber: "2",
              officePhone: "3",
            }),
          })
          .where("user_id", "=", user.userId)
          .execute(),
      );
      const made = await assignee({ userId: user.userId, person: {} });
      expect(made.person).toMatchObject({
        title: "Clerk",
        cellPhone: "1",
        fax: "2",
        officePhone: "3",
      });
    });

    it("refuses an unknown user, or one of another tenant, to create and to change", async () => {
      const stranger = await at().tenant("strangers-user");
      const made = await assignee();
      for (const userId of [stranger.userId, "nobody"]) {
        const body = { departmentCode: "SALES", userId, person: person() };
        const created = await on.call("POST", "/assignees", { body });
        const changed = await on.call("PUT", byEmail(made.person.email), {
          body: { departmentCode: "SALES", userId },
        });
        for (const refused of [created, changed]) {
          expect([refused.status, faultsOf(refused.body)]).toEqual([
            400,
            { userId: "unknown_reference" },
          ]);
        }
      }
    });

    it("is set, kept and cleared by a change", async () => {
      const user = await at().person("acme", { roles: ["Viewer"] });
      const made = await assignee();
      const put = async (body: object) =>
        (
          await on.call("PUT", byEmail(made.person.email), {
            body: { departmentCode: "SALES", ...body },
          })
        ).body;
      expect(await put({ userId: user.userId })).toEqual({ ...made, userId: user.userId });
      expect((await put({ active: true })).userId).toBe(user.userId);
      expect(await put({ userId: null })).toEqual(made);
    });
  });
});
