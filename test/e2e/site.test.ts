import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Frame, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromium } from "../support/chromium.ts";
import { createPeople, runCli } from "../support/cli.ts";
import { verifies } from "../support/verifies.ts";
import { clickOn, findViolations, startViewServer, type ViewServer } from "../support/views.ts";

const PASSWORD = "correct horse battery staple";
const EMAIL = "ann@acme.example";

const click = (place: Page | Frame, name: string): Promise<void> =>
  clickOn(place, `::-p-aria([name="${name}"][role="button"])`);

/** Enters e-mail address and password, up to the question whether the page may act for the person. */
const enter = async (page: Page, password: string): Promise<void> => {
  await page.waitForSelector("#email");
  await page.type("#email", EMAIL);
  await page.type("#password", password);
  await Promise.all([page.waitForNavigation(), page.click('button[value="sign-in"]')]);
  await page.waitForSelector('button[value="allow"]');
};

const signIn = async (page: Page): Promise<void> => {
  await click(page, "Sign in");
  await enter(page, PASSWORD);
  await Promise.all([page.waitForNavigation(), page.click('button[value="allow"]')]);
};

/** Returns the view that the page shows, once it shows something. */
const viewOf = async (page: Page, title: string): Promise<Frame> => {
  const element = await page.waitForSelector(`iframe[title="${title}"]`);
  const frame = await element?.contentFrame();
  if (!frame) throw new Error("The page shows no view.");
  await frame.waitForSelector("h1");
  return frame;
};

const openPage = async ({ browser, baseUrl }: ViewServer, path = "") => {
  const page = await (await browser.createBrowserContext()).newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(`${baseUrl}/${path}`);
  return { page, complaints };
};

const text = (frame: Frame): Promise<string> =>
  frame.$eval("#view", (element) => (element as unknown as { innerText: string }).innerText);

/** Sends a request with a Host header, which `fetch` does not. */
const statusFor = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject).end();
  });

