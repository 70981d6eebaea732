import { spawn } from "node:child_process";
import { parseArgs } from "node:util";

// Has a PostgreSQL cluster fail over under load: npm run failover -- --count 10 [--seed 1]
const { values } = parseArgs({
  options: {
    count: { type: "string", default: "10" },
    seed: { type: "string", default: String(Math.floor(performance.timeOrigin)) },
  },
});
process.stderr.write(`--count ${values.count} --seed ${values.seed}\n`);
const child = spawn(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", "test/fault/failover.test.ts", "--retry", "0"],
  {
    stdio: "inherit",
    env: { ...process.env, FAILOVER_COUNT: values.count, FAULT_SEED: values.seed },
  },
);
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
