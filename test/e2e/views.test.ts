import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import type { Frame } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromium } from "../support/chromium.ts";
import {
  clickOn,
  findViolations,
  openViewHost,
  startViewServer,
  type Theme,
  type ViewHost,
  type ViewServer,
  callTool,
  PICTURES,
  connectViewClient,
} from "../support/views.ts";

const HOSTILE = `<img src=x onerror=alert(1)> "A" & 'B' [x](https://evil.example) <b>bold</b>`;
const HOSTILE_ACCOUNT = "H-666";

let at: ViewServer;
let client: Client;

type Row = Record<string, unknown>;

const call = (name: string, args: Row): Promise<Row> => callTool(client, name, args);

const itemsOf = (answer: Row): Row[] => answer["items"] as Row[];

const openDispute = async (documentNumber: string): Promise<string> => {
  const [reason] = itemsOf(await call("reasons_list", {}));
  const { disputeCode } = await call("disputes_create", {
    accountNumber: HOSTILE_ACCOUNT,
    documentNumber,
    amount: 1234.5,
    reasonId: reason?.["reasonId"],
  });
  return String(disputeCode);
};

const statusOf = async (disputeId: string): Promise<unknown> =>
  (await call("disputes_get", { disputeId }))["status"];

const text = (frame: Frame, selector = "main:not([hidden] *)"): Promise<string> =>
  frame.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText);

const sees = async (frame: Frame, wanted: RegExp): Promise<void> => {
  await expect.poll(() => text(frame, "#view")).toMatch(wanted);
};

const click = (frame: Frame, name: string): Promise<void> =>
  clickOn(frame, `::-p-aria([name="${name}"])`);

const focused = (frame: Frame): Promise<string> =>
  frame.evaluate(
    "document.activeElement.ariaLabel || document.activeElement.innerText",
  ) as Promise<string>;

beforeAll(async () => {
  if (chromium === undefined) return;
  at = await startViewServer();
  client = await connectViewClient(at);
  await call("accounts_create", {
    account_number: HOSTILE_ACCOUNT,
    name: HOSTILE,
    account_group: HOSTILE,
    currency: "USD",
  });
});
afterAll(async () => {
  await client?.close();
  await at?.close();
});

const withHost = async <T>(use: (host: ViewHost) => Promise<T>, width = 1440): Promise<T> => {
  const host = await openViewHost(at, width);
  try {
    const result = await use(host);
    // A refused policy, a failed script and a request to another host would all be reported here.
    expect(host.complaints).toEqual([]);
    return result;
  } finally {
    await host.close();
  }
};

