import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Frame, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromium } from "../support/chromium.ts";
import { verifies } from "../support/verifies.ts";
import {
  clickOn,
  findViolations,
  startViewServer,
  type ViewServer,
  PICTURES,
} from "../support/views.ts";

/** A megabit per second in bytes, with the delay of a mobile network. */
const SLOW = {
  offline: false,
  latency: 40,
  downloadThroughput: 125_000,
  uploadThroughput: 125_000,
};

let at: ViewServer;

const text = (place: Frame, selector = "#view"): Promise<string> =>
  place.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText);

const click = (place: Page | Frame, name: string): Promise<void> =>
  clickOn(place, `::-p-aria([name="${name}"][role="button"])`);

/** Opens the page at a path, and counts the tools that it calls. */
const openPage = async (path = "", { width = 1440, scheme = "light", isSlow = false } = {}) => {
  const page = await (await at.browser.createBrowserContext()).newPage();
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  const calls: string[] = [];
  page.on("request", (request) => {
    const body = request.url().endsWith("/mcp") ? (request.postData() ?? "") : "";
    const [, tool] = /"method":"tools\/call".*"name":"(\w+)"/.exec(body) ?? [];
    if (tool !== undefined) calls.push(tool);
  });
  if (isSlow) {
    const session = await page.createCDPSession();
    await session.send("Network.emulateNetworkConditions", SLOW);
  }
  await page.goto(`${at.baseUrl}/${path}`);
  const view = async (title: string): Promise<Frame> => {
    const element = await page.waitForSelector(`iframe[title="${title}"]`);
    const frame = await element?.contentFrame();
    if (!frame) throw new Error("The page shows no view.");
    await frame.waitForSelector("h1");
    await settle(frame);
    return frame;
  };
  return { page, calls, view };
};

const settle = async (frame: Frame): Promise<void> => {
  await frame.waitForFunction("!document.querySelector('[aria-busy=true], .loading')");
};

/** A closed dispute of the demo data, whose badges have every tone. */
const CLOSED = "D-5117006-01";

/** Lists badges, codes and days that take more than a line, and blocks that touch the one above them or are cut. */
const findBroken = `(() => {
  const tall = [...document.querySelectorAll(".badge, .whole, .number")].filter((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    const { height, width } = range.getBoundingClientRect();
    const isWide = one.matches(".badge") && one.getBoundingClientRect().width > width + 24;
    return height > 2 * parseFloat(getComputedStyle(one).fontSize) || isWide;
  });
  const blocks = [...document.querySelectorAll("#view > *, main > *")];
  const close = blocks.filter((one) => {
    const above = one.previousElementSibling?.getBoundingClientRect();
    const own = one.getBoundingClientRect();
    return own.height > 0 && above?.height > 0 && own.top - above.bottom < 8;
  });
  const cut = [...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth);
  return [...tall, ...close, ...cut].map(({ outerHTML }) => outerHTML.slice(0, 120));
})()`;

const title = (frame: Frame): Promise<string> => text(frame, "main:not([hidden] *) h1");

