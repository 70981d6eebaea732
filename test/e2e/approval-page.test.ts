import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { type Browser, launch, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromium, CHROMIUM_FLAGS } from "../support/chromium.ts";
import { createPeople, type Ready, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { connectNew } from "../support/oauth-host.ts";
import { PICTURES } from "../support/views.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "canary-password";
const emailOf = (name: string): string => `${name}@acme.example`;
const loginOf = (name: string) => ({ email: emailOf(name), password: PASSWORD });
const SCOPE = ["read", "write", "admin"];

type Result = {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  content: { text?: string }[];
  _meta?: Record<string, Record<string, string>>;
};

const folder = useFolder();
let servers: Running[];
let readies: Ready[];
let browser: Browser | undefined;

beforeAll(async () => {
  if (chromium === undefined) return;
  const env = {
    RECEIVABLES_DATA: folder,
    RECEIVABLES_HTTP_AUTH: "builtin",
    RECEIVABLES_OAUTH_REGISTRATION: "true",
    RECEIVABLES_LOGIN_RATE_MINUTE: "0",
    RECEIVABLES_CONFIRM: "refuse",
  };
  await createPeople(env, { emails: ["ann", "bob"].map(emailOf), password: PASSWORD });
  // Two nodes of one folder, at the first one's address.
  servers = [startCli(["http", "--port", "0"], env)];
  readies = [await whenReady(servers[0] as Running)];
  const known = { ...env, RECEIVABLES_PUBLIC_URL: readies[0]?.baseUrl ?? "" };
  servers.push(startCli(["http", "--port", "0"], known));
  readies.push(await whenReady(servers[1] as Running));
  browser = await launch({ executablePath: chromium, args: CHROMIUM_FLAGS });
});
afterAll(async () => {
  if (chromium === undefined) return;
  await browser?.close();
  await Promise.all(servers.map((server) => server.end("SIGTERM")));
});

const connect = async (name: string, mode: "auto" | "legacy" = "auto"): Promise<Client> =>
  (await connectNew(readies[0]?.mcpUrl ?? "", { ...loginOf(name), scope: SCOPE }, { mode })).client;

const call = async (client: Client, name: string, args: object): Promise<Result> =>
  (await client.callTool({ name, arguments: { ...args } })) as unknown as Result;

const createDepartment = async (client: Client, code: string): Promise<unknown> => {
  const made = await call(client, "departments_create", { code, description: `${code} & sons` });
  return made.structuredContent?.["departmentId"];
};

const codeIn = ({ _meta = {} }: Result): unknown => _meta["receivables/problem"]?.["code"];

/** The address and the token in the text of a result, as a model reads them. */
const readText = ({ content }: Result): { page: string; confirmationToken: string } => {
  const text = content.map((part) => part.text ?? "").join("\n");
  const [, page = ""] = /(http:\/\/\S+\/oauth\/account\/approve\/[\w-]{43})\s/.exec(text) ?? [];
  const [, confirmationToken = ""] = /confirmationToken: (\S+)/.exec(text) ?? [];
  return { page, confirmationToken };
};

const visit = async (width = 1440, theme = "light"): Promise<Page> => {
  const context = await browser?.createBrowserContext();
  if (context === undefined) throw new Error("no browser");
  const page = await context.newPage();
  await page.setJavaScriptEnabled(false);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  return page;
};

const press = async (page: Page, action: string): Promise<void> => {
  await Promise.all([page.waitForNavigation(), page.click(`button[value="${action}"]`)]);
};

const signIn = async (page: Page, name: string): Promise<void> => {
  await page.type("#email", emailOf(name));
  await page.type("#password", PASSWORD);
  await press(page, "sign-in");
};

const picture = async (page: Page, name: string): Promise<void> => {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `approval-${name}.png`), fullPage: true });
};

const textOf = (page: Page): Promise<string> =>
  page.$eval("main", (main) => (main as unknown as { innerText: string }).innerText);