describe.skipIf(chromium === undefined)(
  "views look right and are accessible (skipped where there is no chromium)",
  () => {
    const cases = [1440, 390].flatMap((width) =>
      (["light", "dark"] as const).map((theme): [number, Theme] => [width, theme]),
    );

    it.each(cases)("at %i pixels in the %s theme", async (width, theme) => {
      const [first] = itemsOf(await call("disputes_triage", { limit: 1 }));
      const states: [name: string, tool: string, args: Row, pick?: string][] = [
        ["board", "disputes_triage", {}],
        ["packet", "dispute_packet", { disputeId: first?.["disputeCode"] }],
        [
          "months",
          "payments_summarize",
          { source: "cashapp", groupBy: ["paymentDate:month"] },
          ".bar",
        ],
        ["payers", "payments_summarize", { source: "cashapp", groupBy: ["payerName"] }],
        ["account", "account_overview", { account: first?.["accountNumber"] }],
        ["accounts", "account_overview", { account: "co" }],
        ["nothing", "disputes_triage", { accountName: "no such name" }],
        ["refused", "account_overview", { account: "" }],
      ];
      mkdirSync(PICTURES, { recursive: true });
      await withHost(async (host) => {
        for (const [name, tool, args, pick] of states) {
          const faults = await showState(
            host,
            `${name}-${width}-${theme}`,
            { tool, args, theme },
            pick,
          );
          expect(faults, name).toEqual([]);
        }
      }, width);
    });

    /** Opens a view, takes its picture, and returns what is wrong with it. */
    const showState = async (
      host: ViewHost,
      name: string,
      opening: { tool: string; args: Row; theme: Theme },
      pick?: string,
    ): Promise<string[]> => {
      const frame = await host.open(opening);
      if (pick !== undefined) {
        await clickOn(frame, pick);
        await frame.waitForSelector("section:has(h2[tabindex]) tbody tr");
      }
      await frame.waitForFunction("!document.querySelector('[aria-busy=true], .loading')");
      await host.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
      const overflow =
        "document.documentElement.scrollWidth > document.documentElement.clientWidth";
      const faults = await findViolations(frame);
      return (await frame.evaluate(overflow)) === true ? [...faults, "scrolls sideways"] : faults;
    };

    it("and follow the host when it changes its theme", async () => {
      await withHost(async (host) => {
        const frame = await host.open({
          tool: "account_overview",
          args: { account: HOSTILE_ACCOUNT },
        });
        const background = () => frame.evaluate("getComputedStyle(document.body).backgroundColor");
        expect(await background()).toBe("rgb(255, 255, 255)");
        await host.page.evaluate('host.setTheme("dark")');
        await expect.poll(background).toBe("rgb(20, 25, 29)");
      });
    });
  },
);

