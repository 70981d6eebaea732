import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  listCheckoutBlocks,
  listHttpBlocks,
  LOCAL_URL,
} from "../../src/bin/compose/host-blocks.ts";
import { PLUGIN, PLUGINS } from "../../scripts/build/plugins.ts";
import { verifies } from "../support/verifies.ts";

const page = readFileSync(new URL("../../docs/hosts.md", import.meta.url), "utf8");

const PUBLIC_URL = "https://mcp.example.com/mcp";

const HOSTS = [
  "Claude Desktop",
  "Claude Code",
  "claude.ai",
  "ChatGPT",
  "Microsoft 365 Copilot",
  "VS Code",
  "Cursor",
  "Gemini CLI",
  "Codex",
  "Goose",
  "LibreChat",
  "n8n",
];

type Block = { language: string; text: string };

const sections = new Map(
  page
    .split("\n## ")
    .slice(1)
    .map((section): [string, string] => {
      const end = section.indexOf("\n");
      return [section.slice(0, end), section.slice(end)];
    }),
);

const blocksIn = (section: string): Block[] =>
  [...section.matchAll(/```(\w+)\n([^`]*)```/g)].map(([, language = "", text = ""]) => ({
    language,
    text: text.trim(),
  }));

/** Every text inside a value, however deep. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** A configuration has the address of the server, or the command that starts a checkout. */
const checkConfiguration = (value: unknown): void => {
  const texts = textsIn(value);
  expect(texts.includes(LOCAL_URL) || texts.includes("/path/to/receivables-mcp")).toBe(true);
};

const COMMANDS = new Set([
  `claude mcp add --transport http receivables ${LOCAL_URL}`,
  `claude plugin marketplace add ./${PLUGIN}`,
  `claude plugin install ${PLUGIN}@${PLUGIN}`,
  `gemini mcp add --scope user --transport http receivables ${LOCAL_URL}`,
  `gemini extensions install ./${PLUGIN}`,
  `codex mcp add receivables --url ${LOCAL_URL}`,
  `codex plugin marketplace add ./${PLUGIN}`,
  `codex plugin add ${PLUGIN}@${PLUGIN}`,
]);

const CHECKS: Record<string, (text: string) => void> = {
  json: (text) => checkConfiguration(JSON.parse(text)),
  yaml: (text) => checkConfiguration(parse(text)),
  text: (text) => expect(text).toBe(PUBLIC_URL),
  sh: (text) => {
    for (const line of text.split("\n")) expect([...COMMANDS]).toContain(line);
  },
};

describe("the page about hosts", () => {
  verifies("RC-03");
  it.each(HOSTS)("%s: has a configuration that can be copied, and says what to know", (host) => {
    const section = sections.get(host) ?? "";
    const blocks = blocksIn(section);
    expect(blocks.length).toBeGreaterThan(0);
    for (const { language, text } of blocks) {
      const check = CHECKS[language];
      if (check === undefined) throw new Error(`${host} has a block of ${language}`);
      check(text);
    }
    expect(section).toMatch(/^- \S/m);
    expect(page).toMatch(new RegExp(`^\\| ${host.replaceAll(".", "\\.")} +\\|`, "m"));
  });

  it("has the same blocks as the terminal, the page of the server and README", () => {
    const blocks = [...sections.values()].flatMap(blocksIn).map(({ text }) => text);
    const [checkout] = listCheckoutBlocks();
    for (const { text } of [
      ...listHttpBlocks(LOCAL_URL),
      ...(checkout === undefined ? [] : [checkout]),
    ])
      expect(blocks).toContain(text);
  });

  it("names each package", () => {
    for (const { host } of PLUGINS) expect(page).toContain(`\`${host}\``);
  });
});
