import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPeople, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { ask } from "../support/raw-http.ts";
import { verifies } from "../support/verifies.ts";

const ADVICE = "RECEIVABLES_HTTP_HOSTS adds names that are accepted.";
const PAGES = ["/", "/mcp", "/disputes/D-1", "/oauth/account", "/saved/x", "/secrets/x"];

describe("the names of a server", () => {
  const home = useFolder();
  let server: Running;
  let port: string;

  beforeAll(async () => {
    const env = {
      RECEIVABLES_DATA: join(home, "data"),
      RECEIVABLES_HTTP_AUTH: "builtin",
      RECEIVABLES_HTTP_HOSTS: "known.example",
    };
    await createPeople(env, { emails: ["ann@acme.example"], password: "correct horse battery" });
    server = startCli(["http", "--port", "0"], env);
    ({ port } = new URL((await whenReady(server)).baseUrl));
  });
  afterAll(() => server.end("SIGTERM"));

  const get = (path: string, headers: Record<string, string>) =>
    ask(`http://127.0.0.1:${port}${path}`, { method: "GET", headers, body: "" });

  verifies("HS-09");
  it("tells a person in a browser how to add the name by which the server was called", async () => {
    for (const path of PAGES) {
      const { status, headers, text } = await get(path, {
        host: "other.example",
        accept: "text/html,application/xhtml+xml,*/*;q=0.8",
      });
      expect([path, status, headers["content-type"]]).toEqual([
        path,
        403,
        "text/html; charset=utf-8",
      ]);
      expect(headers["content-security-policy"]).toContain("default-src 'none'");
      expect(text).toContain(`Invalid Host: other.example. ${ADVICE}`);
    }
    const { headers, text } = await get("/", { host: "other.example", accept: "*/*" });
    expect(headers["content-type"]).toBe("application/json");
    expect(JSON.parse(text)).toMatchObject({
      error: { message: `Invalid Host: other.example. ${ADVICE}` },
    });
  });

  verifies("HS-03");
  it("may end with a dot, which only says that a name is complete", async () => {
    for (const name of ["localhost.", "LOCALHOST.", "known.example."]) {
      const host = `${name}:${port}`;
      for (const path of ["/", "/oauth/account", "/mcp/server-card"]) {
        expect([name, path, (await get(path, { host, accept: "text/html" })).status]).toEqual([
          name,
          path,
          200,
        ]);
      }
      const origin = `http://${host.toLowerCase()}`;
      const { status, headers } = await get("/mcp", { host, origin, accept: "application/json" });
      expect([name, status]).toEqual([name, 401]);
      expect(headers["access-control-allow-origin"]).toBe(origin);
    }
    const description = "/.well-known/oauth-protected-resource/mcp";
    const local = await get(description, { host: `localhost.:${port}` });
    expect(JSON.parse(local.text)).toMatchObject({ resource: `http://localhost.:${port}/mcp` });
    for (const host of ["localhost..", "localhost.evil.example", ".localhost.", "."]) {
      expect([host, (await get("/", { host })).status]).toEqual([host, 403]);
    }
  });
});
