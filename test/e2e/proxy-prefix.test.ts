import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { request } from "node:https";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { launch } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromium, CHROMIUM_FLAGS } from "../support/chromium.ts";
import { createPeople, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { waitForPort } from "../support/nginx.ts";
import { authorizeUrl, register } from "../support/oauth.ts";
import { connectNew, connectOld } from "../support/oauth-host.ts";
import { findProgram } from "../support/programs.ts";
import { type Certificate, certificateFor } from "../support/receiver.ts";
import { verifies } from "../support/verifies.ts";

const LOGIN = { email: "ann@acme.example", password: "correct horse battery staple" };
const MANUAL = new URL("../../docs/http.md", import.meta.url);

/** Returns a block of the manual, with this test's ports in place of the documented ones. */
const readBlock = async (language: string, own: number, port: number): Promise<string> => {
  const [, block = ""] =
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(await readFile(MANUAL, "utf8")) ?? [];
  expect(block).toContain("127.0.0.1:8765");
  return block
    .replaceAll("127.0.0.1:8765", `127.0.0.1:${own}`)
    .replace(":443", `127.0.0.1:${port}`);
};

type Place = { folder: string; port: number; own: number };

/** Each proxy with the configuration that the manual gives for it, and as little else as it needs to start. */
const PROXIES: Record<
  string,
  { args: (folder: string) => string[]; config: (at: Place) => Promise<string> }
> = {
  nginx: {
    args: (folder) => ["-c", join(folder, "config"), "-p", folder],
    config: async ({ folder, port, own }) => `
daemon off;
pid ${folder}/pid;
error_log ${folder}/error.log warn;
events {}
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(" ")}
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${folder}/both.pem;
    ssl_certificate_key ${folder}/both.pem;
    ${await readBlock("nginx", own, port)}
  }
}`,
  },
  haproxy: {
    args: (folder) => ["-db", "-f", join(folder, "config")],
    config: async ({ folder, port, own }) => `
defaults
  mode http
  timeout connect 5s
  timeout client 1h
  timeout server 30s
${(await readBlock("haproxy", own, port)).replace("/etc/haproxy/example.com.pem", join(folder, "both.pem"))}`,
  },
};

const home = useFolder();
let certificate: Certificate;
const trusted = getCACertificates("default");

beforeAll(async () => {
  certificate = await certificateFor("localhost");
  setDefaultCACertificates([...trusted, certificate.cert]);
  const env = { RECEIVABLES_DATA: join(home, "data") };
  await createPeople(env, { emails: [LOGIN.email], password: LOGIN.password });
});
afterAll(async () => {
  setDefaultCACertificates(trusted);
});

describe.each(Object.entries(PROXIES))("a server below a path of %s", (name, { args, config }) => {
  const program = findProgram(name);
  const ends: (() => Promise<unknown>)[] = [];
  let base: string;
  let server: Running;

  beforeAll(async () => {
    if (program === undefined) return;
    const folder = join(home, name);
    await mkdir(folder, { mode: 0o755 });
    const port = await freePort();
    base = `https://localhost:${port}/receivables`;
    const env = {
      // Several processes may use one data folder.
      RECEIVABLES_DATA: join(home, "data"),
      RECEIVABLES_HTTP_AUTH: "builtin",
      RECEIVABLES_OAUTH_REGISTRATION: "true",
      RECEIVABLES_PUBLIC_URL: base,
      RECEIVABLES_TRUSTED_PROXIES: "127.0.0.1",
    };
    server = startCli(["http", "--port", "0"], env);
    ends.push(() => server.end("SIGTERM"));
    const own = Number(new URL((await whenReady(server)).baseUrl).port);
    await writeFile(join(folder, "both.pem"), `${certificate.cert}\n${certificate.key}\n`);
    await writeFile(join(folder, "config"), await config({ folder, port, own }));
    const child = spawn(program, args(folder), { stdio: "ignore" });
    const closed = once(child, "exit");
    ends.push(async () => {
      child.kill("SIGTERM");
      await closed;
    });
    await waitForPort(port, () => child.exitCode !== null);
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  verifies("HS-03", "HS-09");
  it.skipIf(program === undefined)(
    "lets hosts of 2025 and 2026 sign in at https://localhost, and serves page and documents",
    async () => {
      const old = await connectOld(`${base}/mcp`, LOGIN);
      const { client } = await connectNew(`${base}/mcp`, LOGIN, { mode: "auto" });
      for (const one of [old.client, client]) {
        const answer = await one.callTool({ name: "users_profile", arguments: {} });
        expect(JSON.stringify(answer.structuredContent)).toContain(LOGIN.email);
        await one.close();
      }
      const page = await (await fetch(`${base}/`)).text();
      const [, script = ""] = /src="([^"]+\.js)"/.exec(page) ?? [];
      expect((await fetch(new URL(script, `${base}/`))).status).toBe(200);
      for (const [path, found] of [
        ["/", `${base}/mcp`],
        ["/docs", "openapi.json"],
      ] as const) {
        const response = await fetch(base + path);
        expect([path, response.status]).toEqual([path, 200]);
        expect(await response.text()).toContain(found);
      }
      const catalog = await fetch(new URL("/.well-known/ai-catalog.json", base));
      expect([name, catalog.status]).toEqual([name, 200]);
      expect(await catalog.text()).toContain(`${base}/mcp/server-card`);
      expect((await fetch(`${base}/mcp/server-card`)).status).toBe(200);
    },
  );

  verifies("HS-02", "HS-04");
  it.skipIf(program === undefined || chromium === undefined)(
    "lets a browser sign in for a client with a long state, with the default buffers",
    async () => {
      const place = { url: base, resource: `${base}/mcp` };
      const state = "s".repeat(3800);
      const client = await register(place);
      const asked = authorizeUrl(place, client, { state });
      const browser = await launch({
        executablePath: chromium ?? "",
        args: [
          ...CHROMIUM_FLAGS,
          "--ignore-certificate-errors",
          "--host-resolver-rules=MAP localhost 127.0.0.1",
        ],
      });
      ends.push(() => browser.close());
      const page = await browser.newPage();
      const landed = Promise.withResolvers<string>();
      const callback = createServer(({ url = "" }, response) => {
        landed.resolve(url);
        response.end("signed in");
      });
      callback.listen(33_418, "127.0.0.1");
      ends.push(async () => {
        callback.closeAllConnections();
        callback.close();
      });
      await page.goto(asked);
      await page.waitForSelector("#email");
      await page.type("#email", LOGIN.email);
      await page.type("#password", LOGIN.password);
      await page.click('button[value="sign-in"]');
      await page.waitForSelector('button[value="allow"]');
      await page.click('button[value="allow"]');
      const { searchParams } = new URL(await landed.promise, client.redirect);
      expect(searchParams.get("state")).toBe(state);
      expect(searchParams.get("code")).toMatch(/^[\w-]{20,}$/);
    },
  );

  verifies("HS-03");
  it.skipIf(program === undefined)("names no address that a client's headers name", async () => {
    const headers = {
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "http",
      "X-Forwarded-Prefix": "/evil.example",
      "X-Original-Url": "/evil.example",
      Forwarded: "for=198.51.100.1;host=evil.example;proto=http",
    };
    const { origin } = new URL(base);
    const place = { url: base, resource: `${base}/mcp` };
    const asked = authorizeUrl(place, await register(place));
    for (const url of [
      `${base}/`,
      `${base}/mcp/server-card`,
      `${origin}/.well-known/oauth-authorization-server/receivables`,
      `${origin}/.well-known/oauth-protected-resource/receivables/mcp`,
      asked,
    ]) {
      const response = await fetch(url, { headers, redirect: "manual" });
      const said = `${response.headers.get("location")} ${await response.text()}`;
      expect([url, said]).toEqual([url, expect.not.stringContaining("evil.example")]);
      expect([url, response.status]).toEqual([url, url === asked ? 303 : 200]);
    }
    const challenged = await fetch(`${base}/mcp`, { method: "POST", headers, body: "{}" });
    expect(challenged.headers.get("www-authenticate")).toContain(`resource_metadata="${origin}/`);
  });

  /** Returns the status of a request with exactly this path, which a URL would change. */
  const ask = async (path: string): Promise<number | undefined> => {
    const { hostname, port } = new URL(base);
    const sent = request({ hostname, port, path, ca: certificate.cert }).end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  };

  verifies("C-57", "C-67");
  it.skipIf(program === undefined)("reads no path as that of another operation", async () => {
    expect(await ask("/receivables/health?x=1")).toBe(200);
    // The number of a document may have a slash.
    expect(await ask("/receivables/api/v1/ingest/documents/A%2FB")).toBe(401);
    for (const path of [
      "/receivables/dry-run/%2e%2e/health",
      "/receivables/dry-run/../health",
      "/receivables/api/v1/ingest/documents/..%2F..%2F..%2F..%2Fhealth",
      "/receivables/%68ealth",
    ]) {
      expect([path, await ask(path)]).toEqual([path, 400]);
    }
    for (const path of ["/x/%2e%2e/receivables/health", "/x/../receivables/health"]) {
      expect([path, [400, 503].includes((await ask(path)) ?? 0)]).toEqual([path, true]);
    }
    for (const path of ["/receivables//health", "/receivables/health/", "/receivables/health."]) {
      expect([path, await ask(path)]).toEqual([path, 404]);
    }
  });
});
