// Installs the packages of `tooling/package.json` beside the others, if one of them is missing or of another version.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

const readPackage = (path: string) =>
  JSON.parse(readFileSync(join(ROOT, path, "package.json"), "utf8")) as {
    version: string;
    devDependencies?: Record<string, string>;
  };

const isInstalled = ([name, version]: [string, string]): boolean => {
  const folder = `node_modules/${name}`;
  return existsSync(join(ROOT, folder)) && readPackage(folder).version === version;
};

const wanted = Object.entries(readPackage("tooling").devDependencies ?? {});
if (!wanted.every(isInstalled)) {
  process.stderr.write("Installing the packages of tooling/package.json…\n");
  const args = ["install", "--workspaces", "--include-workspace-root", "--no-audit", "--no-fund"];
  execFileSync("npm", args, {
    cwd: ROOT,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
}
