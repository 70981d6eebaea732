import { derivedRows, replaceSection, table } from "../../scripts/derive/sections.ts";
import { type Benchmark, verdictOf } from "../measure.ts";
import { type Group, paintBars } from "./chart.ts";
import type { Outcome } from "./lines.ts";
import { type Measured, MEASURES, type MeasureName } from "./peers.ts";

export type Report = {
  /** The properties of the machine, by name. */
  machine: Record<string, string>;
  outcomes: readonly Outcome[];
  /** This program first; or the reason why nothing was compared. */
  peers: readonly Measured[] | string;
};

const figure = (value: number): string => {
  const rounded = Number(value.toPrecision(3));
  return rounded >= 1000 ? rounded.toLocaleString("en") : String(rounded);
};

/** A benchmark's name, description, both figures, ratio, aim, and what came of it. */
type Row = string[];

const NOT_YET = "not measured yet";

const toRow = ({ benchmark: { name, about, unit, aim }, line, failure }: Outcome): Row => {
  const figures =
    line === undefined
      ? ["", "", ""]
      : [`${figure(line.ours)} ${unit}`, `${figure(line.base)} ${unit}`, line.ratio.toFixed(2)];
  const result = failure ?? verdictOf(Number(figures[2]), aim);
  return [`\`${name}\``, about, ...figures, aim === null ? "none" : `≤ ${aim}`, result];
};

const listMissed = (rows: readonly Row[], benchmarks: readonly Benchmark[]): string => {
  const reasons = new Map(benchmarks.map(({ name, why }) => [`\`${name}\``, why]));
  const missed = rows.filter(([, , , , , , result]) => result !== "ok" && result !== "reported");
  if (missed.length === 0) return "Every figure with an aim met it.";
  const lines = missed.map(([name = "", , , , ratio, aim, result]) => {
    if (ratio === "") return `- ${name}: ${result}`;
    const why = reasons.get(name);
    return `- ${name}: ${ratio}, the aim is ${aim}${why === undefined ? "" : `; ${why}`}`;
  });
  return `These figures missed their aim in this run, or there is no figure:\n\n${lines.join("\n")}`;
};

const fillSections = (
  text: string,
  rows: readonly Row[],
  benchmarks: readonly Benchmark[],
): string => {
  const head = ["benchmark", "what", "ours", "limit", "ratio", "aim", "result"];
  const listed = replaceSection(text, "missed-aims", listMissed(rows, benchmarks));
  return replaceSection(listed, "benchmarks", table(head, rows));
};

/** Returns a row for every benchmark with its aim of today; figures stay as they were measured. */
const readRows = (text: string, benchmarks: readonly Benchmark[]): Row[] => {
  const known = new Map(derivedRows(text, "benchmarks").map((row) => [row[0], row]));
  return benchmarks.map((benchmark): Row => {
    const row = toRow({ benchmark, failure: NOT_YET });
    const [, , ours = "", base = "", ratio = "", , result = NOT_YET] =
      known.get(row[0] ?? "") ?? [];
    const judged = ratio === "" ? result : verdictOf(Number(ratio), benchmark.aim);
    return [...row.slice(0, 2), ours, base, ratio, row[5] ?? "", judged];
  });
};

/** Returns the document with every benchmark and its aim of today; figures stay as they were measured. */
export const updateDocument = (text: string, benchmarks: readonly Benchmark[]): string =>
  fillSections(text, readRows(text, benchmarks), benchmarks);

const LATER_HEAD = ["figures", "date", "processor", "Node.js"];

/** Lists the days and machines of later runs, each with the figures that are still its own. */
const listLater = (text: string, machine: Report["machine"], names: readonly string[]): string => {
  const { date = "", processor = "", "Node.js": node = "" } = machine;
  const former = derivedRows(text, "later-runs").flatMap(([list = "", ...place]) =>
    list
      .split(", ")
      .filter((name) => !names.includes(name))
      .map((name) => ({ name, place })),
  );
  const now = names.map((name) => ({ name, place: [date, processor, node] }));
  const runs = Map.groupBy([...former, ...now], ({ place }) => place.join("|"));
  const rows = [...runs.values()].map((figures) => [
    figures.map(({ name }) => name).join(", "),
    ...(figures[0]?.place ?? []),
  ]);
  return `These figures are of later runs:\n\n${table(LATER_HEAD, rows)}`;
};

