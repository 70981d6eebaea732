import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askFrom } from "../support/addresses.ts";
import { openBrowser } from "../support/browser.ts";
import { runCli, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "correct horse battery staple";
const EMAIL = "ann@acme.example";
const REDIRECT = "http://127.0.0.1:33418/callback";
const MOST_LOGINS = 20;

describe.each([
  ["trusted", "127.0.0.1"],
  ["untrusted", "10.1.2.3"],
])("one process behind a proxy that is %s", (name, trusted) => {
  const home = useFolder();
  let server: Running;
  let origin: string;
  let mcpUrl: string;

  beforeAll(async () => {
    const env = {
      RECEIVABLES_DATA: join(home, "data"),
      RECEIVABLES_HTTP_AUTH: "builtin",
      RECEIVABLES_OAUTH_REGISTRATION: "true",
      RECEIVABLES_TRUSTED_PROXIES: trusted,
    };
    const user = `--tenant acme --email ${EMAIL} --role Administrator`;
    for (const line of [
      "tenant create acme --name acme",
      `user create ${user} --first-name A --last-name L`,
    ]) {
      const { status, stderr } = await runCli(["admin", ...line.split(" ")], env, PASSWORD);
      if (status !== 0) throw new Error(stderr);
    }
    server = startCli(["http", "--port", "0"], env);
    const ready = await whenReady(server);
    ({ origin } = new URL(ready.baseUrl));
    mcpUrl = ready.mcpUrl ?? "";
  });
  afterAll(() => server.end("SIGTERM"));

  const forwarded = (client: string) => ({ "X-Forwarded-For": client });

  const login = async (email: string, password: string, client: string): Promise<number> => {
    const url = `${origin}/authentication/v1/login`;
    const body = { email, password };
    return (await askFrom(url, { method: "POST", body, headers: forwarded(client) })).status;
  };

  /** Signs in on the page of the built-in sign-in; returns the status of the page that follows. */
  const signIn = async (email: string, password: string, client: string): Promise<number> => {
    const registration = {
      client_name: "Test",
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: "none",
    };
    const { body } = await askFrom(`${origin}/oauth/register`, {
      method: "POST",
      body: registration,
      headers: forwarded("198.51.100.200"),
    });
    const asked = new URLSearchParams({
      response_type: "code",
      client_id: body.client_id,
      redirect_uri: REDIRECT,
      scope: "read",
      resource: mcpUrl,
      code_challenge: "x".repeat(43),
      code_challenge_method: "S256",
    });
    const browser = openBrowser(forwarded(client));
    const page = await browser.open(`${origin}/oauth/authorize?${asked.toString()}`);
    expect(page.text).toContain("password");
    return (await browser.submit(page, { email, password, action: "sign-in" })).status;
  };

  const guess = async (client: string): Promise<number[]> => {
    const answers: number[] = [];
    for (let index = 0; index < MOST_LOGINS + 2; index += 1) {
      answers.push(await login(`guess${index}@acme.example`, "guess", client));
    }
    return answers;
  };

  verifies("C-89", "OP-13");
  it("counts the logins of the address that the proxy names if the proxy is trusted", async () => {
    const answers = await guess("198.51.100.1");
    expect(answers.slice(-2)).toEqual([429, 429]);
    expect(answers.slice(0, MOST_LOGINS)).toEqual(Array(MOST_LOGINS).fill(401));
    const others = name === "trusted" ? 200 : 429;
    expect(await login(EMAIL, PASSWORD, "198.51.100.2")).toBe(others);
    expect(await signIn(EMAIL, PASSWORD, "198.51.100.3")).toBe(others);
    expect(await signIn("ann2@acme.example", "guess", "198.51.100.1")).toBe(429);
  });
});
