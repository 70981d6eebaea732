import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { createRunFolder, findFastFolder } from "../support/temporary-folder.ts";
import { replaceMachine } from "./machine.ts";

// Before the platform's modules are loaded: some of them keep functions of Node.
replaceMachine();
const { createBeginning, simulate } = await import("./simulate.ts");

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    trace: { type: "boolean", default: false },
    hash: { type: "boolean", default: false },
  },
});

const MOST_LINES = 80;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const parent = createRunFolder(findFastFolder());
const beginning = await createBeginning(parent);
const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
let failed: number | undefined;
for (let seed = first; seed < first + count && failed === undefined; seed += 1) {
  const { fault, trace, hash } = await simulate(beginning, seed, parent);
  if (values.trace) for (const line of trace) say(line);
  if (values.hash) say(`${seed} ${hash}`);
  if (fault === undefined) continue;
  failed = seed;
  if (!values.trace) for (const line of trace.slice(-MOST_LINES)) say(line);
  say(`seed ${seed}: ${fault.message}`);
  say(`Replay it with: npm run simulate -- --seed ${seed} --trace`);
}
if (failed === undefined) say(`${count} seeds from ${first} on: every invariant holds.`);
rmSync(parent, { recursive: true, force: true });
process.exitCode = failed === undefined ? 0 : 1;