/** Returns the document with the figures of a later run of some of the benchmarks. */
export const addRun = (
  text: string,
  benchmarks: readonly Benchmark[],
  { machine, outcomes }: Omit<Report, "peers">,
): string => {
  const measured = new Map(
    outcomes.map((outcome) => [`\`${outcome.benchmark.name}\``, toRow(outcome)]),
  );
  const rows = readRows(text, benchmarks).map((row) => measured.get(row[0] ?? "") ?? row);
  const listed = replaceSection(text, "later-runs", listLater(text, machine, [...measured.keys()]));
  return fillSections(listed, rows, benchmarks);
};

/** Bars of ratio by aim in a document: what ends left of the line met its aim. */
export const paintRatios = (text: string, benchmarks: readonly Benchmark[]): string => {
  const ratios = new Map(derivedRows(text, "benchmarks").map((row) => [row[0], Number(row[4])]));
  const bars = benchmarks.flatMap(({ name, aim }) => {
    const ratio = ratios.get(`\`${name}\``) ?? 0;
    if (ratio === 0 || aim === null) return [];
    const value = Math.min(ratio / aim, 2);
    return [{ label: name, value, text: `${ratio.toFixed(2)} of ${aim}`, isOurs: ratio <= aim }];
  });
  const title = "Ratio as a share of its aim: the line is the aim, gray bars missed it";
  return paintBars(title, [{ title, bars, mark: 1 }]);
};

const measures = Object.keys(MEASURES) as MeasureName[];

export const paintPeers = (peers: readonly Measured[]): string => {
  const groups = measures.map((measure): Group => {
    const { about, unit } = MEASURES[measure];
    const bars = peers.map(({ name, figures }, index) => ({
      label: name,
      value: figures[measure],
      text: `${figure(figures[measure])} ${unit}`.trim(),
      isOurs: index === 0,
    }));
    return { title: about, bars };
  });
  return paintBars("This server and others: the less, the better", groups);
};

const comparePeers = ([ours, ...others]: readonly Measured[]): string => {
  if (ours === undefined) return "";
  const rows = measures.map((measure) => {
    const { about, unit, why } = MEASURES[measure];
    const own = ours.figures[measure];
    const ahead = others.filter(({ figures }) => figures[measure] < own);
    const remark = ahead.length === 0 ? "ahead of each" : `behind ${ahead.length}: ${why}`;
    const cells = [ours, ...others].map(({ figures }) => figure(figures[measure]));
    return [unit === "" ? about : `${about}, ${unit}`, ...cells, remark];
  });
  const names = [ours, ...others].map(({ name, version }) => `\`${name}\` ${version}`);
  const tools = [ours, ...others].map((one) => String(one.tools));
  return table(["", ...names, ""], [["tools", ...tools, ""], ...rows]);
};

const describePeers = (peers: Report["peers"]): string =>
  typeof peers === "string"
    ? `Nothing was compared in this run: ${peers}.`
    : `![The servers side by side](pictures/benchmarks-servers.svg)\n\n${comparePeers(peers)}`;

const describe = (machine: Report["machine"], peers: Report["peers"]): string => `# Benchmarks

Written by \`npm run bench -- --report\` from one run on one machine:

${table(["", ""], Object.entries(machine))}

Times depend on the machine, ratios less. Where other systems share the processor, a program with much code loses more than a loop does: with the same code, the ratio of \`read\` was twice as high on such a machine as on another. Each benchmark therefore measures this program and a limit in turn, and reports the ratio of the medians. The limit is the least work that gives the same result, such as the bare SQL or a hand-written loop, the same work in a small tenant or without other load, or a fixed figure. [CONTRIBUTING.md](../CONTRIBUTING.md#commands) has the commands.

<!-- derived: later-runs -->
<!-- /derived -->

## Missed aims

<!-- derived: missed-aims -->
<!-- /derived -->

## Ratios

![Each ratio as a share of its aim](pictures/benchmarks.svg)

"What" names what is measured and, after the slash or after "against", its limit. "The same" refers to the row above.

<!-- derived: benchmarks -->
<!-- /derived -->

## Beside other servers

Public MCP servers that start without a network, each installed from npm into a folder of its own and started in turn with this one, with dummy credentials and without a network. The less, the better.

${describePeers(peers)}
`;

/** Returns the document as Markdown. */
export const writeDocument = ({ machine, outcomes, peers }: Report): string =>
  fillSections(
    describe(machine, peers),
    outcomes.map(toRow),
    outcomes.map(({ benchmark }) => benchmark),
  );
