import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { getMessage } from "../src/kit/error.ts";
import { openBenchmark, type Result } from "./run/benchmark.ts";
import { createCommandPlayer } from "./run/command.ts";
import { createModelPlayer } from "./run/model.ts";
import type { Player } from "./run/player.ts";
import { createRecordedPlayer } from "./run/recorded.ts";
import { formatFailure, formatTable } from "./run/report.ts";
import { MODES, type Mode } from "./run/server.ts";
import type { Task } from "./task.ts";
import { createTasks } from "./tasks/index.ts";
import { makeWorld } from "./world/index.ts";

const USAGE = `npm run evals -- --model anthropic:NAME | openai:NAME [OPTIONS]
       npm run evals -- --model NAME --base-url URL [OPTIONS]
       npm run evals -- --command PROGRAM [OPTIONS]
       npm run evals -- --recorded [OPTIONS]

  --mode full|core|discovery  tools that the server lists (default full)
  --task NAME                 only this task; can be repeated
  --kind KIND                 only question, judgement, change or refusal
  --seconds N                 time of each task (default 300)
  --report FILE               writes the results with all transcripts as JSON
`;

const readOptions = () =>
  parseArgs({
    options: {
      model: { type: "string" },
      "base-url": { type: "string" },
      command: { type: "string" },
      recorded: { type: "boolean", default: false },
      mode: { type: "string", default: "full" },
      task: { type: "string", multiple: true },
      kind: { type: "string" },
      seconds: { type: "string", default: "300" },
      report: { type: "string" },
    },
  }).values;

type Options = ReturnType<typeof readOptions>;

const choosePlayer = (options: Options): ((task: Task) => Player) => {
  const { model, command, recorded, "base-url": baseUrl } = options;
  if ([model, command, recorded || undefined].filter((one) => one !== undefined).length !== 1) {
    throw new Error("Name one of --model, --command and --recorded.");
  }
  if (recorded) return (task) => createRecordedPlayer(task.right);
  const player =
    model === undefined
      ? createCommandPlayer(command ?? "")
      : createModelPlayer({ model, baseUrl }, process.env);
  return () => player;
};

const chooseTasks = (all: readonly Task[], { task: names, kind }: Options): readonly Task[] => {
  const unknown = names?.find((name) => all.every((task) => task.name !== name));
  if (unknown !== undefined) throw new Error(`There is no task "${unknown}".`);
  const chosen = all.filter(
    (task) => (names?.includes(task.name) ?? true) && (kind === undefined || task.kind === kind),
  );
  if (chosen.length === 0) throw new Error("No task is of this name and kind.");
  return chosen;
};

const prepare = () => {
  const options = readOptions();
  const mode = MODES.find((one) => one === options.mode);
  if (mode === undefined) throw new Error(`--mode must be one of ${MODES.join(", ")}.`);
  const seconds = Number(options.seconds);
  if (!Number.isInteger(seconds) || seconds <= 0 || seconds > 86_400) {
    throw new Error("--seconds must be a whole number from 1 to 86400.");
  }
  const choose = choosePlayer(options);
  const world = makeWorld({ day: new Date().toISOString().slice(0, 10) });
  const tasks = chooseTasks(createTasks(world), options);
  return { options, mode, seconds, choose, world, tasks };
};

const run = async (
  { seconds, choose, world, tasks }: ReturnType<typeof prepare>,
  mode: Mode,
): Promise<Result[]> => {
  const benchmark = await openBenchmark(world, mode);
  const results: Result[] = [];
  try {
    for (const task of tasks) {
      const result = await benchmark.play(task, choose(task), seconds);
      process.stderr.write(`${result.passed ? "passed" : "failed"}  ${task.name}\n`);
      results.push(result);
    }
  } finally {
    await benchmark.close();
  }
  return results;
};

try {
  const prepared = prepare();
  const { report, model } = prepared.options;
  const results = await run(prepared, prepared.mode);
  const failed = results.filter(({ passed }) => !passed);
  const source =
    model === undefined
      ? "counted over tool lists and results (o200k)"
      : "those that the model's provider reports, else counted (o200k)";
  const parts = [...failed.map(formatFailure), formatTable(results), `Tokens are ${source}.`];
  process.stdout.write(`${parts.join("\n\n")}\n`);
  if (report !== undefined) await writeFile(report, `${JSON.stringify(results, null, 2)}\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`${getMessage(error)}\n\n${USAGE}`);
  process.exitCode = 2;
}
