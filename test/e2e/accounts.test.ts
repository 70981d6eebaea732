import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Ready, runCli, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const EMAIL = "ann@acme.example";
const [FIRST, SECOND, THIRD] = [
  "eleven purple accordions",
  "canary of a second one",
  "a third canary word",
];

const folder = useFolder();
const env = { RECEIVABLES_DATA: join(folder, "data") };
let server: Running;
let ready: Ready;

const admin = (line: string, input = "", more = {}) =>
  runCli(["admin", ...line.split(" ")], { ...env, ...more }, input);
const result = async (line: string, input = "") => {
  const { status, stdout, stderr } = await admin(line, input);
  if (status !== 0) throw new Error(`${line}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
};

const login = async (password: string): Promise<{ status: number; token: string }> => {
  const response = await fetch(`${ready.baseUrl}/authentication/v1/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: EMAIL, password }),
  });
  const { accessToken = "" } = (await response.json()) as { accessToken?: string };
  return { status: response.status, token: accessToken };
};
const profile = async (token: string) =>
  (
    await fetch(`${ready.baseUrl}/user/v1/users/profile`, {
      headers: { "X-Platform-Auth": token },
    })
  ).status;

beforeAll(async () => {
  await result("tenant create acme --name Acme");
  const names = "--first-name Ann --last-name Lee --role Administrator";
  await result(`user create --tenant acme --email ${EMAIL} ${names}`, `${FIRST}\n`);
  server = startCli(["platform", "--port", "0"], {
    ...env,
    RECEIVABLES_OPERATOR_NAME: "Demo Manufacturing",
  });
  ready = await whenReady(server);
});
afterAll(() => server.end("SIGTERM"));

verifies("OP-11");
it("a new password ends sessions of a running server, and a link sets one on its page", async () => {
  const { token } = await login(FIRST);
  expect(await profile(token)).toBe(200);
  const weak = await admin(`user set-password --email ${EMAIL}`, "password1234");
  expect([weak.status, weak.stdout]).toEqual([1, ""]);
  expect(await profile(token)).toBe(200);
  await result(`user set-password --email ${EMAIL}`, `${SECOND}\n`);
  expect(await profile(token)).toBe(401);
  const again = await login(SECOND);
  const told = await admin(`user reset-link --email ${EMAIL}`, "", {
    RECEIVABLES_PUBLIC_URL: ready.baseUrl,
  });
  const { link } = JSON.parse(told.stdout) as { link: string };
  expect(link.startsWith(`${ready.baseUrl}/account/reset/`)).toBe(true);
  const body = new URLSearchParams({ new: THIRD, again: THIRD });
  const page = await fetch(link);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain("<span>Demo Manufacturing</span>");
  expect((await fetch(link, { method: "POST", body })).status).toBe(200);
  expect((await fetch(link, { method: "POST", body })).status).toBe(410);
  expect(await profile(again.token)).toBe(401);
  expect([(await login(SECOND)).status, (await login(THIRD)).status]).toEqual([401, 200]);
  for (const secret of [FIRST, SECOND, THIRD, link.split("/").at(-1) ?? ""]) {
    expect(server.texts.stderr + server.texts.stdout).not.toContain(secret);
  }
});

verifies("WK-48");
it("an imported user sets a password by the link in the import's file", async () => {
  const row = "email,firstName,lastName,role\nmoved@acme.example,Mo,Ved,Viewer\n";
  const shell = { ...env, RECEIVABLES_PUBLIC_URL: ready.baseUrl };
  const line = ["import", "users", "-", "--tenant", "acme"];
  const { stdout, stderr, status } = await runCli(line, shell, row, folder);
  const report = JSON.parse(stdout) as { resetLinks: string };
  expect([status, report]).toMatchObject([0, { written: 1, rejects: null }]);
  const text = await readFile(report.resetLinks, "utf8");
  expect((await stat(report.resetLinks)).mode & 0o777).toBe(0o600);
  const { email, link, expiresAt } = JSON.parse(text) as Record<string, string>;
  expect([email, Date.parse(expiresAt ?? "") - Date.now() > 6 * 86_400_000]).toEqual([
    "moved@acme.example",
    true,
  ]);
  expect(stdout + stderr).not.toContain(link);
  const body = new URLSearchParams({ new: THIRD, again: THIRD });
  expect((await fetch(link ?? "", { method: "POST", body })).status).toBe(200);
  expect((await fetch(link ?? "", { method: "POST", body })).status).toBe(410);
  const again = await runCli(line, shell, row, folder);
  expect(JSON.parse(again.stdout)).toMatchObject({ unchanged: 1, resetLinks: null });
  expect(await readFile(report.resetLinks, "utf8")).toBe(text);
  expect(
    await result("user delete --email moved@acme.example --confirm moved@acme.example"),
  ).toMatchObject({ personRemoved: true });
});

verifies("OP-10", "OP-12");
it("a tenant is exported, deleted while a server runs, and imported again", async () => {
  const { token } = await login(THIRD);
  const path = join(folder, "export");
  const exported = await result(`tenant export acme ${path}`);
  expect(exported).toMatchObject({ tenantId: "acme", folder: path, auditOk: true });
  for (const line of ["tenant delete acme", "tenant delete acme --confirm acm"]) {
    const { status, stdout } = await admin(line);
    expect([status, stdout]).toEqual([1, ""]);
  }
  expect(await profile(token)).toBe(200);
  expect(await result("tenant delete acme --confirm acme")).toMatchObject({ people: 1 });
  expect(await profile(token)).toBe(401);
  expect((await admin("tenant list")).stdout).toBe("");
  const { status, stdout } = await runCli(["import", "tenant", path], env);
  expect([status, JSON.parse(stdout)]).toMatchObject([0, { people: 1, audit: { chain: "kept" } }]);
  expect((await login(THIRD)).status).toBe(200);
  const lines = (await admin("user list")).stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ email: EMAIL }]);
  expect(await result("audit verify acme")).toMatchObject({ ok: true });
});

it("a signal ends a command at once that waits or works", async () => {
  const data = join(folder, "waiting");
  const own = { RECEIVABLES_DATA: data };
  const create = async (line: string) =>
    expect(await runCli(line.split(" "), own, FIRST)).toMatchObject({ status: 0 });
  await create("admin tenant create acme --name Acme");
  const names = "--first-name Ann --last-name Lee --role Administrator";
  await create(`admin user create --tenant acme --email ${EMAIL} ${names}`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    // It waits for a password on standard input.
    const command = startCli(["admin", "user", "set-password", "--email", EMAIL], own);
    await expect
      .poll(() => existsSync(join(data, "receivables.db-wal")), { timeout: 30_000 })
      .toBe(true);
    expect((await command.end(signal)).status).toBe(null);
  }
});
