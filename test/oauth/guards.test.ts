import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { createNetworks } from "../../src/kit/network.ts";
import { createFetchDocument } from "../../src/oauth/documents.ts";
import type { Client } from "../../src/client/port.ts";
import { openBrowser, type Shown } from "../support/browser.ts";
import {
  authorize,
  authorizeUrl,
  makePkce,
  redeem,
  register,
  type Running,
  signIn,
  startAuthorization,
  watchedClient,
} from "../support/oauth.ts";
import { type Person, startPlatform, type TestPlatform } from "../support/platform.ts";
import { certificateFor, type Receiver, startReceiver } from "../support/receiver.ts";
import { verifies } from "../support/verifies.ts";

let at: TestPlatform;
let ann: Person;
let running: Running;
beforeAll(async () => {
  at = await startPlatform();
  ann = await at.tenant("acme");
  running = await startAuthorization(at);
});
afterAll(async () => {
  await running.close();
  await at.close();
});

const firstPage = async (one: Running = running) => {
  const browser = openBrowser();
  const client = await register(one);
  const shown = await browser.open(authorizeUrl(one, client, makePkce().challenge));
  return { browser, shown, client };
};

describe("the forms", () => {
  it("bear what keeps them from being framed, stored, read elsewhere or added to", async () => {
    const { shown, browser } = await firstPage();
    const account = await browser.open(`${running.url}/oauth/account`);
    const consent = await signIn(browser, shown, ann);
    const unknown = await browser.open(`${running.url}/oauth/authorize?client_id=nobody`);
    const ended = await browser.open(`${running.url}/oauth/sign-in/nothing`);
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
    // Where the password is typed, nothing can be sent elsewhere.
    for (const { headers } of [shown, account, unknown, ended]) {
      expect(headers.get("content-security-policy")).toContain("form-action 'self'");
    }
    const texts = shown.text + account.text + consent.text;
    expect(texts).not.toMatch(/<script|\son\w+=|https?:|style="/);
  });

  it("set cookies that no script reads and no other site sends", async () => {
    const client = await register(running);
    const answer = await openBrowser().ask(authorizeUrl(running, client, makePkce().challenge));
    const cookies = answer.headers.getSetCookie();
    expect(cookies).toHaveLength(1);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/; httponly/i);
      expect(cookie).toMatch(/; samesite=lax/i);
    }
  });

  const refused = (shown: Shown): void => {
    expect(shown.status).toBe(403);
    expect(shown.text).toContain("This form was not sent from a page of this server.");
  };

  it("are taken only as they were given out, and from nowhere else", async () => {
    const { browser, shown } = await firstPage();
    const filled = { email: ann.email, password: ann.password, action: "sign-in" };
    const before = running.sent.length;
    refused(await browser.submit(shown, { ...filled, form: "" }));
    refused(await browser.submit(shown, { ...filled, form: "made up" }));
    const other = (await firstPage()).shown;
    const strange = /name="form" value="([^"]+)"/.exec(other.text)?.[1] ?? "";
    refused(await browser.submit(shown, { ...filled, form: strange }));
    refused(await browser.submit(shown, filled, { "sec-fetch-site": "cross-site" }));
    expect(running.sent.length).toBe(before);
    const through = await browser.submit(shown, filled, { "sec-fetch-site": "same-origin" });
    expect(through.text).toContain("Allow Test host to connect?");
  });

  it("open in no other browser than the one in which the sign-in began", async () => {
    const { browser, shown } = await firstPage();
    const stolen = await openBrowser().open(shown.url);
    expect(stolen.status).toBe(400);
    expect(stolen.text).toContain("This sign-in has ended");
    expect(stolen.text).not.toContain("<form");
    expect((await browser.open(shown.url)).text).toContain("Sign in to connect");
  });

  it("give no scope that there is not, and no company but the person's, whatever is sent", async () => {
    const max = await at.person("acme", { roles: ["Administrator"] });
    await at.tenant("foreign");
    const browser = openBrowser();
    const client = await register(running);
    const { challenge, verifier } = makePkce();
    const url = authorizeUrl(running, client, challenge, { scope: "read" });
    const consent = await signIn(browser, await browser.open(url), max);
    const elsewhere = await browser.submit(consent, { tenant: "foreign", action: "allow" });
    expect(elsewhere.status).toBe(400);
    expect(elsewhere.text).toContain("Choose a company.");
    const unknown = await browser.submit(consent, { scope: ["openid"], action: "allow" });
    expect(unknown.status).toBe(400);
    const scope = ["read", "openid", "everything"];
    const done = await browser.submit(consent, { scope, action: "allow" });
    const code = new URL(done.url).searchParams.get("code") ?? "";
    const { body } = await redeem(running, { code, verifier, client });
    const bearer = await running.server.verifyToken(body.access_token);
    expect(bearer?.scopes).toEqual(["read"]);
    expect(await running.server.findCredential(bearer?.personId ?? "")).toMatchObject({
      tenantId: "acme",
    });
    const account = `${running.url}/oauth/account`;
    const list = await signIn(browser, await browser.open(account), max);
    expect(list.text).toContain("See your data");
    expect(list.text).not.toContain("Change how it is set up");
  });

  it("are answered once: going back leads nowhere", async () => {
    const { browser, shown } = await firstPage();
    const consent = await signIn(browser, shown, ann);
    const done = await browser.submit(consent, { action: "allow" });
    expect(new URL(done.url).searchParams.get("code")).toBeTruthy();
    const again = await browser.submit(consent, { action: "allow" });
    expect(again.text).toContain("This sign-in has ended");
  });

  it("lead back to the client also when the person does not allow it", async () => {
    for (const when of ["before", "after"]) {
      const { browser, shown } = await firstPage();
      const cancel = /href="([^"]+\/cancel[^"]+)"/.exec(shown.text)?.[1] ?? "";
      const left =
        when === "before"
          ? await browser.open(new URL(cancel, shown.url).href)
          : await browser.submit(await signIn(browser, shown, ann), { action: "cancel" });
      expect(new URL(left.url).searchParams.get("error")).toBe("access_denied");
      expect(new URL(left.url).searchParams.get("state")).toBe("the state");
    }
    // Nobody keeps a session for nothing.
    expect(running.sent.at(-1)).toContain("/authentication/v1/logout");
  });

  it("make room for somebody else to sign in", async () => {
    const { browser, shown } = await firstPage();
    const consent = await signIn(browser, shown, ann);
    const back = await browser.submit(consent, { action: "switch" });
    expect(back.text).toContain("Sign in to connect");
    const zoe = await at.tenant("switched");
    expect((await signIn(browser, back, zoe)).text).toContain(zoe.email);
  });
});

