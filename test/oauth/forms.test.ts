import { describe, expect, it } from "vitest";
import { openBrowser, type Shown } from "../support/browser.ts";
import {
  authorizeUrl,
  codeOf,
  redeem,
  register,
  signIn,
  startAuthorization,
} from "../support/oauth.ts";
import { rawRequest, rawSocket } from "../support/raw-socket.ts";
import { verifies } from "../support/verifies.ts";
import { openSignIn, useAuthorization, usePlatform } from "./setup.ts";

const at = usePlatform();
const oauth = useAuthorization(at);

describe("the forms of a sign-in", () => {
  it("have headers against framing, storing, sniffing and foreign content", async () => {
    const { shown, browser } = await openSignIn(oauth.running);
    const account = await browser.open(`${oauth.running.url}/oauth/account`);
    const consent = await signIn(browser, shown, oauth.ann);
    const unknown = await browser.open(`${oauth.running.url}/oauth/authorize?client_id=nobody`);
    const ended = await browser.open(`${oauth.running.url}/oauth/sign-in/nothing`);
    expect([unknown.status, ended.status]).toEqual([400, 400]);
    expect(unknown.text).toContain("Remove the server from the program, then add it again.");
    for (const { headers } of [shown, account, consent, unknown, ended]) {
      const policy = headers.get("content-security-policy");
      expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; /);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("referrer-policy")).toBe("same-origin");
    }
    // Pages with a password field send their forms to this server only.
    for (const { headers } of [shown, account, unknown, ended]) {
      expect(headers.get("content-security-policy")).toContain("form-action 'self'");
    }
    const texts = shown.text + account.text + consent.text;
    expect(texts).not.toMatch(/<script|\son\w+=|https?:|style="/);
  });

  it("set cookies that scripts cannot read and other sites cannot send", async () => {
    const client = await register(oauth.running);
    const answer = await openBrowser().ask(authorizeUrl(oauth.running, client));
    const cookies = answer.headers.getSetCookie();
    expect(cookies).toHaveLength(1);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/; httponly/i);
      expect(cookie).toMatch(/; samesite=lax/i);
    }
  });

  verifies("C-41");
  it.each(["authorize", "account", "token", "revoke"])(
    "that are too long leave the connection to the next request: %s",
    async (name) => {
      const connection = await rawSocket(oauth.running.url);
      const lines = [
        `POST /oauth/${name} HTTP/1.1`,
        "Host: localhost",
        "Content-Type: application/x-www-form-urlencoded",
      ];
      connection.say(rawRequest(lines, "x".repeat(2_000_000)));
      const body = "y".repeat(2_000_000);
      const chunked = [...lines, "Transfer-Encoding: chunked", "", body.length.toString(16), body];
      connection.say([...chunked, "0", "", ""].join("\r\n"));
      const next = ["GET /oauth/jwks HTTP/1.1", "Host: localhost", "Connection: close"];
      connection.say(rawRequest(next));
      const answer = await connection.ended();
      expect(answer.match(/HTTP\/1.1 \d+/g)?.slice(-1)).toEqual(["HTTP/1.1 200"]);
      expect(answer.length).toBeLessThan(40_000);
    },
  );

  const expectRefused = (shown: Shown): void => {
    expect(shown.status).toBe(403);
    expect(shown.text).toContain("This form was not sent from a page of this server.");
  };

  it("are accepted only with their own token and from this origin", async () => {
    const { browser, shown } = await openSignIn(oauth.running);
    const filled = { email: oauth.ann.email, password: oauth.ann.password, action: "sign-in" };
    const before = oauth.running.sent.length;
    expectRefused(await browser.submit(shown, { ...filled, form: "" }));
    expectRefused(await browser.submit(shown, { ...filled, form: "made up" }));
    const other = (await openSignIn(oauth.running)).shown;
    const foreign = /name="form" value="([^"]+)"/.exec(other.text)?.[1] ?? "";
    expectRefused(await browser.submit(shown, { ...filled, form: foreign }));
    expectRefused(await browser.submit(shown, filled, { "sec-fetch-site": "cross-site" }));
    expect(oauth.running.sent.length).toBe(before);
    const through = await browser.submit(shown, filled, { "sec-fetch-site": "same-origin" });
    expect(through.text).toContain("Allow Test host to connect?");
  });

  it("open only in the browser in which the sign-in started", async () => {
    const { browser, shown } = await openSignIn(oauth.running);
    const stolen = await openBrowser().open(shown.url);
    expect(stolen.status).toBe(400);
    expect(stolen.text).toContain("This sign-in has ended");
    expect(stolen.text).not.toContain("<form");
    expect((await browser.open(shown.url)).text).toContain("Sign in to connect");
  });

  it("grant only known scopes and companies of the person", async () => {
    const max = await at().person("acme", { roles: ["Administrator"] });
    await at().tenant("foreign");
    const { browser, shown, ...asked } = await openSignIn(oauth.running, { scope: "read" });
    const consent = await signIn(browser, shown, max);
    const elsewhere = await browser.submit(consent, { tenant: "foreign", action: "allow" });
    expect(elsewhere.status).toBe(400);
    expect(elsewhere.text).toContain("Choose a company.");
    const unknown = await browser.submit(consent, { scope: ["openid"], action: "allow" });
    expect(unknown.status).toBe(400);
    const scope = ["read", "openid", "everything"];
    const code = codeOf(await browser.submit(consent, { scope, action: "allow" }));
    const { body } = await redeem(oauth.running, { code, ...asked });
    const bearer = await oauth.running.server.verifyToken(body.access_token);
    expect(bearer?.scopes).toEqual(["read"]);
    expect(await oauth.running.server.findCredential(bearer?.personId ?? "")).toMatchObject({
      tenantId: "acme",
    });
    const account = `${oauth.running.url}/oauth/account`;
    const list = await signIn(browser, await browser.open(account), max);
    expect(list.text).toContain("See your data");
    expect(list.text).not.toContain("Change how it is set up");
  });

  verifies("HS-03");
  it("repeat their effect when they are submitted twice, until the client has used the code", async () => {
    const { browser, shown, ...asked } = await openSignIn(oauth.running);
    const consent = await signIn(browser, shown, oauth.ann);
    const codes = async () => {
      const both = [1, 2].map(() => browser.submit(consent, { action: "allow" }));
      const urls = (await Promise.all(both)).map(({ url }) => new URL(url));
      return urls.map((url) => url.searchParams.get("code"));
    };
    const [first, second] = await codes();
    expect(first).toBeTruthy();
    expect(second).toBe(first);
    expect(await codes()).toEqual([first, first]);
    const { status, body } = await redeem(oauth.running, { code: first ?? "", ...asked });
    expect(status).toBe(200);
    const late = await browser.submit(consent, { action: "allow" });
    expect(late.text).toContain("The program is connected");
    expect(await oauth.running.server.verifyToken(body.access_token)).toBeDefined();
    const cancelled = await browser.submit(consent, { action: "cancel" });
    expect(cancelled.text).toContain("This sign-in has ended");
  });

  it("lead to the consent page when the sign-in is submitted twice", async () => {
    const { browser, shown } = await openSignIn(oauth.running);
    const both = await Promise.all([1, 2].map(() => signIn(browser, shown, oauth.ann)));
    for (const { text } of both) expect(text).toContain("to connect?");
  });

  it("of the account page can be sent again after sign-in and sign-out", async () => {
    const browser = openBrowser();
    const account = `${oauth.running.url}/oauth/account`;
    const form = await browser.open(account);
    const list = await signIn(browser, form, oauth.ann);
    expect((await signIn(browser, form, oauth.ann)).text).toContain(oauth.ann.email);
    for (let times = 0; times < 2; times++) {
      const out = await browser.submit(list, { action: "sign-out" });
      expect([out.status, out.text.includes("Show programs")]).toEqual([200, true]);
    }
  });

  it("let a page that opened them in a window hear of the result", async () => {
    const { shown } = await openSignIn(oauth.running);
    expect(shown.headers.get("cross-origin-opener-policy")).toBe("unsafe-none");
    const account = await openBrowser().open(`${oauth.running.url}/oauth/account`);
    expect(account.headers.get("cross-origin-opener-policy")).toBe("same-origin");
  });

  it("redirect to the client with access_denied when the person cancels", async () => {
    for (const when of ["before", "after"]) {
      const { browser, shown } = await openSignIn(oauth.running);
      const cancel = /href="([^"]+\/cancel[^"]+)"/.exec(shown.text)?.[1] ?? "";
      const left =
        when === "before"
          ? await browser.open(new URL(cancel, shown.url).href)
          : await browser.submit(await signIn(browser, shown, oauth.ann), { action: "cancel" });
      expect(new URL(left.url).searchParams.get("error")).toBe("access_denied");
      expect(new URL(left.url).searchParams.get("state")).toBe("the state");
    }
    // The platform session ends with the sign-in.
    expect(oauth.running.sent.at(-1)).toContain("/authentication/v1/logout");
  });

  it("let another person sign in", async () => {
    const { browser, shown } = await openSignIn(oauth.running);
    const consent = await signIn(browser, shown, oauth.ann);
    const back = await browser.submit(consent, { action: "switch" });
    expect(back.text).toContain("Sign in to connect");
    const zoe = await at().tenant("switched");
    const { text } = await signIn(browser, back, zoe);
    expect(text.replaceAll("<wbr />", "")).toContain(zoe.email);
  });
});

