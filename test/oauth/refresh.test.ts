import {
  discoverAuthorizationServerMetadata,
  refreshAuthorization,
  registerClient,
} from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import { hashId } from "../../src/records/port.ts";
import {
  authorize,
  redeem,
  refresh,
  register,
  type Registered,
  startAuthorization,
} from "../support/oauth.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { useAuthorization } from "./setup.ts";

onEveryStore("a refresh", (at) => {
  const oauth = useAuthorization(at);

  const connect = async (): Promise<{ client: Registered; token: string }> => {
    const coded = await authorize(oauth.running, oauth.ann);
    const { body } = await redeem(oauth.running, coded);
    return { client: coded.client, token: body.refresh_token };
  };

  const works = async (token: string): Promise<boolean> =>
    (await oauth.running.server.verifyToken(token)) !== undefined;

  /** Sets the time at which a refresh token was used. */
  const setUsedAt = async (token: string, usedAt: number): Promise<void> => {
    await (
      await at().oauthStore()
    ).transaction((tx) =>
      tx
        .updateTable("sign_in_records")
        .set({ consumed_at: usedAt })
        .where("kind", "=", "RefreshToken")
        .where("id", "=", hashId(token))
        .execute(),
    );
  };

  verifies("HS-01");
  it("can be used again after a lost answer, and both answers are valid", async () => {
    const { client, token } = await connect();
    const lost = await refresh(oauth.running, client, token);
    const again = await refresh(oauth.running, client, token);
    expect([lost.status, again.status]).toEqual([200, 200]);
    for (const { body } of [again, lost]) {
      expect(await works(body.access_token)).toBe(true);
      expect((await refresh(oauth.running, client, body.refresh_token)).status).toBe(200);
    }
  });

  it("by five windows at once, at two nodes, keeps all of them signed in", async () => {
    const other = await startAuthorization(at(), { issuer: oauth.running.url });
    const { client, token } = await connect();
    const nodes = [oauth.running, other, oauth.running, other, oauth.running];
    const answers = await Promise.all(nodes.map((node) => refresh(node, client, token)));
    expect(answers.map(({ status }) => status)).toEqual(nodes.map(() => 200));
    for (const { body } of answers) {
      expect(await works(body.access_token)).toBe(true);
      const next = await refresh(other, client, body.refresh_token);
      expect(next.status).toBe(200);
      expect(await works(next.body.access_token)).toBe(true);
    }
    await other.close();
  });

  it("with a token whose successor was used ends the grant, at another node too", async () => {
    const other = await startAuthorization(at(), { issuer: oauth.running.url });
    const { client, token } = await connect();
    const second = await refresh(oauth.running, client, token);
    const third = await refresh(oauth.running, client, second.body.refresh_token);
    const reused = await refresh(other, client, token);
    expect(reused).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(await works(third.body.access_token)).toBe(false);
    expect((await refresh(oauth.running, client, third.body.refresh_token)).status).toBe(400);
    await other.close();
  });

  it.each([
    [59_000, 200],
    [60_500, 400],
  ])("that is repeated after %i ms answers %i", async (ms, status) => {
    const { client, token } = await connect();
    const second = await refresh(oauth.running, client, token);
    await setUsedAt(token, Date.now() - ms);
    expect((await refresh(oauth.running, client, token)).status).toBe(status);
    expect(await works(second.body.access_token)).toBe(status === 200);
  });

  verifies("HS-02");
  it("gets granted scopes only, not others that the client names", async () => {
    const { resource } = oauth.running;
    const coded = await authorize({ ...oauth.running, resource: `${resource}/` }, oauth.ann);
    const { status, body } = await redeem(oauth.running, coded);
    expect(status).toBe(200);
    let token = body.refresh_token;
    for (const [more, scope] of [
      [{ scope: "openid profile mcp:tools" }, body.scope],
      [{ scope: "everything read" }, "read"],
      [{ scope: "", resource: "" }, body.scope],
      [{ resource: `${resource}/` }, body.scope],
      [{ resource: resource.replace("127.0.0.1", "localhost") }, body.scope],
    ] as const) {
      const answer = await refresh(oauth.running, coded.client, token, more);
      expect([more, answer.status, answer.body.scope]).toEqual([more, 200, scope]);
      token = answer.body.refresh_token;
    }
    const other = { resource: "https://other.example/mcp" };
    expect((await refresh(oauth.running, coded.client, token, other)).body).toMatchObject({
      error: "invalid_target",
    });
  });

  it("is not repeated for another client", async () => {
    const { client, token } = await connect();
    const second = await refresh(oauth.running, client, token);
    const other = await register(oauth.running);
    expect((await refresh(oauth.running, other, token)).status).toBe(400);
    expect(await works(second.body.access_token)).toBe(true);
  });

  verifies("HS-01", "HS-02");
  it("by the SDK's client, registered with a secret method, works twice with one token", async () => {
    const redirect = "http://127.0.0.1:33418/callback";
    const metadata = await discoverAuthorizationServerMetadata(oauth.running.url);
    const registered = await registerClient(oauth.running.url, {
      ...(metadata === undefined ? {} : { metadata }),
      clientMetadata: {
        client_name: "SDK host",
        redirect_uris: [redirect],
        token_endpoint_auth_method: "client_secret_post",
      },
    });
    expect(registered.client_secret).toBeUndefined();
    const client = { clientId: registered.client_id, redirect };
    const coded = await authorize(oauth.running, oauth.ann, { client });
    const { body } = await redeem(oauth.running, coded);
    const asked = {
      ...(metadata === undefined ? {} : { metadata }),
      clientInformation: registered,
      refreshToken: body.refresh_token,
    };
    const [one, two] = [
      await refreshAuthorization(oauth.running.url, asked),
      await refreshAuthorization(oauth.running.url, asked),
    ];
    for (const { access_token } of [one, two]) expect(await works(access_token)).toBe(true);
  });
});
