import { afterAll, beforeAll, expect, it } from "vitest";
import { hashId } from "../../src/oauth/records.ts";
import { openBrowser } from "../support/browser.ts";
import {
  authorize,
  authorizeUrl,
  makePkce,
  redeem,
  refresh,
  register,
  revoke,
  type Running,
  signIn,
  startAuthorization,
} from "../support/oauth.ts";
import { onEveryStore, type Person, type TestPlatform } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

/** The scopes that a page has ticked. */
const ticked = (page: string): string[] =>
  [...page.matchAll(/<input[^>]*name="scope"[^>]*>/g)].flatMap(([tag]) =>
    /\schecked\b/.test(tag) ? (/value="(\w+)"/.exec(tag)?.[1] ?? []) : [],
  );

onEveryStore("the way from a client's question to a token", (at: () => TestPlatform) => {
  let running: Running;
  let ann: Person;
  beforeAll(async () => {
    ann = await at().tenant("acme");
    running = await startAuthorization(at());
  });
  afterAll(() => running.close());

  const keysOf = async ({ userId }: Person): Promise<number> => {
    const rows = await at().store.read.selectFrom("api_keys").selectAll().execute();
    return rows.filter(({ user_id }) => user_id === userId).length;
  };

  it("says in its metadata how to get there, and no more than it does", async () => {
    for (const name of ["oauth-authorization-server", "openid-configuration"]) {
      const metadata = await (await fetch(`${running.url}/.well-known/${name}`)).json();
      expect(metadata).toMatchObject({
        issuer: running.url,
        authorization_endpoint: `${running.url}/oauth/authorize`,
        token_endpoint: `${running.url}/oauth/token`,
        revocation_endpoint: `${running.url}/oauth/revoke`,
        registration_endpoint: `${running.url}/oauth/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        scopes_supported: ["read", "write", "admin", "offline_access"],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
      });
    }
  });

  it("gives a token for the one resource to whoever signs in and allows it", async () => {
    const coded = await authorize(running, ann);
    const { status, body } = await redeem(running, coded);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: "read write" });
    const bearer = await running.server.verifyToken(body.access_token);
    expect(bearer).toMatchObject({ clientId: coded.client.clientId, scopes: ["read", "write"] });
    const credential = await running.server.findCredential(bearer?.personId ?? "");
    expect(credential).toMatchObject({ email: ann.email, tenantId: "acme" });
    expect(credential?.apiKey.reveal()).toMatch(/^rcvg_/);
    expect(await running.server.verifyToken("rubbish")).toBeUndefined();
  });

  it("uses the password once: what is kept is a key, and neither token nor password goes where it should not", async () => {
    const bob = await at().person("acme", { roles: ["Administrator"] });
    const before = running.sent.length;
    const coded = await authorize(running, bob);
    const { body } = await redeem(running, coded);
    const sent = running.sent.slice(before);
    expect(sent.filter((request) => request.includes(bob.password))).toHaveLength(1);
    expect(sent.filter((request) => request.includes(body.access_token))).toEqual([]);
    expect(sent.at(-1)).toContain("/authentication/v1/logout");
    const { personId = "" } = (await running.server.verifyToken(body.access_token)) ?? {};
    const key = (await running.server.findCredential(personId))?.apiKey.reveal() ?? "";
    const rows = JSON.stringify(
      await (await at().oauthStore()).read.selectFrom("sign_in_records").selectAll().execute(),
    );
    const secrets = [
      key,
      body.access_token,
      body.refresh_token,
      coded.code,
      bob.password,
      bob.email,
    ];
    expect(secrets.filter((secret) => secret === "" || rows.includes(secret))).toEqual([]);
  });

  it("gives a new refresh token for each, and ends the grant when an old one comes back", async () => {
    const cleo = await at().person("acme", { roles: ["Administrator"] });
    const keys = await keysOf(cleo);
    const coded = await authorize(running, cleo);
    const first = (await redeem(running, coded)).body;
    const second = await refresh(running, coded.client, first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.body.refresh_token).not.toBe(first.refresh_token);
    expect(await running.server.verifyToken(second.body.access_token)).toBeDefined();
    const replayed = await refresh(running, coded.client, first.refresh_token);
    expect(replayed).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    const after = await refresh(running, coded.client, second.body.refresh_token);
    expect(after).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    for (const { access_token: token } of [first, second.body]) {
      expect(await running.server.verifyToken(token)).toBeUndefined();
    }
    expect(await keysOf(cleo)).toBe(keys);
  });

  it("takes a code once, and ends what came of it when it comes again", async () => {
    const coded = await authorize(running, ann);
    const { body } = await redeem(running, coded);
    expect(await running.server.verifyToken(body.access_token)).toBeDefined();
    expect(await redeem(running, coded)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    expect(await running.server.verifyToken(body.access_token)).toBeUndefined();
  });

  it("takes a code once also of two who come at the same moment, to two processes", async () => {
    const other = await startAuthorization(at(), { issuer: running.url });
    const coded = await authorize(running, ann);
    const there = { ...other, resource: running.resource };
    const answers = await Promise.all(
      [running, there, running, there].map((one) => redeem(one, coded)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    const tokens = answers.flatMap(({ body }) => body.access_token ?? []);
    const good = await Promise.all(tokens.map((token) => running.server.verifyToken(token)));
    expect(good.filter((bearer) => bearer !== undefined)).toEqual([]);
    await other.close();
  });

  it("takes no token whose grant has ended, though it was written down after that", async () => {
    const { body } = await redeem(running, await authorize(running, ann));
    const store = await at().oauthStore();
    const token = () =>
      store.read
        .selectFrom("sign_in_records")
        .select("grant_id")
        .where("kind", "=", "AccessToken")
        .where("id", "=", hashId(body.access_token));
    expect(await running.server.verifyToken(body.access_token)).toBeDefined();
    const { grant_id: grant } = await token().executeTakeFirstOrThrow();
    await store.transaction((tx) =>
      tx
        .deleteFrom("sign_in_records")
        .where("kind", "=", "Grant")
        .where("id", "=", grant ?? "")
        .execute(),
    );
    expect(await token().execute()).toHaveLength(1);
    expect(await running.server.verifyToken(body.access_token)).toBeUndefined();
  });

  it("goes on where another process, or the same one later, left off", async () => {
    const coded = await authorize(running, ann);
    const later = await startAuthorization(at(), { issuer: running.url });
    const there = { ...later, resource: running.resource };
    const { status, body } = await redeem(there, coded);
    expect(status).toBe(200);
    expect(await running.server.verifyToken(body.access_token)).toBeDefined();
    const next = await refresh(running, coded.client, body.refresh_token);
    expect(next.status).toBe(200);
    expect(await later.server.verifyToken(next.body.access_token)).toBeDefined();
    await later.close();
  });

  it("serves one sign-in from two processes, page by page", async () => {
    const other = await startAuthorization(at(), { issuer: running.url });
    const client = await register(running);
    const { verifier, challenge } = makePkce();
    const browser = openBrowser();
    const first = await browser.open(authorizeUrl(running, client, challenge));
    const there = first.url.replace(running.url, other.url);
    const posted = await browser.submit(
      { ...first, url: there },
      { email: ann.email, password: ann.password, action: "sign-in" },
    );
    const back = await browser.open(posted.url.replace(other.url, running.url));
    const last = await browser.submit(back, { action: "allow" });
    const code = new URL(last.url).searchParams.get("code") ?? "";
    const there2 = { ...other, resource: running.resource };
    expect((await redeem(there2, { code, verifier, client })).status).toBe(200);
    await other.close();
  });

  it.each(["access_token", "refresh_token"] as const)(
    "ends the grant and the key when a client revokes its %s",
    async (name) => {
      const dan = await at().person("acme", { roles: ["Administrator"] });
      const coded = await authorize(running, dan);
      const { body } = await redeem(running, coded);
      expect(await keysOf(dan)).toBe(1);
      expect(await revoke(running, coded.client, body[name])).toBe(200);
      expect(await running.server.verifyToken(body.access_token)).toBeUndefined();
      expect((await refresh(running, coded.client, body.refresh_token)).status).toBe(400);
      expect(await keysOf(dan)).toBe(0);
    },
  );

  it("keeps the key as long as any program of the person needs it", async () => {
    const eve = await at().person("acme", { roles: ["Administrator"] });
    const [one, two] = [await authorize(running, eve), await authorize(running, eve)];
    const [first, second] = [await redeem(running, one), await redeem(running, two)];
    expect(await keysOf(eve)).toBe(1);
    await revoke(running, one.client, first.body.refresh_token);
    expect(await keysOf(eve)).toBe(1);
    expect(await running.server.verifyToken(second.body.access_token)).toBeDefined();
    await revoke(running, two.client, second.body.refresh_token);
    expect(await keysOf(eve)).toBe(0);
  });

  it("lets no client revoke or refresh what another has", async () => {
    const coded = await authorize(running, ann);
    const { body } = await redeem(running, coded);
    const other = await register(running);
    expect(await revoke(running, other, body.refresh_token)).toBe(200);
    expect(await running.server.verifyToken(body.access_token)).toBeDefined();
    expect((await refresh(running, other, body.refresh_token)).status).toBe(400);
    expect((await redeem(running, { ...coded, client: other })).status).toBe(400);
    expect(await running.server.verifyToken(body.access_token)).toBeDefined();
  });

  it("two people have tokens, keys and rights of their own", async () => {
    const zoe = await at().tenant("other");
    const bearers = await Promise.all(
      [ann, zoe].map(async (person) => {
        const { body } = await redeem(running, await authorize(running, person));
        return running.server.verifyToken(body.access_token);
      }),
    );
    const ids = bearers.map((bearer) => bearer?.personId ?? "");
    expect(new Set(ids).size).toBe(2);
    const credentials = await Promise.all(ids.map((id) => running.server.findCredential(id)));
    expect(credentials.map((one) => [one?.email, one?.tenantId])).toEqual([
      [ann.email, "acme"],
      [zoe.email, "other"],
    ]);
    expect(new Set(credentials.map((one) => one?.apiKey.reveal())).size).toBe(2);
  });

  verifies("C-61");
  it("gives no token for another resource, and takes none that was given for one", async () => {
    const client = await register(running);
    const { challenge } = makePkce();
    const asked = authorizeUrl(running, client, challenge, {
      resource: "https://elsewhere.example/mcp",
    });
    const refused = await openBrowser().open(asked);
    expect(new URL(refused.url).searchParams.get("error")).toBe("invalid_target");
    const coded = await authorize(running, ann);
    const wrong = await redeem(running, coded, { resource: "https://elsewhere.example/mcp" });
    expect(wrong).toMatchObject({ status: 400, body: { error: "invalid_target" } });
    const { body } = await redeem(running, await authorize(running, ann));
    const moved = await startAuthorization(at());
    expect(await moved.server.verifyToken(body.access_token)).toBeUndefined();
    await moved.close();
  });

  it("binds tokens to the resource also where a client does not name it", async () => {
    const client = await register(running);
    const { verifier, challenge } = makePkce();
    const browser = openBrowser();
    const first = await browser.open(
      authorizeUrl(running, client, challenge, { resource: undefined, scope: undefined }),
    );
    const second = await signIn(browser, first, ann);
    const last = await browser.submit(second, { action: "allow" });
    const code = new URL(last.url).searchParams.get("code") ?? "";
    const { body } = await redeem(running, { code, verifier, client });
    expect(await running.server.verifyToken(body.access_token)).toMatchObject({ scopes: ["read"] });
  });

  it.each([
    ["another verifier", { code_verifier: makePkce().verifier }],
    ["another redirect", { redirect_uri: "http://127.0.0.1:33418/other" }],
  ])("refuses a code with %s", async (_what, wrong) => {
    const coded = await authorize(running, ann);
    expect(await redeem(running, coded, wrong)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    expect((await redeem(running, coded)).status).toBe(200);
  });

  it.each([
    [
      "no challenge",
      { code_challenge: undefined, code_challenge_method: undefined },
      "invalid_request",
    ],
    ["a plain challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["a token at once", { response_type: "token" }, "unsupported_response_type"],
    ["no scope that there is", { scope: "everything" }, "invalid_scope"],
    ["no question to the person", { prompt: "none" }, "login_required"],
  ])("refuses a request with %s", async (_what, wrong, error) => {
    const client = await register(running);
    const asked = authorizeUrl(running, client, makePkce().challenge, wrong);
    const { url } = await openBrowser().open(asked);
    expect(url.startsWith(client.redirect)).toBe(true);
    const { search, hash } = new URL(url);
    const told = Object.fromEntries(new URLSearchParams(search || hash.slice(1)));
    expect(told).toMatchObject({ error, state: "the state", iss: running.url });
  });

  it("sends nobody to an address that the client has not named", async () => {
    const client = await register(running, { redirect_uris: ["https://host.example/callback"] });
    const elsewhere = { ...client, redirect: "https://host.example.evil.example/callback" };
    const shown = await openBrowser().open(authorizeUrl(running, elsewhere, makePkce().challenge));
    expect(shown.status).toBe(400);
    expect(shown.url.startsWith(running.url)).toBe(true);
    expect(shown.text).toContain("This cannot continue");
    const stranger = { ...client, clientId: "nobody" };
    const unknown = await openBrowser().open(authorizeUrl(running, stranger, makePkce().challenge));
    expect(unknown.status).toBe(400);
  });

  it("takes any port of this machine, since programs listen where they can", async () => {
    const client = await register(running);
    const redirect = "http://127.0.0.1:50123/callback";
    const coded = await authorize(running, ann, { client: { ...client, redirect } });
    expect((await redeem(running, coded)).status).toBe(200);
  });

  it("lets the person allow more than was asked for, since many hosts ask once", async () => {
    const client = await register(running);
    const { verifier, challenge } = makePkce();
    const browser = openBrowser();
    const first = await browser.open(authorizeUrl(running, client, challenge, { scope: "admin" }));
    const consent = await signIn(browser, first, ann);
    expect(ticked(consent.text)).toEqual(["read", "admin"]);
    const scope = ["read", "write"];
    const last = await browser.submit(consent, { scope, action: "allow" });
    const code = new URL(last.url).searchParams.get("code") ?? "";
    const { body } = await redeem(running, { code, verifier, client });
    expect(body).toMatchObject({ scope: "read write" });
    expect(await running.server.verifyToken(body.access_token)).toMatchObject({ scopes: scope });
    const next = await refresh(running, client, body.refresh_token);
    expect(await running.server.verifyToken(next.body.access_token)).toMatchObject({
      scopes: scope,
    });
  });

  it("gives nothing more than the person ticked", async () => {
    const client = await register(running);
    const { verifier, challenge } = makePkce();
    const browser = openBrowser();
    const first = await browser.open(
      authorizeUrl(running, client, challenge, { scope: "read write admin offline_access openid" }),
    );
    const second = await signIn(browser, first, ann);
    const none = await browser.submit(second, { scope: [], action: "allow" });
    expect(none.text).toContain("Choose what it may do, or cancel.");
    const last = await browser.submit(none, { scope: ["read", "admin"], action: "allow" });
    const code = new URL(last.url).searchParams.get("code") ?? "";
    const { body } = await redeem(running, { code, verifier, client });
    expect(await running.server.verifyToken(body.access_token)).toMatchObject({
      scopes: ["read", "admin"],
    });
    expect(body).not.toHaveProperty("id_token");
    const next = await refresh(running, client, body.refresh_token);
    expect(await running.server.verifyToken(next.body.access_token)).toMatchObject({
      scopes: ["read", "admin"],
    });
  });

  it("lets a person of several companies choose, and remembers each apart", async () => {
    const flo = await at().person("acme", { roles: ["Administrator"] });
    await at().tenant("second");
    await at().store.transaction(async (tx) => {
      const member = await tx
        .selectFrom("memberships")
        .selectAll()
        .where("user_id", "=", flo.userId)
        .executeTakeFirstOrThrow();
      const role = await tx
        .selectFrom("roles")
        .selectAll()
        .where("tenant_id", "=", "second")
        .executeTakeFirst();
      await tx
        .insertInto("memberships")
        .values({ ...member, tenant_id: "second" })
        .execute();
      expect(role === undefined || role.tenant_id === "second").toBe(true);
    });
    const ids = [];
    for (const tenant of ["acme", "second"]) {
      const { body } = await redeem(running, await authorize(running, flo, { tenant }));
      const bearer = await running.server.verifyToken(body.access_token);
      const credential = await running.server.findCredential(bearer?.personId ?? "");
      expect(credential?.tenantId).toBe(tenant);
      ids.push(bearer?.personId);
    }
    expect(new Set(ids).size).toBe(2);
  });

  it("has a person sign in again when the platform takes their key no more, and not before", async () => {
    const hal = await at().person("acme", { roles: ["Administrator"] });
    const coded = await authorize(running, hal);
    const { body } = await redeem(running, coded);
    const { personId = "" } = (await running.server.verifyToken(body.access_token)) ?? {};
    expect(await running.server.revokeIfKeyInvalid(personId)).toBe(false);
    expect(await running.server.verifyToken(body.access_token)).toBeDefined();
    await at().store.transaction(async (tx) => {
      await tx.deleteFrom("api_keys").where("user_id", "=", hal.userId).execute();
    });
    expect(await running.server.revokeIfKeyInvalid(personId)).toBe(true);
    expect(await running.server.verifyToken(body.access_token)).toBeUndefined();
    const again = await redeem(running, await authorize(running, hal));
    expect(await running.server.verifyToken(again.body.access_token)).toBeDefined();
    expect(await keysOf(hal)).toBe(1);
  });

  it("forgets what has expired, and ends keys that no grant needs any more", async () => {
    const gus = await at().person("acme", { roles: ["Administrator"] });
    const coded = await authorize(running, gus);
    const { body } = await redeem(running, coded);
    await running.server.purge();
    expect(await running.server.verifyToken(body.access_token)).toBeDefined();
    const store = await at().oauthStore();
    await store.transaction(async (tx) => {
      await tx
        .updateTable("sign_in_records")
        .set({ expires_at: 1 })
        .where("kind", "in", ["AccessToken", "RefreshToken", "Grant"])
        .execute();
    });
    expect(await running.server.verifyToken(body.access_token)).toBeUndefined();
    await running.server.purge();
    expect(await keysOf(gus)).toBe(0);
    const left = await store.read.selectFrom("sign_in_records").select("kind").execute();
    expect(
      left.filter(({ kind }) => ["AccessToken", "RefreshToken", "Grant", "Person"].includes(kind)),
    ).toEqual([]);
  });
});
