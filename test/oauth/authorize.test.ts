import { expect, it } from "vitest";
import { openBrowser } from "../support/browser.ts";
import {
  authorize,
  authorizeUrl,
  codeOf,
  redeem,
  refresh,
  register,
  signIn,
  startAuthorization,
} from "../support/oauth.ts";
import { onEveryStore } from "../support/platform.ts";
import { findRow } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";
import { openSignIn, useAuthorization } from "./setup.ts";

/** Returns the scopes that a page has preselected. */
const findTicked = (page: string): string[] =>
  [...page.matchAll(/<input[^>]*name="scope"[^>]*>/g)].flatMap(([tag]) =>
    /\schecked\b/.test(tag) ? (/value="(\w+)"/.exec(tag)?.[1] ?? []) : [],
  );

onEveryStore("an authorization request", (at) => {
  const oauth = useAuthorization(at);

  it("publishes metadata of its endpoints and features", async () => {
    for (const name of ["oauth-authorization-server", "openid-configuration"]) {
      const metadata = await (await fetch(`${oauth.running.url}/.well-known/${name}`)).json();
      expect(metadata).toMatchObject({
        issuer: oauth.running.url,
        authorization_endpoint: `${oauth.running.url}/oauth/authorize`,
        token_endpoint: `${oauth.running.url}/oauth/token`,
        revocation_endpoint: `${oauth.running.url}/oauth/revoke`,
        registration_endpoint: `${oauth.running.url}/oauth/register`,
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

  it.each([
    "https://evil.example/take?a=1",
    "http://127.0.0.1:1/callback",
    "com.example.app:/callback",
  ])("redirects a fault before the sign-in to no other site (%s)", async (redirect) => {
    const client = await register(oauth.running, { redirect_uris: [redirect] });
    const isForeign = redirect.startsWith("https:");
    const faults = [
      { resource: "https://elsewhere.example/mcp" },
      { prompt: "none" },
      { response_type: "token" },
      { code_challenge: undefined },
      { response_mode: "fragment", code_challenge_method: "plain" },
      { response_mode: "form_post", prompt: "none" },
    ];
    for (const fault of faults) {
      const asked = authorizeUrl(oauth.running, client, fault);
      const answer = await fetch(asked, { redirect: "manual" });
      const [to, page] = [answer.headers.get("location"), await answer.text()];
      if (isForeign) {
        expect({ status: answer.status, to }).toEqual({ status: 400, to: null });
        expect(page).toContain("This cannot continue");
        expect(page).toContain("evil.example");
        expect(page).not.toContain("<script");
        expect(page).toMatch(/<a href="https:\/\/evil\.example\/take\?a=1[^"]*" rel="noreferrer">/);
      } else if (to === null) expect(page).toContain(`action="${redirect}"`);
      else
        expect(
          [`${redirect}?error=`, `${redirect}#error=`].some((start) => to.startsWith(start)),
        ).toBe(true);
    }
  });

  it("links to no address that a client has not registered", async () => {
    const client = await register(oauth.running, { redirect_uris: ["https://evil.example/take"] });
    const elsewhere = { ...client, redirect: "https://other.example/" };
    for (const fault of [{}, { prompt: "none" }, { response_type: "token" }]) {
      const asked = authorizeUrl(oauth.running, elsewhere, fault);
      const answer = await fetch(asked, { redirect: "manual" });
      expect(answer.status).toBe(400);
      expect(await answer.text()).not.toContain("other.example");
    }
  });

  verifies("C-61");
  it("issues no token for another resource, and refuses such tokens", async () => {
    const elsewhere = { resource: "https://elsewhere.example/mcp" };
    const { shown } = await openSignIn(oauth.running, elsewhere);
    expect(new URL(shown.url).searchParams.get("error")).toBe("invalid_target");
    const coded = await authorize(oauth.running, oauth.ann);
    const wrong = await redeem(oauth.running, coded, elsewhere);
    expect(wrong).toMatchObject({ status: 400, body: { error: "invalid_target" } });
    const { body } = await redeem(oauth.running, await authorize(oauth.running, oauth.ann));
    const moved = await startAuthorization(at());
    expect(await moved.server.verifyToken(body.access_token)).toBeUndefined();
    await moved.close();
  });

  it("binds tokens to the resource if the client does not name it", async () => {
    const unnamed = { resource: undefined, scope: undefined };
    const { browser, shown, ...asked } = await openSignIn(oauth.running, unnamed);
    const second = await signIn(browser, shown, oauth.ann);
    const code = codeOf(await browser.submit(second, { action: "allow" }));
    const { body } = await redeem(oauth.running, { code, ...asked });
    expect(await oauth.running.server.verifyToken(body.access_token)).toMatchObject({
      scopes: ["read"],
    });
  });

  it.each([
    [
      "no challenge",
      { code_challenge: undefined, code_challenge_method: undefined },
      "invalid_request",
    ],
    ["a plain challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["the implicit flow", { response_type: "token" }, "unsupported_response_type"],
    ["prompt=none", { prompt: "none" }, "login_required"],
  ])("refuses a request with %s", async (_what, wrong, error) => {
    const client = await register(oauth.running);
    const { shown } = await openSignIn(oauth.running, { client, ...wrong });
    const { url } = shown;
    expect(url.startsWith(client.redirect)).toBe(true);
    const { search, hash } = new URL(url);
    const parameters = Object.fromEntries(new URLSearchParams(search || hash.slice(1)));
    expect(parameters).toMatchObject({ error, state: "the state", iss: oauth.running.url });
  });

  verifies("HS-02");
  it.each([
    ["an unknown scope", { scope: "everything" }, ["read"]],
    ["an empty scope", { scope: "" }, ["read"]],
    ["blanks around scopes", { scope: "  write   read " }, ["read", "write"]],
    ["a choice of accounts", { prompt: "select_account" }, ["read", "write"]],
    ["several prompts", { prompt: "select_account  consent" }, ["read", "write"]],
    ["an unknown prompt", { prompt: "create" }, ["read", "write"]],
    [
      "hints of OpenID Connect",
      { max_age: "0", nonce: "n", claims: "{}", display: "page" },
      ["read", "write"],
    ],
    ["an ID token as a hint", { id_token_hint: "x", acr_values: "1" }, ["read", "write"]],
    ["an unknown response mode", { response_mode: "web_message" }, ["read", "write"]],
    ["blanks around the response type", { response_type: " code " }, ["read", "write"]],
    [
      "empty parameters",
      { login_hint: "", ui_locales: "", nonce: "", audience: "" },
      ["read", "write"],
    ],
  ] as const)("accepts a request with %s", async (_what, more, ticked) => {
    const { browser, shown, ...asked } = await openSignIn(oauth.running, more);
    const consent = await signIn(browser, shown, oauth.ann);
    expect(findTicked(consent.text)).toEqual(ticked);
    const code = codeOf(await browser.submit(consent, { action: "allow" }));
    const { status, body } = await redeem(oauth.running, { code, ...asked });
    expect([status, body.scope]).toEqual([200, ticked.join(" ")]);
  });

  it("accepts a parameter that is repeated with the same value, and a request by POST", async () => {
    const client = await register(oauth.running);
    const asked = new URL(authorizeUrl(oauth.running, client));
    for (const name of ["state", "resource", "client_id"]) {
      asked.searchParams.append(name, asked.searchParams.get(name) ?? "");
    }
    expect((await openBrowser().open(asked.href)).text).toContain("Sign in to connect");
    const posted = await fetch(`${oauth.running.url}/oauth/authorize`, {
      method: "POST",
      body: asked.searchParams,
      redirect: "manual",
    });
    expect(posted.status).toBe(303);
    const shown = await openBrowser().open(posted.headers.get("location") ?? "");
    expect(shown.text).toContain("Sign in to connect");
  });

  verifies("HS-03");
  it("accepts each loopback name as the resource", async () => {
    const resource = oauth.running.resource.replace("127.0.0.1", "localhost");
    const running = { ...oauth.running, resource };
    const { status, body } = await redeem(running, await authorize(running, oauth.ann));
    expect(status).toBe(200);
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeDefined();
    // Of a host that knows no metadata of the resource: the server's own address.
    for (const named of [
      oauth.running.url,
      `${oauth.running.url.replace("127.0.0.1", "[::1]")}/`,
    ]) {
      const own = { ...oauth.running, resource: named };
      const coded = await authorize(own, oauth.ann);
      const issued = await redeem(own, coded);
      expect(await oauth.running.server.verifyToken(issued.body.access_token)).toBeDefined();
      expect((await refresh(own, coded.client, issued.body.refresh_token)).status).toBe(200);
    }
    const elsewhere = { resource: resource.replace(/:\d+/, ":1") };
    const { shown } = await openSignIn(oauth.running, elsewhere);
    expect(shown.url).toContain("error=invalid_target");
  });

  verifies("HS-04");
  it.each([
    ["token", "GET", 405, "POST, OPTIONS"],
    ["register", "GET", 405, "POST, OPTIONS"],
    ["revoke", "PUT", 405, "POST, OPTIONS"],
    ["revoke", "OPTIONS", 204, "POST, OPTIONS"],
    ["jwks", "POST", 405, "GET, HEAD, OPTIONS"],
    ["authorize", "DELETE", 405, "GET, HEAD, POST, OPTIONS"],
    ["account", "PATCH", 405, "GET, HEAD, POST, OPTIONS"],
  ])("names the methods of /oauth/%s after %s", async (name, method, status, allow) => {
    const answer = await fetch(`${oauth.running.url}/oauth/${name}`, { method });
    expect([answer.status, answer.headers.get("allow")]).toEqual([status, allow]);
    if (status === 405) expect(await answer.text()).toContain(`This address has no ${method}`);
  });

  it("answers programs that look for other metadata with JSON", async () => {
    const url = `${oauth.running.url}/.well-known/oauth-authorization-server`;
    expect((await fetch(`${url}/`)).status).toBe(200);
    const other = await fetch(`${url}/mcp`);
    expect(other.status).toBe(404);
    expect(await other.json()).toMatchObject({ error: "invalid_request" });
  });

  it.each(["token", "register", "revoke", "jwks"])(
    "lets scripts of an accepted origin use /oauth/%s",
    async (name) => {
      const url = `${oauth.running.url}/oauth/${name}`;
      const origin = "https://app.example.com";
      const asked = { origin, "access-control-request-method": "POST" };
      const headers = { ...asked, "access-control-request-headers": "content-type" };
      const preflight = await fetch(url, { method: "OPTIONS", headers });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
      expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type");
      const method = name === "jwks" ? "GET" : "POST";
      const answer = await fetch(url, { method, headers: { origin } });
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    },
  );

  it("does not let scripts of other origins register clients", async () => {
    const headers = {
      origin: "https://app.example.com:444",
      "access-control-request-method": "POST",
    };
    const url = `${oauth.running.url}/oauth/register`;
    const preflight = await fetch(url, { method: "OPTIONS", headers });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("does not redirect to a URI that the client has not registered", async () => {
    const client = await register(oauth.running, {
      redirect_uris: ["https://host.example/callback"],
    });
    const elsewhere = { ...client, redirect: "https://host.example.evil.example/callback" };
    const { shown } = await openSignIn(oauth.running, { client: elsewhere });
    expect(shown.status).toBe(400);
    expect(shown.url.startsWith(oauth.running.url)).toBe(true);
    expect(shown.text).toContain("This cannot continue");
    const unregistered = { ...client, clientId: "nobody" };
    const unknown = await openSignIn(oauth.running, { client: unregistered });
    expect(unknown.shown.status).toBe(400);
  });

  it("accepts any port of a loopback redirect", async () => {
    const client = await register(oauth.running);
    const redirect = "http://127.0.0.1:50123/callback";
    const coded = await authorize(oauth.running, oauth.ann, { client: { ...client, redirect } });
    expect((await redeem(oauth.running, coded)).status).toBe(200);
  });

  it("lets the person grant more than the client requested", async () => {
    const { browser, shown, ...asked } = await openSignIn(oauth.running, { scope: "admin" });
    const consent = await signIn(browser, shown, oauth.ann);
    expect(findTicked(consent.text)).toEqual(["read", "admin"]);
    const scope = ["read", "write"];
    const code = codeOf(await browser.submit(consent, { scope, action: "allow" }));
    const { body } = await redeem(oauth.running, { code, ...asked });
    expect(body).toMatchObject({ scope: "read write" });
    expect(await oauth.running.server.verifyToken(body.access_token)).toMatchObject({
      scopes: scope,
    });
    const next = await refresh(oauth.running, asked.client, body.refresh_token);
    expect(await oauth.running.server.verifyToken(next.body.access_token)).toMatchObject({
      scopes: scope,
    });
  });

  it("grants only the scopes that the person selected", async () => {
    const every = { scope: "read write admin offline_access openid" };
    const { browser, shown, ...asked } = await openSignIn(oauth.running, every);
    const second = await signIn(browser, shown, oauth.ann);
    const none = await browser.submit(second, { scope: [], action: "allow" });
    expect(none.text).toContain("Choose what it may do, or cancel.");
    const last = await browser.submit(none, { scope: ["read", "admin"], action: "allow" });
    const { body } = await redeem(oauth.running, { code: codeOf(last), ...asked });
    expect(await oauth.running.server.verifyToken(body.access_token)).toMatchObject({
      scopes: ["read", "admin"],
    });
    expect(body).not.toHaveProperty("id_token");
    const next = await refresh(oauth.running, asked.client, body.refresh_token);
    expect(await oauth.running.server.verifyToken(next.body.access_token)).toMatchObject({
      scopes: ["read", "admin"],
    });
  });

  it("lets a person of several companies choose, with a separate identity for each", async () => {
    const flo = await at().person("acme", { roles: ["Administrator"] });
    await at().tenant("second");
    await at().store.transaction(async (tx) => {
      const member = await findRow(tx, "memberships", { user_id: flo.userId });
      await tx
        .insertInto("memberships")
        .values({ ...member, tenant_id: "second" })
        .execute();
    });
    const ids = [];
    for (const tenant of ["acme", "second"]) {
      const { body } = await redeem(oauth.running, await authorize(oauth.running, flo, { tenant }));
      const bearer = await oauth.running.server.verifyToken(body.access_token);
      const credential = await oauth.running.server.findCredential(bearer?.personId ?? "");
      expect(credential?.tenantId).toBe(tenant);
      ids.push(bearer?.personId);
    }
    expect(new Set(ids).size).toBe(2);
  });
});
