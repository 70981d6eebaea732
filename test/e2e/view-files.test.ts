import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import type { Frame } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromium } from "../support/chromium.ts";
import { runCli } from "../support/cli.ts";
import { pdfWithPages, png, scannedPdf, xlsxOf } from "../support/readable-files.ts";
import { mail, wholePdf } from "../support/uploads/samples.ts";
import { verifies } from "../support/verifies.ts";
import {
  clickOn,
  findViolations,
  openViewHost,
  startViewServer,
  type ViewHost,
  type ViewServer,
  callTool,
  PICTURES,
  type Theme,
  connectViewClient,
} from "../support/views.ts";

const PAGES = Array.from(
  { length: 30 },
  (_, page) => `Page ${page + 1} <b>begins</b>. ${"Twelve of fourteen pumps came. ".repeat(60)}`,
);

let at: ViewServer;
let client: Client;
let disputeId: string;

type Row = Record<string, unknown>;

const call = (name: string, args: Row): Promise<Row> => callTool(client, name, args);

const upload = async (fileName: string, bytes: Uint8Array): Promise<void> => {
  const base64 = Buffer.from(bytes).toString("base64");
  const answer = await call("dispute_attachments_upload", { disputeId, fileName, base64 });
  expect(answer, fileName).toMatchObject({ status: "Available" });
};

beforeAll(async () => {
  if (chromium === undefined) return;
  at = await startViewServer();
  client = await connectViewClient(at);
  const [first] = (await call("disputes_triage", { limit: 1 }))["items"] as Row[];
  disputeId = String(first?.["disputeCode"]);
  const rows = [
    ["Claim", "Amount"],
    ["C-1", 12.5],
  ];
  const invoice = { name: "invoice.xml", data: Buffer.from("<Invoice/>") };
  await upload("letter.pdf", await pdfWithPages(PAGES));
  await upload("scan.pdf", await scannedPdf(4));
  await upload("claims.xlsx", await xlsxOf([{ name: "Claims", rows }]));
  await upload("photo.png", png());
  await upload("mail.eml", mail(invoice, { name: "cut.pdf", data: wholePdf().subarray(0, -20) }));
});
afterAll(async () => {
  await client?.close();
  await at?.close();
});

const withPacket = async (
  width: number,
  use: (frame: Frame, host: ViewHost) => Promise<void>,
): Promise<void> => {
  const host = await openViewHost(at, width);
  try {
    await use(await host.open({ tool: "dispute_packet", args: { disputeId } }), host);
    expect(host.complaints).toEqual([]);
  } finally {
    await host.close();
  }
};

const preview = async (frame: Frame, name: string): Promise<string> => {
  await clickOn(frame, `button[aria-label="Preview ${name}"]`);
  const region = `[aria-label="Preview of ${name}"]`;
  await frame.waitForSelector(`${region}:not(:has(.loading))`);
  return region;
};

const textOf = (frame: Frame, selector: string): Promise<string> =>
  frame.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText);

type Picture = { alt: string; naturalWidth: number; complete: boolean };

const picturesIn = async (frame: Frame, region: string): Promise<string[]> => {
  await frame.waitForFunction(
    `[...document.querySelectorAll('${region} img')].every((one) => one.complete)`,
  );
  return frame.$$eval(`${region} img`, (all) =>
    (all as unknown as Picture[])
      .filter(({ naturalWidth }) => naturalWidth > 0)
      .map(({ alt }) => alt),
  );
};

describe.skipIf(chromium === undefined)("files in the dispute board", () => {
  verifies("WK-20");
  it("are shown whole, answer by answer, character by character", async () => {
    await withPacket(1440, async (frame) => {
      const region = await preview(frame, "letter.pdf");
      const more = `${region} ::-p-text(Show more)`;
      const first = await textOf(frame, region);
      expect(first).toContain("Page 1 <b>begins</b>.");
      expect(first).toContain("The file has 30 pages.");
      expect(first).not.toContain("Page 30 <b>begins</b>.");
      for (let clicks = 0; clicks < 30 && (await frame.$(more)) !== null; clicks += 1) {
        await clickOn(frame, more);
        await frame.waitForSelector(`${region}:not(:has(.loading))`);
      }
      const whole = await textOf(frame, region);
      const begun = [...whole.matchAll(/Page (\d+) <b>begins<\/b>\./g)].map(([, page]) => page);
      expect(begun).toEqual(PAGES.map((_, page) => String(page + 1)));
      expect(await frame.$$eval(`${region} b`, (all) => all.length)).toBe(0);
      await clickOn(frame, 'button[aria-label="Hide letter.pdf"]');
      await frame.waitForFunction(`!document.querySelector('${region}')`);
    });
  });

  verifies("WK-20");
  it("are shown as pictures where they have no text, and sheets as tables", async () => {
    await withPacket(1440, async (frame) => {
      const scan = await preview(frame, "scan.pdf");
      expect(await picturesIn(frame, scan)).toEqual(
        [1, 2, 3].map((page) => `Page ${page} of scan.pdf`),
      );
      await clickOn(frame, `${scan} ::-p-text(Show more)`);
      await frame.waitForSelector(`${scan} img[alt="Page 4 of scan.pdf"]`);
      expect(await picturesIn(frame, await preview(frame, "photo.png"))).toEqual(["photo.png"]);
      const sheet = await preview(frame, "claims.xlsx");
      const cells = await frame.$$eval(`${sheet} td`, (all) => all.map((one) => one.textContent));
      expect(cells).toEqual(["Claim", "Amount", "C-1", "12.5"]);
      const message = await textOf(frame, await preview(frame, "mail.eml"));
      expect(message).toContain("From: Ann <ann@example.com>");
      expect(message).toContain("invoice.xml");
    });
  });

  verifies("FL-03");
  it("have their warnings in plain words", async () => {
    await withPacket(1440, async (frame) => {
      const warnings = await frame.$$eval("ul[aria-label=Warnings] li", (all) =>
        all.map((one) => String(one.textContent)),
      );
      expect(warnings).toHaveLength(2);
      expect(warnings.join("\n")).toMatch(
        /Files of other types in it were checked for programs only/,
      );
      expect(warnings.join("\n")).toMatch(/The file is damaged or cut off\. .*cut\.pdf/);
    });
  });

  it.each([1440, 390])("look right and are accessible at %i pixels", async (width) => {
    mkdirSync(PICTURES, { recursive: true });
    await withPacket(width, async (frame, { page }) => {
      for (const name of ["letter.pdf", "scan.pdf", "claims.xlsx", "mail.eml"]) {
        await preview(frame, name);
      }
      await page.screenshot({ path: join(PICTURES, `files-${width}.png`), fullPage: true });
      expect(await findViolations(frame)).toEqual([]);
      const overflow =
        "document.documentElement.scrollWidth > document.documentElement.clientWidth";
      expect(await frame.evaluate(overflow)).toBe(false);
    });
  });
});

