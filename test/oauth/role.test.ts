import { expect, it } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { createUser, updateUser } from "../../src/platform/admin/users.ts";
import { authorize, redeem, startAuthorization } from "../support/oauth.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("the role of a person who signed in here", (at) => {
  verifies("IN-60", "C-35");
  it("is the one at the tenant of their sign-in, not at their default one", async () => {
    const ann = await at().tenant("home");
    await at().tenant("other");
    const { store, clock } = at();
    const needs = { store, clock, newId: randomId };
    const member = { tenantId: "other", email: ann.email };
    const names = { firstName: "Ann", lastName: "Lee" };
    await createUser(needs, { ...member, ...names, roles: ["Viewer"] }, async () => "");
    const running = await startAuthorization(at());
    const roleAt = async (tenant: string) => {
      const { body } = await redeem(running, await authorize(running, ann, { tenant }));
      const { personId = "" } = (await running.server.verifyToken(body.access_token)) ?? {};
      return () => running.server.readRole(personId);
    };
    const [home, other] = [await roleAt("home"), await roleAt("other")];
    expect([await home(), await other()]).toEqual(["Administrator", "Viewer"]);
    // An agent may not read the list of users, which has the role.
    await updateUser(needs, { ...member, roles: ["Agent"] });
    expect([await home(), await other()]).toEqual(["Administrator", undefined]);
    await updateUser(needs, { ...member, roles: ["AR Manager"], status: "Inactive" });
    expect([await home(), await other()]).toEqual(["Administrator", undefined]);
    await running.close();
  });
});
