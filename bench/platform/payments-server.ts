import { createPlatformListener } from "../../src/server/serve.ts";
import { CATALOGUE } from "../../src/contract/payments/catalogue.ts";
import { findPage, findLastSeq, readPayments } from "../../src/platform/store/queries/payments.ts";
import type { PaymentScan } from "../../src/platform/store/engine/dialect.ts";
import { wallMs } from "../measure.ts";
import { announce, serveBare, serveLocally } from "../serving.ts";
import { openLedgers } from "./ledger.ts";
import { fillPayments } from "./payment-rows.ts";

// Serves a tenant with payments and, beside it, the same SQL read into one buffer; ends when its input does.
const rows = Number(process.argv[2]);
const bench = await openLedgers([1]);
const [{ tenantId, ingestKey }] = bench.ledgers;
await fillPayments(bench.store, tenantId, rows);
const served = await serveLocally(createPlatformListener(bench.platform));
const fields = CATALOGUE.cashapp.fields.filter(({ core }) => core);

/** Builds a page's JSON in memory. */
const intoBuffer = async (): Promise<void> => {
  const { db, close } = await bench.store.snapshot({ owner: "bench" });
  const upTo = await findLastSeq(db, tenantId, "cashapp");
  const scan: PaymentScan = {
    tenantId,
    source: "cashapp",
    filter: { as: "all", of: [] },
    after: 0,
    upTo,
  };
  const { seqs } = await findPage(db, scan, rows);
  const parts: Uint8Array[] = [];
  for await (const { bytes } of readPayments(db, { tenantId, source: "cashapp", fields }, seqs)) {
    parts.push(bytes);
  }
  const whole = Buffer.concat(parts);
  await close();
  if (whole.length < rows) throw new Error("the page is not whole");
};

const MIB = 1024 * 1024;
let most = 0;
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 5);

const bare = await serveBare(async ({ url }, response) => {
  if (url === "/buffer") return response.end(String(await wallMs(intoBuffer)));
  // The most that was used since it was asked last, and what is used now.
  const answer = JSON.stringify({ most: most / MIB, now: process.memoryUsage.rss() / MIB });
  most = 0;
  return response.end(answer);
});

announce({ url: served.url, bareUrl: bare.url, key: ingestKey }, async () => {
  clearInterval(watch);
  await bare.close();
  await served.close();
  await bench.close();
});
