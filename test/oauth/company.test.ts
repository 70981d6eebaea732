import { beforeAll, describe, expect, it } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { Secret } from "../../src/kit/secret.ts";
import { updateUser } from "../../src/platform/admin/users.ts";
import { rowsOf } from "../support/audit.ts";
import { openBrowser, type Shown } from "../support/browser.ts";
import { type Company, type Employee, startCompany } from "../support/company.ts";
import { freePort } from "../support/free-port.ts";
import {
  codeOf,
  directoryOf,
  type Options,
  redeem,
  type Running,
  startAuthorization,
} from "../support/oauth.ts";
import { onEveryStore, type Person } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { openSignIn } from "./setup.ts";

const CLIENT = { id: "the-mcp-server", secret: "a-secret-of-this-server" };

onEveryStore("people of a company", (at) => {
  const employees: Record<string, Employee> = {};
  let company: Company;
  let running: Running;
  let ann: Person;
  let port: number;

  const start = (options: Options = {}): Promise<Running> =>
    startAuthorization(at(), {
      directory: directoryOf(at()),
      companySettings: {
        issuer: company.issuer,
        clientId: CLIENT.id,
        clientSecret: new Secret(CLIENT.secret),
        fetch: company.fetch,
      },
      ...options,
    });

  beforeAll(async () => {
    await at().tenant("acme");
    ann = await at().person("acme", { roles: ["Agent"] });
    port = await freePort();
    const redirectUris = [`http://127.0.0.1:${port}/oauth/company`];
    company = await startCompany({ employees, clients: [{ ...CLIENT, redirectUris }] });
    employees["ann"] = { email: ann.email, email_verified: true };
    running = await start({ port });
    return async () => {
      await running.close();
      await company.close();
    };
  });

  /** Returns the address of the button to the company on a page. */
  const buttonOf = ({ text }: Shown): string =>
    /<a class="button primary" href="([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";

  /** Signs an employee in at the company, and returns the address to which it sends the browser back. */
  const signInAtCompany = async (address: string, login: string): Promise<string> => {
    const browser = openBrowser({}, company.fetch);
    const asked = await browser.open(address);
    const consent = await browser.submit(asked, { login, password: "of the company" });
    return (await browser.submit(consent, {})).url;
  };

  type Browser = ReturnType<typeof openBrowser>;

  /** Goes to the company from a page, signs in there, and comes back. */
  const goThere = async (browser: Browser, page: Shown, login: string): Promise<Shown> => {
    const left = await browser.open(buttonOf(page));
    return browser.open(await signInAtCompany(left.url, login));
  };

  describe("sign-in at the company", () => {
    verifies("RC-12");
    it("finds a person by the verified e-mail address, who then chooses what the program may do", async () => {
      const { browser, client, verifier, shown } = await openSignIn(running);
      expect(shown.text).toContain(`Sign in at ${new URL(company.issuer).host}`);
      expect(shown.text).toContain('name="password"');
      const consent = await goThere(browser, shown, "ann");
      expect(consent.text).toContain(ann.email.split("@")[0]);
      const last = await browser.submit(consent, { scope: ["read"], action: "allow" });
      const code = codeOf(last);
      const { status, body } = await redeem(running, { code, verifier, client });
      expect([status, body.scope]).toEqual([200, "read"]);
      const holder = await running.server.verifyToken(body.access_token);
      const credential = await running.server.findCredential(holder?.personId ?? "");
      expect(credential).toMatchObject({ email: ann.email, tenantId: "acme" });
      const entries = (await rowsOf(at().store.read, "acme")).filter(
        ({ action, metadata }) =>
          action === "auth.person_signed_in" && metadata.includes(ann.userId),
      );
      expect(JSON.parse(entries[0]?.metadata ?? "{}")).toMatchObject({
        method: "OPENID",
        issuer: company.issuer,
      });
    });

    verifies("RC-12");
    it("asks the provider with PKCE, state and nonce", async () => {
      const { browser, shown } = await openSignIn(running);
      const { url } = await browser.open(buttonOf(shown));
      const asked = Object.fromEntries(new URL(url).searchParams);
      expect(asked).toMatchObject({
        response_type: "code",
        client_id: CLIENT.id,
        redirect_uri: `${running.url}/oauth/company`,
        scope: "openid email",
        code_challenge_method: "S256",
        state: expect.stringMatching(/^[\w-]{43}$/),
        nonce: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      });
    });

    verifies("RC-12");
    it.each<[string, Employee, string]>([
      ["an address that is not verified", { email_verified: false }, "is verified"],
      ["no word about the address", {}, "is verified"],
      [
        "an unknown address",
        { email: "x@acme.example", email_verified: true },
        "No active account",
      ],
    ])("refuses a person with %s, and creates no account", async (_what, more, message) => {
      const users = () => at().store.read.selectFrom("users").select("id").execute();
      const before = (await users()).length;
      employees["other"] = { email: ann.email, ...more };
      const { browser, shown } = await openSignIn(running);
      const back = await goThere(browser, shown, "other");
      expect(back.text).toContain(message);
      expect(back.text).not.toContain('value="allow"');
      expect((await users()).length).toBe(before);
    });

    verifies("RC-12");
    it("refuses an inactive person", async () => {
      const bob = await at().person("acme", { roles: ["Viewer"] });
      employees["bob"] = { email: bob.email, email_verified: true };
      const needs = { store: at().store, clock: at().clock, newId: randomId };
      await updateUser(needs, { tenantId: "acme", email: bob.email, status: "Inactive" });
      const { browser, shown } = await openSignIn(running);
      expect((await goThere(browser, shown, "bob")).text).toContain("No active account");
    });

    verifies("RC-12");
    it("accepts an answer only in the browser that was sent away, once, and with its state", async () => {
      const { browser, shown } = await openSignIn(running);
      const left = await browser.open(buttonOf(shown));
      const address = await signInAtCompany(left.url, "ann");
      // Of an attacker who signed in, and has another person's browser finish it.
      expect((await openBrowser().open(address)).text).toContain("started in another browser");
      const other = await openSignIn(running);
      await other.browser.open(buttonOf(other.shown));
      expect((await other.browser.open(address)).text).toContain("started in another browser");
      expect((await browser.open(address)).text).toContain('value="allow"');
      expect((await browser.open(address)).text).toContain("This sign-in has ended");
    });

    verifies("RC-12");
    it("refuses an answer that another issuer claims, or whose code is not the provider's", async () => {
      for (const change of [
        (url: URL) => url.searchParams.set("iss", "https://elsewhere.example"),
        (url: URL) => url.searchParams.delete("iss"),
        (url: URL) => url.searchParams.set("code", "another"),
        (url: URL) => url.searchParams.set("error", "server_error"),
      ]) {
        const { browser, shown } = await openSignIn(running);
        const left = await browser.open(buttonOf(shown));
        const address = new URL(await signInAtCompany(left.url, "ann"));
        change(address);
        expect((await browser.open(address.href)).text).toContain("did not work");
      }
    });

    verifies("RC-12");
    it("does not start from another site, nor with a changed target", async () => {
      const { browser, shown } = await openSignIn(running);
      const foreign = openBrowser({ "sec-fetch-site": "cross-site" });
      expect((await foreign.open(buttonOf(shown))).status).toBe(403);
      const changed = new URL(buttonOf(shown));
      changed.searchParams.set("to", "account");
      expect((await browser.open(changed.href)).status).toBe(403);
    });

    it("says that the person cancelled, or that the provider is away", async () => {
      const { browser, shown } = await openSignIn(running);
      const { url } = await browser.open(buttonOf(shown));
      const state = new URL(url).searchParams.get("state") ?? "";
      const back = new URL(`${running.url}/oauth/company`);
      back.search = new URLSearchParams({ state, error: "access_denied" }).toString();
      expect((await browser.open(back.href)).text).toContain("You did not sign in");
      const away = await start();
      company.down(true);
      const page = await openSignIn(away);
      const shownAgain = await page.browser.open(buttonOf(page.shown));
      company.down(false);
      await away.close();
      expect(shownAgain.text).toContain("does not answer");
    });

    verifies("RC-12");
    it("opens the account page, too", async () => {
      const browser = openBrowser();
      const shown = await browser.open(`${running.url}/oauth/account`);
      const account = await goThere(browser, shown, "ann");
      expect(account.text).toContain("Connected programs");
      expect(account.text).toContain(ann.email);
    });

    verifies("RC-12");
    it("can be the only way: no password is shown or accepted then", async () => {
      const strict = await start({ passwords: false });
      const { browser, shown } = await openSignIn(strict);
      expect(shown.text).not.toContain('name="password"');
      const account = await browser.open(`${strict.url}/oauth/account`);
      expect(account.text).not.toContain('name="password"');
      // The link that cancels has a token that a form could send.
      const form = /cancel\?form=([\w-]+)/.exec(shown.text)?.[1] ?? "";
      const login = { email: ann.email, password: ann.password, action: "sign-in", form };
      const sent = await browser.ask(shown.url, {
        method: "POST",
        body: new URLSearchParams(login),
      });
      expect([sent.status, sent.text.includes("accepts no passwords")]).toEqual([403, true]);
      const own = await strict.server.createOwnKey({ headers: {} } as never, {
        email: ann.email,
        password: new Secret(ann.password),
        isFor: () => true,
        claim: async () => true,
      });
      expect(own).toMatchObject({ status: 403, message: expect.stringContaining("no passwords") });
      await strict.close();
    });

    it("stores nothing before a person has signed in", async () => {
      const count = async () =>
        (
          await (
            await at().oauthStore()
          ).read
            .selectFrom("sign_in_records")
            .select("kind")
            .execute()
        ).length;
      const { browser, shown } = await openSignIn(running);
      const before = await count();
      await browser.open(buttonOf(shown));
      expect(await count()).toBe(before);
    });
  });
});