describe.skipIf(chromium === undefined)(
  "work on the page (skipped where there is no chromium)",
  () => {
    beforeAll(async () => {
      // Half of the usual limit, which people share with their assistants: all pages below open within two minutes.
      at = await startViewServer({ RECEIVABLES_GATEWAY_RATE_MINUTE: "300" });
    });
    afterAll(() => at?.close());

    verifies("HS-08");
    it("reads the worklist once, and several clicks once more", async () => {
      const { page, calls, view } = await openPage();
      const board = await view("Dispute board");
      expect(calls.filter((tool) => tool === "disputes_triage")).toHaveLength(1);
      calls.length = 0;
      const first = await text(board, ".work h3 button");
      await board.$eval("select:has(option[value='amount'])", (select) => {
        for (const value of ["amount", "age", "priority", "amount", "age", "amount"]) {
          Object.assign(select, { value });
          select.dispatchEvent(new Event("change", { bubbles: true }));
        }
      });
      await expect.poll(() => text(board, ".work h3 button")).not.toBe(first);
      expect(calls).toEqual(["disputes_triage"]);
      expect(await board.$("[role=alert]")).toBeNull();
      await page.close();
    });

    it("filters by a part of a name while it is typed, by one call and one step back", async () => {
      const { page, calls, view } = await openPage();
      const board = await view("Dispute board");
      calls.length = 0;
      await board.type("input[placeholder='Part of the name']", "harbor", { delay: 30 });
      await expect.poll(() => text(board, ".work")).not.toContain("Sawtooth");
      expect(await text(board, ".work")).toContain("Harbor Point");
      expect(calls.filter((tool) => tool === "disputes_triage")).toHaveLength(1);
      expect(await board.evaluate("document.activeElement.value")).toBe("harbor");
      await page.goBack();
      await expect.poll(() => text(board, ".work")).toContain("Sawtooth");
      expect(
        await board.$eval(
          "input[placeholder='Part of the name']",
          (input) => (input as unknown as { value: string }).value,
        ),
      ).toBe("");
      await page.close();
    });

    it("leads from each chip to as many disputes as it counts, and through all pages", async () => {
      const { page, view } = await openPage();
      const board = await view("Dispute board");
      const total = async (): Promise<number> =>
        Number(/of ([\d,]+)/.exec(await text(board, "#worklist"))?.[1]?.replace(",", ""));
      const chips = await board.$$eval(".flags button", (all) =>
        all.map((one) => [String(one.textContent), Number.parseInt(String(one.textContent), 10)]),
      );
      expect(chips).toHaveLength(4);
      const all = await total();
      for (const [name, count] of chips.filter(([, one]) => Number(one) > 0)) {
        await click(board, String(name));
        await expect.poll(total).toBe(count);
        await page.goBack();
        await expect.poll(total).toBe(all);
      }
      const codes = new Set<string>();
      for (let isLast = false; !isLast;) {
        await settle(board);
        const shown = await board.$$eval(".work h3 button", (links) =>
          links.map((one) => String(one.textContent)),
        );
        for (const code of shown) codes.add(code);
        isLast = codes.size >= all || shown.length === 0;
        if (isLast) break;
        await click(board, "Next page");
        await expect.poll(() => text(board, ".work h3 button")).not.toBe(shown[0]);
      }
      expect(codes.size).toBe(all);
      await page.close();
    });

    verifies("WK-06");
    it("finds records by number and name, goes back, and shows their own pages", async () => {
      const { page, view } = await openPage();
      const board = await view("Dispute board");
      const find = async (wanted: string): Promise<void> => {
        await board.type(".finder input", wanted);
        await page.keyboard.press("Enter");
      };
      await find("d-5209808-02");
      await expect.poll(() => title(board)).toContain("D-5209808-02");
      expect(page.url()).toBe(`${at.baseUrl}/disputes/D-5209808-02`);
      await click(board, "5209808");
      await expect.poll(() => title(board)).toMatch(/^5209808/);
      await clickOn(board, ".facts button.link");
      await expect.poll(() => title(board)).toContain("Fundy Marine");
      expect(page.url()).toBe(`${at.baseUrl}/accounts/C-11272`);
      await page.goBack();
      await expect.poll(() => title(board)).toMatch(/^5209808/);
      expect(page.url()).toBe(`${at.baseUrl}/documents/5209808`);
      await page.goBack();
      await page.goBack();
      await expect.poll(() => title(board)).toBe("Dispute board");
      expect(page.url()).toBe(`${at.baseUrl}/`);
      await find("Harbor Point");
      await board.waitForSelector("::-p-text(Found for)");
      expect(await findViolations(board)).toEqual([]);
      await page.close();
      for (const [path, frame, wanted] of [
        ["disputes/D-5209808-02", "Dispute board", "D-5209808-02"],
        ["documents/5209808", "Dispute board", "5209808"],
        ["accounts/C-11272", "Account sheet", "Fundy Marine"],
      ] as const) {
        const opened = await openPage(path);
        const shown = await opened.view(frame);
        await expect.poll(() => title(shown)).toContain(wanted);
        expect(await findViolations(shown)).toEqual([]);
        await opened.page.close();
      }
    });

    it("keeps a typed note through Escape and an outage, and marks what the customer sees", async () => {
      const { page, view } = await openPage("disputes/D-5209808-02");
      const packet = await view("Dispute board");
      const typed = async (): Promise<unknown> =>
        packet.$eval("dialog textarea", (area) => (area as unknown as { value: string }).value);
      await packet.focus("::-p-aria([name='Add note…'][role='button'])");
      await page.keyboard.press("Enter");
      await packet.locator("dialog[open] textarea").fill("Proof sent to the customer.");
      await page.keyboard.press("Escape");
      await packet.waitForSelector("::-p-text(What you typed is not saved)");
      await page.keyboard.press("Escape");
      expect(await typed()).toBe("Proof sent to the customer.");
      await click(packet, "Keep writing");
      await packet.select("dialog select", "All");
      await page.setOfflineMode(true);
      await page.waitForSelector("[role=alert]::-p-text(You are offline)");
      await click(packet, "Add note");
      await packet.waitForSelector("dialog [role=alert]::-p-text(The note was not added)");
      expect(await findViolations(packet)).toEqual([]);
      expect(await typed()).toBe("Proof sent to the customer.");
      await page.setOfflineMode(false);
      await click(packet, "Add note");
      await expect.poll(() => text(packet)).toContain("The note was added");
      await expect
        .poll(() => text(packet, ".timeline li"))
        .toMatch(/External[^]*Proof sent to the customer\./);
      // A person with a keyboard goes on where the note was begun.
      const focused = "document.activeElement.textContent.slice(0, 99)";
      expect(await packet.evaluate(focused)).toBe("Add note…");
      await page.close();
    });

    it("says in place that a read failed, and goes on when the connection is back", async () => {
      const { page, view } = await openPage();
      const board = await view("Dispute board");
      await page.setOfflineMode(true);
      await board.select("select:has(option[value='amount'])", "amount");
      await board.waitForSelector("main [role=alert]::-p-text(You are offline)");
      expect((await board.$$(".work")).length).toBeGreaterThan(0);
      await page.setOfflineMode(false);
      await board.waitForFunction("!document.querySelector('main [role=alert]')");
      await page.close();
    });

    it("sends little before the first paint, compressed, and nothing twice", async () => {
      const { page } = await openPage("", { isSlow: true });
      await page.waitForSelector("iframe");
      const first = await page.$$eval("link[rel=stylesheet], script[src]", (all) =>
        all.map((one) => one.getAttribute("href") ?? one.getAttribute("src") ?? ""),
      );
      expect(first).toHaveLength(2);
      let bytes = 0;
      for (const name of ["", ...first]) {
        for (const coding of ["br", "gzip"]) {
          const response = await fetch(new URL(name, `${at.baseUrl}/`), {
            headers: { "Accept-Encoding": coding },
          });
          expect(response.headers.get("content-encoding"), name).toBe(coding);
          expect(response.headers.get("vary")).toContain("Accept-Encoding");
          const cache = name === "" ? "no-cache" : "public, max-age=31536000, immutable";
          expect(response.headers.get("cache-control"), name).toBe(cache);
        }
      }
      const loaded = (await page.evaluate(
        `performance.getEntriesByType("resource").filter(({name}) => /\\.(js|css)$/.test(name)).map(({name, encodedBodySize}) => [name, encodedBodySize])`,
      )) as [string, number][];
      for (const [name, size] of loaded) {
        if (first.some((one) => name.endsWith(one))) bytes += size;
      }
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThan(20_000);
      const all = loaded.reduce((sum, [, size]) => sum + size, 0);
      expect(all).toBeLessThan(160_000);
      await page.close();
    });

    it.each([
      [1440, "light"],
      [1440, "dark"],
      [390, "light"],
      [390, "dark"],
    ] as const)("looks right at %i pixels in the %s scheme", async (width, scheme) => {
      mkdirSync(PICTURES, { recursive: true });
      for (const [name, path, frame] of [
        ["board", "", "Dispute board"],
        ["document", "documents/5209808", "Dispute board"],
        ["dispute", `disputes/${CLOSED}`, "Dispute board"],
        ["account", "accounts/C-11272", "Account sheet"],
      ] as const) {
        const { page, view } = await openPage(path, { width, scheme });
        const shown = await view(frame);
        await page.screenshot({
          path: join(PICTURES, `page-${name}-${width}-${scheme}.png`),
          fullPage: true,
        });
        expect(await findViolations(page.mainFrame())).toEqual([]);
        expect(await findViolations(shown)).toEqual([]);
        const overflow =
          "document.documentElement.scrollWidth > document.documentElement.clientWidth";
        expect(await shown.evaluate(overflow)).toBe(false);
        expect(await shown.evaluate(findBroken), name).toEqual([]);
        await page.close();
      }
    });
  },
);
