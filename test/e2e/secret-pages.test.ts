import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createPeople,
  type Ready,
  runCli,
  type Running,
  startCli,
  whenReady,
} from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "canary-password";
const tokenOf = (name: string): string => `canary-token-of-${name}-${"x".repeat(30)}`;
const PEOPLE = ["ann", "bob"];
const EMAILS = PEOPLE.map((name) => `${name}@acme.example`);

const folder = useFolder();
let platform: Running;
let servers: Running[];
let readies: Ready[];

const write = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, text, { mode: 0o600 });
  return path;
};

beforeAll(async () => {
  const there = { RECEIVABLES_DATA: join(folder, "platform") };
  await createPeople(there, { emails: [...EMAILS], password: PASSWORD });
  platform = startCli(["platform", "--port", "0"], there);
  const { baseUrl } = await whenReady(platform);
  const profile = (email: string) => ({ baseUrl, tenantId: "acme", email, password: PASSWORD });
  const profiles = Object.fromEntries(
    PEOPLE.map((name, index) => [name, profile(EMAILS[index] ?? "")]),
  );
  const tokens = PEOPLE.map((name) => `${tokenOf(name)} ${name} read,write,admin\n`).join("");
  const env = {
    RECEIVABLES_DATA: join(folder, "server"),
    RECEIVABLES_HTTP_AUTH: "static",
    RECEIVABLES_HTTP_TOKENS_FILE: await write("tokens", tokens),
    RECEIVABLES_PROFILES_FILE: await write("profiles.json", JSON.stringify(profiles)),
    RECEIVABLES_LOG: "debug",
  };
  // Two processes behind one address: what one hands out the other takes.
  servers = [startCli(["http", "--port", "0"], env)];
  readies = [await whenReady(servers[0] as Running)];
  servers.push(startCli(["http", "--port", "0"], env));
  readies.push(await whenReady(servers[1] as Running));
});
afterAll(async () => {
  for (const server of servers) {
    await server.end("SIGTERM");
  }
  await platform.end("SIGTERM");
});

type Mode = "auto" | "legacy";
type Answer = { structuredContent?: Record<string, unknown>; content: { text?: string }[] };

/** Returns the answer of a call, and the pages that the host was asked to open. */
const makeKey = async (name: string, mode: Mode, opens: boolean) => {
  const pages: string[] = [];
  const capabilities = opens ? { elicitation: { url: {} } } : {};
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities, versionNegotiation: { mode } },
  );
  if (opens) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      pages.push("url" in params ? params.url : "");
      return { action: "accept" as const };
    });
  }
  const headers = { authorization: `Bearer ${tokenOf(name)}` };
  const url = new URL(readies[0]?.mcpUrl ?? "");
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const answer = (await client.callTool({ name: "api_keys_create", arguments: {} })) as Answer;
  await client.close();
  expect(JSON.stringify(answer)).not.toMatch(/rcvg_|canary/);
  return { answer, pages, text: answer.content.map(({ text }) => text).join("") };
};

const atOther = (url: string): string =>
  url.replace(readies[0]?.baseUrl ?? "", readies[1]?.baseUrl ?? "");

const press = async (url: string) => {
  const answer = await fetch(url, { method: "POST" });
  return { status: answer.status, text: await answer.text() };
};

const keyIn = (text: string): string => /rcvg_[\w-]+/.exec(text)?.[0] ?? "";

const emailOf = async (key: string): Promise<unknown> => {
  const { baseUrl } = JSON.parse(platform.texts.stdout) as Ready;
  const headers = { "x-platform-api-key": key };
  const answer = await fetch(`${baseUrl}/user/v1/users/profile`, { headers });
  return ((await answer.json()) as { email?: unknown }).email;
};

describe.each([
  ["2026", "auto"],
  ["2025", "legacy"],
] as const)("an API key created over HTTP (hosts of %s)", (_era, mode) => {
  verifies("D-MCP-4", "C-65", "C-66");
  it("is shown once on a page that the host opens, and works on the platform", async () => {
    const { pages, text } = await makeKey("ann", mode, true);
    expect(pages).toHaveLength(1);
    const [page = ""] = pages;
    expect(text).not.toContain("/secrets/");
    const preview = await fetch(page);
    expect([preview.status, preview.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(await preview.text()).not.toContain("rcvg_");
    const shown = await press(atOther(page));
    expect(await emailOf(keyIn(shown.text))).toBe("ann@acme.example");
    const again = await press(page);
    expect([again.status, keyIn(again.text)]).toEqual([410, ""]);
  });

  verifies("D-MCP-4");
  it("is read with `secrets show` if the host opens no pages", async () => {
    const { text } = await makeKey("bob", mode, false);
    expect(text).not.toContain("/secrets/");
    const name = /secrets show ([\w-]+)/.exec(text)?.[1] ?? "";
    const out = join(folder, `${mode}-key`);
    const env = { RECEIVABLES_DATA: join(folder, "server") };
    const { status, stderr } = await runCli(["secrets", "show", name, "--out", out], env);
    expect(status, stderr).toBe(0);
    expect(await emailOf((await readFile(out, "utf8")).trim())).toBe("bob@acme.example");
  });

  verifies("C-32");
  it("leaves no trace of a page or a secret in the logs", async () => {
    const { pages } = await makeKey("ann", mode, true);
    const [page = ""] = pages;
    const { text } = await press(page);
    expect(keyIn(text)).not.toBe("");
    await expect.poll(() => servers[0]?.texts.stderr).toContain("secret_page.shown");
    const logs = servers.map(({ texts }) => texts.stderr + texts.stdout).join("");
    expect(logs).not.toContain(page.split("/").at(-1));
    expect(logs).not.toContain(keyIn(text));
    expect(logs).not.toContain("canary");
  });
});
