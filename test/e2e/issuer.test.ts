import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli, type Running, startCli, whenReady, callWithToken } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { type Issuer, startIssuer } from "../support/issuer.ts";
import { verifies } from "../support/verifies.ts";

const folder = useFolder();
const profiles = join(folder, "profiles.json");
let issuer: Issuer;
let env: Record<string, string>;
let server: Running;
let mcpUrl: string;

/** The public URL behind the proxy, which is the audience of tokens. */
const RESOURCE = "https://mcp.example.com/ar/mcp";

/** Profiles on the demo tenant, by their subjects. */
const give = (subjects: Record<string, string[]>) => {
  const all = Object.entries(subjects).map(([name, list]) => [name, { subjects: list }]);
  return writeFile(profiles, JSON.stringify(Object.fromEntries(all)), { mode: 0o600 });
};

beforeAll(async () => {
  await give({ ann: ["subject-1"] });
  issuer = await startIssuer();
  env = {
    RECEIVABLES_DATA: join(folder, "data"),
    RECEIVABLES_PROFILES_FILE: profiles,
    RECEIVABLES_OAUTH_ISSUER: issuer.issuer,
    RECEIVABLES_PUBLIC_URL: "https://mcp.example.com/ar/",
  };
  server = startCli(["http", "--port", "0"], env);
  ({ mcpUrl = "" } = await whenReady(server));
});
afterAll(async () => {
  await server.end("SIGTERM");
  await issuer.close();
});

const list = (token: string) => callWithToken(mcpUrl, token, "disputes_list", { PageSize: 1 });

describe("a server that accepts tokens of an issuer", () => {
  verifies("C-61");
  it("sends a client without a token to the issuer, and accepts only tokens for this server", async () => {
    const refused = await list("none");
    expect(refused.status).toBe(401);
    const at = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "");
    const path = "/.well-known/oauth-protected-resource/ar/mcp";
    expect(at?.[1]).toBe(`https://mcp.example.com${path}`);
    expect(await (await fetch(new URL(path, mcpUrl))).json()).toMatchObject({
      resource: RESOURCE,
      authorization_servers: [issuer.issuer],
    });
    expect((await list(await issuer.token("https://elsewhere.example"))).status).toBe(401);
    const answered = await list(await issuer.token(RESOURCE));
    expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining("300")]);
  });

  verifies("C-64");
  it.each([
    ["mcp.example.com", 401],
    ["127.0.0.1", 401],
    ["evil.example", 403],
  ])("asked as %s it answers %i", async (host, status) => {
    const sent = request(mcpUrl, { method: "POST", headers: { host } }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(status);
  });

  verifies("C-61");
  it("refuses tokens for its local address", async () => {
    expect((await list(await issuer.token(mcpUrl))).status).toBe(401);
  });

  it("accepts a subject exactly as long as it has a profile", async () => {
    const token = await issuer.token(RESOURCE, { claims: { sub: "subject-2" } });
    expect((await list(token)).status).toBe(403);
    await give({ ann: ["subject-1"], bob: ["subject-2"] });
    expect((await list(token)).status).toBe(200);
    await give({ ann: ["subject-1"] });
    expect((await list(token)).status).toBe(403);
  });

  verifies("C-60");
  it("sends a token to the issuer only", async () => {
    const token = await issuer.token(RESOURCE);
    await (await list(token)).text();
    expect(JSON.stringify(issuer.seen)).not.toContain(token);
    expect(server.texts.stdout + server.texts.stderr).not.toContain(token.split(".")[2]);
  });

  it.each([
    ["nobody has a profile", {}, "subjects"],
    ["one subject has two", { ann: ["one"], bob: ["one"] }, "the same subject"],
  ])("does not start when %s", async (_what, subjects, words) => {
    await give(subjects);
    const { status, stderr } = await runCli(["http", "--port", "0"], env);
    expect([status, stderr]).toEqual([1, expect.stringContaining(words)]);
  });
});
