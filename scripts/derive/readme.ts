import type { Command } from "commander";
import { settings } from "../../src/bin/config.ts";
import { createProgram } from "../../src/bin/program.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { scopeOf } from "../../src/mcp/http/scopes.ts";
import { prompts } from "../../prompts/index.ts";
import { toolsets } from "../../tools/index.ts";
import type { Tool } from "../../tools/tool.ts";
import { checkedRows, replaceSection, table } from "./sections.ts";

const code = (text: string): string => `\`${text}\``;

const DOES: Record<Operation["effect"], string> = {
  read: "reads",
  create: "adds",
  change: "changes",
  session: "session",
};

const kindOf = ({ operation, confirm }: Tool): string => {
  const does = operation.method === "DELETE" ? "deletes" : DOES[operation.effect];
  if (confirm === undefined) return does;
  const always = operation.method === "DELETE" || operation.effect === "create";
  return `${does}, ${always ? "asks" : "may ask"}`;
};

const needsOf = ({ access }: Operation): string => {
  if (access === "public") return "the configured login";
  if (access === "caller") return "any credential";
  return access === "member" ? "access to the tenant" : access;
};

const toolTables = (): string =>
  Object.entries(toolsets)
    .map(([name, tools]: [string, readonly Tool[]]) => {
      const rows = tools.map((tool) => [
        code(tool.name),
        tool.operation.summary,
        kindOf(tool),
        needsOf(tool.operation),
        scopeOf(tool.operation),
      ]);
      return `Toolset ${code(name)}\n\n${table(["tool", "does", "kind", "needs", "scope"], rows)}`;
    })
    .join("\n\n");

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

/** The README with its derived sections as they should be. */
export const readme = (text: string): string =>
  Object.entries({
    tools: toolTables(),
    prompts: promptTable(),
    settings: settingTable(),
    commands: commandTable(),
  }).reduce((made, [name, content]) => replaceSection(made, name, content), text);

type Package = Record<
  "dependencies" | "devDependencies" | "optionalDependencies",
  Record<string, string>
>;

/** What is wrong with the table of dependencies, a line each. */
export const dependencyFaults = (text: string, about: Package): string[] => {
  const rows = checkedRows(text, "dependencies");
  const named = rows.map(([name = ""]) => name.replaceAll("`", ""));
  const installed = Object.keys({
    ...about.dependencies,
    ...about.devDependencies,
    ...about.optionalDependencies,
  });
  return [
    ...installed.filter((name) => !named.includes(name)).map((name) => `README.md lacks ${name}`),
    ...named
      .filter((name) => !installed.includes(name))
      .map((name) => `README.md names ${name}, which is not installed`),
    ...rows
      .filter(([, reason = ""]) => reason.length < 5)
      .map(([name]) => `README.md gives no reason for ${name}`),
  ];
};