describe.skipIf(chromium === undefined)("tables of views", () => {
  const withView = async (
    opening: { tool: string; args?: Row; tells?: "message"; theme?: Theme },
    use: (frame: Frame, host: ViewHost) => Promise<void>,
    width = 1440,
  ): Promise<void> => {
    const host = await openViewHost(at, width);
    try {
      await use(await host.open(opening), host);
      expect(host.complaints).toEqual([]);
    } finally {
      await host.close();
    }
  };

  const filesOf = async (host: ViewHost): Promise<Record<string, string>> =>
    (await host.page.evaluate("host.files")) as Record<string, string>;

  const press = (frame: Frame, name: string): Promise<void> =>
    clickOn(frame, `::-p-aria([name="${name}"])`);

  verifies("WK-90", "WK-91");
  it("are the files of the tool's link and of the command line", async () => {
    const args = { source: "cashapp", groupBy: ["payerName"] };
    await withView({ tool: "payments_summarize", args }, async (frame, host) => {
      await press(frame, "Save as CSV");
      await expect.poll(async () => Object.keys(await filesOf(host))).toHaveLength(1);
      const [ofView = ""] = Object.values(await filesOf(host));
      const { saved } = await call("payments_summarize", { ...args, save: "csv" });
      const { uri, url } = saved as { uri: string; url: string };
      const [linked] = (await client.readResource({ uri })).contents;
      expect(linked).toMatchObject({ text: ofView });
      const response = await fetch(url);
      // The file has a byte order mark, which `text` would leave out.
      expect(Buffer.from(await response.arrayBuffer()).toString()).toBe(ofView);
      const path = join(at.folder, "payers.csv");
      const env = { RECEIVABLES_DATA: at.folder };
      const called = await runCli(
        ["call", "payments_summarize", JSON.stringify(args), "--csv", path],
        env,
      );
      expect([called.status, called.stderr]).toEqual([0, ""]);
      expect(await readFile(path, "utf8")).toBe(ofView);
      await press(frame, "Save as Excel");
      await expect.poll(async () => Object.keys(await filesOf(host))).toHaveLength(2);
      const name = Object.keys(await filesOf(host)).find((one) => one.endsWith(".xlsx")) ?? "";
      expect((await filesOf(host))[name]).toMatch(/^UEsDB/);
    });
  });

  it("fill the screen, and lead to the assistant", async () => {
    await withView({ tool: "disputes_triage", tells: "message" }, async (frame, host) => {
      await press(frame, "Full screen");
      await frame.waitForSelector('button[aria-pressed="true"]::-p-text(Full screen)');
      expect(await host.page.$eval("iframe", (one) => one.getAttribute("data-mode"))).toBe(
        "fullscreen",
      );
      await press(frame, "Ask the assistant about this");
      await expect
        .poll(async () => JSON.stringify((await host.asked()).told))
        .toContain("About the dispute board as of");
    });
  });

  it.each(
    [1440, 390].flatMap((width) =>
      (["light", "dark"] as const).map((theme): [number, Theme] => [width, theme]),
    ),
  )("begin with the accounts that owe most, at %i pixels in the %s theme", async (width, theme) => {
    const opening = { tool: "account_overview", args: { account: "" }, theme };
    await withView(
      opening,
      async (frame, host) => {
        await frame.waitForSelector("::-p-text(Accounts that owe most)");
        const { items, itemsTotal } = await call("documents_summary", {
          groupBy: ["account"],
          limit: 25,
        });
        const first = () => frame.$eval("tbody th button", (one) => one.textContent);
        const names = (items as Row[]).map(({ accountName }) => String(accountName));
        expect(await first()).toBe(names[0]);
        mkdirSync(PICTURES, { recursive: true });
        await host.page.screenshot({
          path: join(PICTURES, `owing-${width}-${theme}.png`),
          fullPage: true,
        });
        expect(await findViolations(frame)).toEqual([]);
        if (Number(itemsTotal) > names.length) {
          await press(frame, "Next page");
          await expect.poll(first).not.toBe(names[0]);
        }
        await clickOn(frame, "tbody th button");
        await frame.waitForSelector("::-p-text(Open documents by days past due)");
      },
      width,
    );
  });
});
