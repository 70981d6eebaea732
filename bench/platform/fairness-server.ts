import { createPlatformListener, serve } from "../../src/bin/serve.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { openLedgers } from "./ledger.ts";
import { SIGNING } from "./signing.ts";

// Serves two tenants, the busy one and the quiet one; ends when its input does.
const SIZES = [30_000, 1000];
const postgres = process.argv[2] === "postgres" ? await startPostgres() : undefined;
const bench = await openLedgers(
  SIZES,
  postgres === undefined ? undefined : () => openPostgres(postgres.url, SIGNING),
);
const served = await serve(createPlatformListener(bench.platform), { host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify({ url: served.url, ledgers: bench.ledgers })}\n`);

process.stdin.resume().on("end", async () => {
  await served.close();
  await bench.close();
  await postgres?.stop();
});
