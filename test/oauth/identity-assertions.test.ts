import { expect, it, vi } from "vitest";
import { createNetworks } from "../../src/kit/network.ts";
import { deleteClient } from "../../src/platform/admin/clients.ts";
import { createUser } from "../../src/platform/admin/users.ts";
import { rowsOf } from "../support/audit.ts";
import { ASSERTION_TYPE, type Claims, signClientAssertion } from "../support/client-keys.ts";
import { askToken, directoryOf, type Running, startAuthorization } from "../support/oauth.ts";
import { DISPUTES, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { JWT_BEARER, REFUSED, statusOf, useAssertions } from "./assertions.ts";

onEveryStore("identity assertions", (at) => {
  const { made, keys, needsOf, start, addClient, claimsOf, present } = useAssertions(at);

  verifies("RC-10");
  it("give a token of the person's own rights, without a refresh token", async () => {
    const { status, body } = await present(await made.company.assertion(claimsOf()));
    expect([status, body.scope, body.refresh_token]).toEqual([200, "read write", undefined]);
    const holder = await made.running.server.verifyToken(body.access_token);
    expect(holder).toMatchObject({ clientId: made.clientId, scopes: ["read", "write"] });
    const credential = await made.running.server.findCredential(holder?.personId ?? "");
    expect(credential).toMatchObject({ email: made.ann.email, tenantId: "acme" });
    const headers = { "X-Platform-Api-Key": credential?.apiKey.reveal() ?? "" };
    const path = DISPUTES.replace("{t}", "acme");
    expect((await at().call("GET", path, { headers })).status).toBe(200);
    expect((await at().call("DELETE", `${path}/none`, { headers })).status).toBe(403);
    const actions = (await rowsOf(at().store.read, "acme"))
      .filter(({ metadata }) => metadata.includes(made.ann.userId))
      .map(({ action }) => action);
    expect(actions).toContain("auth.person_signed_in");
  });

  verifies("RC-10");
  it.each<[string, (admin: string) => Claims]>([
    ["an actor", (email) => ({ act: { sub: "agent", email, email_verified: true } })],
    ["several actors", (email) => ({ act: { sub: "a", act: { sub: "b", email } } })],
    ["a text as actor", (email) => ({ act: email })],
    ["no actor", () => ({ act: null })],
    ["one who may act", (email) => ({ may_act: { sub: "agent", email, email_verified: true } })],
  ])(
    "give a token of their subject, not of an actor, with %s (RFC 8693)",
    async (_what, claims) => {
      const admin = await at().person("acme", { roles: ["Administrator"] });
      const assertion = await made.company.assertion(claimsOf(claims(admin.email)));
      const { status, body } = await present(assertion);
      expect([status, body.scope]).toEqual([200, "read write"]);
      const holder = await made.running.server.verifyToken(body.access_token);
      expect(holder).toMatchObject({ clientId: made.clientId });
      const credential = await made.running.server.findCredential(holder?.personId ?? "");
      expect(credential).toMatchObject({ email: made.ann.email, tenantId: "acme" });
    },
  );

  verifies("RC-10");
  it.each([
    ["read", "read write", "read"],
    ["read admin", "read write", "read"],
    ["", "read write", "read write"],
    ["read write admin", undefined, "read write admin"],
    ["", undefined, "read"],
  ])("give the scopes that request and assertion name: %s and %s", async (scope, own, given) => {
    const assertion = await made.company.assertion(claimsOf({ scope: own }));
    const { body } = await present(assertion, { params: scope === "" ? {} : { scope } });
    expect(body.scope).toBe(given);
  });

  it("are refused for scopes that they do not have", async () => {
    const assertion = await made.company.assertion(claimsOf({ scope: "read" }));
    const answer = await present(assertion, { params: { scope: "admin" } });
    expect(statusOf(answer)).toEqual([400, "invalid_scope"]);
  });

  it("use the tenant of the settings, else the person's default one", async () => {
    const only = await start({}, { tenantId: "another" });
    const assertion = await made.company.assertion(
      claimsOf({ aud: only.url, resource: only.resource }),
    );
    expect(statusOf(await present(assertion, { to: only }))).toEqual(REFUSED);
    await only.close();
  });

  verifies("RC-10");
  it("are for the tenant that they name, else the default one", async () => {
    const bob = await at().person("acme", { roles: ["Viewer"] });
    await at().tenant("second");
    const named = { email: bob.email, firstName: "Bob", lastName: "B", roles: ["Viewer"] };
    await createUser(needsOf(), { tenantId: "second", ...named }, async () => "none is set");
    for (const [aud_tenant, tenantId] of [
      [undefined, "acme"],
      ["second", "second"],
      ["acme", "acme"],
    ]) {
      const claims = claimsOf({ email: bob.email, aud_tenant });
      const { body } = await present(await made.company.assertion(claims));
      const holder = await made.running.server.verifyToken(body.access_token);
      const credential = await made.running.server.findCredential(holder?.personId ?? "");
      expect(credential).toMatchObject({ email: bob.email, tenantId });
    }
  });

  it("need no word about the e-mail address where the file says that all are verified", async () => {
    const trusting = await start({ emailVerified: "always", claim: "mail", audience: "the-mcp" });
    const claims = {
      aud: "the-mcp",
      mail: made.ann.email,
      email: undefined,
      email_verified: undefined,
    };
    const own = claimsOf({ ...claims, resource: trusting.resource });
    expect((await present(await made.company.assertion(own), { to: trusting })).status).toBe(200);
    const other = await made.company.assertion({ ...own, aud: trusting.url });
    expect(statusOf(await present(other, { to: trusting }))).toEqual(REFUSED);
    const denied = await made.company.assertion({ ...own, email_verified: false });
    expect(statusOf(await present(denied, { to: trusting }))).toEqual(REFUSED);
    await trusting.close();
  });

  verifies("RC-10");
  it("are refused while the provider is away, and accepted when it is back, with a new key", async () => {
    made.company.rotate();
    made.company.down(true);
    const late = await start();
    const claims = { aud: late.url, resource: late.resource };
    const away = await present(await made.company.assertion(claimsOf(claims)), { to: late });
    expect(statusOf(away)).toEqual([503, "temporarily_unavailable"]);
    await late.close();
    made.company.down(false);
    const next = await start();
    const own = { aud: next.url, resource: next.resource };
    const back = await present(await made.company.assertion(claimsOf(own)), { to: next });
    expect(back.status).toBe(200);
    await next.close();
  });

  verifies("RC-10");
  it("are accepted with a new key of the provider, without a restart", async () => {
    const next = await start();
    const own = { aud: next.url, resource: next.resource };
    const assert = async () => present(await made.company.assertion(claimsOf(own)), { to: next });
    expect((await assert()).status).toBe(200);
    made.company.rotate();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
    const answer = await assert().finally(() => vi.useRealTimers());
    expect(answer.status).toBe(200);
    await next.close();
  });

  verifies("RC-10");
  it("are checked with the keys of a public address only", async () => {
    const hosts = { resolve: async () => ["127.0.0.1"], allowed: createNetworks([]) };
    const before = made.company.seen.length;
    const guarded = await start({}, { hosts });
    const claims = { aud: guarded.url, resource: guarded.resource };
    const answer = await present(await made.company.assertion(claimsOf(claims)), { to: guarded });
    await guarded.close();
    expect(statusOf(answer)).toEqual([503, "temporarily_unavailable"]);
    expect(made.company.seen.length).toBe(before);
  });

  it("are accepted from a client that registered itself with a key, once the file lists it", async () => {
    const jwks = { keys: [keys.publicJwk] };
    const metadata = { token_endpoint_auth_method: "private_key_jwt", grant_types: [JWT_BEARER] };
    const registered = await fetch(`${made.running.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "Assistant", ...metadata, jwks }),
    });
    const { client_id: own } = (await registered.json()) as { client_id: string };
    const next = await start({ clients: [own] });
    const claims = { client_id: own, aud: next.url, resource: next.resource };
    const assertion = await made.company.assertion(claimsOf(claims));
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
    const { body } = await present(await made.company.assertion(claimsOf(claims)), {
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
    expect(await read(made.running)).toMatchObject({
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
