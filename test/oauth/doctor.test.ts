import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkSignIn } from "../../src/bin/doctor/sign-in-checks.ts";
import { readConfig } from "../../src/config/config.ts";
import { HOUR } from "../../src/kit/clock.ts";
import { createNetworks } from "../../src/kit/network.ts";
import { type Company, startCompany } from "../support/company.ts";
import { json, type WildServer, wildServer } from "../support/wild-server.ts";
import { verifies } from "../support/verifies.ts";

const PUBLIC_URL = "https://mcp.acme.example";
const CLIENT = { id: "the-mcp-server", secret: "canary-secret" };

let folder: string;
let company: Company;
let wild: WildServer;
let now = Date.now;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "doctor-"));
  const redirectUris = [`${PUBLIC_URL}/oauth/company`];
  company = await startCompany({ clients: [{ ...CLIENT, redirectUris }] });
  wild = await wildServer();
});
afterEach(() => {
  company.down(false);
  now = Date.now;
});
afterAll(async () => {
  await company.close();
  await wild.close();
  rmSync(folder, { recursive: true });
});

/** Runs the checks; returns the faulty ones by their names, and all of them. */
const check = async (more: Record<string, string>, fetch = company.fetch) => {
  const env = { RECEIVABLES_HTTP_AUTH: "builtin", RECEIVABLES_DATA: folder, ...more };
  const checks = await checkSignIn(readConfig({ env, dataFolder: folder, readFile: () => "" }), {
    fetch,
    hosts: { resolve: async () => ["127.0.0.1"], allowed: createNetworks(["127.0.0.0/8"]) },
    ca: company.certificate,
    now: () => now(),
  });
  expect(JSON.stringify(checks)).not.toContain("canary");
  const faults = checks.filter(({ ok }) => !ok);
  for (const { hint } of faults) expect(hint).toMatch(/\w{3}/);
  return { checks, faults };
};

const atCompany = (more: Record<string, string> = {}) => ({
  RECEIVABLES_SIGN_IN_ISSUER: company.issuer,
  RECEIVABLES_SIGN_IN_CLIENT_ID: CLIENT.id,
  RECEIVABLES_SIGN_IN_CLIENT_SECRET: CLIENT.secret,
  RECEIVABLES_PUBLIC_URL: PUBLIC_URL,
  ...more,
});

const named = (checks: { check: string }[]): string[] => checks.map((one) => one.check);

