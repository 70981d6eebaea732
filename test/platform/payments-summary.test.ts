import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Source, SOURCES } from "../../src/contract/payments/catalogue.ts";
import { createDice } from "../support/dice.ts";
import { kept, type Row } from "../support/payment-model.ts";
import { type ModelItem, summable, summarized } from "../support/payment-summary-model.ts";
import { load, paymentRow, SUMMARY } from "../support/payment-rows.ts";
import { onEveryStore, useExportCaller } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const COUNT = 120;
const TENANT = "sums";

const CURRENCIES = ["EUR", "USD", "JPY"] as const;
// The doubles 2.01 and 8.04 are below their decimals once they are multiplied by a million.
const AMOUNTS = [
  0.1,
  0.2,
  2.01,
  8.04,
  -12.34,
  99_999.999999,
  1e9 + 0.25,
  123_456_789_012.34,
  -7,
  0,
] as const;

/** Rows of payments with several rows, whose own amounts each of their rows repeats. */
const rowsOf = (source: Source): Row[] => {
  const dice = createDice(7);
  let payment: Row = {};
  return Array.from({ length: COUNT }, (_, number) => {
    const row = paymentRow(source, number + 1);
    for (const name of summable(source)) {
      row[name] = dice.chance(0.1) ? undefined : dice.pick(AMOUNTS);
    }
    if (number > 0 && dice.chance(0.5)) return { ...row, ...payment };
    const { paymentId, networkPaymentId, paymentAmount, unappliedAmount, feeAmount, netAmount } =
      row;
    const currencyCode = dice.chance(0.1) ? undefined : dice.pick(CURRENCIES);
    const own = { paymentId, networkPaymentId, currencyCode };
    payment = { ...own, paymentAmount, unappliedAmount, feeAmount, netAmount };
    return { ...row, ...payment };
  });
};

const GROUPINGS: Record<Source, string[]> = {
  cashapp: ["payerName", "paymentMethod", "shortPay", "paymentDate:week", "postedAt:quarter"],
  iandp: ["accountName", "paymentStatus", "autopay", "dueDate:month", "daysToPay"],
  bpn: ["payerName", "paymentMethod", "remittanceLine", "paymentDate:year", "settlementDate"],
};

const measureOf = (source: Source) =>
  fc.record({
    op: fc.constantFrom("sum", "avg", "min", "max", "count", "countDistinct"),
    field: fc.constantFrom(...summable(source)),
  });

const sorted = (items: readonly ModelItem[]): ModelItem[] =>
  items.toSorted((a, b) =>
    JSON.stringify([a.key, a.currencyCode]) < JSON.stringify([b.key, b.currencyCode]) ? -1 : 1,
  );

