import { expect, it } from "vitest";
import { createUser } from "../../src/platform/admin/users.ts";
import { randomId } from "../../src/kit/ids.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const V3 = "/user/v3/tenants/{t}/users";
const V1 = "/user/v1/tenants/{t}/users";

const COMMON = [
  "userId",
  "firstName",
  "lastName",
  "defaultLanguage",
  "status",
  "email",
  "timeZone",
  "timeZoneDateFormat",
  "timeZoneTimeFormat",
  "timeZoneDateTimeDelimiter",
  "tenantIds",
  "groupIds",
  "aliasUserIds",
  "lastLogin",
  "createdDate",
  "lastAccessTokenSource",
  "defaultTenantId",
  "userTenantProfile",
];

const PROFILE_V1 = [
  "division",
  "department",
  "title",
  "region",
  "mobilePhone",
  "faxNumber",
  "address",
  "officePhone",
  "lastLogin",
  "lastLoginMethod",
];

onEveryStore("users", (at) => {
  verifies("US-01", "US-02", "US-03", "US-05", "C-40");
  it("lists the whole tenant with exactly the fields of v3", async () => {
    const admin = await at().tenant("users-v3");
    await at().person("users-v3", { roles: ["Viewer", "Agent"] });
    const custom = await at().person("users-v3", { grants: ["Dispute Management : READ"] });
    const { status, body } = await admin.call("GET", V3);
    expect([status, body.length]).toEqual([200, 3]);
    for (const user of body) {
      expect(Object.keys(user).toSorted()).toEqual([...COMMON, "associatedTags"].toSorted());
      expect(Object.keys(user.userTenantProfile).toSorted()).toEqual(
        [...PROFILE_V1, "username", "addedAt", "roles"].toSorted(),
      );
      for (const list of ["tenantIds", "groupIds", "aliasUserIds", "associatedTags"]) {
        expect(user[list]).toBeInstanceOf(Array);
      }
      expect(user.defaultTenantId).toBe("users-v3");
    }
    const roles = body.map(
      (user: { userTenantProfile: { roles: unknown } }) => user.userTenantProfile.roles,
    );
    expect(roles[1]).toEqual([
      { roleId: "agent", roleName: "Agent", type: 0, applicationId: null },
      { roleId: "viewer", roleName: "Viewer", type: 0, applicationId: null },
    ]);
    expect(roles[2]).toEqual([
      { roleId: expect.any(String), roleName: expect.any(String), type: 1, applicationId: null },
    ]);
    expect(custom.userId).toBe(body[2].userId);
  });

  verifies("US-04", "D-PERM-4", "C-40");
  it("lists one role, the highest built-in one, and the ten profile fields in v1", async () => {
    const admin = await at().tenant("users-v1");
    await at().person("users-v1", { roles: ["Viewer", "AR Manager"] });
    const grants = ["Dispute Management : READ" as const];
    await at().person("users-v1", { roles: ["Viewer"], grants });
    const { body } = await admin.call("GET", V1);
    for (const user of body) {
      expect(Object.keys(user).toSorted()).toEqual([...COMMON, "role"].toSorted());
      expect(Object.keys(user.userTenantProfile).toSorted()).toEqual(PROFILE_V1.toSorted());
    }
    expect(body.map((user: { role: string }) => user.role)).toEqual([
      "Administrator",
      "AR Manager",
      "Viewer",
    ]);
  });

  verifies("US-06");
  it("shows no secret in either version", async () => {
    const admin = await at().tenant("users-secret");
    const { apiKey } = (
      await admin.call("POST", "/authentication/v1/tenants/{t}/users/profile/api-key")
    ).body;
    const hashes = (
      await at().store.read.selectFrom("users").select("password_hash").execute()
    ).map((user) => user.password_hash ?? "");
    for (const path of [V3, V1]) {
      const { text } = await admin.call("GET", path);
      for (const secret of [apiKey, admin.password, admin.token, ...hashes]) {
        expect(text).not.toContain(secret);
      }
      expect(text).not.toMatch(/password(?!")|hash/i);
    }
  });

  verifies("US-05", "US-07", "T-22");
  it("shows no users and memberships of other tenants", async () => {
    const [one, other] = [await at().tenant("users-one"), await at().tenant("users-other")];
    const both = { store: at().store, clock: at().clock, newId: randomId };
    await createUser(
      both,
      { tenantId: "users-one", email: other.email, firstName: "", lastName: "", roles: ["Viewer"] },
      () => Promise.reject(new Error("a known user keeps the password")),
    );
    const { body } = await one.call("GET", V3);
    expect(body.map((user: { userId: string }) => user.userId).toSorted()).toEqual(
      [one.userId, other.userId].toSorted(),
    );
    expect(body.flatMap((user: { tenantIds: string[] }) => user.tenantIds)).toEqual([
      "users-one",
      "users-one",
    ]);
    for (const path of [V3, V1]) {
      const [list, theirs] = [await one.call("GET", path), await other.call("GET", path)];
      expect(list.text).not.toContain('users-other"');
      const guest = list.body.find((user: { userId: string }) => user.userId === other.userId);
      expect(guest.defaultTenantId).toBeNull();
      expect(theirs.body[0].defaultTenantId).toBe("users-other");
    }
    expect((await other.call("GET", V3)).body).toHaveLength(1);
  });

  verifies("D-PERM-3");
  it("requires User Management : READ", async () => {
    await at().tenant("users-perm");
    const agent = await at().person("users-perm", { roles: ["Agent"] });
    const analyst = await at().person("users-perm", { roles: ["Dispute Analyst"] });
    for (const path of [V3, V1]) {
      expect((await agent.call("GET", path)).body.permission).toBe("User Management : READ");
      expect((await analyst.call("GET", path)).status).toBe(200);
    }
  });
});
