import { randomBytes, randomUUID } from "node:crypto";
import { UnsecuredJWT } from "jose";
import { expect, it } from "vitest";
import { createUser, updateUser } from "../../src/platform/admin/users.ts";
import { type Claims, signClientAssertion } from "../support/client-keys.ts";
import { startCompany } from "../support/company.ts";
import { askToken, register } from "../support/oauth.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { JWT_BEARER, REFUSED, statusOf, useAssertions } from "./assertions.ts";

onEveryStore("identity assertions", (at) => {
  const { made, needsOf, providerOf, start, addClient, claimsOf, present, keys } =
    useAssertions(at);

  const seconds = (ahead: number): number => Math.floor(Date.now() / 1000) + ahead;
  verifies("RC-10");
  it.each<[string, Claims, Claims?]>([
    ["another issuer", { iss: "https://elsewhere.example" }],
    ["another audience", { aud: "https://elsewhere.example" }],
    ["several audiences", { aud: ["https://elsewhere.example", "SELF"] }],
    ["another client", { client_id: randomUUID() }],
    ["no client", { client_id: undefined }],
    ["an expiry in the past", { exp: seconds(-60) }],
    ["no expiry", { exp: undefined }],
    ["an expiry in two hours", { exp: seconds(7200) }],
    ["a start in the future", { nbf: seconds(300) }],
    ["an issue in the future", { iat: seconds(120) }],
    ["no time of issue", { iat: undefined }],
    ["no jti", { jti: undefined }],
    ["a number as jti", { jti: 7 }],
    ["a long jti", { jti: "x".repeat(300) }],
    ["an empty jti", { jti: "" }],
    ["no subject", { sub: undefined }],
    ["an e-mail address that is not verified", { email_verified: false }],
    ["no word about the e-mail address", { email_verified: undefined }],
    ["a text as that word", { email_verified: "true" }],
    ["no e-mail address", { email: undefined }],
    ["several e-mail addresses", { email: ["a@b.example", "c@d.example"] }],
    ["an unknown person", { email: "nobody@acme.example" }],
    ["a person of another domain", { email: "ann@elsewhere.example" }],
    ["an empty e-mail address", { email: "" }],
    [
      "an e-mail address of an actor alone",
      { email: undefined, act: { sub: "a", email: "ann@acme.example", email_verified: true } },
    ],
    ["a pattern as e-mail address", { email: "%@acme.example" }],
    ["the type of an ID token", {}, { typ: "JWT" }],
    ["the type of an access token", {}, { typ: "at+jwt" }],
    ["no type", {}, { typ: undefined }],
    ["a tenant of which the person is no member", { aud_tenant: "globex" }],
    ["no tenant", { aud_tenant: null }],
    ["several tenants", { aud_tenant: ["acme"] }],
    ["a key that its holder must prove", { cnf: { jkt: "x" } }],
    ["a restriction to some actions", { authorization_details: [{ type: "disputes" }] }],
  ])("are refused with %s", async (_what, claims, header) => {
    const { aud } = claims;
    const named = Array.isArray(aud)
      ? { aud: aud.map((one) => (one === "SELF" ? made.running.url : String(one))) }
      : {};
    const assertion = await made.company.assertion(claimsOf({ ...claims, ...named }), header);
    expect(statusOf(await present(assertion))).toEqual(REFUSED);
  });

  it("are refused for another resource, in the assertion and in the request", async () => {
    const elsewhere = "https://elsewhere.example/mcp";
    const foreign = await made.company.assertion(claimsOf({ resource: elsewhere }));
    expect(statusOf(await present(foreign))).toEqual([400, "invalid_target"]);
    const own = await made.company.assertion(claimsOf());
    const answer = await present(own, { params: { resource: elsewhere } });
    expect(statusOf(answer)).toEqual([400, "invalid_target"]);
  });

  verifies("RC-10");
  it("are accepted once, also of many requests at the same time", async () => {
    const assertion = await made.company.assertion(claimsOf());
    const answers = await Promise.all(Array.from({ length: 6 }, () => present(assertion)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(5).fill(400)]);
  });

  verifies("RC-10");
  it("are refused without a signature, with a shared secret, and with the key of another", async () => {
    const payload = {
      ...claimsOf(),
      iss: made.company.issuer,
      sub: "ann",
      jti: "x",
      iat: seconds(0),
    };
    const unsigned = new UnsecuredJWT(payload).setExpirationTime("1m").encode();
    expect(statusOf(await present(unsigned))).toEqual(REFUSED);
    // The public key, which everyone has, as the secret of an HMAC.
    const secret = Buffer.from(JSON.stringify(made.company.publicJwk()));
    const confused = await made.company.assertion(claimsOf(), { alg: "HS256" }, secret);
    expect(statusOf(await present(confused))).toEqual(REFUSED);
    const random = await made.company.assertion(claimsOf(), { alg: "HS256" }, randomBytes(32));
    expect(statusOf(await present(random))).toEqual(REFUSED);
    const foreign = await startCompany();
    const assertion = await foreign.assertion(claimsOf({ iss: made.company.issuer }));
    await foreign.close();
    expect(statusOf(await present(assertion))).toEqual(REFUSED);
    for (const text of ["", "x", "a.b.c"]) {
      expect((await present(text)).status).toBe(400);
    }
  });

  verifies("RC-10");
  it("are refused with the key of another listed provider, also under the key's own name", async () => {
    const other = await startCompany({ host: "login.other.example" });
    const both = async () => [providerOf(), { ...providerOf(), issuer: other.issuer }];
    const next = await start(
      {},
      { identityProviders: both, ca: `${made.company.certificate}\n${other.certificate}` },
    );
    const own = { aud: next.url, resource: next.resource };
    const assertion = await other.assertion(claimsOf(own));
    expect((await present(assertion, { to: next })).status).toBe(200);
    for (const kid of [undefined, made.company.publicJwk().kid]) {
      const header = kid === undefined ? {} : { kid };
      const forged = await other.assertion(claimsOf({ ...own, iss: made.company.issuer }), header);
      expect(statusOf(await present(forged, { to: next }))).toEqual(REFUSED);
    }
    await next.close();
    await other.close();
  });

  verifies("RC-10", "RC-11");
  it("are no access tokens and no client assertions, and neither of these is one of them", async () => {
    const assertion = await made.company.assertion(claimsOf());
    expect(await made.running.server.verifyToken(assertion)).toBeUndefined();
    const asClient = await present(assertion, { params: { client_assertion: assertion } });
    expect(statusOf(asClient)).toEqual([401, "invalid_client"]);
    const ofClient = await signClientAssertion(keys, made.clientId, made.running.url);
    expect(statusOf(await present(ofClient))).toEqual(REFUSED);
    const { body } = await present(assertion);
    expect(statusOf(await present(body.access_token))).toEqual(REFUSED);
  });

  verifies("RC-10");
  it("are refused from a client that the file does not list, or that is public", async () => {
    const unlisted = await addClient();
    const assertion = await made.company.assertion(claimsOf({ client_id: unlisted }));
    expect(statusOf(await present(assertion, { by: unlisted }))).toEqual(REFUSED);
    const open = await register(made.running);
    const answer = await askToken(made.running, {
      grant_type: JWT_BEARER,
      client_id: open.clientId,
      assertion: await made.company.assertion(claimsOf({ client_id: open.clientId })),
    });
    expect(statusOf(answer)).toEqual([400, "invalid_request"]);
    const unproven = await askToken(made.running, {
      grant_type: JWT_BEARER,
      client_id: made.clientId,
      assertion: await made.company.assertion(claimsOf()),
    });
    expect(statusOf(unproven)).toEqual([401, "invalid_client"]);
  });

  verifies("RC-10");
  it("are refused for an inactive person", async () => {
    const bob = await at().person("acme", { roles: ["Viewer"] });
    const email = { email: bob.email };
    const accepted = await present(await made.company.assertion(claimsOf(email)));
    expect(accepted.status).toBe(200);
    await updateUser(needsOf(), { tenantId: "acme", ...email, status: "Inactive" });
    expect(statusOf(await present(await made.company.assertion(claimsOf(email))))).toEqual(REFUSED);
  });

  verifies("RC-10");
  it("are refused for an address that only folds to a person's", async () => {
    const email = "mark@acme.example";
    const named = { email, firstName: "Mark", lastName: "B", roles: ["Viewer"] };
    await createUser(needsOf(), { tenantId: "acme", ...named }, async () => "of mark, long enough");
    expect(
      (await present(await made.company.assertion(claimsOf({ email: "MARK@Acme.example" }))))
        .status,
    ).toBe(200);
    // The Kelvin sign, which Unicode folds to a k.
    const kelvin = email.replace("k", "\u212a");
    for (const other of [
      kelvin,
      kelvin.toUpperCase(),
      `${email}\u00a0`,
      email.replace("a", "\uff41"),
    ]) {
      const assertion = await made.company.assertion(claimsOf({ email: other }));
      expect([other, statusOf(await present(assertion))]).toEqual([other, REFUSED]);
    }
  });
});
