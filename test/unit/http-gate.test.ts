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
  ])("does not start with %s and the authentication %s", async (name, auth) => {
    const { tokens = {}, issuer = {} } = await writeSettings();
    const value = tokens[name] ?? (name.endsWith("REGISTRATION") ? "true" : "keys.json");
    const settings = { ...(auth === "issuer" ? issuer : {}), [name]: value };
    await expect(open({ ...settings, RECEIVABLES_HTTP_AUTH: auth })).rejects.toThrow(
      `${name} has no effect`,
    );
  });
});
