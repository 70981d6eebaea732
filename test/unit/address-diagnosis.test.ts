import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createRawServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { diagnoseAddress } from "../../src/bin/doctor/address-diagnosis.ts";
import { readConfig } from "../../src/config/config.ts";
import { readProxies, setProxies } from "../../src/kit/proxy.ts";
import { certificateFor } from "../support/receiver.ts";
import { verifies } from "../support/verifies.ts";

const open: Server[] = [];

afterEach(() => {
  setProxies(readProxies({}));
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const listenAt = async (server: Server, protocol: "http" | "https"): Promise<string> => {
  open.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const plain = (listener: RequestListener): Promise<string> =>
  listenAt(createServer(listener), "http");

const secure = async (listener: RequestListener, name = "127.0.0.1"): Promise<string> => {
  const { cert, key } = await certificateFor(name);
  return listenAt(createTlsServer({ cert, key }, listener), "https");
};

const answer =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };

const JSON_TYPE = { "Content-Type": "application/json" };
const HTML_TYPE = { "Content-Type": "text/html; charset=utf-8" };

/** Answers as a platform below a path, which refuses requests without a credential. */
const platformAt =
  (prefix: string): RequestListener =>
  ({ url }, response) => {
    const isOwn = url === `${prefix}/user/v1/users/profile`;
    const body = isOwn ? { code: "unauthenticated" } : { code: "not_found" };
    response.writeHead(isOwn ? 401 : 404, JSON_TYPE).end(JSON.stringify(body));
  };

const diagnose = (url: string, env: Record<string, string> = {}) =>
  diagnoseAddress(
    url,
    "gateway",
    readConfig({
      env: { RECEIVABLES_REQUEST_SECONDS: "5", ...env },
      dataFolder: "/data",
      readFile: () => "",
    }),
  );

const swap = (url: string): string =>
  url.startsWith("https:") ? url.replace("https:", "http:") : url.replace("http:", "https:");

type Case = [
  what: string,
  start: () => Promise<string>,
  found: RegExp,
  hint: RegExp | ((url: string) => string),
];

const originOf = (url: string): string => new URL(url).origin;

const cases: Case[] = [
  [
    "a port at which nothing listens",
    async () => "http://127.0.0.1:9",
    /^http:\/\/127\.0\.0\.1:9: nothing listens at 127\.0\.0\.1:9 \(ECONNREFUSED\)/,
    /Start the platform/,
  ],
  [
    "a name that does not resolve",
    async () => "http://platform.invalid",
    /host name platform\.invalid does not resolve/,
    /spelling/,
  ],
  [
    "a web server without the path",
    () => plain(answer(404, "<h1>Not found</h1>", HTML_TYPE)),
    /answers \(status 404, text\/html\), but is not a platform/,
    /--base-url/,
  ],
  [
    "a web application that answers every path",
    () => plain(answer(200, "<!doctype html>", HTML_TYPE)),
    /answers \(status 200, text\/html\), but is not a platform/,
    /host, port and path/,
  ],
  [
    "a page that asks for a login",
    () => plain(answer(401, "<h1>Login</h1>", HTML_TYPE)),
    /not a platform/,
    /host, port and path/,
  ],
  [
    "a path below the platform",
    async () => `${await plain(platformAt(""))}/mcp`,
    /is not the platform's base address \(status 404\)/,
    (url) => `The platform answers at ${originOf(url)}: set RECEIVABLES_BASE_URL`,
  ],
  [
    "a path below a platform with a prefix",
    async () => `${await plain(platformAt("/api"))}/api/authentication/v1/login`,
    /not the platform's base address/,
    (url) => `The platform answers at ${originOf(url)}/api: set`,
  ],
  [
    "a redirect to the platform's own address",
    () =>
      plain(({ url }, response) => {
        response.writeHead(308, { Location: `https://platform.example${url}` }).end();
      }),
    /redirect \(308\) to https:\/\/platform\.example$/,
    /to https:\/\/platform\.example\./,
  ],
  [
    "a redirect to a sign-in page",
    () => plain(answer(302, "", { Location: "https://sso.example/login?token=canary" })),
    /redirect \(302\) to https:\/\/sso\.example$/,
    /No credential follows it/,
  ],
  [
    "a proxy whose platform is away",
    () => plain(answer(502, "Bad gateway", HTML_TYPE)),
    /answers with status 502/,
    /ask its operator/,
  ],
  [
    "https at a plain port",
    async () => swap(await plain(platformAt(""))),
    /does not speak TLS at this port/,
    (url) => `It answers plain http: use ${swap(url)}`,
  ],
  [
    "plain http at a port with TLS",
    async () => swap(await secure(platformAt(""))),
    /speaks TLS at this port/,
    (url) => `Use ${swap(url)}.`,
  ],
  [
    "plain http at a port with TLS that says so with status 400",
    async () => {
      const url = await secure(platformAt(""));
      const server = open.at(-1);
      const [handle] = server?.listeners("connection") ?? [];
      // As nginx and Go do it: the first byte of TLS is 22.
      server?.removeAllListeners("connection");
      server?.on("connection", (socket) => {
        socket.once("readable", () => {
          const first = socket.read(1) as Buffer | null;
          if (first === null) return;
          socket.unshift(first);
          if (first[0] === 22) return (handle as (one: unknown) => void).call(server, socket);
          socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        });
      });
      return swap(url);
    },
    /speaks TLS at this port \(status 400\)/,
    (url) => `Use ${swap(url)}.`,
  ],
  [
    "a certificate of an unknown authority",
    () => secure(platformAt("")),
    /does not trust its certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    /NODE_EXTRA_CA_CERTS/,
  ],
  [
    "a server that answers no HTTP",
    () => {
      const raw = createRawServer((socket) => socket.end("220 mail.example ESMTP\r\n"));
      return listenAt(Object.assign(raw, { closeAllConnections() {} }) as never, "http");
    },
    /does not speak HTTP at this port/,
    /Check the port/,
  ],
];

describe("the diagnosis of an address", () => {
  verifies("HS-09");
  it.each(cases)("explains %s", async (_what, start, found, expected) => {
    const url = await start();
    const diagnosis = await diagnose(url);
    expect(diagnosis).toMatchObject({ ok: false, found: expect.stringMatching(found) });
    expect(diagnosis.found).toContain(url);
    if (typeof expected === "function") expect(diagnosis.hint).toContain(expected(url));
    else expect(diagnosis.hint).toMatch(expected);
    expect(JSON.stringify(diagnosis)).not.toContain("canary");
  });

  it("accepts a platform, also one that refuses without a body, below a path and with a slash", async () => {
    const bare = await plain(answer(403, ""));
    const prefixed = `${await plain(platformAt("/api"))}/api/`;
    for (const url of [await plain(platformAt("")), bare, prefixed]) {
      expect(await diagnose(url)).toMatchObject({ ok: true });
    }
  });

  it("names the proxy on the way, its setting and NO_PROXY, without the proxy's password", async () => {
    const proxy = (await plain(answer(502, ""))).replace("//", "//user:canary@");
    const env = { HTTPS_PROXY: proxy, HTTP_PROXY: "http://127.0.0.1:9" };
    setProxies(readProxies(env));
    const { found, hint } = await diagnose("http://platform.invalid", env);
    expect(found).toMatch(/no answer through the proxy http:\/\/127\.0\.0\.1:9 \(ECONNREFUSED\)/);
    expect(hint).toBe(
      "Check HTTP_PROXY, or add platform.invalid to NO_PROXY to reach it directly.",
    );
    open[0]?.on("connect", (_request, socket) =>
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"),
    );
    const asked = await diagnose("https://platform.invalid", env);
    expect(asked.found + asked.hint).not.toContain("canary");
    expect(asked).toMatchObject({ ok: false, hint: expect.stringContaining("HTTPS_PROXY") });
    expect(asked.hint).toContain("asks for a user name");
  });

  it("names a proxy that asks for a user name for plain http, or refuses a wrong one", async () => {
    const asking = await plain(answer(407, "", { "Proxy-Authenticate": "Basic" }));
    setProxies(readProxies({ HTTP_PROXY: asking }));
    const asked = await diagnose("http://platform.invalid", { HTTP_PROXY: asking });
    expect(asked.hint).toMatch(/asks for a user name.* in HTTP_PROXY/);
    const refusing = await plain(answer(401, "no", HTML_TYPE));
    setProxies(readProxies({ HTTP_PROXY: refusing }));
    const refused = await diagnose("http://platform.invalid", { HTTP_PROXY: refusing });
    expect(refused.hint).toContain(`may be that of the proxy ${refusing}`);
  });
});
