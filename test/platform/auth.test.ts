import { createHook } from "node:async_hooks";
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../src/kit/clock.ts";
import { updateUser } from "../../src/platform/admin/users.ts";
import { CONFIGURATION, DISPUTES, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { login, tokenOf, useToken, verify } from "../support/sessions.ts";

onEveryStore("sessions", (at) => {
  verifies("AUTH-01", "AUTH-02", "AUTH-03", "AUTH-04", "AUTH-14");
  it("logs in with e-mail address and password only", async () => {
    const admin = await at().tenant("login-shape");
    const { status, body } = await login(at(), admin);
    expect(status).toBe(200);
    expect(body).toEqual({
      status: "LOGIN_SUCCESS",
      userId: admin.userId,
      email: admin.email,
      accessToken: expect.stringMatching(/^[\w-]{43}$/),
      expiresIn: 3600,
      createdDate: new Date(at().clock()).toISOString(),
      tenants: [
        {
          tenantId: "login-shape",
          tenantName: "Tenant login-shape",
          isPartner: false,
          timeZone: "UTC",
          testTenantId: null,
        },
      ],
      defaultTenantId: "login-shape",
    });
  });

  verifies("AUTH-05", "AUTH-06", "CONV-07", "CONV-08");
  it("gives a token the permissions of its user in the user's tenant", async () => {
    await at().tenant("scope-a");
    await at().tenant("scope-b");
    const viewer = await at().person("scope-a", { grants: ["Dispute Management : READ"] });
    expect((await viewer.call("GET", DISPUTES)).status).toBe(200);
    const config = await viewer.call("GET", `${CONFIGURATION}/reasons`);
    expect([config.status, config.body.code]).toEqual([403, "forbidden_permission"]);
    expect(config.body.permission).toBe("Dispute Configuration : READ");
    const elsewhere = await useToken(at(), "scope-b", viewer.token);
    const nowhere = await useToken(at(), "no-such-tenant", viewer.token);
    expect([elsewhere.status, elsewhere.body.code]).toEqual([403, "forbidden_tenant"]);
    expect({ ...nowhere.body, instance: "", requestId: "" }).toEqual({
      ...elsewhere.body,
      instance: "",
      requestId: "",
    });
  });

  verifies("AUTH-07", "AUTH-13");
  it("refuses a token after 15 minutes without use", async () => {
    const admin = await at().tenant("idle");
    const token = await tokenOf(at(), admin);
    for (let use = 0; use < 3; use++) {
      at().clock.advance(14 * MINUTE + 59 * SECOND);
      expect((await useToken(at(), "idle", token)).status).toBe(200);
    }
    at().clock.advance(15 * MINUTE + 1);
    const refused = await useToken(at(), "idle", token);
    expect([refused.status, refused.body.code]).toEqual([401, "token_expired"]);
    expect(refused.headers.get("www-authenticate")).toBeTruthy();
  });

  verifies("AUTH-09", "AUTH-10", "T-09");
  it("verifies a session and extends it", async () => {
    const admin = await at().tenant("verify");
    const token = await tokenOf(at(), admin);
    at().clock.advance(14 * MINUTE);
    expect((await verify(at(), token)).body).toEqual({
      verified: true,
      status: "ACCESSTOKEN_VERIFIED",
    });
    at().clock.advance(14 * MINUTE);
    expect((await useToken(at(), "verify", token)).status).toBe(200);
  });

  verifies("D-AUTH-2");
  it("ends a used session after an hour, and a verified one after twelve hours", async () => {
    const admin = await at().tenant("lifetime");
    const used = await tokenOf(at(), admin);
    for (let minutes = 0; minutes < 60; minutes += 10) {
      at().clock.advance(10 * MINUTE);
      expect((await useToken(at(), "lifetime", used)).status).toBe(200);
    }
    at().clock.advance(SECOND);
    expect((await useToken(at(), "lifetime", used)).body.code).toBe("token_expired");

    const verified = await tokenOf(at(), admin);
    for (let elapsed = 0; elapsed < 12 * HOUR; elapsed += 10 * MINUTE) {
      at().clock.advance(10 * MINUTE);
      expect((await verify(at(), verified)).body.verified).toBe(true);
    }
    at().clock.advance(SECOND);
    expect((await verify(at(), verified)).body.status).toBe("ACCESSTOKEN_EXPIRED");
  });

  verifies("D-AUTH-3");
  it("refuses to verify unknown and missing tokens", async () => {
    expect((await verify(at(), "nonsense")).body).toEqual({
      verified: false,
      status: "ACCESSTOKEN_INVALID",
    });
    const missing = await at().call("POST", "/authentication/v1/verify-session", { body: {} });
    expect(missing.status).toBe(400);
    expect(missing.body.errors).toEqual([
      { field: "accessToken", code: "required", message: "is required" },
    ]);
  });

  verifies("AUTH-11", "AUTH-12", "D-AUTH-4");
  it("closes only the own session at logout, repeatedly", async () => {
    const admin = await at().tenant("logout");
    const [one, other] = [await tokenOf(at(), admin), await tokenOf(at(), admin)];
    const out = () =>
      at().call("POST", "/authentication/v1/logout", { body: { accessToken: one } });
    expect((await out()).body).toEqual({ status: "LOGOUT_SUCCESS" });
    expect((await out()).body).toEqual({ status: "LOGOUT_SUCCESS" });
    expect((await useToken(at(), "logout", one)).status).toBe(401);
    expect((await useToken(at(), "logout", other)).status).toBe(200);
  });

  verifies("AUTH-15", "D-AUTH-8");
  it("returns the profile for a credential without a tenant", async () => {
    const admin = await at().tenant("profile");
    const token = { "X-Platform-Auth": admin.token };
    const { status, body } = await at().call("GET", "/user/v1/users/profile", { headers: token });
    expect(status).toBe(200);
    expect(body).toMatchObject({ userId: admin.userId, email: admin.email, role: "Administrator" });
    expect(body.tenants).toEqual([
      {
        tenantId: "profile",
        tenantName: "Tenant profile",
        isPartner: false,
        testTenantId: null,
        timeZone: "UTC",
      },
    ]);
    expect((await at().call("GET", "/user/v1/users/profile")).status).toBe(401);
  });

  verifies("D-AUTH-1");
  it("answers wrong password, unknown and deactivated users alike", async () => {
    const admin = await at().tenant("wrong");
    const leaver = await at().person("wrong", { roles: ["Viewer"] });
    await updateUser(
      { store: at().store },
      { tenantId: "wrong", email: leaver.email, status: "Inactive" },
    );
    const answers = await Promise.all([
      login(at(), { email: admin.email, password: "no" }),
      login(at(), { email: "nobody@wrong.example", password: admin.password }),
      login(at(), leaver),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect({ ...answer.body, requestId: "" }).toEqual({ ...answers[0]?.body, requestId: "" });
      expect(answer.body.code).toBe("invalid_credentials");
      expect(answer.headers.get("www-authenticate")).toBe('ApiKey realm="platform"');
    }
    expect((await login(at(), { ...admin, email: admin.email.toUpperCase() })).status).toBe(200);
  });

  verifies("C-37");
  it("computes one hash for each login, whether or not there is such a user", async () => {
    const admin = await at().tenant("hashes");
    let hashes = 0;
    const hook = createHook({
      init: (_id, type) => {
        if (type === "ARGON2REQUEST") hashes += 1;
      },
    }).enable();
    const count = async (email: string): Promise<number> => {
      hashes = 0;
      expect((await login(at(), { email, password: "guess" })).status).toBe(401);
      return hashes;
    };
    expect([await count(admin.email), await count("unknown@hashes.example")]).toEqual([1, 1]);
    hook.disable();
  });

  verifies("C-37");
  it("accepts no credential in a URL", async () => {
    const { token } = await at().tenant("in-url");
    for (const name of ["X-Platform-Auth", "auth", "token", "accessToken", "access_token"]) {
      const path = `/dispute/v1/tenants/in-url/disputes?${name}=${token}`;
      expect([name, (await at().call("GET", path)).status]).toEqual([name, 401]);
    }
  });

  verifies("D-AUTH-1", "C-56");
  it("refuses logins for 15 minutes after ten failures", async () => {
    const admin = await at().tenant("throttle");
    const wrong = { email: admin.email, password: "guess" };
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await login(at(), wrong)).status).toBe(401);
    }
    at().clock.advance(5 * MINUTE);
    const closed = await login(at(), admin);
    expect([closed.status, closed.body.code]).toEqual([429, "rate_limited"]);
    expect(closed.headers.get("retry-after")).toBe("600");
    at().clock.advance(10 * MINUTE);
    expect((await login(at(), admin)).status).toBe(200);
  });

  verifies("D-AUTH-1");
  it("counts failures of an address in any case, until a login succeeds", async () => {
    const admin = await at().tenant("forgiven");
    const fail = async (times: number) => {
      for (let attempt = 0; attempt < times; attempt++) {
        const email = attempt % 2 === 0 ? admin.email : admin.email.toUpperCase();
        expect((await login(at(), { email, password: "guess" })).status).toBe(401);
      }
    };
    await fail(9);
    expect((await login(at(), admin)).status).toBe(200);
    await fail(10);
    expect((await login(at(), admin)).status).toBe(429);
  });

  verifies("D-AUTH-3");
  it("refuses the session of a deactivated user", async () => {
    await at().tenant("left");
    const { email, token } = await at().person("left", { roles: ["Viewer"] });
    await updateUser({ store: at().store }, { tenantId: "left", email, status: "Inactive" });
    expect((await verify(at(), token)).body).toEqual({
      verified: false,
      status: "ACCESSTOKEN_INVALID",
    });
  });

  verifies("D-AUTH-5", "C-38");
  it("stores neither tokens nor passwords", async () => {
    const admin = await at().tenant("hashed");
    const token = await tokenOf(at(), admin);
    const rows = JSON.stringify([
      await at().store.read.selectFrom("sessions").selectAll().execute(),
      await at().store.read.selectFrom("users").selectAll().execute(),
    ]);
    for (const secret of [token, admin.password]) {
      for (const encoding of ["utf8", "base64", "base64url", "hex"] as const) {
        expect(rows).not.toContain(Buffer.from(secret).toString(encoding).replace(/=+$/, ""));
      }
    }
    expect(rows).toContain(createHash("sha256").update(token).digest("base64url"));
  });
});
