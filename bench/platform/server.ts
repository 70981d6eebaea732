import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { createPlatformListener, serve } from "../../src/bin/serve.ts";
import { openLedgers } from "./ledger.ts";
import { bareReplace } from "./puts.ts";

// Serves the platform and, beside it, a bare handler that does the same read; ends when its input does.
const bench = await openLedgers([1000]);
const served = await serve(createPlatformListener(bench.platform), { host: "127.0.0.1", port: 0 });

const database = new DatabaseSync(bench.path, { readOnly: true });
const select = database.prepare("select * from disputes where tenant_id = ? and id = ?");
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

let put = 0;

/** Puts so many documents by the service's function alone. */
const putBare = async (count: number): Promise<void> => {
  for (let done = 0; done < count; done += 1) {
    put += 1;
    await bareReplace(bench, put);
  }
};

const bare = createServer(async (request, response) => {
  if (request.url?.startsWith("/cpu") === true) {
    await putBare(Number(request.url.slice("/cpu/".length)));
    response.end(String(cpuMs()));
    return;
  }
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
