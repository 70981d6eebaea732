import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createUser, updateUser } from "../../src/platform/admin/users.ts";
import { onEveryStore, type TestPlatform } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { login, tokenOf, useToken, verify } from "../support/sessions.ts";

const API_KEYS = "/authentication/v1/tenants/{t}/users/profile/api-key";

const byKey = (at: TestPlatform, tenantId: string, key: string, path = "disputes") =>
  at.call("GET", `/dispute/v1/tenants/${tenantId}/${path}`, {
    headers: { "X-Platform-Api-Key": key },
  });

onEveryStore("API keys", (at) => {
  verifies("KEY-01", "KEY-02", "KEY-03", "T-04");
  it("returns a key once, with both spellings of its dates", async () => {
    const admin = await at().tenant("key-shape");
    const { status, body } = await admin.call("POST", API_KEYS);
    expect(status).toBe(201);
    expect(body).toEqual({
      keyId: expect.any(String),
      apiKey: expect.stringMatching(/^rcvg_[\w-]{49}$/),
      createDateInMillis: at().clock(),
      expiresAtInMills: 0,
    });
  });

  verifies("KEY-04", "KEY-10", "CONV-11");
  it("accepts a key of any user in its own header", async () => {
    await at().tenant("key-use");
    const viewer = await at().person("key-use", { roles: ["Viewer"] });
    const { apiKey } = (await viewer.call("POST", API_KEYS)).body;
    expect((await byKey(at(), "key-use", apiKey)).status).toBe(200);
    const profile = await at().call("GET", "/user/v1/users/profile", {
      headers: { "X-Platform-Api-Key": apiKey },
    });
    expect(profile.body.userId).toBe(viewer.userId);
    for (const header of ["X-API-Key", "X-Platform-Auth"]) {
      const wrong = await at().call("GET", "/user/v1/users/profile", {
        headers: { [header]: apiKey },
      });
      expect(wrong.status).toBe(401);
    }
  });

  verifies("KEY-05", "KEY-06");
  it("gives a key its user's current access", async () => {
    await at().tenant("key-access");
    const user = await at().person("key-access", { roles: ["Integration"] });
    const { apiKey } = (await user.call("POST", API_KEYS)).body;
    expect((await byKey(at(), "key-access", apiKey, "reasons")).status).toBe(403);
    const set = (change: { roles?: string[]; status?: "Active" | "Inactive" }) =>
      updateUser({ store: at().store }, { tenantId: "key-access", email: user.email, ...change });
    await set({ roles: ["Viewer"] });
    expect((await byKey(at(), "key-access", apiKey, "reasons")).status).toBe(200);
    await set({ status: "Inactive" });
    expect((await byKey(at(), "key-access", apiKey)).status).toBe(401);
  });

  verifies("KEY-08", "KEY-11");
  it("deletes one key and keeps the others", async () => {
    const admin = await at().tenant("key-delete");
    const one = (await admin.call("POST", API_KEYS)).body;
    const other = (await admin.call("POST", API_KEYS)).body;
    expect((await admin.call("DELETE", `${API_KEYS}/${one.keyId}`)).status).toBe(204);
    expect((await admin.call("DELETE", `${API_KEYS}/${one.keyId}`)).status).toBe(404);
    expect((await byKey(at(), "key-delete", one.apiKey)).status).toBe(401);
    expect((await byKey(at(), "key-delete", other.apiKey)).status).toBe(200);
    const colleague = await at().person("key-delete", { roles: ["Administrator"] });
    expect((await colleague.call("DELETE", `${API_KEYS}/${other.keyId}`)).status).toBe(404);
  });

  verifies("KEY-08");
  it("lets a key delete itself, and no other", async () => {
    const admin = await at().tenant("key-ends-itself");
    const [one, other] = [await admin.call("POST", API_KEYS), await admin.call("POST", API_KEYS)];
    const withKey = (method: string, keyId: string) =>
      at().call(method, `${API_KEYS.replace("{t}", "key-ends-itself")}/${keyId}`, {
        headers: { "X-Platform-Api-Key": one.body.apiKey },
      });
    expect((await withKey("DELETE", other.body.keyId)).status).toBe(403);
    expect((await withKey("DELETE", one.body.keyId)).status).toBe(204);
    expect((await withKey("DELETE", one.body.keyId)).status).toBe(401);
    expect((await byKey(at(), "key-ends-itself", other.body.apiKey)).status).toBe(200);
  });

  verifies("CONV-06", "KEY-08");
  it("deletes a key only under the tenant that it was created in", async () => {
    const admin = await at().tenant("key-home");
    await at().tenant("key-away");
    const { store, clock } = at();
    const person = { email: admin.email, firstName: "Pat", lastName: "Away", roles: ["Viewer"] };
    const joining = { tenantId: "key-away", ...person };
    await createUser({ store, clock, newId: randomId }, joining, async () => "");
    const { keyId, apiKey } = (await admin.call("POST", API_KEYS)).body;
    const remove = async (tenantId: string) =>
      (await admin.call("DELETE", `${API_KEYS.replace("{t}", tenantId)}/${keyId}`)).status;
    expect(await remove("key-away")).toBe(404);
    expect((await byKey(at(), "key-home", apiKey)).status).toBe(200);
    expect(await remove("key-home")).toBe(204);
  });

  verifies("KEY-09");
  it("expires a key after a year without use", async () => {
    const admin = await at().tenant("key-idle");
    const { apiKey } = (await admin.call("POST", API_KEYS)).body;
    at().clock.advance(364 * DAY);
    expect((await byKey(at(), "key-idle", apiKey)).status).toBe(200);
    at().clock.advance(364 * DAY);
    expect((await byKey(at(), "key-idle", apiKey)).status).toBe(200);
    at().clock.advance(365 * DAY + 1);
    const refused = await byKey(at(), "key-idle", apiKey);
    expect([refused.status, refused.body.code]).toEqual([401, "key_expired"]);
    expect(refused.headers.get("www-authenticate")).toBe('ApiKey realm="platform"');
  });

  verifies("KEY-07");
  it("returns the key in no later response, and stores its hash only", async () => {
    const admin = await at().tenant("key-secret");
    const { apiKey } = (await admin.call("POST", API_KEYS)).body;
    const seen = await Promise.all([
      admin.call("GET", "/user/v3/tenants/{t}/users"),
      admin.call("GET", "/user/v1/tenants/{t}/users"),
      at().call("GET", "/user/v1/users/profile", { headers: { "X-Platform-Api-Key": apiKey } }),
    ]);
    for (const { status, text } of seen) {
      expect(status).toBe(200);
      expect(text).not.toContain(apiKey.slice(8));
    }
    const rows = await at().store.read.selectFrom("api_keys").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(apiKey.slice(8));
  });

  verifies("D-AUTH-6");
  it("refuses to create keys with a key, and more than ten keys", async () => {
    const admin = await at().tenant("key-mint");
    const made = await Promise.all(Array.from({ length: 10 }, () => admin.call("POST", API_KEYS)));
    expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
    expect((await admin.call("POST", API_KEYS)).status).toBe(409);
    const minted = await at().call("POST", API_KEYS.replace("{t}", "key-mint"), {
      headers: { "X-Platform-Api-Key": made[0]?.body.apiKey },
    });
    expect([minted.status, minted.body.code]).toEqual([403, "forbidden_permission"]);
    at().clock.advance(366 * DAY);
    // Expired and revoked keys do not count.
    expect((await admin.call("POST", API_KEYS)).status).toBe(201);
  });

  verifies("D-AUTH-7");
  it("refuses two credentials of different users", async () => {
    const admin = await at().tenant("both");
    const other = await at().person("both", { roles: ["Viewer"] });
    const { apiKey } = (await admin.call("POST", API_KEYS)).body;
    const both = (token: string) =>
      at().call("GET", "/user/v1/users/profile", {
        headers: { "X-Platform-Auth": token, "X-Platform-Api-Key": apiKey },
      });
    expect((await both(admin.token)).status).toBe(200);
    expect((await both(other.token)).status).toBe(401);
    expect((await both("dead")).status).toBe(401);
  });
});