describe("the check of the sign-in at the company", () => {
  verifies("RC-12");
  it("passes where provider, client, secret and redirect address are right", async () => {
    const { checks, faults } = await check(atCompany());
    expect(faults).toEqual([]);
    expect(named(checks)).toEqual(["sign_in_issuer", "clock", "sign_in_client"]);
    expect(checks[0]?.found).toContain("1 signing keys");
    expect(checks[2]?.found).toContain(`${PUBLIC_URL}/oauth/company`);
  });

  verifies("RC-12");
  it.each<[string, Record<string, string>, string, RegExp]>([
    [
      "redirect address",
      { RECEIVABLES_PUBLIC_URL: "https://other.example" },
      "redirect address https://other.example/oauth/company",
      /Register exactly/,
    ],
    [
      "client",
      { RECEIVABLES_SIGN_IN_CLIENT_ID: "nobody" },
      "refuses the client nobody",
      /RECEIVABLES_SIGN_IN_CLIENT_ID/,
    ],
    [
      "secret",
      { RECEIVABLES_SIGN_IN_CLIENT_SECRET: "canary-of-old" },
      "refuses the secret",
      /RECEIVABLES_SIGN_IN_CLIENT_SECRET/,
    ],
  ])("names a wrong %s", async (_what, more, found, hint) => {
    const { faults } = await check(atCompany(more));
    expect(named(faults)).toEqual(["sign_in_client"]);
    expect(faults[0]).toMatchObject({
      found: expect.stringContaining(found),
      hint: expect.stringMatching(hint),
    });
  });

  verifies("RC-12");
  it("says which redirect address to register where the public address is not known", async () => {
    const { RECEIVABLES_PUBLIC_URL: _none, ...settings } = atCompany();
    const { checks, faults } = await check(settings);
    expect(faults).toEqual([]);
    expect(checks.at(-1)?.hint).toContain("/oauth/company");
  });

  verifies("RC-12");
  it("names a provider that does not answer, and the lack of any other sign-in", async () => {
    company.down(true);
    const { faults } = await check(atCompany({ RECEIVABLES_SIGN_IN_PASSWORDS: "false" }));
    expect(named(faults)).toEqual(["sign_in_issuer"]);
    expect(faults[0]?.found).toContain("status 503");
    expect(faults[0]?.hint).toContain("Nobody can sign in");
    const gone = await check(
      atCompany({ RECEIVABLES_SIGN_IN_ISSUER: "https://gone.invalid" }),
      fetch,
    );
    expect(gone.faults[0]?.found).toMatch(/gone\.invalid.*ENOTFOUND|EAI_AGAIN/);
  });

  verifies("RC-12");
  it("compares the clocks", async () => {
    now = () => Date.now() - HOUR;
    const { faults } = await check(atCompany());
    expect(named(faults)).toEqual(["clock"]);
    expect(faults[0]?.found).toContain(`${company.issuer} is 3`);
  });

  verifies("RC-12");
  it.each<[string, (url: string) => unknown, RegExp]>([
    ["another issuer", (url) => ({ issuer: `${url}/other` }), /names another issuer: .*\/other/],
    ["no issuer", () => ({}), /another issuer: undefined/],
    [
      "no token endpoint",
      (url) => ({ issuer: url, authorization_endpoint: `${url}/a` }),
      /names no token_endpoint/,
    ],
    [
      "an address without TLS",
      (url) => ({ issuer: url, authorization_endpoint: "http://login.example/a" }),
      /authorization_endpoint is without TLS/,
    ],
    [
      "no keys",
      (url) => ({
        issuer: url,
        authorization_endpoint: `${url}/a`,
        token_endpoint: `${url}/t`,
        jwks_uri: `${url}/keys`,
      }),
      /has no keys/,
    ],
    ["a list", () => [], /no JSON object/],
  ])("names metadata with %s", async (_what, metadata, found) => {
    wild.behave(({ url }, response) =>
      json(response, 200, url === "/keys" ? { keys: [] } : metadata(wild.url)),
    );
    const { faults } = await check(atCompany({ RECEIVABLES_SIGN_IN_ISSUER: wild.url }), fetch);
    expect(named(faults)).toEqual(["sign_in_issuer"]);
    expect(faults[0]?.found).toMatch(found);
  });

  verifies("RC-12");
  it("names settings with which a server does not start", async () => {
    const open = await check(atCompany({ RECEIVABLES_HTTP_AUTH: "static" }));
    expect(open.faults[0]).toMatchObject({
      check: "sign_in",
      found: expect.stringContaining("has no effect"),
    });
    const remote = await check(atCompany({ RECEIVABLES_BASE_URL: "https://platform.example" }));
    expect(remote.faults[0]?.found).toContain("does not share");
  });

  verifies("RC-13");
  it("names a claim of people at a server that does not share the store", async () => {
    const { faults } = await check({
      RECEIVABLES_HTTP_AUTH: "issuer",
      RECEIVABLES_OAUTH_ISSUER: company.issuer,
      RECEIVABLES_OAUTH_PERSON_CLAIM: "email",
      RECEIVABLES_BASE_URL: "https://platform.example",
    });
    expect(faults[0]?.found).toMatch(/RECEIVABLES_OAUTH_PERSON_CLAIM .* does not share/);
  });
});

describe("the check of identity providers", () => {
  const file = (content: unknown, mode = 0o600): Record<string, string> => {
    const path = join(folder, `providers-${mode}.json`);
    rmSync(path, { force: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content), { mode });
    return { RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE: path };
  };
  const provider = (more: object = {}) => [
    { issuer: company.issuer, clients: ["https://host.example/client"], ...more },
  ];

  verifies("RC-10");
  it("passes where each publishes its keys", async () => {
    const { checks, faults } = await check(file(provider()));
    expect(faults).toEqual([]);
    expect(checks[0]?.found).toContain(company.issuer);
  });

  verifies("RC-10");
  it("names what is wrong in the file", async () => {
    const found = async (content: unknown, mode?: number) =>
      (await check(file(content, mode))).faults;
    expect((await found("no JSON"))[0]?.found).toContain("not JSON");
    expect((await found(provider({ clients: [] })))[0]?.found).toContain("0.clients");
    expect((await found(provider({ emailverified: "claim" })))[0]?.found).toContain(
      "emailverified",
    );
    expect((await found(provider(), 0o644))[0]?.hint).toContain("0600");
    const unknown = "11111111-1111-4111-8111-111111111111";
    const [client] = await found(provider({ clients: [unknown] }));
    expect(client).toMatchObject({
      found: expect.stringContaining(unknown),
      hint: expect.stringContaining("client list"),
    });
    const [away] = (
      await check({ RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE: join(folder, "none") })
    ).faults;
    expect(away?.found).toContain("ENOENT");
  });

  verifies("RC-10");
  it("names a provider that does not answer, names another issuer, or is not public", async () => {
    const found = async (more: object) => (await check(file(provider(more)))).faults[0]?.found;
    expect(await found({ issuer: `${company.issuer}/realm` })).toMatch(
      /realm cannot be read .*status 404/,
    );
    company.down(true);
    expect(await found({})).toMatch(/cannot be read .*status 503/);
    const elsewhere = company.issuer.replace("https://login", "https://other");
    expect(await found({ issuer: elsewhere })).toContain("cannot be read (");
  });
});
