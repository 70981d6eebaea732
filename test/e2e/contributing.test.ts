import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { useFolder } from "../support/folder.ts";
import { ADDITIONS, type Edit } from "../support/newcomer.ts";
import { ROOT } from "../support/sources.ts";

const execute = promisify(execFile);

/** Folders that a clone does not have. */
const LEFT_OUT: ReadonlySet<string> = new Set(["node_modules", "dist", ".git"]);

/** Rules with tests of each operation, of which those of the new one run: all of them take minutes. */
const PER_OPERATION: ReadonlySet<string> = new Set([
  "dry-run.test.ts",
  "matrix.test.ts",
  "openapi.test.ts",
]);

/** The rules for tools and insights. */
const LISTS = ["test/mcp/tool", "test/mcp/insights.test.ts"];

const copy = useFolder();

const applyEdit = async ({ file, before, text }: Edit): Promise<void> => {
  const path = join(copy, file);
  if (before === undefined) return writeFile(path, text, { flag: "wx" });
  const source = await readFile(path, "utf8");
  const at = source.indexOf(before);
  expect(at, `${file} has ${before}`).toBeGreaterThanOrEqual(0);
  return writeFile(path, source.slice(0, at) + text + source.slice(at));
};

const runNode = async (script: string, args: readonly string[], env = {}): Promise<string> => {
  try {
    const { stdout } = await execute(process.execPath, [script, ...args], {
      cwd: copy,
      // The nested run is a run of its own.
      env: { PATH: process.env["PATH"], HOME: copy, TMPDIR: tmpdir(), ...env },
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => /FAIL|Error:/.test(line));
    throw new Error(`${script} failed:\n${lines.slice(0, 100).join("\n")}`, { cause: error });
  }
};

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Runs tests of the copy. */
const runTests = (args: readonly string[], env = {}): Promise<string> =>
  runNode(
    "node_modules/vitest/vitest.mjs",
    ["run", "--project", "fast", "--project", "long", "--reporter", "default", ...args],
    env,
  );

/** Returns the text under a heading of CONTRIBUTING.md. */
const readSection = async (heading: string): Promise<string> => {
  const text = await readFile(join(ROOT, "CONTRIBUTING.md"), "utf8");
  const [, rest = ""] = text.split(`\n## ${heading}\n`);
  return rest.split("\n## ")[0] ?? "";
};

beforeAll(async () => {
  await cp(ROOT, copy, {
    recursive: true,
    filter: (path) => !LEFT_OUT.has(basename(path)),
  });
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
});

describe("a newcomer who follows CONTRIBUTING.md", () => {
  it.each(ADDITIONS)("finds every file of: $heading", async ({ heading, edits }) => {
    const section = await readSection(heading);
    const names = [...section.matchAll(/`([^`\s]+)`/g)].map(([, name = ""]) => name);
    const patterns = names.map(
      (name) => new RegExp(`^${name.split(/<\w+>/).map(escapeRegExp).join("[\\w-]+")}$`),
    );
    const unnamed = edits.filter(({ file }) => !patterns.some((pattern) => pattern.test(file)));
    expect(unnamed.map(({ file }) => file)).toEqual([]);
  });

  it(
    "finds derived files and the rule tests green",
    async () => {
      for (const { edits } of ADDITIONS) for (const edit of edits) await applyEdit(edit);
      await runTests(["test/openapi-examples.test.ts"], { EXAMPLES: "write" });
      await runNode("scripts/derive.ts", []);
      const rules = readdirSync(join(ROOT, "test")).filter((name) => name.endsWith(".test.ts"));
      const whole = rules.filter((name) => !PER_OPERATION.has(name)).map((name) => `test/${name}`);
      expect(await runTests([...whole, ...LISTS])).toMatch(/Tests .* passed/);
      const ofOperations = [...PER_OPERATION].map((name) => `test/${name}`);
      expect(await runTests([...ofOperations, "-t", "business_units"])).toMatch(/Tests .* passed/);
    },
    20 * MINUTE,
  );
});
