import { DatabaseSync } from "node:sqlite";
import { createPlatformListener } from "../../src/server/serve.ts";
import { inTurn, readCpuMs } from "../measure.ts";
import { announce, serveBare, serveLocally } from "../serving.ts";
import { openLedgers } from "./ledger.ts";
import { bareReplace } from "./puts.ts";

// Serves the platform and, beside it, a bare handler that does the same read; ends when its input does.
const bench = await openLedgers([1000]);
const served = await serveLocally(createPlatformListener(bench.platform));

const database = new DatabaseSync(bench.path, { readOnly: true });
const select = database.prepare("select * from disputes where tenant_id = ? and id = ?");
let put = 0;

/** Puts so many documents by the service's function alone. */
const putBare = (count: number): Promise<void> =>
  inTurn(count, () => {
    put += 1;
    return bareReplace(bench, put);
  });

const bare = await serveBare(async ({ url = "" }, response) => {
  if (url.startsWith("/cpu")) {
    await putBare(Number(url.slice("/cpu/".length)));
    response.end(String(readCpuMs()));
    return;
  }
  const [, , , , tenantId = "", , id = ""] = url.split("/");
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(select.get(tenantId, id)));
});

announce({ url: served.url, bareUrl: bare.url, ledger: bench.ledgers[0] }, async () => {
  await bare.close();
  await served.close();
  database.close();
  await bench.close();
});