onEveryStore("payments.summary against a model", (at) => {
  const call = useExportCaller(at, TENANT, ["export:read"]);
  const all = new Map<Source, Row[]>();

  const ask = async (body: object) => {
    const reply = await call("POST", SUMMARY, { body });
    expect(reply.status, reply.text).toBe(200);
    return reply.body;
  };

  beforeAll(async () => {
    await at().tenant(TENANT);
    for (const source of SOURCES) {
      const rows = rowsOf(source);
      all.set(source, rows);
      await load(at(), TENANT, source, rows);
    }
  });

  describe.each(SOURCES)("%s", (source) => {
    const amount = source === "iandp" ? "amountPaid" : "paymentAmount";
    const id = source === "bpn" ? "networkPaymentId" : "paymentId";

    it("adds up what an indexed filter finds: nothing, one payment, or several", async () => {
      const rows = all.get(source) ?? [];
      const known = [...new Set(rows.map((row) => row[id]))].filter((one) => one !== undefined);
      for (const ids of [["none"], known.slice(3, 4), [known[2], known[9], known[20]]]) {
        const filters = { [id]: { in: ids } };
        const body = await ask({ source, filters });
        const measures = [{ op: "sum", field: amount }];
        const matching = rows.filter((row) => ids.includes(row[id]));
        const expected = summarized(source, matching, { groupBy: [], measures });
        expect(sorted(body.items)).toEqual(sorted(expected));
        expect(body).toMatchObject({ rowCount: matching.length, truncated: false, notes: [] });
      }
    });

    verifies("IN-13");
    it.each(["asc", "desc"] as const)(
      "orders groups %s by key, count and measure",
      async (order) => {
        const measures = [{ op: "sum", field: amount }];
        const [groupBy] = GROUPINGS[source];
        const asked = { source, groupBy: [groupBy], measures, limit: 200, order };
        const figures: Record<string, (item: ModelItem) => unknown> = {
          [String(groupBy)]: ({ key }) => key[String(groupBy)],
          payments: ({ payments }) => payments,
          rows: ({ rows }) => rows,
          [`sum(${amount})`]: (item) => Number((item as unknown as { sum: Row }).sum[amount]),
        };
        for (const [orderBy, figure] of Object.entries(figures)) {
          const { items } = await ask({ ...asked, orderBy });
          const values = items.map(figure).filter((value: unknown) => value !== null);
          const ascending = values.toSorted((a: number, b: number) => (a < b ? -1 : a > b ? 1 : 0));
          expect(values.length).toBeGreaterThan(1);
          expect(values).toEqual(order === "asc" ? ascending : ascending.toReversed());
          expect((await ask({ ...asked, orderBy, limit: 2 })).items).toEqual(items.slice(0, 2));
        }
      },
    );

    verifies("IN-14");
    it.each(["largest", "smallest"] as const)(
      "gives the rows with the %s values",
      async (topOrder) => {
        const rows = (all.get(source) ?? []).filter((row) => typeof row[amount] === "number");
        const sign = topOrder === "largest" ? -1 : 1;
        const values = rows.map((row) => Number(row[amount])).toSorted((a, b) => sign * (a - b));
        const { topRows } = await ask({ source, topRows: 5, topOrder });
        expect(topRows.map((row: Row) => row[amount])).toEqual(values.slice(0, 5));
        expect(topRows.flatMap((row: Row) => Object.values(row))).not.toContain(null);
        expect(await ask({ source })).not.toHaveProperty("topRows");
      },
    );

    verifies("IN-12");
    it("notes payments that belong to several groups", async () => {
      const rows = all.get(source) ?? [];
      const byPayment = Map.groupBy(
        rows.filter((row) => row[id] !== undefined),
        (row) => row[id],
      );
      const groupsOf = (some: Row[]) =>
        new Set(
          some.map(({ accountNumber, currencyCode }) =>
            JSON.stringify([accountNumber, currencyCode]),
          ),
        );
      const shared = [...byPayment.values()].filter((some) => groupsOf(some).size > 1).length;
      const { notes } = await ask({ source, groupBy: ["accountNumber"] });
      expect(notes).toHaveLength(shared === 0 ? 0 : 1);
      if (shared > 0) expect(notes[0]).toContain(String(shared));
    });

    verifies("IN-02", "IN-06", "IN-12", "IN-73", "C-18", "C-86");
    it("gives the groups and figures that rows add up to", async () => {
      const rows = all.get(source) ?? [];
      const property = fc.asyncProperty(
        fc.uniqueArray(fc.constantFrom(...GROUPINGS[source]), { maxLength: 3 }),
        fc.uniqueArray(measureOf(source), { maxLength: 4, selector: JSON.stringify }),
        fc.option(fc.constantFrom(...CURRENCIES), { nil: undefined }),
        async (groupBy, measures, currency) => {
          const filters = currency === undefined ? {} : { currencyCode: { ne: currency } };
          const body = await ask({ source, filters, groupBy, measures, limit: 200 });
          expect(body.asOf).toBe(new Date(at().clock()).toISOString());
          const matching = rows.filter((row) => kept(row, filters));
          const expected = summarized(source, matching, { groupBy, measures });
          expect(sorted(body.items)).toEqual(sorted(expected));
          expect(body.itemsTotal).toBe(expected.length);
          expect(body.rowCount).toBe(matching.length);
          const amount = source === "iandp" ? "amountPaid" : "paymentAmount";
          const whole = { groupBy: [], measures: [{ op: "sum", field: amount }] };
          const totals = summarized(source, matching, whole).map((one) => ({
            currencyCode: one.currencyCode,
            count: one.payments,
            amount: (one as unknown as { sum: Row }).sum[amount] ?? 0,
          }));
          expect(new Set(body.currencyTotals.map((one: object) => JSON.stringify(one)))).toEqual(
            new Set(totals.map((one) => JSON.stringify(one))),
          );
        },
      );
      await fc.assert(property, { numRuns: 25 });
    });
  });
});
