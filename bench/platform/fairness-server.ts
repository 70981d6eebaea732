import { createPlatformListener } from "../../src/server/serve.ts";
import { announce, serveLocally } from "../serving.ts";
import { openLedgers } from "./ledger.ts";
import { openPostgresLedgers } from "./postgres-ledgers.ts";

// Serves two tenants, the busy one and the quiet one; ends when its input does.
const open = process.argv[2] === "postgres" ? openPostgresLedgers : openLedgers;
const bench = await open([30_000, 1000]);
const served = await serveLocally(createPlatformListener(bench.platform));
announce({ url: served.url, ledgers: bench.ledgers }, async () => {
  await served.close();
  await bench.close();
});
