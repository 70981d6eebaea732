import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { systemClock } from "../../src/kit/clock.ts";
import { createLog } from "../../src/kit/log.ts";
import { createStorage } from "../../src/records/storage.ts";
import { startAuthorization } from "../support/oauth.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const WORDS = "the words of the failure";
const TOKEN = "receivables-token-of-ann";
const FAILED = "Something went wrong in this server.";

/** Addresses of programs, then of people. */
const PROGRAMS = [
  ["POST", "/oauth/token"],
  ["POST", "/oauth/revoke"],
  ["POST", "/oauth/register"],
  ["GET", "/oauth/jwks"],
  ["GET", "/.well-known/oauth-authorization-server"],
] as const;
const PEOPLE = [
  ["GET", "/oauth/authorize?client_id=x"],
  ["GET", "/oauth/account"],
  ["GET", "/oauth/sign-in/x"],
] as const;

onEveryStore("a sign-in whose store fails", (at) => {
  verifies("HS-05", "HS-06");
  it("answers programs with an OAuth error and people with a page, and goes on", async () => {
    const lines: string[] = [];
    const real = createStorage(await at().oauthStore(), systemClock);
    let isBroken = true;
    const running = await startAuthorization(at(), {
      storage: {
        ...real,
        counter: {
          ...real.counter,
          count: async (...counted) => {
            if (isBroken) throw new Error(`${WORDS}, and ${TOKEN}`);
            return real.counter.count(...counted);
          },
        },
      },
      log: createLog("error", (line) => lines.push(line)),
    });
    const ask = (method: string, path: string): Promise<Response> =>
      fetch(running.url + path, { method, headers: { authorization: `Bearer ${TOKEN}` } });

    for (const [method, path] of [...PROGRAMS, ...PEOPLE]) {
      const response = await ask(method, path);
      const text = await response.text();
      expect([path, response.status, response.headers.get("cache-control")]).toEqual([
        path,
        500,
        "no-store",
      ]);
      if (PEOPLE.some(([, one]) => one === path)) {
        expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
        expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
        expect(text).toContain(FAILED);
      } else {
        expect(response.headers.get("content-type")).toBe("application/json");
        expect(JSON.parse(text)).toEqual({ error: "server_error", error_description: FAILED });
      }
      expect(text).not.toContain(WORDS);
    }
    expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(
      [...PROGRAMS, ...PEOPLE].map(() => "oauth.failed"),
    );
    expect(lines.join("")).toContain(WORDS);
    expect(lines.join("")).not.toContain(TOKEN);
    isBroken = false;
    expect((await ask("GET", "/.well-known/oauth-authorization-server")).status).toBe(200);
    await running.close();
  });

  verifies("HS-04");
  it("decodes no body, whose size it would not know", async () => {
    const running = await startAuthorization(at());
    const bomb = gzipSync(Buffer.alloc(50_000_000, " "));
    for (const [path, type] of [
      ["/oauth/token", "application/x-www-form-urlencoded"],
      ["/oauth/revoke", "application/x-www-form-urlencoded"],
      ["/oauth/register", "application/json"],
      ["/oauth/authorize", "application/x-www-form-urlencoded"],
      ["/oauth/account", "application/x-www-form-urlencoded"],
    ] as const) {
      const response = await fetch(running.url + path, {
        method: "POST",
        headers: { "content-type": type, "content-encoding": "gzip" },
        body: bomb,
      });
      const found = [path, response.status, response.headers.get("accept-encoding")];
      expect(found).toEqual([path, 415, "identity"]);
      expect(await response.text()).toContain("without Content-Encoding");
    }
    await running.close();
  });
});
