import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { benchmarks } from "../../bench/index.ts";
import { updateDocument } from "../../bench/report/document.ts";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { skills } from "../../prompts/skills/index.ts";
import { renderFiles } from "../../prompts/skills/skill.ts";
import { prompts } from "../../prompts/index.ts";
import { listChecker, toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { buildGuide, buildInstructions } from "../../tools/guide.ts";
import { DEPENDENCIES, dependencyFaults, documents, forModel } from "./documents.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FORMATTER = join(ROOT, "node_modules/oxfmt/bin/oxfmt");

const read = (path: string): string => {
  const file = join(ROOT, path);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};

const formatted = (path: string, text: string): string =>
  execFileSync(process.execPath, [FORMATTER, "--stdin-filepath", path], {
    cwd: ROOT,
    input: text,
    encoding: "utf8",
  });

/** Returns the tools as hosts list them. */
const listedTools = () => toolList({ toolsets: toolsetNames, readOnly: false });

const firstSentence = (text: string): string => text.replace(/([.!?])\s[\s\S]*$/, "$1");

const hasTool = listChecker({ toolsets: toolsetNames, readOnly: false });

// A desktop host replaces `${arguments.name}` by what the person types.
const listedPrompts = () =>
  prompts.map((prompt) => {
    const { name, description } = prompt;
    const names = prompt.arguments.map((argument) => argument.name);
    const values = Object.fromEntries(names.map((each) => [each, `\${arguments.${each}}`]));
    return {
      name,
      description,
      ...(names.length === 0 ? {} : { arguments: names }),
      text: prompt.text(values, hasTool),
    };
  });

type About = { version: string; homepage: string; bugs: { url: string } };

const manifest = (text: string, { version, homepage, bugs }: About): string => {
  const tools = listedTools().map(({ name, description }) => ({
    name,
    description: firstSentence(description),
  }));
  const addresses = {
    homepage,
    documentation: `${homepage}/docs`,
    support: bugs.url,
    privacy_policies: [`${homepage}/privacy`],
  };
  const lists = { version, tools, prompts: listedPrompts() };
  return JSON.stringify({ ...JSON.parse(text), ...addresses, ...lists });
};

/** Returns what hosts pay for the lists, in o200k tokens, so that a review shows a change. */
const tokenCosts = (): string => {
  const tools = listedTools();
  return JSON.stringify({
    toolsForModel: countTokens(JSON.stringify(tools.map(forModel))),
    toolList: countTokens(JSON.stringify(tools)),
    instructions: countTokens(buildInstructions(toolsetNames, false)),
    guide: countTokens(buildGuide(toolsetNames, false)),
  });
};

/** The files of the skills. */
const skillFiles: Record<string, () => string> = Object.fromEntries(
  skills.flatMap((skill) =>
    Object.entries(renderFiles(skill, hasTool)).map(([path, text]): [string, () => string] => [
      `skills/${skill.name}/${path}`,
      () => text,
    ]),
  ),
);

export type Derived = { path: string; is: string; should: string };

/** Each derived file: what it is, and what it should be. */
export const derived = (): Derived[] => {
  const about = JSON.parse(read("package.json")) as About;
  const made: Record<string, (text: string) => string> = {
    ...documents,
    "docs/benchmarks.md": (text) => updateDocument(text, benchmarks),
    "manifest.json": (text) => manifest(text, about),
    "test/derived/tools.json": () => JSON.stringify(listedTools()),
    "test/derived/tokens.json": tokenCosts,
    ...skillFiles,
  };
  return Object.entries(made).map(([path, make]) => {
    const is = read(path);
    return { path, is, should: formatted(path, make(is)) };
  });
};

/** Returns faults that a person must correct. */
export const faults = (): string[] =>
  dependencyFaults(read(DEPENDENCIES), [
    JSON.parse(read("package.json")),
    JSON.parse(read("tooling/package.json")),
  ]);
