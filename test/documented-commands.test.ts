import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { knownSettings } from "../src/config/config.ts";
import { createProgram } from "../src/bin/cli/program.ts";
import { ROOT } from "./support/sources.ts";
import { verifies } from "./support/verifies.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const documents = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** Programs of others that the documents use, and the test that runs them. */
const OTHERS: Record<string, string> = {
  docker: "test/e2e/container.test.ts",
  pg_dump: "test/fault/backup-postgres.test.ts",
  pg_restore: "test/fault/backup-postgres.test.ts",
  cp: "test/fault/backup-postgres.test.ts",
  curl: "test/e2e/import-triage.test.ts",
  // Its line gives a client the address and a token, as this test does.
  claude: "test/e2e/cli-servers.test.ts",
  // Their lines name the address of the server, or a plugin that this test installs.
  gemini: "test/e2e/plugins.test.ts",
  codex: "test/e2e/plugins.test.ts",
  node: "test/e2e/plugins.test.ts",
};

/** They change the machine: users, services and files of the system. */
const UNTRIED = ["useradd", "install", "openssl", "systemctl"];

/** Spans that show the form of a command instead of one. */
const FORMS = ["COMMAND", "…"];

const { scripts, devDependencies } = JSON.parse(read("package.json")) as {
  scripts: Record<string, string>;
  devDependencies: Record<string, string>;
};

type Documented = { path: string; line: string };

const LOOP = /^for (\w+) in ([^;]*); do\n([^]*?)^done$/gm;

/** Repeats the body of a loop for each of its values. */
const unroll = (block: string): string =>
  block.replaceAll(LOOP, (_loop, name: string, values: string, body: string) =>
    values
      .split(" ")
      .map((value) => body.replaceAll(`$${name}`, value))
      .join(""),
  );

/** Joins the lines of a text in quotes. */
const joinQuoted = (lines: readonly string[]): string[] =>
  lines.reduce<string[]>((joined, line) => {
    const last = joined.at(-1);
    const isOpen = last !== undefined && (last.match(/'/g)?.length ?? 0) % 2 === 1;
    return isOpen ? [...joined.slice(0, -1), `${last} ${line}`] : [...joined, line];
  }, []);

/** Commands of a block: continued lines joined, comments left out, pipes and lists split. */
const commandsOf = (block: string): string[] =>
  joinQuoted(unroll(block.replaceAll(/\\\n\s*/g, "")).split("\n"))
    .map((line) =>
      line
        .replace(/(?:^|\s)#\s.*$/, "")
        .replace(/^\$ /, "")
        .trim(),
    )
    .filter((line) => line !== "")
    .flatMap((line) => line.split(/\s(?:&&|\|\|?)\s/));

const INLINE = /`((?:receivables-mcp|npm|npx) [^`]+)`/g;

const documented: Documented[] = documents.flatMap((path) => {
  const text = read(path);
  const blocks = [...text.matchAll(/^ *```(?:sh|bash|console)\n([^]*?)^ *```/gm)];
  const spans = [...text.replaceAll(/^ *```[^]*?^ *```/gm, "").matchAll(INLINE)];
  const lines = [
    ...blocks.flatMap(([, block = ""]) => commandsOf(block)),
    ...spans.flatMap(([, span = ""]) => commandsOf(span)),
  ];
  return lines.map((line) => ({ path, line }));
});

/** Splits a command into words as a shell does, without its redirections. */
const split = (line: string): string[] =>
  [...line.replaceAll(/\s[<>]{1,2}\s*\S+/g, "").matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(
    ([word]) => word.replaceAll(/["']/g, ""),
  );

/** Lets the program's own parser read the arguments; no command runs. */
const parse = async (args: readonly string[]): Promise<string | undefined> => {
  let said = "";
  const program = createProgram(async () => {}, "0.0.0");
  const quiet = (command: typeof program): void => {
    command.configureOutput({
      writeOut: () => {},
      writeErr: (text) => {
        said += text;
      },
    });
    for (const one of command.commands) quiet(one);
  };
  quiet(program);
  try {
    await program.parseAsync([...args], { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return undefined;
    return said.split("\n")[0] ?? String(error);
  }
};

const checkScript = ([verb = "", ...rest]: string[]): string | undefined => {
  if (["ci", "install", "pack"].includes(verb)) return undefined;
  const name = verb === "run" ? rest.find((word) => !word.startsWith("-")) : verb;
  if (name === undefined || name in scripts) return undefined;
  return `npm has no script ${name}`;
};

/** Returns what is wrong with a documented command. */
const findFault = async (line: string): Promise<string | undefined> => {
  const words = split(line);
  while (/^[A-Z][A-Z0-9_]*=/.test(words[0] ?? "") || words[0] === "export") {
    const [name = ""] = (words.shift() ?? "").split("=");
    if (name.startsWith("RECEIVABLES_") && !knownSettings.includes(name))
      return `no setting ${name}`;
  }
  const [program = "", ...args] = words;
  if (program === "" || FORMS.some((form) => args.includes(form))) return undefined;
  if (["receivables-mcp", "receivables-admin"].includes(program)) return parse(args);
  if (program === "npx") {
    const [name = ""] = args;
    return name in devDependencies || existsSync(join(ROOT, "node_modules/.bin", name))
      ? undefined
      : `no package has the program ${name}`;
  }
  if (UNTRIED.includes(program)) return undefined;
  if (program !== "npm") return program in OTHERS ? undefined : `no test runs ${program}`;
  const fault = checkScript(args);
  const own = args.indexOf("--");
  return fault ?? (args.includes("cli") && own >= 0 ? parse(args.slice(own + 1)) : undefined);
};

describe("commands that the documents tell the reader to type", () => {
  verifies("OP-43");
  it("are ones that the program, npm or a named test accepts", async () => {
    expect(documented.length).toBeGreaterThan(40);
    const faults = await Promise.all(
      documented.map(async ({ path, line }) => ({ path, line, fault: await findFault(line) })),
    );
    expect(faults.filter(({ fault }) => fault !== undefined)).toEqual([]);
  });

  verifies("OP-43");
  it("finds a wrong command, option, script, setting and program", async () => {
    const wrong = [
      "receivables-mcp admin frobnicate",
      "receivables-mcp admin backup",
      "npm run -s cli -- platform --prot 80",
      "npm run nonsense",
      "RECEIVABLES_NONSENSE=1 receivables-mcp doctor",
      "frobnicate --all",
    ];
    const faults = await Promise.all(wrong.map(findFault));
    expect(faults.filter((fault) => fault === undefined)).toEqual([]);
  });

  it("names tests that exist for programs of others", () => {
    expect(Object.values(OTHERS).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
