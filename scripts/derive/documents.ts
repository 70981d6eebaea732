import type { Command } from "commander";
import about from "../../package.json" with { type: "json" };
import { settings } from "../../src/config/config.ts";
import {
  type HostBlock,
  listCheckoutBlocks,
  listHttpBlocks,
  LOCAL_URL,
} from "../../src/bin/compose/host-blocks.ts";
import { OPERATORS } from "../../src/contract/payments/operators.ts";
import { createProgram } from "../../src/bin/cli/program.ts";
import { isDeleting, type Operation } from "../../src/contract/operation.ts";
import { mayAsk, scopeOfTool } from "../../src/mcp/tools/listing/kinds.ts";
import { prompts } from "../../prompts/index.ts";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { type ListedTool } from "../../src/mcp/tools/listing/every-tool.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { toolsets } from "../../tools/index.ts";
import { coreToolsets, toolsetNames } from "../../tools/toolsets.ts";
import { isInsightTool, type OperationTool, type Tool } from "../../tools/tool.ts";
import {
  bai2Table,
  camtTable,
  formatTable,
  gvcTable,
  kindTable,
  mt940Table,
  paymentFieldTable,
} from "./formats.ts";
import { checkedRows, replaceSection, table } from "./sections.ts";

const { devDependencies, devEngines, engines } = about;

const code = (text: string): string => `\`${text}\``;

const DOES: Record<Operation["effect"], string> = {
  read: "reads",
  create: "adds",
  change: "changes",
  session: "session",
};

const kindOf = (tool: OperationTool): string => {
  const { operation } = tool;
  const does = isDeleting(operation) ? "deletes" : DOES[operation.effect];
  if (!mayAsk(tool)) return does;
  // `replaces` depends on whether the record exists.
  const always = operation.effects.some(
    ({ kind, when }) => when === undefined && kind !== "replaces",
  );
  return `${does}, ${always ? "asks" : "may ask"}`;
};

const needsOf = ({ access }: Operation): string => {
  if (access === "public") return "the configured login";
  if (access === "caller") return "any credential";
  return access === "member" ? "access to the tenant" : access;
};

const describeTool = (tool: Tool): string[] => {
  if (!isInsightTool(tool)) {
    const { operation } = tool;
    return [operation.summary, kindOf(tool), needsOf(operation)];
  }
  const { needs } = tool.insight;
  const rights = needs.map(needsOf).join(", ") || "any of the rights that it reads with";
  return [tool.description, "reads", rights];
};

const toolTables = (): string =>
  Object.entries(toolsets)
    .map(([name, tools]: [string, readonly Tool[]]) => {
      const rows = tools.map((tool) => [code(tool.name), ...describeTool(tool), scopeOfTool(tool)]);
      return `Toolset ${code(name)}\n\n${table(["tool", "does", "kind", "needs", "scope"], rows)}`;
    })
    .join("\n\n");

/** The part of a tool that hosts hand to a model. */
export const forModel = ({ name, description, inputSchema }: ListedTool) => ({
  name,
  description,
  inputSchema,
});

/** Returns the tokens that each list of tools costs a model: to the next hundred, so that few changes reach the manual. */
const listTable = (): string => {
  const whole = { toolsets: toolsetNames, readOnly: false };
  const core = { ...whole, toolsets: ["insights", ...coreToolsets] as const, coreOf: coreToolsets };
  const lists = { all: whole, core, discovery: { ...whole, discovery: true } };
  return table(
    ["list", "tools", "tokens for a model, about"],
    Object.entries(lists).map(([name, options]) => {
      const tools = toolList(options);
      const tokens = countTokens(JSON.stringify(tools.map(forModel)));
      return [name, String(tools.length), String(Math.ceil(tokens / 100) * 100)];
    }),
  );
};

const promptTable = (): string =>
  table(
    ["prompt", "does", "asks for"],
    prompts.map(({ name, description, arguments: given }) => [
      code(name),
      description,
      given.map((argument) => code(argument.name)).join(", ") || "nothing",
    ]),
  );

const settingTable = (): string =>
  table(
    ["name", "default", "meaning"],
    settings.map((setting) => [code(setting.name), setting.default, setting.meaning]),
  );

