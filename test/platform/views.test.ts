import { beforeAll, expect, it } from "vitest";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { onEveryStore, useExportCaller } from "../support/platform.ts";
import { load, paymentRows, QUERY } from "../support/payment-rows.ts";
import { verifies } from "../support/verifies.ts";

const ROWS = 30;
const READERS = 12;
const AT_ONCE = 4;

onEveryStore("answers that are read slowly", (at) => {
  const other = useExportCaller(at, "quick");
  let apiKey: string;
  beforeAll(async () => {
    for (const id of ["slow", "quick"]) {
      await at().tenant(id);
      await load(at(), id, "bpn", paymentRows("bpn", ROWS));
    }
    const { store, clock } = at();
    const needs = { store, clock, newId: () => "slow-key" };
    ({ apiKey } = await issueKey(needs, { tenantId: "slow", name: "slow" }));
  });

  verifies("C-41");
  it("keep only their own tenant waiting, and each gets its turn", async () => {
    let begun = 0;
    const body = JSON.stringify({ source: "bpn", limit: 100_000 });
    const headers = { "X-API-Key": apiKey, "Content-Type": "application/json" };
    const ask = async (): Promise<Response> => {
      const request = new Request(`http://platform.test${QUERY}`, {
        method: "POST",
        body,
        headers,
      });
      const response = await at().platform.fetch(request);
      begun += 1;
      return response;
    };
    const asked = Array.from({ length: READERS }, ask);
    await expect.poll(() => begun).toBe(AT_ONCE);
    const { status, body: answer } = await other("POST", QUERY, { body: { source: "bpn" } });
    expect([status, answer.pagination.rowCount, begun]).toEqual([200, ROWS, AT_ONCE]);
    const [first, ...rest] = asked;
    await (await first)?.body?.cancel();
    await expect.poll(() => begun).toBe(AT_ONCE + 1);
    const pages = await Promise.all(
      rest.map(async (one) => JSON.parse(await (await one).text()) as { data: unknown[] }),
    );
    expect(pages.map(({ data }) => data.length)).toEqual(Array(READERS - 1).fill(ROWS));
  });
});
