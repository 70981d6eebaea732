import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import Big from "big.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MINUTE, systemClock } from "../../src/kit/clock.ts";
import { importPayments } from "../support/importing.ts";
import { measureMemory } from "../support/memory.ts";
import { ndjson, paymentRow, QUERY, SUMMARY } from "../support/payment-rows.ts";
import { type Dialect, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";
import { type PublishedService, startPublishedService, TENANT } from "./published-service.ts";

const ROWS = 100_000;
type Summary = { rowCount: number; items: { sum: Record<string, string | number> }[] };

const MEBIBYTE = 1024 * 1024;
/** Less than the page of 47 MiB: what streams need, and garbage that is not collected yet. */
const MARGIN = 32 * MEBIBYTE;

/** Resident memory of a process, in bytes. */
const residentOf = (pid: number): number => {
  const [, kilobytes = "0"] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
};

describe.runIf(process.platform === "linux")("a page of 100,000 payments", () => {
  let service: PublishedService;
  beforeAll(async () => {
    service = await startPublishedService(dialects[0] as Dialect);
    const row = (number: number) => ({
      ...paymentRow("iandp", number),
      amountPaid: number % 2 === 0 ? 0.1 : 0.2,
      currencyCode: "USD",
    });
    const text = ndjson(Array.from({ length: ROWS }, (_, number) => row(number)));
    const at = { store: service.store, clock: systemClock };
    const { rejects } = await importPayments(at, { tenantId: TENANT, source: "iandp" }, text, {
      format: "ndjson",
    });
    if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
  }, 5 * MINUTE);
  afterAll(() => service.close());

  verifies("C-18");
  it("adds up 0.1 and 0.2 without an error of binary fractions", async () => {
    const { url, credentials } = service;
    const reply = await fetch(`${url}${SUMMARY}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": credentials["X-API-Key"] ?? "" },
      body: JSON.stringify({
        source: "iandp",
        groupBy: [],
        measures: [{ op: "sum", field: "amountPaid" }],
      }),
    });
    const body = (await reply.json()) as Summary;
    expect(body.rowCount).toBe(ROWS);
    expect(body.items.map(({ sum }) => Big(sum["amountPaid"] ?? 0).toFixed())).toEqual([
      String((ROWS * 3) / 20),
    ]);
  });

  verifies("C-19");
  it("is streamed in a bounded amount of memory", { timeout: 5 * MINUTE }, async () => {
    const { running, url, credentials } = service;
    const ask = (limit: number) =>
      fetch(`${url}${QUERY}`, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-API-Key": credentials["X-API-Key"] ?? "",
        },
        body: JSON.stringify({ source: "iandp", limit }),
      });
    await (await ask(10_000)).text();
    const { rss } = await measureMemory(running);
    const reply = await ask(ROWS);
    expect(reply.status).toBe(200);
    if (reply.body === null) throw new Error("there is no body");
    let [bytes, peak, end] = [0, 0, ""];
    for await (const chunk of Readable.fromWeb(reply.body as never)) {
      bytes += (chunk as Buffer).length;
      peak = Math.max(peak, residentOf(running.pid));
      end = (end + Buffer.from(chunk as Buffer).toString("latin1")).slice(-200);
    }
    expect(end).toContain(`"rowCount":${ROWS}`);
    expect(bytes).toBeGreaterThan(MARGIN);
    expect(peak - rss).toBeLessThan(MARGIN);
  });
});
