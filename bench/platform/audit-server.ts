import { createPlatformListener } from "../../src/server/serve.ts";
import { readCpuMs } from "../measure.ts";
import { announce, serveLocally } from "../serving.ts";
import { openLedgers } from "./ledger.ts";
import { openPostgresLedgers } from "./postgres-ledgers.ts";

// Answers each line with the CPU time of the process so far in milliseconds; ends when its input does.
const open = process.argv[2] === "postgres" ? openPostgresLedgers : openLedgers;
const bench = await open([1000]);
const served = await serveLocally(createPlatformListener(bench.platform));

process.stdin.on("data", () => process.stdout.write(`${readCpuMs()}\n`));
announce({ url: served.url, ledger: bench.ledgers[0] }, async () => {
  await served.close();
  await bench.close();
});
