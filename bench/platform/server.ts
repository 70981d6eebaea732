import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { platformListener, serve } from "../../src/bin/serve.ts";
import { openLedgers } from "./ledger.ts";

// Serves the platform and, beside it, a bare handler that does the same read; ends when its input does.
const bench = await openLedgers([1000]);
const served = await serve(platformListener(bench.platform), { host: "127.0.0.1", port: 0 });

const database = new DatabaseSync(bench.path, { readOnly: true });
const select = database.prepare("select * from disputes where tenant_id = ? and id = ?");
const bare = createServer((request, response) => {
  const [, , , , tenantId = "", , id = ""] = (request.url ?? "").split("/");
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(select.get(tenantId, id)));
});
await new Promise<void>((resolve) => {
  bare.listen(0, "127.0.0.1", resolve);
});

const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;
process.stdout.write(`${JSON.stringify({ url: served.url, bareUrl, ledger: bench.ledgers[0] })}\n`);

process.stdin.resume().on("end", async () => {
  bare.close();
  await served.close();
  database.close();
  await bench.close();
});