describe("behind a proxy with a certificate", () => {
  verifies("C-106");
  it("uses the issuer's URL and path everywhere, and ignores the client's X-Forwarded headers", async () => {
    const issuer = "https://mcp.example/receivables";
    const one = await startAuthorization(at(), { issuer });
    const { authorization_endpoint, token_endpoint, ...metadata } = (await (
      await fetch(`${one.url}/.well-known/oauth-authorization-server/receivables`)
    ).json()) as Record<string, string>;
    expect(metadata["issuer"]).toBe(issuer);
    expect(authorization_endpoint).toBe(`${issuer}/oauth/authorize`);
    expect(token_endpoint).toBe(`${issuer}/oauth/token`);
    const client = await register(one);
    for (const below of ["", "/receivables"]) {
      const asked = { url: one.url + below, resource: one.resource };
      const answer = await openBrowser().ask(authorizeUrl(asked, client), {
        headers: { "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" },
      });
      expect(answer.headers.get("location")).toMatch(
        /^https:\/\/mcp\.example\/receivables\/oauth\/sign-in\/[\w-]+$/,
      );
      const cookies = answer.headers.getSetCookie();
      expect(cookies).toEqual([
        expect.stringMatching(/^__Host-receivables_browser=[\w-]{43}; Path=\/; Secure; /),
      ]);
      expect(cookies.join()).not.toMatch(/domain=/i);
    }
    await one.close();
  });
});