describe.skipIf(chromium === undefined)(
  "the page of a server with demo data (skipped where there is no chromium)",
  () => {
    let at: ViewServer;
    beforeAll(async () => {
      at = await startViewServer();
    });
    afterAll(() => at.close());

    verifies("HS-09");
    it("is named by the MCP endpoint and the API document, where a browser opens them", async () => {
      const page = await (await at.browser.createBrowserContext()).newPage();
      await page.goto(`${at.baseUrl}/mcp`);
      const endpoint = await page.$eval("body", (body) => String(body.textContent));
      expect(endpoint).toContain(`Give ${at.baseUrl}/mcp to an assistant`);
      await Promise.all([page.waitForNavigation(), page.click("a")]);
      expect(page.url()).toBe(`${at.baseUrl}/`);
      await page.goto(`${at.baseUrl}/docs`);
      await Promise.all([page.waitForNavigation(), page.click('a[href="./"]')]);
      expect(page.url()).toBe(`${at.baseUrl}/`);
      // MCP clients get what they got before.
      const accept = "application/json, text/event-stream, text/html";
      const asked = await fetch(`${at.baseUrl}/mcp`, { headers: { accept } });
      expect(asked.headers.get("content-type")).not.toContain("html");
      await asked.body?.cancel();
    });

    it("says what runs here, and shows each view", async () => {
      const { page, complaints } = await openPage(at);
      expect(await (await viewOf(page, "Dispute board")).$$(".work")).not.toEqual([]);
      await click(page, "Payment explorer");
      await (await viewOf(page, "Payment explorer")).waitForSelector(".chart .bar");
      await click(page, "Account sheet");
      const sheet = await viewOf(page, "Account sheet");
      await sheet.type("input[type=search]", "C-1");
      await page.keyboard.press("Enter");
      await sheet.waitForSelector("::-p-text(Found for)");
      expect(complaints).toEqual([]);
      expect(await findViolations(page.mainFrame())).toEqual([]);
      await page.click("summary");
      const shown = await page.$eval("main", (main) => String(main.textContent));
      expect(shown).toContain(`claude mcp add --transport http receivables ${at.baseUrl}/mcp`);
      const docs = await page.$eval("a", (link) => (link as unknown as { href: string }).href);
      expect((await fetch(docs)).status).toBe(200);
      await page.close();
    });

    it("asks the server's questions itself, and does nothing without a yes", async () => {
      const { page } = await openPage(at);
      const board = await viewOf(page, "Dispute board");
      await clickOn(board, ".work .link");
      const close = async (): Promise<void> => {
        await click(board, "Close…");
        await click(board, "Close");
        await page.waitForSelector("dialog ::-p-text(Close dispute)");
      };
      await close();
      await click(page, "Cancel");
      await expect.poll(() => text(board)).toContain("did not confirm; nothing was changed");
      await close();
      await click(page, "Yes, do it");
      await expect.poll(() => text(board)).toMatch(/D-\S+ is closed/);
      await page.close();
    });

    it("saves a file of a dispute", async () => {
      const { page, complaints } = await openPage(at);
      const folder = await mkdtemp(join(tmpdir(), "site-"));
      const session = await page.createCDPSession();
      await session.send("Browser.setDownloadBehavior", {
        behavior: "allow",
        downloadPath: folder,
        browserContextId: page.browserContext().id ?? "",
      });
      const board = await viewOf(page, "Dispute board");
      await clickOn(board, ".work .link::-p-text(D-5209808-02)");
      await clickOn(board, 'button[aria-label^="Download "]');
      await expect.poll(async () => (await readdir(folder)).join()).toBe("claim-5209808.xlsx");
      expect((await readFile(join(folder, "claim-5209808.xlsx"))).byteLength).toBeGreaterThan(0);
      expect(complaints).toEqual([]);
      await page.close();
      await rm(folder, { recursive: true });
    });

    it("previews a file of a dispute", async () => {
      const { page, complaints } = await openPage(at);
      const board = await viewOf(page, "Dispute board");
      await clickOn(board, ".work .link::-p-text(D-5209808-02)");
      await clickOn(board, 'button[aria-label="Preview claim-5209808.xlsx"]');
      const cells = "[aria-label='Preview of claim-5209808.xlsx'] td";
      await board.waitForSelector(cells);
      expect(await board.$$eval(cells, (all) => all.length)).toBeGreaterThan(3);
      expect(complaints).toEqual([]);
      await page.close();
    });

    it("is served with strict policies, to known hosts, by GET alone", async () => {
      const page = await fetch(`${at.baseUrl}/`);
      const policy = page.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'; script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      const view = await fetch(`${at.baseUrl}/app/dispute-board.html`);
      const framed = view.headers.get("content-security-policy") ?? "";
      expect(framed).toMatch(/^sandbox allow-scripts; default-src 'none'; script-src 'sha256-/);
      expect(framed).not.toContain("unsafe");
      expect((await fetch(`${at.baseUrl}/app/other.html`)).status).toBe(404);
      const posted = await fetch(`${at.baseUrl}/`, { method: "POST" });
      expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
      expect(await posted.text()).toContain(`${at.baseUrl}/mcp`);
      const other = await fetch(`${at.baseUrl}/sse`);
      expect([other.status, await other.text()]).toEqual([404, expect.stringContaining("/mcp")]);
      expect(await statusFor(`${at.baseUrl}/`, "evil.example")).toBe(403);
    });
  },
);

describe.skipIf(chromium === undefined)(
  "the page of a server with sign-in (skipped where there is no chromium)",
  () => {
    let at: ViewServer;
    let environment: Record<string, string>;
    beforeAll(async () => {
      at = await startViewServer({ RECEIVABLES_HTTP_AUTH: "builtin" }, async (env) => {
        environment = env;
        await createPeople(env, { emails: [EMAIL], password: PASSWORD });
      });
    });
    afterAll(() => at.close());

    it("shows views after sign-in, with the person's rights, and keeps no token", async () => {
      const { page, complaints } = await openPage(at);
      await signIn(page);
      const board = await viewOf(page, "Dispute board");
      expect(await text(board)).toContain("No dispute matches these filters.");
      expect(page.url()).toBe(`${at.baseUrl}/`);
      const stored = "JSON.stringify([{...localStorage}, {...sessionStorage}])";
      expect(await page.evaluate(stored)).toBe("[{},{}]");
      // Payments need an export key, which this person does not have.
      const views = await page.$$eval("nav button", (all) => all.map((one) => one.textContent));
      expect(views).toEqual(["Dispute board", "Account sheet"]);
      expect(complaints).toEqual([]);
      await page.goto(`${at.baseUrl}/?error=access_denied&error_description=Call+us&state=x`);
      await page.waitForSelector("::-p-text(Sign in)");
      expect(await page.$("[role=alert]")).toBeNull();
      expect(await page.$("iframe")).toBeNull();
      await page.close();
    });

    verifies("HS-08");
    it("ends the sign-in at the server when the person signs out", async () => {
      const { page } = await openPage(at);
      const tokens: string[] = [];
      page.on("request", (request) => {
        const { authorization } = request.headers();
        if (authorization !== undefined) tokens.push(authorization);
      });
      await signIn(page);
      await viewOf(page, "Dispute board");
      await click(page, "Sign out");
      await page.waitForSelector("::-p-aria([name='Sign in'][role='button'])");
      expect(await page.$("iframe")).toBeNull();
      const headers = { authorization: tokens.at(-1) ?? "", "content-type": "application/json" };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
      const refused = await fetch(`${at.baseUrl}/mcp`, { method: "POST", headers, body });
      expect([tokens.length > 0, refused.status]).toEqual([true, 401]);
      await page.close();
    });

    verifies("WK-06");
    it("shows the page of a record after the sign-in", async () => {
      const { page } = await openPage(at, "accounts/C-1%2F2");
      await signIn(page);
      const sheet = await viewOf(page, "Account sheet");
      await expect.poll(() => text(sheet)).toContain("Account C-1/2");
      await expect.poll(() => page.url()).toBe(`${at.baseUrl}/accounts/C-1%2F2`);
      await page.close();
    });

    verifies("HS-03");
    it("says that a browser without cookies and site data cannot sign in", async () => {
      const { page, complaints } = await openPage(at, "docs");
      await page.evaluateOnNewDocument(`Object.defineProperty(window, "sessionStorage", {
        get() { throw new DOMException("Access is denied for this document.", "SecurityError"); },
      })`);
      await page.goto(at.baseUrl);
      await page.waitForSelector("::-p-aria([name='Sign in'][role='button'])");
      expect(await page.$("[role=alert]")).toBeNull();
      complaints.length = 0;
      await click(page, "Sign in");
      await page.waitForSelector("[role=alert] ::-p-text(blocks cookies)", { timeout: 5000 });
      expect([page.url(), complaints]).toEqual([`${at.baseUrl}/`, []]);
      await page.close();
    });

    verifies("HS-08");
    it("leads a person with a telephone to the sign-in at once, in words about this page", async () => {
      const { page } = await openPage(at, "disputes/D-1");
      await page.setViewport({ width: 390, height: 664 });
      const button = await page.waitForSelector("#app button");
      const box = await button?.boundingBox();
      expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(664);
      await Promise.all([page.waitForNavigation(), button?.click()]);
      const words = () =>
        page.$eval("main", (main) => (main as unknown as { innerText: string }).innerText);
      expect(await words()).toContain("to see your receivables");
      await page.type("#email", EMAIL);
      await page.type("#password", PASSWORD);
      await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
      const consent = await words();
      expect(consent).toContain("Allow the web page of this server to connect?");
      expect(consent).toContain("your browser returns to it");
      expect(consent).not.toMatch(/chose itself|program on this computer/);
      await page.close();
    });

    verifies("HS-08");
    it("keeps typed text when the server ends the sign-in, and goes on after one in a second window", async () => {
      const { page } = await openPage(at);
      await signIn(page);
      const board = await viewOf(page, "Dispute board");
      const line = ["admin", "user", "set-password", "--tenant", "acme", "--email", EMAIL];
      const { status, stderr } = await runCli(line, environment, `${PASSWORD} 2`);
      expect(stderr).not.toContain("error");
      expect(status).toBe(0);
      const ended = "[role=alert]::-p-text(Your sign-in has ended)";
      // The server asks the platform about a sign-in from time to time, not at each call.
      const search = async (): Promise<boolean> => {
        if ((await page.$(ended)) !== null) return true;
        await board.type("input[type=search]", "a");
        await page.keyboard.press("Enter");
        return false;
      };
      await expect.poll(search, { interval: 1000, timeout: 60_000 }).toBe(true);
      const typed = (): Promise<unknown> =>
        board.$eval("input[type=search]", (input) => (input as unknown as { value: string }).value);
      const before = await typed();
      expect(before).toMatch(/^a+$/);
      const opened = new Promise<Page>((resolve) => {
        page.once("popup", (window) => window && resolve(window));
      });
      await click(page, "Sign in");
      const second = await opened;
      await enter(second, `${PASSWORD} 2`);
      const closed = new Promise((resolve) => void second.once("close", resolve));
      await second.click('button[value="allow"]');
      await closed;
      await page.waitForFunction("!document.querySelector('[role=alert]')");
      expect(await typed()).toBe(before);
      await page.bringToFront();
      await board.type("input[type=search]", "a");
      await page.keyboard.press("Enter");
      await board.waitForSelector(`::-p-text(Nothing has this number or name)`);
      const section = await board.$eval("[aria-label='Records found']", (one) => one.textContent);
      expect(section).not.toContain("payments_query");
      expect(await page.$("[role=alert]")).toBeNull();
      const stored = "JSON.stringify([{...localStorage}, {...sessionStorage}])";
      expect(await page.evaluate(stored)).toBe("[{},{}]");
      await page.close();
    });
  },
);

describe.skipIf(chromium === undefined)(
  "the page of a server with static tokens (skipped where there is no chromium)",
  () => {
    let at: ViewServer;
    let folder = "";
    beforeAll(async () => {
      at = await startViewServer({ RECEIVABLES_HTTP_AUTH: "static" }, async (env) => {
        folder = env["RECEIVABLES_DATA"] ?? "";
      });
    });
    afterAll(() => at.close());

    it("takes a token from the person, never shows one, and refuses a wrong one", async () => {
      const tokens = await readFile(join(folder, "http-tokens"), "utf8");
      const token = /^([^#\s]\S*) /m.exec(tokens)?.[1] ?? "";
      expect(token.length).toBeGreaterThan(20);
      const { page } = await openPage(at);
      expect(await page.content()).not.toContain(token);
      await page.type("#token", "wrong");
      await click(page, "Open");
      await page.waitForSelector("[role=alert]");
      await page.type("#token", token);
      await click(page, "Open");
      expect(await (await viewOf(page, "Dispute board")).$$(".work")).not.toEqual([]);
      await page.close();
    });
  },
);
