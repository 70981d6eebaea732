import { beforeAll, expect, it } from "vitest";
import { operations } from "../../src/contract/index.ts";
import { paymentsMatchDisputes } from "../../src/insights/payments-match-disputes.ts";
import { importDisputes } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { load, ndjson } from "../support/payment-rows.ts";
import { DISPUTES, onEveryStore, type Person } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "match";

const row = (id: string, more: object) => ({
  id,
  paymentId: `P-${id}`,
  paymentDate: "2026-01-10",
  currencyCode: "USD",
  ...more,
});

const ROWS = [
  row("1", { documentNumber: "A", deductionAmount: 10.1, deductionReasonCode: "DAMAGE" }),
  row("2", { documentNumber: "A", deductionAmount: 99 }),
  row("3", { documentNumber: "B", invoiceAmount: 100.3, appliedAmount: 80.1 }),
  row("4", { documentNumber: "C", deductionAmount: 31.5 }),
  row("5", { documentNumber: "D", deductionAmount: 5 }),
  row("6", { documentNumber: "E", deductionAmount: 50, currencyCode: "EUR" }),
  row("7", { documentNumber: "G", deductionAmount: 7, paymentDate: "2026-01-01" }),
  row("9", { documentNumber: "F", deductionAmount: 0, invoiceAmount: 5, appliedAmount: 5 }),
  ...Array.from({ length: 101 }, (_, at) => row(`h${at}`, { documentNumber: "H" })),
  row("8", { documentNumber: "G", deductionAmount: 7, paymentDate: "2026-02-01" }),
  row("s1", { documentNumber: "F", deductionAmount: 60, matchMethod: "suggested" }),
  row("s2", { documentNumber: "D", deductionAmount: 40, matchMethod: "suggested" }),
  row("r1", { documentNumber: "F", deductionAmount: 60, appliedAmount: 9 }),
  row("r2", { documentNumber: "F", appliedAmount: -9, applicationStatus: "reversed" }),
];

const dispute = (documentNumber: string, amount: number, status = 0) => ({
  documentNumber,
  accountNumber: "ACC",
  amount,
  currencyCode: "USD",
  categoryCode: "C",
  reasonCode: "R",
  status,
});

const CLAIMS = [
  dispute("A", 10.1),
  dispute("B", 20.2),
  dispute("C", 30),
  dispute("D", 40),
  dispute("E", 50),
  dispute("F", 60),
  dispute("G", 7),
  dispute("H", 70, 1),
];

onEveryStore("payments_match_disputes", (at) => {
  let context: TestContext;
  let extended: TestContext;
  let person: Person;
  beforeAll(async () => {
    const admin = await at().tenant(TENANT);
    person = admin;
    context = await createTestContext(at(), TENANT, admin);
    const extensions = new Set(operations.filter((one) => one.extension).map(({ id }) => id));
    extended = await createTestContext(at(), TENANT, admin, { extensions });
    await load(at(), TENANT, "cashapp", ROWS);
    const how = { format: "ndjson" as const, createConfiguration: true };
    await importDisputes(at(), TENANT, ndjson(CLAIMS), how);
  });

  const matchesOf = async (args: Record<string, unknown> = {}) => {
    const { items } = await runInsight(paymentsMatchDisputes, context, args);
    return items.map(({ documentNumber, match, paymentId, difference }) => [
      documentNumber,
      match,
      paymentId,
      difference,
    ]);
  };

  verifies("IN-40");
  it("finds the deduction, or the unpaid part, that equals each open dispute", async () => {
    expect(await matchesOf()).toEqual([
      ["B", "exact", "P-3", 0],
      ["A", "exact", "P-1", 0],
      ["G", "exact", "P-8", 0],
      ["D", "other-amount", "P-5", -35],
      ["C", "other-amount", "P-4", 1.5],
      ["F", "none", undefined, undefined],
      ["E", "none", undefined, undefined],
    ]);
    const within = await matchesOf({ tolerance: 1.5 });
    expect(within.find(([number]) => number === "C")).toEqual(["C", "within", "P-4", 1.5]);
  });

  it("counts matches beyond the limit too, and gives date and reason of the payment", async () => {
    const { items, itemsTotal, matches, currencyTotals } = await runInsight(
      paymentsMatchDisputes,
      context,
      { limit: 2 },
    );
    expect([items.length, itemsTotal]).toEqual([2, 7]);
    expect(matches).toEqual({
      exact: 3,
      sum: 0,
      within: 0,
      "paid-later": 0,
      "other-amount": 2,
      none: 2,
    });
    expect(currencyTotals).toEqual([{ currencyCode: "USD", count: 7, amount: 217.3 }]);
    expect(items[1]).toMatchObject({
      paymentDate: "2026-01-10",
      deductionReasonCode: "DAMAGE",
      payments: 2,
    });
  });

  verifies("WK-43");
  it("says why it leaves payment rows out, with their numbers, also through the extensions", async () => {
    const note =
      "Payment rows left out: 2 suggested, which no person or rule has confirmed; 2 reversed, with the rows that they undo; 1 in another currency than the disputes of their document.";
    for (const by of [context, extended]) {
      const { notes, matches } = await runInsight(paymentsMatchDisputes, by, {});
      expect(notes).toEqual([note]);
      expect(matches).toMatchObject({ exact: 3, none: 2 });
    }
  });

  it("gives each dispute a deduction of its own, and says where there are too few", async () => {
    const of = (id: string, paymentDate: string) =>
      row(id, { documentNumber: "T", accountNumber: "T", deductionAmount: 8, paymentDate });
    await load(at(), TENANT, "cashapp", [of("t1", "2026-01-01"), of("t2", "2026-02-01")]);
    const own = { ...dispute("T", 8), accountNumber: "T" };
    const how = { format: "ndjson" as const, createConfiguration: true };
    await importDisputes(at(), TENANT, ndjson([own, own]), how);
    const ask = () => runInsight(paymentsMatchDisputes, context, { accountNumber: "T" });
    const two = await ask();
    expect(two.items.map(({ paymentId }) => paymentId).toSorted()).toEqual(["P-t1", "P-t2"]);
    expect(two.notes).toEqual([]);
    await importDisputes(at(), TENANT, ndjson([own, own, own]), how);
    const three = await ask();
    expect(three["matches"]).toMatchObject({ exact: 3 });
    expect(three.notes).toEqual([
      expect.stringMatching(
        /^1 payment row is the match of several disputes, .*: D-T-0\d, D-T-0\d\.$/,
      ),
    ]);
    for (const { disputeId } of three.items) {
      await person.call("PUT", `${DISPUTES}/${String(disputeId)}`, { body: { status: 2 } });
    }
  });

  it("looks at closed disputes on request", async () => {
    expect(await matchesOf({ status: ["Closed"] })).toEqual([["H", "none", undefined, undefined]]);
  });

  verifies("IN-01");
  it("says where it compared a part of a document's payments only", async () => {
    const result = await runInsight(paymentsMatchDisputes, context, { status: ["Closed"] });
    expect(result.truncated).toBe(true);
    expect(result.notes).toEqual(["Of 1 documents only the first 100 payment rows were compared."]);
  });
});