describe.skipIf(chromium === undefined)(
  "the approval page in a browser (skipped where there is no chromium)",
  () => {
    verifies("WK-13", "WK-10");
    it.each(["auto", "legacy"] as const)(
      "approves a call of a host without forms and views (%s)",
      async (mode) => {
        const client = await connect("ann", mode);
        const departmentId = await createDepartment(client, `PAGE-${mode}`);
        const before = await call(client, "departments_delete", { departmentId });
        expect(codeIn(before)).toBe("confirmation_unavailable");

        const page = await visit();
        await page.goto(`${readies[1]?.baseUrl}/oauth/account`);
        await signIn(page, "ann");
        const asked = await call(client, "departments_delete", { departmentId });
        const { page: address, confirmationToken } = readText(asked);
        const args = { departmentId, confirmationToken };
        expect(codeIn(await call(client, "departments_delete", args))).toBe(
          "confirmation_required",
        );

        // The other node has the page too, and the same cookie.
        await page.goto(address.replace(readies[0]?.baseUrl ?? "", readies[1]?.baseUrl ?? ""));
        expect(await textOf(page)).toContain(
          `Delete department PAGE-${mode} (PAGE-${mode} & sons)?`,
        );
        await press(page, "approve");
        expect(await textOf(page)).toContain("You approved this change");
        const done = await call(client, "departments_delete", args);
        expect(done.structuredContent).toMatchObject({ deleted: true, departmentId });
        expect(codeIn(await call(client, "departments_delete", args))).toBe("confirmation_invalid");
        await client.close();
        await page.goto(`${readies[1]?.baseUrl}/oauth/account`);
        await press(page, "sign-out");
        await page.browserContext().close();
      },
    );

    verifies("WK-13");
    it("ends in declined after a no, and lets nobody else answer", async () => {
      const client = await connect("ann");
      const page = await visit();
      await page.goto(`${readies[0]?.baseUrl}/oauth/account`);
      await signIn(page, "ann");
      const departmentId = await createDepartment(client, "NO-PAGE");
      const asked = await call(client, "departments_delete", { departmentId });
      const { page: address, confirmationToken } = readText(asked);

      const other = await visit();
      await other.goto(address);
      expect(await textOf(other)).not.toContain("NO-PAGE");
      await signIn(other, "bob");
      expect(await textOf(other)).toContain("This question is for another person");
      expect(await other.$("button[value=approve]")).toBeNull();

      // Also from a link in another site's page: the cookie is sent with it.
      await page.goto(`data:text/html,<a href="${address}">approve</a>`);
      await Promise.all([page.waitForNavigation(), page.click("a")]);
      expect(await textOf(page)).toContain("NO-PAGE");
      await press(page, "decline");
      expect(await textOf(page)).toContain("You declined this change");
      const refused = await call(client, "departments_delete", { departmentId, confirmationToken });
      expect(codeIn(refused)).toBe("declined");
      const kept = await call(client, "departments_list", {});
      expect(JSON.stringify(kept.structuredContent)).toContain("NO-PAGE");
      await client.close();
      await Promise.all([page, other].map((one) => one.browserContext().close()));
    });

    const cases = [1440, 390].flatMap((width) =>
      (["light", "dark"] as const).map((theme) => [width, theme] as const),
    );

    verifies("WK-13");
    it.each(cases)("looks right at %i pixels in the %s theme", async (width, theme) => {
      const client = await connect("ann");
      const page = await visit(width, theme);
      await page.goto(`${readies[0]?.baseUrl}/oauth/account`);
      await signIn(page, "ann");
      await picture(page, `account-${width}-${theme}`);
      const departmentId = await createDepartment(client, `LOOK-${width}-${theme}`);
      const ask = async () => readText(await call(client, "departments_delete", { departmentId }));
      const fits = () => page.$eval("html", ({ scrollWidth }) => scrollWidth);
      for (const action of ["decline", "approve"]) {
        const { page: address } = await ask();
        await page.goto(address);
        await picture(page, `question-${width}-${theme}`);
        expect(await fits()).toBeLessThanOrEqual(width);
        await press(page, action);
        await picture(page, `${action}-${width}-${theme}`);
        expect(await fits()).toBeLessThanOrEqual(width);
      }
      const other = await visit(width, theme);
      await other.goto((await ask()).page);
      await picture(other, `sign-in-${width}-${theme}`);
      await signIn(other, "bob");
      await picture(other, `other-${width}-${theme}`);
      await client.close();
      await Promise.all([page, other].map((one) => one.browserContext().close()));
    });
  },
);
