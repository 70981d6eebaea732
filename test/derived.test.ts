import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { prompts } from "../prompts/index.ts";
import { derived } from "../scripts/derive/derived.ts";
import { DEPENDENCIES, dependencyFaults } from "../scripts/derive/documents.ts";
import { Environment } from "../src/config/environment.ts";
import { toolsetNames } from "../tools/toolsets.ts";
import { toolsets } from "../tools/index.ts";
import { ROOT } from "./support/sources.ts";
import { verifies } from "./support/verifies.ts";

const json = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));

const about = json("package.json");
const tooling = json("tooling/package.json");
const manifest = json("manifest.json");
const names = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name);

describe("derived files", () => {
  verifies("C-69");
  it.each(derived())("$path matches the code", ({ is, should }) => {
    expect(is).toBe(should);
  });

  it.each([
    ["documents_create", "adds, may ask"],
    ["documents_replace", "changes, may ask"],
    ["accounts_replace", "changes, may ask"],
    ["disputes_update", "changes, may ask"],
    ["disputes_apply", "changes, asks"],
    ["disputes_open", "adds, asks"],
    ["documents_close", "changes, asks"],
    ["webhooks_create", "adds, asks"],
    ["webhooks_delete", "deletes, asks"],
    ["accounts_create", "adds"],
  ])("docs/tools.md says that %s %s", (name, kind) => {
    const lines = readFileSync(join(ROOT, "docs/tools.md"), "utf8").split("\n");
    const row = lines.find((line) => line.startsWith(`| \`${name}\``));
    expect(row?.split("|").map((cell) => cell.trim())).toContain(kind);
  });

  it("docs/development.md gives a reason for each dependency", () => {
    const manual = readFileSync(join(ROOT, DEPENDENCIES), "utf8");
    expect(dependencyFaults(manual, [about, tooling])).toEqual([]);
    const more = { ...about, devDependencies: { ...about.devDependencies, "left-pad": "1.0.0" } };
    expect(dependencyFaults(manual, [more, tooling])).toEqual([
      "docs/development.md lacks left-pad",
    ]);
    const { zod: _zod, ...fewer } = about.dependencies;
    expect(dependencyFaults(manual, [{ ...about, dependencies: fewer }, tooling])).toEqual([
      "docs/development.md names zod, which is not installed",
    ]);
  });
});

describe("the desktop extension's manifest", () => {
  it("has the package's name, version and licence, and starts the installed program", () => {
    const { name, version, license } = manifest;
    expect({ name, version, license }).toEqual({
      name: about.name,
      version: about.version,
      license: about.license,
    });
    expect(manifest.server.entry_point).toBe(about.bin[about.name]);
    expect(manifest.server.mcp_config.args).toEqual([
      `\${__dirname}/${manifest.server.entry_point}`,
    ]);
    expect(manifest.compatibility.runtimes.node).toMatch(about.engines.node);
  });

  it("lists all tools and prompts", () => {
    expect(names(manifest.tools)).toEqual(names(Object.values(toolsets).flat()));
    expect(names(manifest.prompts)).toEqual(names(prompts));
  });

  it("offers only existing settings, requires none, and marks secrets as sensitive", () => {
    const { env } = manifest.server.mcp_config;
    const asked = Object.keys(manifest.user_config);
    expect(Object.keys(env).filter((name) => !(name in Environment.shape))).toEqual([]);
    expect(Object.values(env)).toEqual(asked.map((key) => `\${user_config.${key}}`));
    const options = Object.entries<Record<string, unknown>>(manifest.user_config);
    expect(options.filter(([, option]) => option["required"] !== false)).toEqual([]);
    const secret = options.filter(([key]) => key.endsWith("api_key"));
    expect(secret.map(([, option]) => option["sensitive"])).toEqual([true, true]);
    expect(manifest.user_config.toolsets.description).toContain(toolsetNames.join(", "));
  });
});
