import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Browser, openBrowser, type Shown } from "../support/browser.ts";
import { createPeople, type Ready, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { connectNew } from "../support/oauth-host.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "canary-password";
const SCOPE = ["read", "write", "admin"];
const emailOf = (name: string): string => `${name}@acme.example`;
const loginOf = (name: string) => ({ email: emailOf(name), password: PASSWORD });

const folder = useFolder();
let servers: Running[];
let readies: Ready[];

beforeAll(async () => {
  const env = {
    RECEIVABLES_DATA: folder,
    RECEIVABLES_HTTP_AUTH: "builtin",
    RECEIVABLES_OAUTH_REGISTRATION: "true",
    RECEIVABLES_LOGIN_RATE_MINUTE: "0",
    RECEIVABLES_LOG: "debug",
  };
  await createPeople(env, { emails: ["ann", "bob"].map(emailOf), password: PASSWORD });
  servers = [startCli(["http", "--port", "0"], env)];
  readies = [await whenReady(servers[0] as Running)];
  const known = { ...env, RECEIVABLES_PUBLIC_URL: readies[0]?.baseUrl ?? "" };
  servers.push(startCli(["http", "--port", "0"], known));
  readies.push(await whenReady(servers[1] as Running));
});
afterAll(() => Promise.all(servers.map((server) => server.end("SIGTERM"))));

type Mode = "auto" | "legacy";
type Answer = { structuredContent?: Record<string, unknown>; content: { text?: string }[] };

/** The page for a key that a person's assistant asks for: opened by the host, or named in the answer. */
const pageFor = async (name: string, mode: Mode, opens: boolean): Promise<string> => {
  const pages: string[] = [];
  const { client } = await connectNew(
    readies[0]?.mcpUrl ?? "",
    { ...loginOf(name), scope: SCOPE },
    {
      mode,
      capabilities: opens ? { elicitation: { url: {} } } : {},
      prepare(made) {
        if (!opens) return;
        made.setRequestHandler("elicitation/create", ({ params }) => {
          pages.push("url" in params ? params.url : "");
          return { action: "accept" as const };
        });
      },
    },
  );
  const answer = (await client.callTool({ name: "api_keys_create", arguments: {} })) as Answer;
  await client.close();
  expect(JSON.stringify(answer)).not.toMatch(/rcvg_|canary/);
  const text = answer.content.map(({ text: piece }) => piece).join("");
  expect(text).toMatch(/^sign_in_required: Only the person can make an API key of theirs\. /);
  if (!opens) pages.push(/http:\/\/\S+/.exec(text)?.[0] ?? "");
  expect(pages, text).toEqual([expect.stringMatching(/\/secrets\/[\w-]+$/)]);
  return pages[0] ?? "";
};

const keyIn = ({ text }: Shown): string => /rcvg_[\w-]+/.exec(text)?.[0] ?? "";

const make = (browser: Browser, page: Shown, name: string, password = PASSWORD) =>
  browser.submit(page, { ...loginOf(name), password });

const ownerOf = async (key: string): Promise<unknown> => {
  const headers = { "x-platform-api-key": key };
  const answer = await fetch(`${readies[0]?.baseUrl}/user/v1/users/profile`, { headers });
  return ((await answer.json()) as { email?: unknown }).email;
};

describe.each([
  ["2026", "auto", true],
  ["2026", "auto", false],
  ["2025", "legacy", true],
  ["2025", "legacy", false],
] as const)(
  "a key for somebody who signs in here (hosts of %s, %s, that open pages: %s)",
  (_era, mode, opens) => {
    verifies("D-MCP-4", "C-65");
    it("is created by the signed-in person only, once, and has their rights", async () => {
      const url = await pageFor("ann", mode, opens);
      const browser = openBrowser();
      const page = await browser.open(url);
      expect([page.status, page.headers.get("referrer-policy")]).toEqual([200, "no-referrer"]);
      const bare = await browser.ask(url, { method: "POST", body: new URLSearchParams() });
      expect([bare.status, keyIn(bare)]).toEqual([400, ""]);
      const his = await make(browser, page, "bob");
      expect([his.status, keyIn(his)]).toEqual([403, ""]);
      expect(his.text).toContain("The key is for another person");
      const wrong = await make(browser, his, "ann", "wrong");
      expect([wrong.status, keyIn(wrong)]).toEqual([400, ""]);
      expect(wrong.text).toContain("The e-mail address or the password is wrong.");

      // Two processes behind one address: what one hands out the other takes.
      const elsewhere = url.replace(readies[0]?.baseUrl ?? "", readies[1]?.baseUrl ?? "");
      const shown = await make(browser, { ...wrong, url: elsewhere }, "ann");
      expect(await ownerOf(keyIn(shown))).toBe("ann@acme.example");
      const again = await make(browser, page, "ann");
      expect([again.status, keyIn(again)]).toEqual([410, ""]);
    });
  },
);

verifies("C-32");
it("leaves no trace of an address, a key or a password in the logs", async () => {
  const url = await pageFor("ann", "auto", true);
  const browser = openBrowser();
  const key = keyIn(await make(browser, await browser.open(url), "ann"));
  const logs = () => servers.map(({ texts }) => texts.stderr + texts.stdout).join("");
  await expect.poll(logs).toContain("secret_page.shown");
  expect(key).not.toBe("");
  for (const trace of [key, "canary", url.split("/").at(-1) ?? ""]) {
    expect(logs()).not.toContain(trace);
  }
});
