import { randomBytes, randomUUID } from "node:crypto";
import { UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { createNetworks } from "../../src/kit/network.ts";
import type { IdentityProvider } from "../../src/oauth/identity-providers.ts";
import { createClient, deleteClient } from "../../src/platform/admin/clients.ts";
import { createUser, updateUser } from "../../src/platform/admin/users.ts";
import { rowsOf } from "../support/audit.ts";
import {
  ASSERTION_TYPE,
  type Claims,
  makeClientKeys,
  signClientAssertion,
} from "../support/client-keys.ts";
import { type Company, startCompany } from "../support/company.ts";
import {
  type Answer,
  askToken,
  directoryOf,
  type Options,
  register,
  type Running,
  startAuthorization,
} from "../support/oauth.ts";
import { DISPUTES, type Person } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { usePlatform } from "./setup.ts";

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

const at = usePlatform();
const keys = makeClientKeys();
let company: Company;
let running: Running;
let ann: Person;
let clientId: string;

const needsOf = () => ({ store: at().store, clock: at().clock, newId: randomId });

const providerOf = (more: Partial<IdentityProvider> = {}): IdentityProvider => ({
  issuer: company.issuer,
  claim: "email",
  clients: [clientId],
  emailVerified: "claim",
  ...more,
});

const start = (more: Partial<IdentityProvider> = {}, options: Options = {}): Promise<Running> =>
  startAuthorization(at(), {
    directory: directoryOf(at()),
    identityProviders: async () => [providerOf(more)],
    ca: company.certificate,
    ...options,
  });

const addClient = async (): Promise<string> => {
  const credential = { publicKey: keys.publicPem };
  const named = { tenantId: "acme", name: "Assistant", role: "Viewer" };
  return (await createClient(needsOf(), { ...named, credential })).clientId;
};

beforeAll(async () => {
  await at().tenant("acme");
  ann = await at().person("acme", { roles: ["Viewer"] });
  company = await startCompany();
  clientId = await addClient();
  running = await start();
  return async () => {
    await running.close();
    await company.close();
  };
});

const claimsOf = (more: Claims = {}): Claims => ({
  aud: running.url,
  client_id: clientId,
  email: ann.email,
  email_verified: true,
  scope: "read write",
  resource: running.resource,
  ...more,
});

const present = async (
  assertion: string,
  {
    params = {},
    to = running,
    by = clientId,
  }: {
    params?: Record<string, string>;
    to?: Running;
    by?: string;
  } = {},
): Promise<Answer> =>
  askToken(to, {
    grant_type: JWT_BEARER,
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: await signClientAssertion(keys, by, to.url),
    assertion,
    ...params,
  });

const statusOf = ({ status, body }: Answer) => [status, body.error];
const REFUSED = [400, "invalid_grant"];

describe("identity assertions", () => {
  verifies("RC-10");
  it("give a token of the person's own rights, without a refresh token", async () => {
    const { status, body } = await present(await company.assertion(claimsOf()));
    expect([status, body.scope, body.refresh_token]).toEqual([200, "read write", undefined]);
    const holder = await running.server.verifyToken(body.access_token);
    expect(holder).toMatchObject({ clientId, scopes: ["read", "write"] });
    const credential = await running.server.findCredential(holder?.personId ?? "");
    expect(credential).toMatchObject({ email: ann.email, tenantId: "acme" });
    const headers = { "X-Platform-Api-Key": credential?.apiKey.reveal() ?? "" };
    const path = DISPUTES.replace("{t}", "acme");
    expect((await at().call("GET", path, { headers })).status).toBe(200);
    expect((await at().call("DELETE", `${path}/none`, { headers })).status).toBe(403);
    const actions = (await rowsOf(at().store.read, "acme"))
      .filter(({ metadata }) => metadata.includes(ann.userId))
      .map(({ action }) => action);
    expect(actions).toContain("auth.person_signed_in");
  });

  verifies("RC-10");
  it.each([
    ["read", "read write", "read"],
    ["read admin", "read write", "read"],
    ["", "read write", "read write"],
    ["read write admin", undefined, "read write admin"],
    ["", undefined, "read"],
  ])("give the scopes that request and assertion name: %s and %s", async (scope, own, given) => {
    const assertion = await company.assertion(claimsOf({ scope: own }));
    const { body } = await present(assertion, { params: scope === "" ? {} : { scope } });
    expect(body.scope).toBe(given);
  });

  it("are refused for scopes that they do not have", async () => {
    const assertion = await company.assertion(claimsOf({ scope: "read" }));
    const answer = await present(assertion, { params: { scope: "admin" } });
    expect(statusOf(answer)).toEqual([400, "invalid_scope"]);
  });

  it("use the tenant of the settings, else the person's default one", async () => {
    const only = await start({}, { tenantId: "another" });
    const assertion = await company.assertion(claimsOf({ aud: only.url, resource: only.resource }));
    expect(statusOf(await present(assertion, { to: only }))).toEqual(REFUSED);
    await only.close();
  });

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
    ["a pattern as e-mail address", { email: "%@acme.example" }],
    ["the type of an ID token", {}, { typ: "JWT" }],
    ["the type of an access token", {}, { typ: "at+jwt" }],
    ["no type", {}, { typ: undefined }],
  ])("are refused with %s", async (_what, claims, header) => {
    const { aud } = claims;
    const named = Array.isArray(aud)
      ? { aud: aud.map((one) => (one === "SELF" ? running.url : String(one))) }
      : {};
    const assertion = await company.assertion(claimsOf({ ...claims, ...named }), header);
    expect(statusOf(await present(assertion))).toEqual(REFUSED);
  });

  it("are refused for another resource, in the assertion and in the request", async () => {
    const elsewhere = "https://elsewhere.example/mcp";
    const foreign = await company.assertion(claimsOf({ resource: elsewhere }));
    expect(statusOf(await present(foreign))).toEqual([400, "invalid_target"]);
    const own = await company.assertion(claimsOf());
    const answer = await present(own, { params: { resource: elsewhere } });
    expect(statusOf(answer)).toEqual([400, "invalid_target"]);
  });

  verifies("RC-10");
  it("are accepted once, also of many requests at the same time", async () => {
    const assertion = await company.assertion(claimsOf());
    const answers = await Promise.all(Array.from({ length: 6 }, () => present(assertion)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(5).fill(400)]);
  });

  verifies("RC-10");
  it("are refused without a signature, with a shared secret, and with the key of another", async () => {
    const payload = { ...claimsOf(), iss: company.issuer, sub: "ann", jti: "x", iat: seconds(0) };
    const unsigned = new UnsecuredJWT(payload).setExpirationTime("1m").encode();
    expect(statusOf(await present(unsigned))).toEqual(REFUSED);
    // The public key, which everyone has, as the secret of an HMAC.
    const secret = Buffer.from(JSON.stringify(company.publicJwk()));
    const confused = await company.assertion(claimsOf(), { alg: "HS256" }, secret);
    expect(statusOf(await present(confused))).toEqual(REFUSED);
    const random = await company.assertion(claimsOf(), { alg: "HS256" }, randomBytes(32));
    expect(statusOf(await present(random))).toEqual(REFUSED);
    const foreign = await startCompany();
    const assertion = await foreign.assertion(claimsOf({ iss: company.issuer }));
    await foreign.close();
    expect(statusOf(await present(assertion))).toEqual(REFUSED);
    for (const text of ["", "x", "a.b.c"]) {
      expect((await present(text)).status).toBe(400);
    }
  });

  verifies("RC-10");
  it("are refused from a client that the file does not list, or that is public", async () => {
    const unlisted = await addClient();
    const assertion = await company.assertion(claimsOf({ client_id: unlisted }));
    expect(statusOf(await present(assertion, { by: unlisted }))).toEqual(REFUSED);
    const open = await register(running);
    const answer = await askToken(running, {
      grant_type: JWT_BEARER,
      client_id: open.clientId,
      assertion: await company.assertion(claimsOf({ client_id: open.clientId })),
    });
    expect(statusOf(answer)).toEqual([400, "invalid_request"]);
    const unproven = await askToken(running, {
      grant_type: JWT_BEARER,
      client_id: clientId,
      assertion: await company.assertion(claimsOf()),
    });
    expect(statusOf(unproven)).toEqual([401, "invalid_client"]);
  });

  verifies("RC-10");
  it("are refused for an inactive person", async () => {
    const bob = await at().person("acme", { roles: ["Viewer"] });
    const email = { email: bob.email };
    const accepted = await present(await company.assertion(claimsOf(email)));
    expect(accepted.status).toBe(200);
    await updateUser(needsOf(), { tenantId: "acme", ...email, status: "Inactive" });
    expect(statusOf(await present(await company.assertion(claimsOf(email))))).toEqual(REFUSED);
  });

  verifies("RC-10");
  it("are refused for an address that only folds to a person's", async () => {
    const email = "mark@acme.example";
    const named = { email, firstName: "Mark", lastName: "B", roles: ["Viewer"] };
    await createUser(needsOf(), { tenantId: "acme", ...named }, async () => "of mark, long enough");
    expect(
      (await present(await company.assertion(claimsOf({ email: "MARK@Acme.example" })))).status,
    ).toBe(200);
    // The Kelvin sign, which Unicode folds to a k.
    const kelvin = email.replace("k", "\u212a");
    for (const other of [
      kelvin,
      kelvin.toUpperCase(),
      `${email}\u00a0`,
      email.replace("a", "\uff41"),
    ]) {
      const assertion = await company.assertion(claimsOf({ email: other }));
      expect([other, statusOf(await present(assertion))]).toEqual([other, REFUSED]);
    }
  });

  it("need no word about the e-mail address where the file says that all are verified", async () => {
    const trusting = await start({ emailVerified: "always", claim: "mail", audience: "the-mcp" });
    const claims = { aud: "the-mcp", mail: ann.email, email: undefined, email_verified: undefined };
    const own = claimsOf({ ...claims, resource: trusting.resource });
    expect((await present(await company.assertion(own), { to: trusting })).status).toBe(200);
    const other = await company.assertion({ ...own, aud: trusting.url });
    expect(statusOf(await present(other, { to: trusting }))).toEqual(REFUSED);
    const denied = await company.assertion({ ...own, email_verified: false });
    expect(statusOf(await present(denied, { to: trusting }))).toEqual(REFUSED);
    await trusting.close();
  });

  verifies("RC-10");
  it("are refused while the provider is away, and accepted when it is back, with a new key", async () => {
    company.rotate();
    company.down(true);
    const late = await start();
    const claims = { aud: late.url, resource: late.resource };
    const away = await present(await company.assertion(claimsOf(claims)), { to: late });
    expect(statusOf(away)).toEqual([503, "temporarily_unavailable"]);
    await late.close();
    company.down(false);
    const next = await start();
    const own = { aud: next.url, resource: next.resource };
    const back = await present(await company.assertion(claimsOf(own)), { to: next });
    expect(back.status).toBe(200);
    await next.close();
  });

  verifies("RC-10");
  it("are accepted with a new key of the provider, without a restart", async () => {
    const next = await start();
    const own = { aud: next.url, resource: next.resource };
    const assert = async () => present(await company.assertion(claimsOf(own)), { to: next });
    expect((await assert()).status).toBe(200);
    company.rotate();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
    const answer = await assert().finally(() => vi.useRealTimers());
    expect(answer.status).toBe(200);
    await next.close();
  });

  verifies("RC-10");
  it("are checked with the keys of a public address only", async () => {
    const hosts = { resolve: async () => ["127.0.0.1"], allowed: createNetworks([]) };
    const before = company.seen.length;
    const guarded = await start({}, { hosts });
    const claims = { aud: guarded.url, resource: guarded.resource };
    const answer = await present(await company.assertion(claimsOf(claims)), { to: guarded });
    await guarded.close();
    expect(statusOf(answer)).toEqual([503, "temporarily_unavailable"]);
    expect(company.seen.length).toBe(before);
  });

  it("are accepted from a client that registered itself with a key, once the file lists it", async () => {
    const jwks = { keys: [keys.publicJwk] };
    const metadata = { token_endpoint_auth_method: "private_key_jwt", grant_types: [JWT_BEARER] };
    const registered = await fetch(`${running.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "Assistant", ...metadata, jwks }),
    });
    const { client_id: own } = (await registered.json()) as { client_id: string };
    const next = await start({ clients: [own] });
    const claims = { client_id: own, aud: next.url, resource: next.resource };
    const assertion = await company.assertion(claimsOf(claims));
    expect((await present(assertion, { to: next, by: own })).status).toBe(200);
    const again = { grant_type: "client_credentials", client_assertion_type: ASSERTION_TYPE };
    const client_assertion = await signClientAssertion(keys, own, next.url);
    expect((await askToken(next, { ...again, client_assertion })).status).toBe(400);
    await next.close();
  });

  it("end their tokens with the client that presented them", async () => {
    const one = await addClient();
    const next = await start({ clients: [one] });
    const claims = { client_id: one, aud: next.url, resource: next.resource };
    const { body } = await present(await company.assertion(claimsOf(claims)), {
      to: next,
      by: one,
    });
    expect(await next.server.verifyToken(body.access_token)).toBeDefined();
    await deleteClient(needsOf(), one);
    expect(await next.server.verifyToken(body.access_token)).toBeUndefined();
    await next.close();
  });

  verifies("RC-10");
  it("are named in the metadata", async () => {
    const read = async ({ url }: Running) =>
      (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as object;
    expect(await read(running)).toMatchObject({
      grant_types_supported: expect.arrayContaining([JWT_BEARER]),
      authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
    });
    const without = await startAuthorization(at(), { directory: directoryOf(at()) });
    const metadata = await read(without);
    await without.close();
    expect(metadata).not.toHaveProperty("authorization_grant_profiles_supported");
    expect(JSON.stringify(metadata)).not.toContain(JWT_BEARER);
  });
});
