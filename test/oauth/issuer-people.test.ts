import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createIssuerPeople, type IssuerPeople } from "../../src/oauth/issuer-people.ts";
import { replacePassword } from "../../src/platform/store/queries/users.ts";
import { updateUser } from "../../src/platform/admin/users.ts";
import { createStorage } from "../../src/records/storage.ts";
import { rowsOf } from "../support/audit.ts";
import { directoryOf, watchedClient } from "../support/oauth.ts";
import { DISPUTES, MASTER_KEY, type Person, onEveryStore } from "../support/platform.ts";
import { findRow, findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const ISSUER = "https://issuer.example";
onEveryStore("an issuer", (at) => {
  let bob: Person;
  let people: IssuerPeople;

  const open = async (tenantId?: string): Promise<IssuerPeople> =>
    createIssuerPeople({
      directory: directoryOf(at()),
      storage: createStorage(await at().oauthStore(), systemClock),
      masterKey: MASTER_KEY,
      client: watchedClient(at()).client,
      headerWord: "Platform",
      platform: "embedded",
      issuer: ISSUER,
      tenantId,
      now: systemClock,
      log: silentLog,
    });

  beforeAll(async () => {
    await at().tenant("acme");
    bob = await at().person("acme", { roles: ["Viewer"] });
    people = await open();
  });

  const callWith = async (id: string | undefined): Promise<number> => {
    const apiKey = (await people.findCredential(id ?? ""))?.apiKey.reveal() ?? "";
    const headers = { "X-Platform-Api-Key": apiKey };
    return (await at().call("GET", DISPUTES.replace("{t}", "acme"), { headers })).status;
  };

  describe("people of an issuer", () => {
    verifies("RC-13");
    it("act with their own rights and one API key, also of several calls at once", async () => {
      const id = await people.find(bob.email.toUpperCase());
      const found = await Promise.all([1, 2, 3].map(() => people.findCredential(id ?? "")));
      expect(new Set(found.map((one) => one?.apiKey.reveal())).size).toBe(1);
      expect(found[0]).toMatchObject({ email: bob.email, tenantId: "acme" });
      expect(await callWith(id)).toBe(200);
      const keys = await findRows(at().store.read, "api_keys", { user_id: bob.userId });
      expect(keys).toHaveLength(1);
      const entry = (await rowsOf(at().store.read, "acme")).find(
        ({ action, metadata }) =>
          action === "auth.person_signed_in" && metadata.includes(bob.userId),
      );
      expect(JSON.parse(entry?.metadata ?? "{}")).toMatchObject({ issuer: ISSUER });
    });

    it("get another key after the platform has ended theirs", async () => {
      const id = await people.find(bob.email);
      expect(await people.forgetIfKeyInvalid(id ?? "")).toBe(false);
      const user = await findRow(at().store.read, "users", { id: bob.userId });
      await at().store.transaction((tx) => replacePassword(tx, user, "another hash"));
      expect(await callWith(id)).toBe(401);
      expect(await people.forgetIfKeyInvalid(id ?? "")).toBe(true);
      expect(await callWith(id)).toBe(200);
    });

    verifies("RC-13");
    it("are not found if they are unknown, inactive, or not of the tenant of the settings", async () => {
      expect(await people.find("unknown@acme.example")).toBeUndefined();
      expect(await (await open("another")).find(bob.email)).toBeUndefined();
      expect(await people.findCredential("an id that was not found")).toBeUndefined();
      const needs = { store: at().store, clock: at().clock, newId: randomId };
      await updateUser(needs, { tenantId: "acme", email: bob.email, status: "Inactive" });
      expect(await people.find(bob.email)).toBeUndefined();
    });
  });
});
