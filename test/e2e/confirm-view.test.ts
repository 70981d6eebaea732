import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import type { Frame } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromium } from "../support/chromium.ts";
import { verifies } from "../support/verifies.ts";
import {
  clickOn,
  findViolations,
  openViewHost,
  startViewServer,
  type ViewHost,
  type ViewOpening,
  type ViewServer,
  callTool,
  PICTURES,
  connectViewClient,
} from "../support/views.ts";

type Row = Record<string, unknown>;

let at: ViewServer;
let client: Client;

const call = (name: string, args: Row): Promise<Row> => callTool(client, name, args);

const createDepartment = async (code: string): Promise<unknown> =>
  (await call("departments_create", { code, description: `[x](y) ${code} & sons` }))[
    "departmentId"
  ];

const exists = async (departmentId: unknown): Promise<boolean> =>
  ((await call("departments_list", {}))["items"] as Row[]).some(
    (one) => one["departmentId"] === departmentId,
  );

const text = (frame: Frame): Promise<string> =>
  frame.$eval("#view", (element) => (element as unknown as { innerText: string }).innerText);

const sees = async (frame: Frame, wanted: RegExp): Promise<void> => {
  await expect.poll(() => text(frame)).toMatch(wanted);
};

const withHost = async (use: (host: ViewHost) => Promise<void>, width = 1440): Promise<void> => {
  const host = await openViewHost(at, width);
  try {
    await use(host);
    expect(host.complaints).toEqual([]);
  } finally {
    await host.close();
  }
};

const picture = async (host: ViewHost, name: string): Promise<void> => {
  mkdirSync(PICTURES, { recursive: true });
  await host.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
};

describe.skipIf(chromium === undefined)(
  "the confirmation view in a browser (skipped where there is no chromium)",
  () => {
    beforeAll(async () => {
      at = await startViewServer();
      client = await connectViewClient(at);
    });
    afterAll(async () => {
      await client?.close();
      await at?.close();
    });

    const cases = [1440, 390].flatMap((width) =>
      (["light", "dark"] as const).map((theme) => [width, theme] as const),
    );

    verifies("WK-12");
    it.each(cases)("looks right at %i pixels in the %s theme", async (width, theme) => {
      const departmentId = await createDepartment(`LOOK-${width}-${theme}`);
      const { items } = await call("disputes_triage", { limit: 15 });
      const changes = (items as Row[]).map(({ disputeCode }) => ({
        disputeId: disputeCode,
        change: { status: "Canceled" },
      }));
      const states: [name: string, opening: ViewOpening, button?: string][] = [
        ["question", { tool: "departments_delete", args: { departmentId } }],
        ["table", { tool: "disputes_apply", args: { changes } }],
        ["declined", { tool: "departments_delete", args: { departmentId } }, "Decline"],
        ["approved", { tool: "departments_delete", args: { departmentId } }, "Approve"],
      ];
      await withHost(async (host) => {
        for (const [name, opening, button] of states) {
          const frame = await host.open({ ...opening, theme });
          if (button !== undefined) {
            await clickOn(frame, `::-p-aria([name="${button}"])`);
            await sees(frame, /You (approved|declined)/);
          }
          await picture(host, `confirm-${name}-${width}-${theme}`);
          expect(await findViolations(frame), name).toEqual([]);
          const overflow =
            "document.documentElement.scrollWidth > document.documentElement.clientWidth";
          expect(await frame.evaluate(overflow), name).toBe(false);
        }
      }, width);
    });

    verifies("WK-12");
    it.each([
      ["auto", "context"],
      ["legacy", "message"],
    ] as const)(
      "carries out what the person approves, and says so to the model (%s, %s)",
      async (mode, tells) => {
        const code = `YES-${mode}`;
        const departmentId = await createDepartment(code);
        await withHost(async (host) => {
          const opening = { tool: "departments_delete", args: { departmentId }, mode, tells };
          const frame = await host.open(opening);
          await sees(frame, new RegExp(`Delete department ${code} \\(.*${code} & sons.*\\)\\?`));
          expect(await frame.$$eval("#view :is(b, a, img)", (all) => all.length)).toBe(0);
          expect(await exists(departmentId)).toBe(true);
          await frame.focus('::-p-aria([name="Decline"])');
          await host.page.keyboard.press("Tab");
          await host.page.keyboard.press("Enter");
          await sees(frame, /You approved this, and it was done/);
          expect(await exists(departmentId)).toBe(false);
          expect(await frame.$("button")).toBeNull();
          const { told } = await host.asked();
          expect(told).toHaveLength(1);
          expect(JSON.stringify(told)).toContain("the person approved: Delete department");
        });
      },
    );

    verifies("WK-12");
    it("changes nothing when the person declines, and says so to the model", async () => {
      const departmentId = await createDepartment("NO");
      await withHost(async (host) => {
        const frame = await host.open({ tool: "departments_delete", args: { departmentId } });
        await clickOn(frame, '::-p-aria([name="Decline"])');
        await sees(frame, /You declined; nothing was changed/);
        expect(await exists(departmentId)).toBe(true);
        const { told } = await host.asked();
        expect(JSON.stringify(told)).toContain("the person declined: Delete department");
      });
    });

    verifies("WK-12", "C-110");
    it("changes nothing that has changed since, and says so", async () => {
      const departmentId = await createDepartment("LATE");
      await withHost(async (host) => {
        const frame = await host.open({ tool: "departments_delete", args: { departmentId } });
        await call("departments_update", { departmentId, description: "another one" });
        await clickOn(frame, '::-p-aria([name="Approve"])');
        await frame.waitForSelector("[role=alert] ::-p-text(changed)");
        expect(await exists(departmentId)).toBe(true);
        expect(JSON.stringify((await host.asked()).told)).toContain("precondition_failed");
      });
    });

    verifies("WK-12");
    it("says in a line that no question was due", async () => {
      const departmentId = await createDepartment("PLAIN");
      const { items } = await call("disputes_triage", { limit: 1 });
      const [dispute] = items as Row[];
      await withHost(async (host) => {
        const args = { disputeId: dispute?.["disputeCode"], poNumber: "PO-7" };
        const frame = await host.open({ tool: "disputes_update", args });
        await sees(frame, /The call needed no confirmation/);
        expect(await exists(departmentId)).toBe(true);
      });
    });
  },
);
