import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Frame } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { chromium } from "../support/chromium.ts";
import { runCli } from "../support/cli.ts";
import { ndjson } from "../support/payment-rows.ts";
import { verifies } from "../support/verifies.ts";
import {
  callTool,
  clickOn,
  connectViewClient,
  openViewHost,
  startViewServer,
  type ViewHost,
  type ViewServer,
} from "../support/views.ts";

const ACCOUNT = "R-1";

const paidBefore = (days: number, id: string, paymentAmount: number) => ({
  id,
  paymentId: id,
  paymentDate: new Date(Date.now() - days * DAY).toISOString().slice(0, "2026-01-31".length),
  currencyCode: "EUR",
  paymentAmount,
  accountNumber: ACCOUNT,
});

let at: ViewServer;

beforeAll(async () => {
  if (chromium === undefined) return;
  at = await startViewServer();
  const client = await connectViewClient(at);
  await callTool(client, "accounts_create", {
    account_number: ACCOUNT,
    name: "Returner Ltd",
    currency: "EUR",
  });
  await client.close();
  const file = join(at.folder, "payments.ndjson");
  const rows = [
    paidBefore(30, "P-1", 1234.5),
    paidBefore(20, "P-2", 300),
    paidBefore(10, "P-2-back", -300),
  ];
  await writeFile(file, ndjson(rows));
  const command = ["import", "payments", file, "--tenant", "demo", "--source", "cashapp"];
  const imported = await runCli(command, { RECEIVABLES_DATA: at.folder });
  if (imported.status !== 0) throw new Error(imported.stderr);
}, 60_000);
afterAll(() => at?.close());

const withHost = async (use: (host: ViewHost) => Promise<void>): Promise<void> => {
  const host = await openViewHost(at, 1440);
  try {
    await use(host);
    expect(host.complaints).toEqual([]);
  } finally {
    await host.close();
  }
};

const text = (frame: Frame, selector: string): Promise<string> =>
  frame.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText);

describe.skipIf(chromium === undefined)("the account sheet", () => {
  it("offers the accounts that match, and finds another", async () => {
    await withHost(async (host) => {
      const frame = await host.open({ tool: "account_overview", args: { account: "co" } });
      await frame.waitForSelector("::-p-text(Which account?)");
      await clickOn(frame, ".lines button");
      await frame.waitForSelector("::-p-text(Open documents by days past due)");
      const input = await frame.$("input[type=search]");
      await input?.click({ count: 3 });
      await input?.type(ACCOUNT);
      await host.page.keyboard.press("Enter");
      await expect.poll(() => text(frame, "h1")).toBe("Returner Ltd");
    });
  });

  verifies("WK-91");
  it("says which payments came back", async () => {
    await withHost(async (host) => {
      const frame = await host.open({ tool: "account_overview", args: { account: ACCOUNT } });
      await frame.waitForSelector("::-p-text(Paid in 90 days)");
      const tile = await text(frame, ".tile:nth-child(3)");
      expect(tile.replaceAll("\u00a0", " ")).toMatch(
        /EUR 1,234\.50\s+2 payments; last on .+\s+Returned and taken off: -EUR 300\.00/,
      );
    });
  });
});
