import { parseArgs } from "node:util";
import Table from "cli-table3";
import { benchmarks } from "./index.ts";
import { type Benchmark, closeShared, type Line, lineOf } from "./measure.ts";
import { addToReport, writeReport } from "./report/report.ts";

const USAGE = `npm run bench -- [NAME…] [--runs N] [--json] [--only]
       npm run bench -- [NAME…] --report [--runs N] [--only]

Runs the benchmarks whose names begin with one of the words given, or all of them.
  --runs N   repetitions of each side that count (default 21)
  --json     one JSON object on standard output instead of a table
  --only     the benchmarks of exactly these names
  --report   run all of them, compare with other servers, and write docs/benchmarks.md;
             with names: put the figures of these into it
`;

const figure = (value: number): string => value.toPrecision(3);

const table = (lines: readonly Line[]): string => {
  const made = new Table({
    head: ["benchmark", "ours", "base", "unit", "ratio", "aim", "", "runs", "what"],
    style: { head: [], border: [] },
  });
  for (const { name, ours, base, unit, ratio, aim, verdict, runs, about } of lines) {
    const most = aim === null ? "" : `≤ ${aim}`;
    made.push([
      name,
      figure(ours),
      figure(base),
      unit,
      ratio.toFixed(2),
      most,
      verdict,
      runs,
      about,
    ]);
  }
  return made.toString();
};

const chosen = (words: readonly string[], only: boolean): Benchmark[] =>
  benchmarks.filter(
    ({ name }) =>
      words.length === 0 || words.some((word) => (only ? name === word : name.startsWith(word))),
  );

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    only: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
    runs: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});

const runs = Number(values.runs ?? 21);
const wanted = chosen(positionals, values.only);

if (values.help || !(Number.isInteger(runs) && runs > 0) || wanted.length === 0) {
  const names = benchmarks.map(({ name }) => name).join(", ");
  process.stderr.write(`${USAGE}\nBenchmarks: ${names}\n`);
  process.exitCode = values.help ? 0 : 2;
} else if (values.report) {
  await (positionals.length === 0
    ? writeReport(benchmarks, runs)
    : addToReport(wanted, benchmarks, runs));
} else {
  const lines: Line[] = [];
  for (const benchmark of wanted) {
    process.stderr.write(`${benchmark.name} …\n`);
    // Side by side they would measure each other.
    const line = lineOf(benchmark, await benchmark.run({ runs }));
    lines.push(line);
    // A run that is stopped keeps the figures that it has.
    process.stderr.write(`${line.name} ${line.ratio.toFixed(2)} ${line.verdict}\n`);
  }
  await closeShared();
  const shown = values.json ? JSON.stringify({ runs, lines }) : table(lines);
  process.stdout.write(`${shown}\n`);
}
