import { spawn } from "node:child_process";
import { parseArgs } from "node:util";

// Runs the soak test for a number of minutes: npm run soak -- --minutes 30 [--seed 1]
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string", default: String(Math.floor(performance.timeOrigin)) },
  },
});
process.stderr.write(`--minutes ${values.minutes} --seed ${values.seed}\n`);
const child = spawn(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", "test/fault/soak.test.ts", "--retry", "0"],
  {
    stdio: "inherit",
    env: { ...process.env, SOAK_MINUTES: values.minutes, FAULT_SEED: values.seed },
  },
);
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
