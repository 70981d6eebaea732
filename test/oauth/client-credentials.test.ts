import { UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import {
  type ClientRecord,
  createClient,
  deleteClient,
  listClients,
  rotateClient,
} from "../../src/platform/admin/clients.ts";
import { deleteRole, createRole } from "../../src/platform/admin/roles.ts";
import { alterToken } from "../support/alter-token.ts";
import { rowsOf } from "../support/audit.ts";
import {
  ASSERTION_TYPE,
  type Claims,
  type ClientKeys,
  makeClientKeys,
  signClientAssertion,
} from "../support/client-keys.ts";
import {
  type Answer,
  askToken,
  directoryOf,
  type Running,
  startAuthorization,
} from "../support/oauth.ts";
import { CONFIGURATION, DISPUTES, onEveryStore } from "../support/platform.ts";
import { findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("tokens of programs", (at) => {
  let running: Running;
  const keys = makeClientKeys();

  const needsOf = () => {
    const needs = { store: at().store, clock: at().clock, newId: randomId };
    return { ...needs, record: createRecordChange({ ...needs, operator: "op" }) };
  };

  beforeAll(async () => {
    await at().tenant("acme");
    await at().tenant("other");
    running = await startAuthorization(at(), { directory: directoryOf(at()) });
    return () => running.close();
  });

  const create = (more: Partial<Parameters<typeof createClient>[1]> = {}): Promise<ClientRecord> =>
    createClient(needsOf(), {
      tenantId: "acme",
      name: "Nightly job",
      role: "Viewer",
      credential: { publicKey: keys.publicPem },
      ...more,
    });

  const ask = async (
    { clientId }: ClientRecord,
    {
      claims,
      params,
      by = keys,
    }: { claims?: Claims; params?: Record<string, string>; by?: ClientKeys } = {},
  ): Promise<Answer> =>
    askToken(running, {
      grant_type: "client_credentials",
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await signClientAssertion(by, clientId, running.url, claims),
      ...params,
    });

  const askWithSecret = async (id: string, secret: string): Promise<Answer> => {
    const answer = await fetch(`${running.url}/oauth/token`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
    });
    return { status: answer.status, body: (await answer.json()) as Answer["body"] };
  };

  /** Calls the platform with the credential of a token, as a tool does. */
  const callWith = async (token: string, path: string, method = "GET", body?: object) => {
    const holder = await running.server.verifyToken(token);
    const credential = await running.server.findCredential(holder?.personId ?? "");
    const apiKey = credential?.apiKey.reveal() ?? "";
    return at().call(method, path.replace("{t}", credential?.tenantId ?? ""), {
      headers: { "X-Platform-Api-Key": apiKey },
      ...(body === undefined ? {} : { body }),
    });
  };

  describe("client credentials", () => {
    verifies("RC-11");
    it("gives a program a token of its role's rights, without a refresh token", async () => {
      const client = await create();
      expect(client).toMatchObject({ role: "Viewer", authentication: "private_key_jwt" });
      const { status, body } = await ask(client, { params: { resource: running.resource } });
      expect([status, body.scope, body.expires_in]).toEqual([200, "read write admin", 3600]);
      expect(body.refresh_token).toBeUndefined();
      expect(await running.server.verifyToken(body.access_token)).toMatchObject({
        clientId: client.clientId,
        scopes: ["read", "write", "admin"],
      });
      expect((await callWith(body.access_token, DISPUTES)).status).toBe(200);
      const refused = await callWith(body.access_token, `${DISPUTES}/none`, "DELETE");
      expect([refused.status, refused.body.error?.code ?? refused.body.code]).toEqual([
        403,
        "forbidden_permission",
      ]);
      const other = await callWith(body.access_token, DISPUTES.replace("{t}", "other"));
      expect(other.status).toBe(403);
    });

    verifies("RC-11");
    it("names the client in the audit log", async () => {
      const client = await create({ name: "Auditor job", role: "Administrator" });
      const { body } = await ask(client);
      const made = { code: "NIGHT", description: "Made by a program" };
      const path = `${CONFIGURATION}/departments`;
      const { status } = await callWith(body.access_token, path, "POST", made);
      expect(status).toBeLessThan(300);
      const rows = (await rowsOf(at().store.read, "acme"))
        .map(({ action, metadata }) => [action, JSON.parse(metadata)] as const)
        .filter(([, { actor, resourceId }]) => [actor, resourceId].includes(client.clientId));
      expect(rows.map(([action]) => action)).toEqual([
        "admin.client_created",
        "auth.client_signed_in",
        "department.created",
      ]);
      expect(rows[0]?.[1]).toMatchObject({ client: "Auditor job", role: "Administrator" });
    });

    it("limits the scopes to the requested ones", async () => {
      const client = await create();
      expect((await ask(client, { params: { scope: "read" } })).body.scope).toBe("read");
      expect((await ask(client, { params: { scope: "other" } })).body.error).toBe("invalid_scope");
      const foreign = await ask(client, { params: { resource: "https://elsewhere.example/mcp" } });
      expect(foreign.body.error).toBe("invalid_target");
    });

    it("describes a client in its profile", async () => {
      const { body } = await ask(await create({ name: "Describer" }));
      const { body: profile } = await callWith(body.access_token, "/user/v1/users/profile");
      expect(profile).toMatchObject({
        firstName: "Describer",
        role: "Viewer",
        tenantIds: ["acme"],
      });
    });

    verifies("RC-11");
    it.each<[string, Claims]>([
      ["another audience", { aud: "https://elsewhere.example" }],
      ["the address of the MCP endpoint as audience", { aud: "SELF/mcp" }],
      ["an audience below this server", { aud: "SELF/elsewhere" }],
      ["a start in the future", { nbf: Math.floor(Date.now() / 1000) + 300 }],
      ["an issue in the future", { iat: Math.floor(Date.now() / 1000) + 300 }],
      ["another subject", { sub: randomId() }],
      ["no subject", { sub: undefined }],
      ["an empty jti", { jti: "" }],
      ["an expiry in the past", { exp: 1 }],
      ["no expiry", { exp: undefined }],
      ["an expiry in two hours", { exp: Math.floor(Date.now() / 1000) + 7200 }],
      ["no jti", { jti: undefined }],
      ["a long jti", { jti: "x".repeat(300) }],
      ["another issuer", { iss: randomId() }],
    ])("refuses an assertion with %s", async (_what, claims) => {
      const { aud } = claims;
      const named = typeof aud === "string" ? { aud: aud.replace("SELF", running.url) } : {};
      const { status, body } = await ask(await create(), { claims: { ...claims, ...named } });
      expect([status, body.error]).toEqual([401, "invalid_client"]);
    });

    it("refuses an assertion that another key or none has signed, and one signed with the public key", async () => {
      const client = await create();
      const other = await ask(client, { by: makeClientKeys() });
      expect(other.body.error).toBe("invalid_client");
      const claims = { iss: client.clientId, sub: client.clientId, aud: running.url, jti: "a" };
      const unsigned = new UnsecuredJWT(claims).setExpirationTime("1m").encode();
      const answer = await askToken(running, {
        grant_type: "client_credentials",
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: unsigned,
      });
      expect([answer.status, answer.body.error]).toEqual([401, "invalid_client"]);
    });

    verifies("RC-11");
    it("accepts an assertion once, also of many requests at the same time", async () => {
      const client = await create();
      const assertion = await signClientAssertion(keys, client.clientId, running.url);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () =>
          askToken(running, {
            grant_type: "client_credentials",
            client_assertion_type: ASSERTION_TYPE,
            client_assertion: assertion,
          }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(401)]);
    });

    verifies("RC-11");
    it("accepts a secret that is stored as a hash and shown once", async () => {
      const client = await create({ credential: "secret" });
      const { clientId, clientSecret = "" } = client;
      expect(clientSecret).toMatch(/^[\w-]{43}$/);
      expect((await askWithSecret(clientId, clientSecret)).status).toBe(200);
      const wrong = await askWithSecret(clientId, alterToken(clientSecret));
      expect([wrong.status, wrong.body.error]).toEqual([401, "invalid_client"]);
      const stored = await at().store.read.selectFrom("clients").selectAll().execute();
      const hash = stored.find(({ id }) => id === clientId)?.secret_hash ?? "";
      expect((await askWithSecret(clientId, hash)).status).toBe(401);
      expect(JSON.stringify([stored, await listClients(at().store.read, "acme")])).not.toContain(
        clientSecret,
      );
      expect((await ask(client)).status).toBe(401);
    });

    verifies("RC-11");
    it("ends the tokens of a client that is rotated or deleted", async () => {
      const client = await create({ credential: "secret" });
      const first = (await askWithSecret(client.clientId, client.clientSecret ?? "")).body;
      expect(await running.server.verifyToken(first.access_token)).toBeDefined();
      const next = makeClientKeys();
      const credential = { jwks: JSON.stringify({ keys: [{ ...next.publicJwk, kid: "one" }] }) };
      const rotated = await rotateClient(needsOf(), { clientId: client.clientId, credential });
      expect(rotated).toMatchObject({ authentication: "private_key_jwt" });
      expect(rotated).not.toHaveProperty("clientSecret");
      expect(await running.server.verifyToken(first.access_token)).toBeUndefined();
      expect((await askWithSecret(client.clientId, client.clientSecret ?? "")).status).toBe(401);
      const second = (await ask(client, { by: next })).body;
      expect((await callWith(second.access_token, DISPUTES)).status).toBe(200);
      const holder = await running.server.verifyToken(second.access_token);
      const key = await running.server.findCredential(holder?.personId ?? "");
      await deleteClient(needsOf(), client.clientId);
      expect(await running.server.verifyToken(second.access_token)).toBeUndefined();
      const headers = { "X-Platform-Api-Key": key?.apiKey.reveal() ?? "" };
      const refused = await at().call("GET", DISPUTES.replace("{t}", "acme"), { headers });
      expect(refused.status).toBe(401);
      expect((await ask(client, { by: next })).status).toBe(401);
      const keysLeft = await findRows(at().store.read, "api_keys", { user_id: client.clientId });
      expect(keysLeft).toEqual([]);
    });

    it("follows changes of the role, which cannot be deleted while a client has it", async () => {
      const grants = ["Dispute Management : READ"];
      await createRole(needsOf(), { tenantId: "acme", name: "Job", grants });
      const client = await create({ role: "Job" });
      const { body } = await ask(client);
      expect((await callWith(body.access_token, DISPUTES)).status).toBe(200);
      const role = { tenantId: "acme", name: "Job", confirm: "Job" };
      await expect(deleteRole(needsOf(), role)).rejects.toMatchObject({ code: "in_use" });
    });

    it("refuses private keys, weak keys and unknown roles", async () => {
      const { generateKeyPairSync } = await import("node:crypto");
      const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
      const credentials = [
        { publicKey: keys.privatePem },
        { publicKey: "no key" },
        { publicKey: weak.export({ format: "pem", type: "spki" }).toString() },
        { jwks: JSON.stringify({ keys: [] }) },
        { jwks: JSON.stringify({ keys: [{ kty: "oct", k: "c2VjcmV0" }] }) },
        { jwks: JSON.stringify({ keys: [{ ...keys.publicJwk, d: "x" }] }) },
      ];
      for (const credential of credentials) {
        await expect(create({ credential })).rejects.toMatchObject({ code: "invalid_request" });
      }
      await expect(create({ role: "Nothing" })).rejects.toMatchObject({ code: "not_found" });
      await expect(create({ name: "a\nb" })).rejects.toMatchObject({ code: "invalid_request" });
    });

    it("works for the tenant of the settings only", async () => {
      const one = await startAuthorization(at(), {
        directory: directoryOf(at()),
        tenantId: "other",
      });
      const { clientId } = await create();
      const { body } = await askToken(one, {
        grant_type: "client_credentials",
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: await signClientAssertion(keys, clientId, one.url),
      });
      await one.close();
      expect(body.error).toBe("unauthorized_client");
    });

    it("is not offered where the platform's store is not shared", async () => {
      const remote = await startAuthorization(at());
      const metadata = await fetch(`${remote.url}/.well-known/oauth-authorization-server`);
      const { grant_types_supported: grants, token_endpoint_auth_methods_supported: methods } =
        (await metadata.json()) as Record<string, string[]>;
      await remote.close();
      expect(grants).not.toContain("client_credentials");
      expect(methods).toEqual(["none"]);
    });

    it("is described in the metadata", async () => {
      const response = await fetch(`${running.url}/.well-known/oauth-authorization-server`);
      const metadata = (await response.json()) as Record<string, unknown>;
      expect(metadata).toMatchObject({
        grant_types_supported: expect.arrayContaining(["client_credentials"]),
        token_endpoint_auth_methods_supported: ["none", "private_key_jwt", "client_secret_basic"],
      });
      const algorithms = metadata["token_endpoint_auth_signing_alg_values_supported"] as string[];
      expect(algorithms).toContain("ES256");
      expect(algorithms.filter((name) => name.startsWith("HS"))).toEqual([]);
    });
  });
});
