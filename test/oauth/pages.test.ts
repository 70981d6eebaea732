import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, launch, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  authorizeUrl,
  codeOf,
  redeem,
  register,
  type Running,
  startAuthorization,
} from "../support/oauth.ts";
import { makePkce } from "../support/pkce.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { chromium, CHROMIUM_FLAGS } from "../support/chromium.ts";
import { type Person, startPlatform, type TestPlatform } from "../support/platform.ts";

/** The folder for screenshots, if set. */
const PICTURES = process.env["PICTURES"];

const WIDTHS = { phone: 390, desktop: 1280 };
const HOSTILE = `<img src=x onerror=alert(1)>\u202e"'&amp;<script>alert(1)</script>`;

describe.skipIf(chromium === undefined)(
  "the pages in a browser that runs no script (skipped where there is no chromium)",
  () => {
    let at: TestPlatform;
    let ann: Person;
    let running: Running;
    let browser: Browser;
    let host: Receiver;
    beforeAll(async () => {
      at = await startPlatform();
      ann = await at.tenant("acme");
      running = await startAuthorization(at);
      host = await startReceiver();
      host.answering((answer) => answer.end("back at the host"));
      browser = await launch({
        executablePath: String(chromium),
        args: CHROMIUM_FLAGS,
      });
    });
    afterAll(async () => {
      await browser?.close();
      await host.close();
      await running.close();
      await at.close();
    });

    /** Opens a page with its own cookies, and records console messages. */
    const visit = async (dark = false, width = WIDTHS.desktop) => {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      await page.setJavaScriptEnabled(false);
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([
        { name: "prefers-color-scheme", value: dark ? "dark" : "light" },
      ]);
      const complaints: string[] = [];
      // The response to a wrong password has status 400.
      page.on("console", (message) => {
        if (!message.text().includes("status of 400")) complaints.push(message.text());
      });
      return { page, complaints, close: () => context.close() };
    };

    const picture = async (page: Page, name: string): Promise<void> => {
      if (PICTURES === undefined) return;
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
    };

    const press = async (page: Page, action: string): Promise<void> => {
      await Promise.all([page.waitForNavigation(), page.click(`button[value="${action}"]`)]);
    };

    const fillIn = async (page: Page, password: string): Promise<void> => {
      await page.$eval("#email", (input) => input.setAttribute("value", ""));
      await page.type("#email", ann.email);
      await page.type("#password", password);
      await press(page, "sign-in");
    };

    for (const [device, width] of Object.entries(WIDTHS)) {
      for (const theme of ["light", "dark"]) {
        it(`leads from the first page to the client (${device}, ${theme})`, async () => {
          const { page, complaints, close } = await visit(theme === "dark", width);
          const redirect = `http://127.0.0.1:${host.port}/callback`;
          const about = { client_name: "Ledger Assistant", redirect_uris: [redirect] };
          const client = await register(running, about);
          const { verifier, challenge } = makePkce();
          const scope = "read write admin";
          await page.goto(authorizeUrl(running, client, { code_challenge: challenge, scope }));
          await picture(page, `${device}-${theme}-1-sign-in`);
          await fillIn(page, "wrong");
          await picture(page, `${device}-${theme}-2-wrong`);
          await fillIn(page, ann.password);
          await picture(page, `${device}-${theme}-3-consent`);
          expect(await page.$eval("h1", (h1) => h1.textContent)).toBe(
            "Allow Ledger Assistant to connect?",
          );
          const wide = await page.$eval("html", (all) => all.scrollWidth);
          expect(wide).toBeLessThanOrEqual(width);
          await press(page, "allow");
          expect(page.url().startsWith(redirect)).toBe(true);
          const code = codeOf({ url: page.url() });
          expect((await redeem(running, { code, verifier, client })).status).toBe(200);
          expect(complaints).toEqual([]);
          await page.goto(`${running.url}/oauth/account`);
          await picture(page, `${device}-${theme}-4-account-entry`);
          await fillIn(page, ann.password);
          await picture(page, `${device}-${theme}-5-account`);
          await press(page, "end");
          expect(await page.$eval("main", (main) => main.textContent)).toContain(
            "No program is connected.",
          );
          expect((await redeem(running, { code, verifier, client })).status).toBe(400);
          await close();
        });
      }
    }

    it("escapes the name of a client", async () => {
      const { page, close } = await visit(false, WIDTHS.phone);
      const client = await register(running, { client_name: HOSTILE });
      await page.goto(authorizeUrl(running, client));
      await fillIn(page, ann.password);
      await picture(page, "phone-light-6-hostile");
      expect(await page.$$("img, script")).toEqual([]);
      const shown = await page.$eval("h1", (h1) => h1.textContent ?? "");
      expect(shown).toContain("<img src=x onerror=alert(1)>");
      expect(shown).not.toContain("\u202e");
      await close();
    });
  },
);
