import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, launch, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromium, CHROMIUM_FLAGS } from "../support/chromium.ts";
import { type PageServer, startPageServer } from "../support/page-server.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ROOT = join(import.meta.dirname, "../..");
/** Kept for people to look at. */
const PICTURES = join(ROOT, "coverage/pages");
const WIDTHS = [390, 1440];
const SCHEMES = ["light", "dark"];

const LONG_NAME = `${"Größtmögliche-Forderungsverwaltung".repeat(3)} 株式会社`;

let server: PageServer;
let browser: Browser;
let page: Page;

/** Looks at what the page shows at each width in each scheme; returns what is wrong. */
const look = async (name: string, { isOurs = true } = {}): Promise<string[]> => {
  const faults: string[] = [];
  for (const width of WIDTHS) {
    for (const scheme of SCHEMES) {
      const at = `${name}-${width}-${scheme}`;
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.screenshot({ path: `${join(PICTURES, at)}.png`, fullPage: isOurs });
      const widest = await page.$eval("html", ({ scrollWidth }) => scrollWidth);
      if (widest > width) faults.push(`${at} is ${widest} pixels wide`);
      if (isOurs) faults.push(...(await findViolations()).map((fault) => `${at}: ${fault}`));
    }
  }
  return faults;
};

const findViolations = async (): Promise<string[]> => {
  await page.evaluate(AXE);
  return (await page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).join(" ")))`)) as string[];
};

const submit = async (selector: string): Promise<void> => {
  await Promise.all([page.waitForNavigation(), page.click(selector)]);
};

const signIn = async (password: string): Promise<void> => {
  await page.$eval("#email", (input) => (input.value = ""));
  await page.type("#email", server.email);
  await page.type("#password", password);
  await submit("button.primary");
};

const textOf = (): Promise<string> => page.$eval("body", ({ innerText }) => innerText);

describe.skipIf(chromium === undefined)(
  "the pages for people in a browser (skipped where there is no chromium)",
  () => {
    beforeAll(async () => {
      mkdirSync(PICTURES, { recursive: true });
      server = await startPageServer({
        RECEIVABLES_OPERATOR_NAME: "Demo Manufacturing",
        RECEIVABLES_OPERATOR_LOGO: join(ROOT, "docs/pictures/icon.png"),
      });
      browser = await launch({ executablePath: String(chromium), args: CHROMIUM_FLAGS });
      page = await browser.newPage();
      await page.setBypassCSP(true);
    });
    afterAll(async () => {
      await browser.close();
      await server.close();
    });

    it("show sign-in, refusal and consent in any size and scheme, also for a long name", async () => {
      await page.goto(await server.authorizeUrl(LONG_NAME));
      expect(await textOf()).toContain("Sign in with your account at Demo Manufacturing.");
      expect(await textOf()).toContain("Ask the administrator of your company");
      expect(await textOf()).not.toContain("127.0.0.1");
      expect(await page.$eval(".brand img", (image) => image.naturalWidth)).toBe(512);
      expect(await look("sign-in")).toEqual([]);
      await signIn("a wrong password");
      expect(await look("sign-in-refused")).toEqual([]);
      await signIn(server.password);
      expect(await textOf()).toContain("Demo Manufacturing Inc.");
      expect(await look("consent")).toEqual([]);
    });

    it("show the connected programs", async () => {
      await page.goto(`${server.url}/oauth/account`);
      expect(await look("account-sign-in")).toEqual([]);
      await signIn(server.password);
      expect(await textOf()).toContain("No program is connected.");
      expect(await look("account")).toEqual([]);
    });

    it("show what runs here, and where to sign in", async () => {
      await page.goto(`${server.url}/`);
      await page.waitForSelector("::-p-text(Sign in)");
      expect(await look("site")).toEqual([]);
    });

    it("show the form of a new password, and the end of a link for one", async () => {
      await page.goto(`${server.url}/account/password`);
      expect(await look("password")).toEqual([]);
      await page.goto(`${server.url}/account/reset/unknown`);
      expect(await look("reset-ended")).toEqual([]);
      await page.goto(`${server.url}/secrets/unknown`);
      expect(await look("secret-ended")).toEqual([]);
    });

    it("say what cannot continue, and show the document of the REST API", async () => {
      await page.goto(`${server.url}/oauth/authorize?client_id=unknown`);
      expect(await textOf()).toContain("This cannot continue");
      expect(await look("error")).toEqual([]);
      await page.goto(`${server.url}/docs`);
      await page.waitForSelector(".opblock-summary");
      expect(await look("docs", { isOurs: false })).toEqual([]);
      expect(await page.$eval("html", ({ className }) => className)).toContain("dark-mode");
    });
  },
);