const operatorTable = (): string =>
  table(
    ["operator", "finds rows whose field"],
    Object.entries(OPERATORS).map(([name, meaning]) => [code(name), meaning]),
  );

const leaves = (command: Command, path: readonly string[] = []): [string, Command][] =>
  command.commands.flatMap((child): [string, Command][] => {
    const at = [...path, child.name()];
    return child.commands.length === 0 ? [[at.join(" "), child]] : leaves(child, at);
  });

const usageOf = (path: string, command: Command): string => {
  const values = command.registeredArguments.map((argument) => {
    const shown = argument.name() + (argument.variadic ? "..." : "");
    return argument.required ? `<${shown}>` : `[${shown}]`;
  });
  const needed = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
  return [path, ...values, ...needed].join(" ");
};

const commandTable = (): string => {
  const program = createProgram(() => Promise.resolve(), "");
  return table(
    ["command", "does"],
    leaves(program).map(([path, command]) => [code(usageOf(path, command)), command.description()]),
  );
};

const renderBlock = ({ host, place, language, text }: HostBlock): string =>
  `**${host}**, ${place}:\n\n\`\`\`${language}\n${text}\n\`\`\``;

/** Says which Node.js each way of running the program needs; package.json declares both versions. */
const nodeTable = (): string =>
  table(
    ["you run", "Node.js"],
    [
      [
        "a checkout, with npm",
        `${minimum(devEngines.runtime.version)} or newer; \`npm ci\` installs version ${major(devDependencies.node)} for the programs`,
      ],
      [
        "the extension, or a program that was built or installed with npm",
        `${minimum(engines.node)} or newer: that of the host, or of the machine`,
      ],
    ],
  );

const minimum = (range: string): string => range.replace(/^>=/, "");

const major = (version: string): string => version.replace(/\..*$/, "");

/** The derived sections by the document that contains them. */
const SECTIONS: Record<string, Record<string, () => string>> = {
  "README.md": {
    node: nodeTable,
    "http-blocks": () => listHttpBlocks(LOCAL_URL).map(renderBlock).join("\n\n"),
    "stdio-blocks": () => listCheckoutBlocks().map(renderBlock).join("\n\n"),
  },
  "docs/tools.md": { lists: listTable, tools: toolTables, prompts: promptTable },
  "docs/rest.md": { operators: operatorTable },
  "docs/settings.md": { settings: settingTable },
  "docs/commands.md": { commands: commandTable },
  "docs/import.md": {
    formats: formatTable,
    kinds: kindTable,
    "payment-fields": paymentFieldTable,
    "bai2-types": bai2Table,
    "camt-types": camtTable,
    "mt940-types": mt940Table,
    "gvc-types": gvcTable,
  },
};

/** The documents with derived sections: functions that bring a document's text up to date. */
export const documents: Record<string, (text: string) => string> = Object.fromEntries(
  Object.entries(SECTIONS).map(([path, sections]) => [
    path,
    (text: string) =>
      Object.entries(sections).reduce(
        (updated, [name, build]) => replaceSection(updated, name, build()),
        text,
      ),
  ]),
);

/** The document that gives the reason for each dependency. */
export const DEPENDENCIES = "docs/development.md";

type Package = Partial<
  Record<"dependencies" | "devDependencies" | "optionalDependencies", Record<string, string>>
>;

/** Returns the faults of the table of the dependencies of these packages. */
export const dependencyFaults = (text: string, packages: readonly Package[]): string[] => {
  const rows = checkedRows(text, "dependencies");
  const named = rows.map(([name = ""]) => name.replaceAll("`", ""));
  const installed = packages.flatMap((one) =>
    Object.keys({ ...one.dependencies, ...one.devDependencies, ...one.optionalDependencies }),
  );
  return [
    ...installed
      .filter((name) => !named.includes(name))
      .map((name) => `docs/development.md lacks ${name}`),
    ...named
      .filter((name) => !installed.includes(name))
      .map((name) => `docs/development.md names ${name}, which is not installed`),
    ...rows
      .filter(([, reason = ""]) => reason.length < 5)
      .map(([name]) => `docs/development.md gives no reason for ${name}`),
  ];
};
