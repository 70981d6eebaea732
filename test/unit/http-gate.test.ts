import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createShared } from "../../src/bin/compose/compose.ts";
import { readConfig } from "../../src/config/config.ts";
import { openEntrance } from "../../src/bin/compose/http-gate.ts";
import { silentLog } from "../../src/kit/log.ts";
import { verifies } from "../support/verifies.ts";

const ADDRESS = { host: "127.0.0.1", port: 0 };
const TOKEN = "dGhpcyBpcyBhbiBleGFtcGxlIG9mIGEgdG9rZW4gMQ==";

const open = async (settings: Record<string, string>, dataFolder?: string) => {
  const folder = dataFolder ?? (await mkdtemp(join(tmpdir(), "gate-")));
  const env = { ...settings, RECEIVABLES_KEYCHAIN: "off" };
  const config = readConfig({ env, dataFolder: folder, readFile: () => "" });
  return (await openEntrance(createShared(config, silentLog), ADDRESS)).auth;
};

const writeSettings = async (): Promise<Record<string, Record<string, string>>> => {
  const folder = await mkdtemp(join(tmpdir(), "gate-"));
  const [tokens, profiles] = [join(folder, "tokens"), join(folder, "profiles.json")];
  await writeFile(tokens, `${TOKEN} default read\n`, { mode: 0o600 });
  await writeFile(profiles, "{}", { mode: 0o600 });
  return {
    tokens: { RECEIVABLES_HTTP_TOKENS_FILE: tokens },
    profiles: { RECEIVABLES_PROFILES_FILE: profiles },
    issuer: { RECEIVABLES_OAUTH_ISSUER: "https://issuer.example" },
    address: { RECEIVABLES_PUBLIC_URL: "https://mcp.example" },
    names: {
      RECEIVABLES_HTTP_HOSTS: "mcp.example",
      RECEIVABLES_HTTP_ORIGINS: "https://app.example",
    },
  };
};

describe("the MCP endpoint on loopback with the demo tenant", () => {
  verifies("C-112");
  it.each(["tokens", "profiles", "address"])("is not open with a setting of %s", async (name) => {
    const settings = (await writeSettings())[name] ?? {};
    expect(await open(settings)).toBe("static");
    await expect(open({ ...settings, RECEIVABLES_HTTP_AUTH: "none" })).rejects.toThrow(
      Object.keys(settings)[0],
    );
  });

  it("is not open beside an issuer", async () => {
    const { issuer = {} } = await writeSettings();
    await expect(open({ ...issuer, RECEIVABLES_HTTP_AUTH: "none" })).rejects.toThrow(
      "RECEIVABLES_OAUTH_ISSUER has no effect",
    );
  });

  it("is open without such settings, also with accepted hosts and origins", async () => {
    const { names = {} } = await writeSettings();
    expect(await open({})).toBe("none");
    expect(await open(names)).toBe("none");
  });

  it.each([
    ["RECEIVABLES_HTTP_TOKENS_FILE", "issuer"],
    ["RECEIVABLES_OAUTH_REGISTRATION", "static"],
    ["RECEIVABLES_EXT_API_KEYS_FILE", "static"],
    ["RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE", "static"],
    ["RECEIVABLES_SIGN_IN_ISSUER", "static"],
  ])("does not start with %s and the authentication %s", async (name, auth) => {
    const { tokens = {}, issuer = {} } = await writeSettings();
    const value = tokens[name] ?? (name.endsWith("REGISTRATION") ? "true" : "keys.json");
    const company = {
      RECEIVABLES_SIGN_IN_ISSUER: "https://login.example",
      RECEIVABLES_SIGN_IN_CLIENT_ID: "mcp",
      RECEIVABLES_SIGN_IN_CLIENT_SECRET: "a secret",
    };
    const named = name in company ? company : { [name]: value };
    const settings = { ...(auth === "issuer" ? issuer : {}), ...named };
    await expect(open({ ...settings, RECEIVABLES_HTTP_AUTH: auth })).rejects.toThrow(
      `${name} has no effect`,
    );
  });
});

