import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { runMixture } from "../test/money/mixture.ts";
import { createWorld } from "../test/money/world.ts";
import { createRunFolder, findFastFolder } from "../test/support/temporary-folder.ts";

// Imports generated mixtures of files: npm run money -- --mixtures 5000 [--seed 1] [--all]
const { values } = parseArgs({
  options: {
    mixtures: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    all: { type: "boolean", default: false },
  },
});

const readNumber = (name: "mixtures" | "seed"): number => {
  const text = values[name];
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    process.stderr.write(
      `--${name} must be a positive integer of at most 9 digits, not "${text}".\n`,
    );
    process.exit(2);
  }
  return Number(text);
};

const [first, count] = [readNumber("seed"), readNumber("mixtures")];
// A store with many tenants is slower, so each serves some mixtures only.
const MIXTURES_PER_STORE = 100;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const parent = createRunFolder(findFastFolder());
let [failures, files] = [0, 0];
for (let begin = first; begin < first + count; begin += MIXTURES_PER_STORE) {
  const world = await createWorld(parent);
  const end = Math.min(begin + MIXTURES_PER_STORE, first + count);
  for (let seed = begin; seed < end && (failures === 0 || values.all); seed += 1) {
    try {
      files += await runMixture(world, seed);
    } catch (error) {
      failures += 1;
      say(error instanceof Error ? error.message : String(error));
    }
  }
  await world.close();
  if (failures > 0 && !values.all) break;
}
rmSync(parent, { recursive: true, force: true });
if (failures === 0)
  say(`${count} mixtures from seed ${first} on: ${files} files, every sum holds.`);
else say(`${failures} mixtures failed.`);
process.exitCode = failures === 0 ? 0 : 1;
