import { afterAll, beforeAll, expect, it } from "vitest";
import { DAY, formatTimestamp } from "../../src/kit/clock.ts";
import { type Answered, servePlatform } from "../support/addresses.ts";
import { ACCOUNT, accountAt, DOCUMENT, documentAt } from "../support/ingest.ts";
import { configure, DISPUTES, onEveryStore, type Person, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const INVOICES = 40_000;
const AT_ONCE = 500;

onEveryStore("the score of an account with very many invoices", (at) => {
  const owner = useTenant(at, "many");
  const other = useTenant(at, "few");
  let served: Awaited<ReturnType<typeof servePlatform>>;

  beforeAll(async () => {
    await configure(other);
    const call = await at().exportCaller("many");
    await call("POST", accountAt("4711"), { body: ACCOUNT });
    const day = (ago: number) => formatTimestamp(at().clock() - ago * DAY).slice(0, 10);
    const dates = { invoice_date: day(100), due_date: day(70) };
    await call("POST", documentAt("first"), {
      body: { ...DOCUMENT, ...dates, account_number: "4711", currency: "USD", denomination: 10 },
    });
    const { store } = at();
    const row = await store.read.selectFrom("documents").selectAll().executeTakeFirstOrThrow();
    for (let from = 1; from < INVOICES; from += AT_ONCE) {
      const copies = Array.from({ length: AT_ONCE }, (_, index) => ({
        ...row,
        document_number: `copy-${from + index}`,
        csr_id: from + index + 1,
      }));
      await store.transaction((tx) => tx.insertInto("documents").values(copies).execute());
    }
    served = await servePlatform(at().platform);
  });
  afterAll(() => served.close());

  const get = (who: Person, tenant: string, path: string): Promise<Answered> =>
    served.ask(path.replace("{t}", tenant), { headers: { "X-Platform-Auth": who.token } });

  verifies("C-91", "OP-50");
  it("is calculated while requests of other tenants are answered", async () => {
    const body = { amount: 1, accountNumber: "A", documentNumber: "D", reasonCode: "WRONG" };
    const { disputeId } = (await other.call("POST", DISPUTES, { body })).body;
    const ended = new AbortController();
    const score = get(
      owner,
      "many",
      "/creditprofile/api/v1/tenants/{t}/company/4711/score",
    ).finally(() => ended.abort());
    let answered = 0;
    while (!ended.signal.aborted) {
      const { status } = await get(other, "few", `${DISPUTES}/${disputeId}`);
      expect(status).toBe(200);
      if (!ended.signal.aborted) answered += 1;
    }
    const { status, body: found } = await score;
    expect([status, found.fibs.fibs_confidence]).toEqual([200, expect.any(Number)]);
    expect(answered).toBeGreaterThan(0);
  });
});