describe("the company's identity providers", () => {
  const PROVIDER = { issuer: "https://login.example", clients: ["one"] };

  const openWith = async (text: string, more: Record<string, string> = {}) => {
    const path = join(await mkdtemp(join(tmpdir(), "gate-")), "providers.json");
    await writeFile(path, text, { mode: 0o600 });
    const file = { RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE: path };
    return open({ ...file, RECEIVABLES_HTTP_AUTH: "builtin", ...more });
  };

  verifies("RC-10");
  it("are read at the start", async () => {
    expect(await openWith(JSON.stringify([PROVIDER]))).toBe("builtin");
  });

  it.each([
    ["no JSON", "{"],
    ["no list", "{}"],
    ["an empty list", "[]"],
    ["plain http", JSON.stringify([{ ...PROVIDER, issuer: "http://login.example" }])],
    ["no clients", JSON.stringify([{ ...PROVIDER, clients: [] }])],
    ["an unknown member", JSON.stringify([{ ...PROVIDER, secret: "x" }])],
    ["another word for emailVerified", JSON.stringify([{ ...PROVIDER, emailVerified: true }])],
    ["the same issuer twice", JSON.stringify([PROVIDER, PROVIDER])],
  ])("stop the start with %s", async (_what, text) => {
    await expect(openWith(text)).rejects.toThrow("RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE");
  });

  verifies("RC-10");
  it("are refused in front of a remote platform, which has its own store", async () => {
    const remote = { RECEIVABLES_BASE_URL: "https://platform.example", RECEIVABLES_TENANT_ID: "a" };
    await expect(openWith(JSON.stringify([PROVIDER]), remote)).rejects.toThrow("does not share");
  });
});

describe("sign-in at the company", () => {
  const COMPANY = {
    RECEIVABLES_HTTP_AUTH: "builtin",
    RECEIVABLES_SIGN_IN_ISSUER: "https://login.example",
    RECEIVABLES_SIGN_IN_CLIENT_ID: "mcp",
    RECEIVABLES_SIGN_IN_CLIENT_SECRET: "a secret",
  };

  verifies("RC-12");
  it("says in front of a remote platform that it cannot find people", async () => {
    expect(await open({ ...COMPANY, RECEIVABLES_SIGN_IN_PASSWORDS: "false" })).toBe("builtin");
    const remote = { RECEIVABLES_BASE_URL: "https://platform.example", RECEIVABLES_TENANT_ID: "a" };
    await expect(open({ ...COMPANY, ...remote })).rejects.toThrow(
      "RECEIVABLES_SIGN_IN_ISSUER finds people in the platform's store, which this server does not share",
    );
  });

  verifies("RC-13");
  it("refuses a claim of people in front of a remote platform, and needs no profiles otherwise", async () => {
    const claim = {
      RECEIVABLES_OAUTH_ISSUER: "https://issuer.example",
      RECEIVABLES_OAUTH_PERSON_CLAIM: "email",
    };
    expect(await open(claim)).toBe("issuer");
    const remote = { RECEIVABLES_BASE_URL: "https://platform.example", RECEIVABLES_TENANT_ID: "a" };
    await expect(open({ ...claim, ...remote })).rejects.toThrow(
      "RECEIVABLES_OAUTH_PERSON_CLAIM finds people",
    );
  });

  it.each(["ISSUER", "CLIENT_ID", "CLIENT_SECRET"])(
    "needs RECEIVABLES_SIGN_IN_%s",
    async (name) => {
      const settings = Object.entries(COMPANY).filter(([key]) => !key.endsWith(`SIGN_IN_${name}`));
      await expect(open(Object.fromEntries(settings))).rejects.toThrow("belong together");
    },
  );

  it("cannot be switched off together with passwords", async () => {
    const settings = { RECEIVABLES_HTTP_AUTH: "builtin", RECEIVABLES_SIGN_IN_PASSWORDS: "false" };
    await expect(open(settings)).rejects.toThrow("without RECEIVABLES_SIGN_IN_ISSUER");
  });
});
