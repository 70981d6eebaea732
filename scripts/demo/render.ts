import { styleText } from "node:util";
import CliTable from "cli-table3";
import type { Table, Turn } from "./conversation.ts";
import type { Call } from "./session.ts";

const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/gi;
const MAX_ARGUMENTS = 400;

/** Formats a call as `tool {arguments}`, with ids and long arguments shortened. */
const formatCall = ({ tool, arguments: args }: Call): string => {
  const json = JSON.stringify(args).replaceAll(UUID, (id) => `${id.slice(0, 8)}…`);
  const short = json.length > MAX_ARGUMENTS ? `${json.slice(0, MAX_ARGUMENTS)}…` : json;
  return `${tool} ${short}`;
};

const formatTokens = ({ tokens }: Call): string => `${tokens} tokens`;

const NO_BORDERS = Object.fromEntries(
  ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left"]
    .concat(["bottom-right", "left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"])
    .map((edge) => [edge, ""]),
);

/** Renders a table in columns for a terminal. */
export const renderTable = ({ head, rows, numeric = [] }: Table, indent: string): string => {
  const table = new CliTable({
    head: [...head],
    chars: NO_BORDERS,
    colAligns: head.map((_cell, place) => (numeric.includes(place) ? "right" : "left")),
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  table.push(...rows.map((row) => [...row]));
  const lines = table.toString().split("\n");
  return lines.map((line) => `${indent}${line.trimEnd()}`).join("\n");
};

/** Renders a turn for a terminal. */
export const renderText = (turn: Turn, colored: boolean): string => {
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colored ? styleText(style, text, { validateStream: false }) : text;
  return [
    `\n${paint("bold", `> ${turn.question}`)}`,
    ...(turn.pasted?.split("\n") ?? []).map((line) => paint("bold", `> ${line}`)),
    ...turn.calls.map((call) => paint("dim", `  ${formatCall(call)}  (${formatTokens(call)})`)),
    ...turn.confirmations.map(
      ({ question, confirmed }) =>
        `  ${paint("yellow", "The server asks:")} ${question} ${paint("yellow", confirmed ? "Yes." : "No.")}`,
    ),
    ...turn.answer.map((part) =>
      typeof part === "string" ? `  ${part}` : renderTable(part, "    "),
    ),
  ].join("\n");
};

const escapeCell = (cell: string | number): string => String(cell).replaceAll("|", "\\|");

/** Renders a table in Markdown. */
export const renderMarkdownTable = ({ head, rows, numeric = [] }: Table): string => {
  const line = (cells: readonly (string | number)[]) => `| ${cells.map(escapeCell).join(" | ")} |`;
  const rule = head.map((_cell, place) => (numeric.includes(place) ? "--:" : "---"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
};

const renderMarkdownCalls = (turn: Turn): string[] => [
  ...turn.calls.map((call) => `- \`${formatCall(call)}\`: ${formatTokens(call)}`),
  ...turn.confirmations.map(
    ({ question, confirmed }) =>
      `- The server asks: “${question.replaceAll("\n", " ")}” ${confirmed ? "Yes." : "No."}`,
  ),
];

/** Renders a turn as a section of a Markdown document. */
export const renderMarkdown = (turn: Turn): string =>
  [
    `### ${turn.question}`,
    ...(turn.pasted === undefined ? [] : [`\`\`\`text\n${turn.pasted}\n\`\`\``]),
    renderMarkdownCalls(turn).join("\n"),
    ...turn.answer.map((part) => (typeof part === "string" ? part : renderMarkdownTable(part))),
  ].join("\n\n");
