import { describe, expect, it } from "vitest";
import type { Client } from "../../src/client/port.ts";
import { Problem } from "../../src/contract/errors.ts";
import { openBrowser } from "../support/browser.ts";
import {
  authorize,
  redeem,
  register,
  signIn,
  startAuthorization,
  watchedClient,
} from "../support/oauth.ts";
import { verifies } from "../support/verifies.ts";
import { openSignIn, useAuthorization, usePlatform } from "./setup.ts";

const at = usePlatform();
const oauth = useAuthorization(at);

describe("a failed sign-in", () => {
  it("does not reveal whether the account exists", async () => {
    const texts = [];
    for (const email of [oauth.ann.email, "nobody@acme.example"]) {
      const { browser, shown } = await openSignIn(oauth.running);
      const answer = await signIn(browser, shown, { email, password: "wrong" });
      expect(answer.status).toBe(400);
      texts.push(/role="alert">([^<]+)</.exec(answer.text)?.[1]);
    }
    expect(texts).toEqual(Array(2).fill("The e-mail address or the password is wrong."));
  });

  it("escapes the e-mail address and never shows the password", async () => {
    const { browser, shown } = await openSignIn(oauth.running);
    const email = `"><script>alert(1)</script>@x.example`;
    const { text } = await signIn(browser, shown, { email, password: "hunter2-hunter2" });
    expect(text).toContain("&quot;&gt;&lt;script&gt;");
    expect(text).not.toContain("<script");
    expect(text).not.toContain("hunter2-hunter2");
  });

  it("is limited, for the right password too", async () => {
    const one = await startAuthorization(at(), { addressOf: () => "192.0.2.7" });
    const { browser, shown } = await openSignIn(one);
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
    // The limit is for the account: other people at this address can sign in.
    expect((await signIn(browser, shown, oauth.ann)).text).toContain("Allow Test host to connect?");
    await one.close();
  });

  it("reports an unavailable platform, and a company that this server does not serve", async () => {
    const { client } = watchedClient(at());
    const unavailable: Client = {
      ...client,
      call: async () =>
        Promise.reject(new Problem("unavailable", "The platform cannot be reached.")),
    };
    const down = await startAuthorization(at(), { client: unavailable });
    const there = await openSignIn(down);
    const answer = await signIn(there.browser, there.shown, oauth.ann);
    expect([answer.status, answer.text.includes("does not answer")]).toEqual([503, true]);
    await down.close();
    const narrow = await startAuthorization(at(), { tenantId: "elsewhere" });
    const here = await openSignIn(narrow);
    const refused = await signIn(here.browser, here.shown, oauth.ann);
    expect([refused.status, refused.text.includes("has no access to the company")]).toEqual([
      403,
      true,
    ]);
    await narrow.close();
  });

  it("leaves no grant if no API key can be created", async () => {
    const eli = await at().person("acme", { roles: ["Administrator"] });
    for (let made = 0; made < 10; made++) {
      await eli.call("POST", "/authentication/v1/tenants/{t}/users/profile/api-key");
    }
    const { browser, shown } = await openSignIn(oauth.running);
    const answer = await browser.submit(await signIn(browser, shown, eli), { action: "allow" });
    expect(answer.status).toBe(409);
    expect(answer.text).toContain("You have the maximum number of API keys");
    const { read } = await at().oauthStore();
    const rows = await read.selectFrom("sign_in_records").select("owner").execute();
    const account = await browser.open(`${oauth.running.url}/oauth/account`);
    const list = await signIn(browser, account, eli);
    expect(list.text).toContain("No program is connected.");
    expect(rows.length).toBeGreaterThan(0);
  });
});

describe("the list of connected programs", () => {
  verifies("OP-11");
  it("has a form for a new password where the platform is embedded, else a link to its page", async () => {
    const embedded = await startAuthorization(at(), { platform: "embedded" });
    for (const [{ url }, expected] of [
      [embedded, `<form method="post" action="${embedded.url}/account/password"`],
      [oauth.running, '<a href="test/account/password">'],
    ] as const) {
      const browser = openBrowser();
      const page = await signIn(browser, await browser.open(`${url}/oauth/account`), oauth.ann);
      expect(page.text).toContain(expected);
    }
    await embedded.close();
  });

  it("shows people their own programs, and disconnects one at a time", async () => {
    const ivy = await at().person("acme", { roles: ["Administrator"] });
    const one = await authorize(oauth.running, ivy, {
      client: await register(oauth.running, { client_name: "One" }),
    });
    const two = await authorize(oauth.running, ivy, {
      client: await register(oauth.running, { client_name: "Two" }),
    });
    const tokens = [await redeem(oauth.running, one), await redeem(oauth.running, two)];
    const browser = openBrowser();
    const list = await signIn(
      browser,
      await browser.open(`${oauth.running.url}/oauth/account`),
      ivy,
    );
    expect(list.text.match(/Disconnect One|Disconnect Two/g)).toHaveLength(2);
    const handle = /name="connection" value="([^"]+)"/.exec(
      list.text.slice(list.text.indexOf("<h2>Two")),
    )?.[1];
    const mallory = openBrowser();
    const hers = await signIn(
      mallory,
      await mallory.open(`${oauth.running.url}/oauth/account`),
      oauth.ann,
    );
    expect(hers.text).not.toContain("Disconnect Two");
    await mallory.submit(hers, { connection: handle ?? "", action: "end" });
    const [first, second] = tokens.map(({ body }) => body.access_token);
    expect(await oauth.running.server.verifyToken(second ?? "")).toBeDefined();
    const after = await browser.submit(list, { connection: handle ?? "", action: "end" });
    expect(after.text).toContain("Disconnect One");
    expect(after.text).not.toContain("Disconnect Two");
    expect(await oauth.running.server.verifyToken(second ?? "")).toBeUndefined();
    expect(await oauth.running.server.verifyToken(first ?? "")).toBeDefined();
    const out = await browser.submit(after, { action: "sign-out" });
    expect(out.text).toContain("Sign in with your account");
  });
});