describe.skipIf(chromium === undefined)("the dispute board", () => {
  it("can be used with the keyboard alone", async () => {
    await withHost(async (host) => {
      const frame = await host.open({ tool: "disputes_triage" });
      const { keyboard } = host.page;
      await frame.waitForSelector(".chart .bar");
      const tabTo = async (wanted: RegExp): Promise<void> => {
        for (let presses = 0; presses < 60; presses += 1) {
          await keyboard.press("Tab");
          if (wanted.test(await focused(frame))) return;
        }
        throw new Error(`The Tab key does not reach ${wanted}.`);
      };
      await tabTo(/^0–30 days: USD/);
      await keyboard.press("ArrowRight");
      expect(await focused(frame)).toMatch(/^31–60 days: USD\s[\d,.]+, \d+ disputes$/);
      await keyboard.press("Enter");
      await frame.waitForSelector('.bar[aria-pressed="true"]');
      await frame.waitForFunction("!document.querySelector('[aria-busy=true]')");
      const days = await frame.$$eval(".when p:first-child", (all) =>
        all.map((one) => Number.parseInt(String(one.textContent), 10)),
      );
      expect(days.length).toBeGreaterThan(0);
      expect(days.filter((age) => age < 31 || age > 60)).toEqual([]);
      await tabTo(/^D-/);
      const code = await focused(frame);
      await keyboard.press("Enter");
      await expect.poll(() => focused(frame)).toContain(`${code} Open`);
      await keyboard.down("Shift");
      await keyboard.press("Tab");
      await keyboard.up("Shift");
      expect(await focused(frame)).toContain("Worklist");
      await keyboard.press("Enter");
      await expect.poll(() => focused(frame)).toBe(code);
    });
  });

  it("filters by flag, name, assignee and a condition of the call", async () => {
    await withHost(async (host) => {
      const frame = await host.open({ tool: "disputes_triage", args: { amountMin: 500 } });
      await frame.waitForFunction("!document.querySelector('[aria-busy=true]')");
      await frame.waitForSelector("::-p-text(Amount min: 500)");
      const total = async (): Promise<number> =>
        Number(/of ([\d,]+)/.exec(await text(frame, "#worklist"))?.[1]?.replace(",", ""));
      const all = await total();
      await click(frame, "Remove Amount min: 500");
      await expect.poll(total).toBeGreaterThan(all);
      const unfiltered = await total();
      await frame.select("select:has(option[value='(unassigned)'])", "(unassigned)");
      await expect.poll(total).toBeLessThan(unfiltered);
      const unassigned = await total();
      const { rowCount } = await call("disputes_triage", { unassigned: true, limit: 1 });
      expect(unassigned).toBe(rowCount);
      await click(frame, "Clear filters");
      await expect.poll(total).toBe(unfiltered);
      await frame.type('[aria-label="Filters"] input[type=search]', "no such customer");
      await host.page.keyboard.press("Enter");
      await sees(frame, /No dispute matches these filters/);
    });
  });

  it.each(["auto", "legacy"] as const)(
    "closes a dispute after the host has asked in %s mode, and not when the person declines",
    async (mode) => {
      const code = await openDispute(`H-close-${mode}`);
      await withHost(async (host) => {
        const answers = ["decline", "accept"] as ("decline" | "accept")[];
        const args = { disputeId: code };
        const frame = await host.open({ tool: "dispute_packet", args, answers, mode });
        const close = async (): Promise<void> => {
          await click(frame, "Close…");
          await click(frame, "Close");
        };
        await close();
        await sees(frame, /did not confirm; nothing was changed/);
        expect(await statusOf(code)).toBe("Open");
        await close();
        await sees(frame, new RegExp(`${code} is closed`));
        await frame.waitForSelector("h1 ::-p-text(Closed)");
        expect(await statusOf(code)).toBe("Closed");
        const { questions, told } = await host.asked();
        expect(questions).toHaveLength(2);
        expect(questions[0]).toContain(`Close dispute ${code}`);
        expect(JSON.stringify(told)).toContain(`${code} is closed`);
      });
    },
  );

  it("asks by itself where the host cannot, and changes nothing before the answer", async () => {
    const code = await openDispute("H-ask");
    await withHost(async (host) => {
      const frame = await host.open({ tool: "dispute_packet", args: { disputeId: code } });
      const close = async (): Promise<void> => {
        await click(frame, "Close…");
        await click(frame, "Close");
        await frame.waitForSelector(`dialog ::-p-text(Close dispute ${code})`);
        expect(await findViolations(frame)).toEqual([]);
      };
      await close();
      await host.page.keyboard.press("Escape");
      await sees(frame, /You did not confirm; nothing was changed/);
      expect(await statusOf(code)).toBe("Open");
      await close();
      await click(frame, "Yes, do it");
      await sees(frame, new RegExp(`${code} is closed`));
      expect(await statusOf(code)).toBe("Closed");
    });
  });

  it("tells people of one name apart where it assigns a dispute", async () => {
    const code = await openDispute("H-same");
    const department = itemsOf(await call("departments_list", {}))[0]?.["departmentId"];
    for (const email of ["pat.one@demo.example", "pat.two@demo.example"]) {
      const person = { firstName: "Pat", lastName: "Same", email };
      await call("assignees_create", { departmentId: department, person });
    }
    await withHost(async (host) => {
      const frame = await host.open({ tool: "dispute_packet", args: { disputeId: code } });
      await click(frame, "Assign…");
      await frame.waitForSelector("dialog option:nth-child(2)");
      const shown = await frame.$$eval("dialog option", (all) =>
        all.map((one) => String(one.textContent)),
      );
      expect(shown).toContain("Pat Same, pat.two@demo.example");
      expect(new Set(shown).size).toBe(shown.length);
    });
  });

  it("adds notes, and assigns several disputes at once", async () => {
    const codes = [await openDispute("H-several"), await openDispute("H-several")];
    await withHost(async (host) => {
      const args = { accountNumber: HOSTILE_ACCOUNT };
      const frame = await host.open({ tool: "disputes_triage", args, answers: ["accept"] });
      for (const code of codes) {
        await click(frame, `Choose ${code}`);
      }
      await click(frame, "Assign…");
      const { person } = itemsOf(await call("assignees_list", {})).find(
        ({ active }) => active === true,
      ) as { person: Row };
      await frame.waitForSelector("dialog option:nth-child(2)");
      await frame.select("dialog select", String(person["email"]));
      await click(frame, "Assign");
      await sees(frame, /2 disputes changed/);
      const assigned = await call("disputes_get", { disputeId: codes[0] });
      expect(assigned["assigneeName"]).toContain(String(person["lastName"]));
      await click(frame, String(codes[0]));
      await click(frame, "Add note…");
      await frame.locator("dialog[open] textarea").fill(HOSTILE);
      await click(frame, "Add note");
      await sees(frame, /The note was added/);
      await expect.poll(() => text(frame, ".timeline")).toContain(HOSTILE);
    });
  });
});