onEveryStore("sessions and counters that have ended", (at) => {
  const rows = async (table: "sessions" | "counters") => {
    const db = table === "sessions" ? at().store.read : at().store.counting;
    return (await db.selectFrom(table).selectAll().execute()).length;
  };

  verifies("D-AUTH-2", "D-RATE");
  it("are in the store for at most a day", async () => {
    const admin = await at().tenant("ended");
    const token = await tokenOf(at(), admin);
    await login(at(), { email: "nobody@ended.example", password: "guess" });
    expect(await rows("counters")).toBeGreaterThan(0);

    at().clock.advance(12 * HOUR + MINUTE);
    expect((await at().platform.purge()).sessions).toBe(0);
    expect((await useToken(at(), "ended", token)).body.code).toBe("token_expired");

    const fresh = await tokenOf(at(), admin);
    await login(at(), { email: "nobody@ended.example", password: "guess" });
    at().clock.advance(DAY);
    await login(at(), { email: "somebody@ended.example", password: "guess" });
    expect((await at().platform.purge()).sessions).toBe(2);
    // The last login has failed for its address, for its account, and for its account at that address.
    expect([await rows("sessions"), await rows("counters")]).toEqual([1, 3]);
    expect((await verify(at(), token)).body.status).toBe("ACCESSTOKEN_INVALID");
    expect((await verify(at(), fresh)).body.status).toBe("ACCESSTOKEN_EXPIRED");
  });
});
