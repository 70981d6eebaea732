import { createInterface } from "node:readline";
import { createPlatformListener, serve } from "../../src/bin/serve.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { openLedgers } from "./ledger.ts";
import { SIGNING } from "./signing.ts";

// Answers each line with the CPU time of the process so far in milliseconds; ends when its input does.
const postgres = process.argv[2] === "postgres" ? await startPostgres() : undefined;
const bench = await openLedgers(
  [1000],
  postgres === undefined ? undefined : () => openPostgres(postgres.url, SIGNING),
);
const served = await serve(createPlatformListener(bench.platform), { host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify({ url: served.url, ledger: bench.ledgers[0] })}\n`);

createInterface({ input: process.stdin })
  .on("line", () => {
    const { user, system } = process.cpuUsage();
    process.stdout.write(`${(user + system) / 1000}\n`);
  })
  .on("close", async () => {
    await served.close();
    await bench.close();
    await postgres?.stop();
  });