describe.skipIf(chromium === undefined)("foreign text", () => {
  it("is shown character by character, and never becomes an element", async () => {
    const code = await openDispute("H-text");
    await withHost(async (host) => {
      for (const [tool, args] of [
        ["disputes_triage", { accountNumber: HOSTILE_ACCOUNT }],
        ["dispute_packet", { disputeId: code }],
        ["account_overview", { account: HOSTILE_ACCOUNT }],
      ] as const) {
        const frame = await host.open({ tool, args });
        expect(await text(frame, "#view"), tool).toContain(HOSTILE);
        expect(await frame.$$eval("#view :is(img, b, a)", (all) => all.length)).toBe(0);
      }
    });
  });
});

describe.skipIf(chromium === undefined)("the payment explorer", () => {
  type Group = { key: Row; rows: number };

  const groupsBy = async (grouping: string): Promise<Group[]> => {
    const args = { source: "cashapp", groupBy: [grouping], limit: 200 };
    return (await call("payments_summarize", args))["items"] as Group[];
  };

  const ROWS = "section:has(h2[tabindex]) tbody tr";

  it("changes the grouping and shows the rows behind a bar", async () => {
    const [largest] = await groupsBy("paymentMethod");
    await withHost(async (host) => {
      const args = { source: "cashapp", groupBy: ["paymentDate:year"] };
      const frame = await host.open({ tool: "payments_summarize", args });
      await frame.select("select:has(option[value='paymentMethod'])", "paymentMethod");
      await clickOn(frame, ".rows .bar");
      await sees(frame, new RegExp(`Rows of ${String(largest?.key["paymentMethod"])}`));
      const count = () => frame.$$eval(ROWS, (all) => all.length);
      const rows = largest?.rows ?? 0;
      expect(rows).toBeGreaterThan(25);
      await expect.poll(count).toBe(25);
      // A later page that was not read is read again, and not the first one.
      await host.page.setOfflineMode(true);
      await click(frame, "More rows");
      await sees(frame, /Try again/);
      await host.page.setOfflineMode(false);
      expect(host.complaints.splice(0)).toEqual([expect.stringContaining("DISCONNECTED")]);
      await click(frame, "Try again");
      await expect.poll(count).toBe(Math.min(50, rows));
      const shown = await frame.$$eval(ROWS, (all) => all.map((row) => row.textContent));
      expect(new Set(shown).size).toBe(shown.length);
    });
  });

  it("shows all months though the host's answer has few, and narrows by dates", async () => {
    const groups = await groupsBy("paymentDate:month");
    const month = String(groups.at(-1)?.key["paymentDate:month"]);
    await withHost(async (host) => {
      const args = { source: "cashapp", groupBy: ["paymentDate:month"] };
      const frame = await host.open({ tool: "payments_summarize", args });
      const count = () => frame.$$eval("main table tbody tr", (all) => all.length);
      await expect.poll(count).toBe(groups.length);
      await frame.$eval(
        "input[type=date]",
        (input, value) => {
          Object.assign(input, { value });
          input.dispatchEvent(new Event("change", { bubbles: true }));
        },
        `${month}-01`,
      );
      const inMonth = groups.filter(({ key }) => key["paymentDate:month"] === month);
      await expect.poll(count).toBe(inMonth.length);
    });
  });
});
