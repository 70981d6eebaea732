import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { createRunFolder, findFastFolder } from "../support/temporary-folder.ts";
import { replaceMachine } from "./machine.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    trace: { type: "boolean", default: false },
    hash: { type: "boolean", default: false },
    mistake: { type: "string" },
    mistakes: { type: "boolean", default: false },
  },
});

const readNumber = (name: "seeds" | "from" | "seed"): number => {
  const text = values[name] ?? "";
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    process.stderr.write(
      `--${name} must be a positive integer of at most 9 digits, not "${text}".\n`,
    );
    process.exit(2);
  }
  return Number(text);
};

const first = readNumber(values.seed === undefined ? "from" : "seed");
const count = values.seed === undefined ? readNumber("seeds") : 1;

// Before the platform's modules are loaded: some of them keep functions of Node.
replaceMachine();
const { createBeginning, simulate } = await import("./simulate.ts");
const { MISTAKES } = await import("./mistakes.ts");

const mistake = MISTAKES[values.mistake ?? ""];
if (values.mistake !== undefined && mistake === undefined) {
  const known = Object.keys(MISTAKES).join("\n");
  process.stderr.write(`--mistake must be one of these, not "${values.mistake}":\n${known}\n`);
  process.exit(2);
}

const MOST_LINES = 80;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const parent = createRunFolder(findFastFolder());
const beginning = await createBeginning(parent);

/** Runs seeds until one finds a violation, and prints it. */
const search = async (from: number, to: number): Promise<number | undefined> => {
  for (let seed = from; seed < to; seed += 1) {
    const { fault, trace, hash } = await simulate(beginning, seed, parent, mistake);
    if (values.trace) for (const line of trace) say(line);
    if (values.hash) say(`${seed} ${hash}`);
    if (fault === undefined) continue;
    if (!values.trace) for (const line of trace.slice(-MOST_LINES)) say(line);
    say(`seed ${seed}: ${fault.message}`);
    const planted = mistake === undefined ? "" : ` --mistake "${values.mistake}"`;
    say(`Replay it with: npm run simulate -- --seed ${seed}${planted} --trace`);
    return seed;
  }
  return undefined;
};

/** Runs every mistake with its seed, twice; prints a line of JSON for each. */
const tryMistakes = async (): Promise<void> => {
  for (const [name, planted] of Object.entries(MISTAKES)) {
    const run = (seed: number) => simulate(beginning, seed, parent, planted);
    let { seed } = planted;
    let found = await run(seed);
    for (let next = 1; found.fault === undefined && next <= count; next += 1)
      found = await run((seed = next));
    const again = await run(seed);
    const violation = found.fault?.message ?? null;
    say(JSON.stringify({ name, seed, violation, hash: found.hash, again: again.hash }));
  }
};

if (values.mistakes) await tryMistakes();
else if ((await search(first, first + count)) === undefined)
  say(`${count} seeds from ${first} on: every invariant holds.`);
else process.exitCode = 1;
rmSync(parent, { recursive: true, force: true });
