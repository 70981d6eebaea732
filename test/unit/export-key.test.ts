import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Credentials } from "../../src/config/settings.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import { withExportKey } from "../../src/bin/compose/export-key.ts";
import { openStoredProfiles } from "../../src/bin/compose/profile.ts";
import { Secret } from "../../src/kit/secret.ts";
import { verifies } from "../support/verifies.ts";

const URL = "https://platform.example";
const REMOTE = { RECEIVABLES_BASE_URL: URL };
const API_KEY = { RECEIVABLES_API_KEY: "rcvg_one" };
const EXPORT_KEY = { RECEIVABLES_EXT_API_KEY: "rcvx_one" };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "export-key-"));
});

const configOf = (env: Record<string, string>): Config =>
  readConfig({
    env: { RECEIVABLES_KEYCHAIN: "off", ...env },
    readFile: () => "",
    dataFolder: folder,
  });

const lacksKey = async (env: Record<string, string>, door: "stdio" | "http" = "stdio") =>
  (await withExportKey(configOf(env), door)).mcp.lacksExportKey;

const store = (name: string, credentials: Credentials, baseUrl: string | undefined = URL) =>
  openStoredProfiles(configOf({})).write({ name, baseUrl, tenantId: "acme", credentials });

const apiKey = new Secret("rcvg_two");
const extApiKey = new Secret("rcvx_two");

describe("a key for the export and ingest services", () => {
  verifies("IN-60");
  it.each([
    ["of the demo tenant", {}, false],
    ["beside a remote platform", { ...REMOTE, ...API_KEY, ...EXPORT_KEY }, false],
    ["that a remote platform lacks", { ...REMOTE, ...API_KEY }, true],
    ["that a remote platform without any credential lacks", REMOTE, true],
    ["that configured credentials of the embedded platform lack", API_KEY, true],
    ["beside credentials of the embedded platform", { ...API_KEY, ...EXPORT_KEY }, false],
  ])("is found in settings: %s", async (_title, env, expected) => {
    expect(await lacksKey(env)).toBe(expected);
    expect(await lacksKey(env, "http")).toBe(expected);
  });

  verifies("IN-60");
  it("is found in the stored profile, which settings complete", async () => {
    await store("default", { apiKey, email: "ann@acme.example" });
    expect(await lacksKey({})).toBe(true);
    expect(await lacksKey(EXPORT_KEY)).toBe(false);
    await store("default", { apiKey, extApiKey });
    expect(await lacksKey({})).toBe(false);
    expect(await lacksKey(REMOTE)).toBe(false);
    // The profile's credentials are sent to its own platform only.
    expect(await lacksKey({ RECEIVABLES_BASE_URL: "https://other.example" })).toBe(true);
  });

  verifies("IN-60");
  it("is found in the profiles file", async () => {
    const path = join(folder, "profiles.json");
    const profiles = { one: { baseUrl: URL, apiKey: "k" }, two: { baseUrl: URL, extApiKey: "k" } };
    await writeFile(path, JSON.stringify(profiles), { mode: 0o600 });
    const file = { RECEIVABLES_PROFILES_FILE: path };
    expect(await lacksKey({ ...file, RECEIVABLES_PROFILE: "one" })).toBe(true);
    expect(await lacksKey({ ...file, RECEIVABLES_PROFILE: "two" })).toBe(false);
  });

  verifies("IN-60");
  it("counts over HTTP if any profile has it", async () => {
    const settings = { ...REMOTE, ...API_KEY };
    await store("ann", { apiKey });
    expect(await lacksKey(settings, "http")).toBe(true);
    await store("bob", { apiKey, extApiKey });
    expect(await lacksKey(settings, "http")).toBe(false);
    expect(await lacksKey(settings)).toBe(true);
  });

  it("is held by people who sign in only where a file gives it to them", async () => {
    const builtin = { ...REMOTE, ...EXPORT_KEY, RECEIVABLES_HTTP_AUTH: "builtin" };
    expect(await lacksKey(builtin, "http")).toBe(true);
    expect(await lacksKey({ ...builtin, RECEIVABLES_EXT_API_KEYS_FILE: "k" }, "http")).toBe(false);
    expect(await lacksKey(builtin)).toBe(false);
  });

  it("is assumed where a profile cannot be read, so that a call says why", async () => {
    await store("default", { apiKey });
    const otherKey = { RECEIVABLES_SECRET_KEY: "another master key of many characters" };
    expect(await lacksKey(otherKey)).toBe(false);
    expect(await lacksKey({ RECEIVABLES_PROFILE: "unknown" })).toBe(false);
  });
});
