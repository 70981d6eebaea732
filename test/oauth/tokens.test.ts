import { expect, it } from "vitest";
import { hashId } from "../../src/records/port.ts";
import {
  authorize,
  codeOf,
  redeem,
  refresh,
  register,
  revoke,
  signIn,
  startAuthorization,
} from "../support/oauth.ts";
import { makePkce } from "../support/pkce.ts";
import { onEveryStore, type Person } from "../support/platform.ts";
import { openSignIn, useAuthorization } from "./setup.ts";

onEveryStore("the authorization server", (at) => {
  const oauth = useAuthorization(at);

  const countKeys = async ({ userId }: Person): Promise<number> => {
    const rows = await at().store.read.selectFrom("api_keys").selectAll().execute();
    return rows.filter(({ user_id }) => user_id === userId).length;
  };

  it("issues a token for the resource after sign-in and consent", async () => {
    const coded = await authorize(oauth.running, oauth.ann);
    const { status, body } = await redeem(oauth.running, coded);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: "read write" });
    const bearer = await oauth.running.server.verifyToken(body.access_token);
    expect(bearer).toMatchObject({ clientId: coded.client.clientId, scopes: ["read", "write"] });
    const credential = await oauth.running.server.findCredential(bearer?.personId ?? "");
    expect(credential).toMatchObject({ email: oauth.ann.email, tenantId: "acme" });
    expect(credential?.apiKey.reveal()).toMatch(/^rcvg_/);
    expect(await oauth.running.server.verifyToken("rubbish")).toBeUndefined();
  });

  it("uses the password once, and stores and sends no secret in plain text", async () => {
    const bob = await at().person("acme", { roles: ["Administrator"] });
    const before = oauth.running.sent.length;
    const coded = await authorize(oauth.running, bob);
    const { body } = await redeem(oauth.running, coded);
    const sent = oauth.running.sent.slice(before);
    expect(sent.filter((request) => request.includes(bob.password))).toHaveLength(1);
    expect(sent.filter((request) => request.includes(body.access_token))).toEqual([]);
    expect(sent.at(-1)).toContain("/authentication/v1/logout");
    const { personId = "" } = (await oauth.running.server.verifyToken(body.access_token)) ?? {};
    const key = (await oauth.running.server.findCredential(personId))?.apiKey.reveal() ?? "";
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

  it("rotates refresh tokens, and revokes the grant if an old one is reused", async () => {
    const cleo = await at().person("acme", { roles: ["Administrator"] });
    const keys = await countKeys(cleo);
    const coded = await authorize(oauth.running, cleo);
    const first = (await redeem(oauth.running, coded)).body;
    const second = await refresh(oauth.running, coded.client, first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.body.refresh_token).not.toBe(first.refresh_token);
    expect(await oauth.running.server.verifyToken(second.body.access_token)).toBeDefined();
    const third = await refresh(oauth.running, coded.client, second.body.refresh_token);
    expect(third.status).toBe(200);
    const replayed = await refresh(oauth.running, coded.client, first.refresh_token);
    expect(replayed).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    const after = await refresh(oauth.running, coded.client, third.body.refresh_token);
    expect(after).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    for (const { access_token: token } of [first, second.body, third.body]) {
      expect(await oauth.running.server.verifyToken(token)).toBeUndefined();
    }
    expect(await countKeys(cleo)).toBe(keys);
  });

  it("accepts a code once, and revokes its tokens if it is reused", async () => {
    const coded = await authorize(oauth.running, oauth.ann);
    const { body } = await redeem(oauth.running, coded);
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeDefined();
    expect(await redeem(oauth.running, coded)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeUndefined();
  });

  it("accepts a code once when two processes receive it at the same time", async () => {
    const other = await startAuthorization(at(), { issuer: oauth.running.url });
    const coded = await authorize(oauth.running, oauth.ann);
    const there = { ...other, resource: oauth.running.resource };
    const answers = await Promise.all(
      [oauth.running, there, oauth.running, there].map((one) => redeem(one, coded)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    const tokens = answers.flatMap(({ body }) => body.access_token ?? []);
    const good = await Promise.all(tokens.map((token) => oauth.running.server.verifyToken(token)));
    expect(good.filter((bearer) => bearer !== undefined)).toEqual([]);
    await other.close();
  });

  it("refuses a token that was stored after its grant was revoked", async () => {
    const { body } = await redeem(oauth.running, await authorize(oauth.running, oauth.ann));
    const store = await at().oauthStore();
    const token = () =>
      store.read
        .selectFrom("sign_in_records")
        .select("grant_id")
        .where("kind", "=", "AccessToken")
        .where("id", "=", hashId(body.access_token));
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeDefined();
    const { grant_id: grant } = await token().executeTakeFirstOrThrow();
    await store.transaction((tx) =>
      tx
        .deleteFrom("sign_in_records")
        .where("kind", "=", "Grant")
        .where("id", "=", grant ?? "")
        .execute(),
    );
    expect(await token().execute()).toHaveLength(1);
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeUndefined();
  });

  it("continues a sign-in that another process started", async () => {
    const coded = await authorize(oauth.running, oauth.ann);
    const later = await startAuthorization(at(), { issuer: oauth.running.url });
    const there = { ...later, resource: oauth.running.resource };
    const { status, body } = await redeem(there, coded);
    expect(status).toBe(200);
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeDefined();
    const next = await refresh(oauth.running, coded.client, body.refresh_token);
    expect(next.status).toBe(200);
    expect(await later.server.verifyToken(next.body.access_token)).toBeDefined();
    await later.close();
  });

  it("serves the pages of one sign-in from two processes", async () => {
    const other = await startAuthorization(at(), { issuer: oauth.running.url });
    const { browser, shown, ...asked } = await openSignIn(oauth.running);
    const there = shown.url.replace(oauth.running.url, other.url);
    const posted = await signIn(browser, { ...shown, url: there }, oauth.ann);
    const back = await browser.open(posted.url.replace(other.url, oauth.running.url));
    const code = codeOf(await browser.submit(back, { action: "allow" }));
    const there2 = { ...other, resource: oauth.running.resource };
    expect((await redeem(there2, { code, ...asked })).status).toBe(200);
    await other.close();
  });

  it.each(["access_token", "refresh_token"] as const)(
    "ends the grant and deletes the API key when a client revokes its %s",
    async (name) => {
      const dan = await at().person("acme", { roles: ["Administrator"] });
      const coded = await authorize(oauth.running, dan);
      const { body } = await redeem(oauth.running, coded);
      expect(await countKeys(dan)).toBe(1);
      expect(await revoke(oauth.running, coded.client, body[name])).toBe(200);
      expect(await oauth.running.server.verifyToken(body.access_token)).toBeUndefined();
      expect((await refresh(oauth.running, coded.client, body.refresh_token)).status).toBe(400);
      expect(await countKeys(dan)).toBe(0);
    },
  );

  it("deletes the API key with the last grant that needs it", async () => {
    const eve = await at().person("acme", { roles: ["Administrator"] });
    const [one, two] = [await authorize(oauth.running, eve), await authorize(oauth.running, eve)];
    const [first, second] = [await redeem(oauth.running, one), await redeem(oauth.running, two)];
    expect(await countKeys(eve)).toBe(1);
    await revoke(oauth.running, one.client, first.body.refresh_token);
    expect(await countKeys(eve)).toBe(1);
    expect(await oauth.running.server.verifyToken(second.body.access_token)).toBeDefined();
    await revoke(oauth.running, two.client, second.body.refresh_token);
    expect(await countKeys(eve)).toBe(0);
  });

  it("refuses to revoke or refresh the tokens of another client", async () => {
    const coded = await authorize(oauth.running, oauth.ann);
    const { body } = await redeem(oauth.running, coded);
    const other = await register(oauth.running);
    expect(await revoke(oauth.running, other, body.refresh_token)).toBe(200);
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeDefined();
    expect((await refresh(oauth.running, other, body.refresh_token)).status).toBe(400);
    expect((await redeem(oauth.running, { ...coded, client: other })).status).toBe(400);
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeDefined();
  });

  it("gives two people separate tokens, keys and tenants", async () => {
    const zoe = await at().tenant("other");
    const bearers = await Promise.all(
      [oauth.ann, zoe].map(async (person) => {
        const { body } = await redeem(oauth.running, await authorize(oauth.running, person));
        return oauth.running.server.verifyToken(body.access_token);
      }),
    );
    const ids = bearers.map((bearer) => bearer?.personId ?? "");
    expect(new Set(ids).size).toBe(2);
    const credentials = await Promise.all(ids.map((id) => oauth.running.server.findCredential(id)));
    expect(credentials.map((one) => [one?.email, one?.tenantId])).toEqual([
      [oauth.ann.email, "acme"],
      [zoe.email, "other"],
    ]);
    expect(new Set(credentials.map((one) => one?.apiKey.reveal())).size).toBe(2);
  });

  it.each([
    ["another verifier", { code_verifier: makePkce().verifier }],
    ["another redirect", { redirect_uri: "http://127.0.0.1:33418/other" }],
  ])("refuses a code with %s", async (_what, wrong) => {
    const coded = await authorize(oauth.running, oauth.ann);
    expect(await redeem(oauth.running, coded, wrong)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    expect((await redeem(oauth.running, coded)).status).toBe(200);
  });

  it("revokes the grant when the platform refuses the API key, and not before", async () => {
    const hal = await at().person("acme", { roles: ["Administrator"] });
    const coded = await authorize(oauth.running, hal);
    const { body } = await redeem(oauth.running, coded);
    const { personId = "" } = (await oauth.running.server.verifyToken(body.access_token)) ?? {};
    expect(await oauth.running.server.revokeIfKeyInvalid(personId)).toBe(false);
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeDefined();
    await at().store.transaction(async (tx) => {
      await tx.deleteFrom("api_keys").where("user_id", "=", hal.userId).execute();
    });
    expect(await oauth.running.server.revokeIfKeyInvalid(personId)).toBe(true);
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeUndefined();
    const again = await redeem(oauth.running, await authorize(oauth.running, hal));
    expect(await oauth.running.server.verifyToken(again.body.access_token)).toBeDefined();
    expect(await countKeys(hal)).toBe(1);
  });

  it("purges expired records and deletes API keys without a grant", async () => {
    const gus = await at().person("acme", { roles: ["Administrator"] });
    const coded = await authorize(oauth.running, gus);
    const { body } = await redeem(oauth.running, coded);
    await oauth.running.server.purge();
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeDefined();
    const store = await at().oauthStore();
    await store.transaction(async (tx) => {
      await tx
        .updateTable("sign_in_records")
        .set({ expires_at: 1 })
        .where("kind", "in", ["AccessToken", "RefreshToken", "Grant"])
        .execute();
    });
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeUndefined();
    await oauth.running.server.purge();
    expect(await countKeys(gus)).toBe(0);
    const left = await store.read.selectFrom("sign_in_records").select("kind").execute();
    expect(
      left.filter(({ kind }) => ["AccessToken", "RefreshToken", "Grant", "Person"].includes(kind)),
    ).toEqual([]);
  });
});
