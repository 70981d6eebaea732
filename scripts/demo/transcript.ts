import { styleText } from "node:util";
import Table from "cli-table3";

type Style = Parameters<typeof styleText>[0];
export type Cell = string | number;
export type Call = { tool: string; arguments: Record<string, unknown> };

/** Receives the session's output. */
export type Transcript = {
  begin(step: string, title: string): void;
  /** A short sentence for people. */
  say(sentence: string): void;
  /** Quotes text that another person wrote. */
  quote(who: string, words: string): void;
  called(call: Call, outcome: string): void;
  table(head: readonly string[], rows: readonly (readonly Cell[])[], toTheRight?: number[]): void;
  /** Outputs the step's findings as data. */
  result(data: Record<string, unknown>): void;
  end(): void;
};

const NO_LINES = Object.fromEntries(
  ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left"]
    .concat(["bottom-right", "left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"])
    .map((edge) => [edge, ""]),
);

const WIDTH = 96;

const wrapped = (text: string, first: string, next: string): string => {
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(/\s+/)) {
    if (line.trim() !== first.trim() && line.length + word.length >= WIDTH) {
      lines.push(line);
      line = next;
    }
    line += line.endsWith(" ") ? word : ` ${word}`;
  }
  return [...lines, line].join("\n");
};

const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/gi;
const LONGEST = 48;

/** An argument as far as a person wants to see it: ids by their beginning, long texts too. */
const shown = (value: unknown): string => {
  const text = (typeof value === "string" ? value : JSON.stringify(value)).replaceAll(
    UUID,
    (id) => `${id.slice(0, 8)}…`,
  );
  return [...text].length > LONGEST ? `${[...text].slice(0, LONGEST - 1).join("")}…` : text;
};

const said = ({ tool, arguments: args }: Call): string =>
  [tool, ...Object.entries(args).map(([name, value]) => `${name}=${shown(value)}`)].join(" ");

/** A transcript for people; colour only where it is wanted. */
export const readable = (write: (text: string) => void, colour: boolean): Transcript => {
  const paint = (style: Style, text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  const dim = (text: string): void => write(`${paint("dim", text)}\n`);
  let steps = 0;
  let last = { tool: "", more: 0 };

  // Of calls of one tool in a row, one is enough to see.
  const settle = (): void => {
    if (last.more > 0) dim(`      ... ${last.more} more of ${last.tool}`);
    last = { tool: "", more: 0 };
  };
  const line = (text: string): void => {
    settle();
    write(`${text}\n`);
  };

  return {
    begin(_step, title) {
      steps += 1;
      line(`\n${paint("bold", `${String(steps).padStart(2)}  ${title}`)}`);
    },
    say: (sentence) => line(sentence === "" ? "" : wrapped(sentence, "    ", "    ")),
    quote(who, words) {
      const text = wrapped(`“${words}”`, `    ${who} `, "      ");
      line(`    ${paint("yellow", who)}${text.slice(4 + who.length)}`);
    },
    called(call, outcome) {
      if (call.tool === last.tool) {
        last.more += 1;
        return;
      }
      settle();
      last.tool = call.tool;
      dim(wrapped(`${said(call)} -> ${outcome}`, "    > ", "        "));
    },
    table(head, rows, toTheRight = []) {
      const table = new Table({
        head: head.map((cell) => paint("dim", cell)),
        chars: NO_LINES,
        colAligns: head.map((_cell, place) => (toTheRight.includes(place) ? "right" : "left")),
        style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
      });
      table.push(...rows.map((row) => [...row]));
      const text = table.toString().split("\n");
      line(text.map((row) => `    ${row.trimEnd()}`).join("\n"));
    },
    result() {},
    end: settle,
  };
};

/** One JSON line for each step. */
export const machine = (write: (text: string) => void): Transcript => {
  let current: Record<string, unknown> | undefined;
  let calls: Record<string, unknown>[] = [];
  let quotes: { who: string; words: string }[] = [];
  return {
    begin(step, title) {
      calls = [];
      quotes = [];
      current = { step, title };
    },
    say() {},
    quote: (who, words) => {
      quotes.push({ who, words });
    },
    called: (call, outcome) => {
      calls.push({ ...call, outcome });
    },
    table() {},
    result(data) {
      current = { ...current, ...data };
    },
    end() {
      if (current !== undefined) write(`${JSON.stringify({ ...current, calls, quotes })}\n`);
      current = undefined;
    },
  };
};