describe("behind a proxy with a certificate", () => {
  it("every address is the proxy's, below its path, whatever the request says of itself", async () => {
    const issuer = "https://mcp.example/receivables";
    const one = await startAuthorization(at, { issuer });
    const { authorization_endpoint, token_endpoint, ...metadata } = (await (
      await fetch(`${one.url}/.well-known/oauth-authorization-server/receivables`)
    ).json()) as Record<string, string>;
    expect(metadata["issuer"]).toBe(issuer);
    expect(authorization_endpoint).toBe(`${issuer}/oauth/authorize`);
    expect(token_endpoint).toBe(`${issuer}/oauth/token`);
    const client = await register(one);
    for (const below of ["", "/receivables"]) {
      const asked = { url: one.url + below, resource: one.resource };
      const answer = await openBrowser().ask(authorizeUrl(asked, client, makePkce().challenge), {
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

describe("a sign-in that fails", () => {
  it("says the same whether or not there is such a person", async () => {
    const texts = [];
    for (const email of [ann.email, "nobody@acme.example"]) {
      const { browser, shown } = await firstPage();
      const answer = await signIn(browser, shown, { email, password: "wrong" });
      expect(answer.status).toBe(400);
      texts.push(/role="alert">([^<]+)</.exec(answer.text)?.[1]);
    }
    expect(texts).toEqual(Array(2).fill("The e-mail address or the password is wrong."));
  });

  it("shows what was typed as text, and never the password", async () => {
    const { browser, shown } = await firstPage();
    const email = `"><script>alert(1)</script>@x.example`;
    const { text } = await signIn(browser, shown, { email, password: "hunter2-hunter2" });
    expect(text).toContain("&quot;&gt;&lt;script&gt;");
    expect(text).not.toContain("<script");
    expect(text).not.toContain("hunter2-hunter2");
  });

  it("may not be repeated without end, also not by the right person then", async () => {
    const one = await startAuthorization(at, { addressOf: () => "192.0.2.7" });
    const { browser, shown } = await firstPage(one);
    const statuses = [];
    for (let tries = 0; tries < 11; tries++) {
      statuses.push(
        (await signIn(browser, shown, { email: "bo@x.example", password: "no" })).status,
      );
    }
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
    const late = await signIn(browser, shown, { email: "bo@x.example", password: "no" });
    expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(late.text).toMatch(/Too many tries\. Wait \d+ minutes/);
    // Somebody else at the same address still may.
    expect((await signIn(browser, shown, ann)).text).toContain("Allow Test host to connect?");
    await one.close();
  });

  it("tells of a platform that does not answer, and of a company that is not served", async () => {
    const { client } = watchedClient(at);
    const mute: Client = {
      ...client,
      call: async () =>
        Promise.reject(new Problem("unavailable", "The platform cannot be reached.")),
    };
    const down = await startAuthorization(at, { client: mute });
    const there = await firstPage(down);
    const answer = await signIn(there.browser, there.shown, ann);
    expect([answer.status, answer.text.includes("does not answer")]).toEqual([503, true]);
    await down.close();
    const narrow = await startAuthorization(at, { tenantId: "elsewhere" });
    const here = await firstPage(narrow);
    const refused = await signIn(here.browser, here.shown, ann);
    expect([refused.status, refused.text.includes("has no access to the company")]).toEqual([
      403,
      true,
    ]);
    await narrow.close();
  });

  it("leaves nothing where no key can be made", async () => {
    const eli = await at.person("acme", { roles: ["Administrator"] });
    for (let made = 0; made < 10; made++) {
      await eli.call("POST", "/authentication/v1/tenants/{t}/users/profile/api-key");
    }
    const { browser, shown } = await firstPage();
    const answer = await browser.submit(await signIn(browser, shown, eli), { action: "allow" });
    expect(answer.status).toBe(409);
    expect(answer.text).toContain("You have the maximum number of API keys");
    const { read } = await at.oauthStore();
    const rows = await read.selectFrom("sign_in_records").select("owner").execute();
    const account = await browser.open(`${running.url}/oauth/account`);
    const list = await signIn(browser, account, eli);
    expect(list.text).toContain("No program is connected.");
    expect(rows.length).toBeGreaterThan(0);
  });
});

describe("the list of connected programs", () => {
  it("shows each person their own, and ends one at a time", async () => {
    const ivy = await at.person("acme", { roles: ["Administrator"] });
    const one = await authorize(running, ivy, {
      client: await register(running, { client_name: "One" }),
    });
    const two = await authorize(running, ivy, {
      client: await register(running, { client_name: "Two" }),
    });
    const tokens = [await redeem(running, one), await redeem(running, two)];
    const browser = openBrowser();
    const list = await signIn(browser, await browser.open(`${running.url}/oauth/account`), ivy);
    expect(list.text.match(/Disconnect One|Disconnect Two/g)).toHaveLength(2);
    const handle = /name="connection" value="([^"]+)"/.exec(
      list.text.slice(list.text.indexOf("<h2>Two")),
    )?.[1];
    const mallory = openBrowser();
    const hers = await signIn(mallory, await mallory.open(`${running.url}/oauth/account`), ann);
    expect(hers.text).not.toContain("Disconnect Two");
    await mallory.submit(hers, { connection: handle ?? "", action: "end" });
    const [first, second] = tokens.map(({ body }) => body.access_token);
    expect(await running.server.verifyToken(second ?? "")).toBeDefined();
    const after = await browser.submit(list, { connection: handle ?? "", action: "end" });
    expect(after.text).toContain("Disconnect One");
    expect(after.text).not.toContain("Disconnect Two");
    expect(await running.server.verifyToken(second ?? "")).toBeUndefined();
    expect(await running.server.verifyToken(first ?? "")).toBeDefined();
    const out = await browser.submit(after, { action: "sign-out" });
    expect(out.text).toContain("Sign in with your account");
  });
});

describe("clients that register themselves", () => {
  const ask = (url: string, metadata: object) =>
    fetch(`${url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "x", ...metadata }),
    });

  it.each([
    "http://host.example/callback",
    "https://127.0.0.1/callback",
    "javascript:alert(1)",
    "data:text/html,x",
    "com.example.app:/callback",
    "https://user@host.example/callback",
    "https://host.example/callback#part",
    "/callback",
  ])("may not have people sent to %s", async (uri) => {
    const answer = await ask(running.url, { redirect_uris: ["https://host.example/good", uri] });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: string }).error).toMatch(
      /^invalid_(redirect_uri|client_metadata)$/,
    );
  });

  it.each([
    [{ redirect_uris: [] }],
    [{}],
    [
      {
        redirect_uris: ["https://host.example/a"],
        token_endpoint_auth_method: "client_secret_basic",
      },
    ],
    [{ redirect_uris: ["https://host.example/a"], grant_types: ["client_credentials"] }],
    [{ redirect_uris: ["https://host.example/a"], response_types: ["token"] }],
  ])("may not be %j", async (metadata) => {
    expect((await ask(running.url, metadata)).status).toBe(400);
  });

  it("are few from one address, and none unless it is allowed", async () => {
    const one = await startAuthorization(at, { addressOf: () => "192.0.2.8" });
    const good = { redirect_uris: ["https://host.example/a"] };
    const statuses = [];
    for (let tries = 0; tries < 21; tries++) statuses.push((await ask(one.url, good)).status);
    expect(statuses).toEqual([...Array(20).fill(201), 429]);
    await one.close();
    const closed = await startAuthorization(at, { registration: false });
    expect((await ask(closed.url, good)).status).toBe(404);
    const metadata = await fetch(`${closed.url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).not.toHaveProperty("registration_endpoint");
    await closed.close();
  });
});

describe("clients that are described by a document", () => {
  let receiver: Receiver;
  let there: Running;
  let home: string;
  let ca: string;
  beforeAll(async () => {
    const certificate = await certificateFor("host.example");
    ca = certificate.cert;
    receiver = await startReceiver(certificate);
    home = `https://host.example:${receiver.port}`;
    there = await startAuthorization(at, { ca, registration: false });
  });
  afterAll(async () => {
    await there.close();
    await receiver.close();
  });

  const describing = (more: object = {}) =>
    receiver.answering((answer, { path }) => {
      const document = {
        client_id: home + path,
        client_name: "Described host",
        redirect_uris: ["https://host.example/callback"],
        token_endpoint_auth_method: "none",
        ...more,
      };
      answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
    });

  it("are shown with the host of the document and of where the browser goes", async () => {
    describing();
    const client = { clientId: `${home}/client.json`, redirect: "https://host.example/callback" };
    const browser = openBrowser();
    const { verifier, challenge } = makePkce();
    const first = await browser.open(authorizeUrl(there, client, challenge));
    const second = await signIn(browser, first, ann);
    expect(second.text).toContain(`described at host.example:${receiver.port}`);
    expect(second.text).toMatch(/your browser goes to <strong>host\.example<\/strong>/);
    const last = await browser.submit(second, { action: "allow" });
    expect(last.url.startsWith("https://host.example/callback?code=")).toBe(true);
    const code = new URL(last.url).searchParams.get("code") ?? "";
    expect((await redeem(there, { code, verifier, client })).status).toBe(200);
  });

  it.each([
    ["names another client", { client_id: "https://other.example/client.json" }],
    ["has a secret", { client_secret: "x" }],
    ["sends people to http elsewhere", { redirect_uris: ["http://host.example/callback"] }],
  ])("are refused where the document %s", async (what, more) => {
    describing(more);
    const clientId = `${home}/${encodeURIComponent(what)}.json`;
    const client = { clientId, redirect: "https://host.example/callback" };
    const shown = await openBrowser().open(authorizeUrl(there, client, makePkce().challenge));
    expect(shown.status).toBe(400);
    expect(shown.url.startsWith(there.url)).toBe(true);
  });

  const loopback = createNetworks(["127.0.0.0/8"]);
  const document = (allowed = loopback) =>
    createFetchDocument({
      hosts: { resolve: async () => ["127.0.0.1"], allowed },
      ca,
      requestMs: 1500,
    });

  verifies("C-26");
  it("are not looked for where a redirect leads", async () => {
    receiver.answering((answer) => answer.writeHead(302, { location: `${home}/other` }).end());
    const before = receiver.received.length;
    expect((await document()(`${home}/client.json`)).status).toBe(302);
    expect(receiver.received.length).toBe(before + 1);
  });

  verifies("C-29", "C-30");
  it("are not waited for or read without end", async () => {
    receiver.answering((answer) => answer.end("x".repeat(40_000)));
    await expect(document()(`${home}/client.json`)).rejects.toThrow("more than 32768 bytes");
    receiver.answering((answer) => answer.writeHead(200).write("{"));
    await expect(document()(`${home}/client.json`)).rejects.toThrow();
  });

  verifies("C-22", "C-23");
  it.each([
    "https://host.example/client.json",
    "https://127.0.0.1/client.json",
    "https://[::ffff:7f00:1]/client.json",
    "https://0x7f.1/client.json",
    "https://localhost/client.json",
    "https://metadata.google.internal/client.json",
  ])("are not looked for at an address that is not public: %s", async (url) => {
    const before = receiver.connections();
    await expect(document(createNetworks([]))(url)).rejects.toThrow("not public");
    expect(receiver.connections()).toBe(before);
  });

  verifies("C-27");
  it.each(["http://host.example/c", "https://host.example:22/c", "https://me@host.example/c"])(
    "are not looked for at %s",
    async (url) => {
      await expect(document()(url)).rejects.toThrow(/must/);
    },
  );

  verifies("C-25");
  it("are not looked for where one of several addresses is not public", async () => {
    const hosts = {
      resolve: async () => ["93.184.215.14", "10.0.0.1"],
      allowed: createNetworks([]),
    };
    await expect(createFetchDocument({ hosts })(`${home}/c`)).rejects.toThrow("not public");
  });
});
