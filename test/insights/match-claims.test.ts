import { beforeAll, expect, it } from "vitest";
import { operations } from "../../src/contract/index.ts";
import type { ArgsOf, Operation } from "../../src/contract/operation.ts";
import { INSIGHT_LIMITS } from "../../src/insights/insight.ts";
import { matchClaims } from "../../src/insights/match-claims.ts";
import { DAY } from "../../src/kit/clock.ts";
import { dispute, make } from "../support/configuration.ts";
import { importRecords } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { load, ndjson } from "../support/payment-rows.ts";
import { onEveryStore } from "../support/platform.ts";
import { copyDispute } from "../support/many-disputes.ts";
import { verifies } from "../support/verifies.ts";
import { document } from "../support/claim-records.ts";

const TENANT = "claims";

const DOCUMENTS = [
  document("INV-00471", "C-1", { po_number: "PO 88-1", invoice_num: "R0471" }),
  document("INV-00472", "C-1", { denomination: 77.7, original_denomination: 77.7 }),
  document("INV-00473", "C-1"),
  document("4711", "C-1"),
  document("04711", "C-2"),
  document("INV-00480", "C-2", { po_number: "PO-DOUBLE" }),
  document("INV-00481", "C-1", { po_number: "PO-DOUBLE" }),
  document("5230545", "C-1", { denomination: 61.3, original_denomination: 61.3 }),
];

/** More documents of one purchase order than a lookup finds; their numbers come first. */
const BLANKET = Array.from({ length: 60 }, (_, place) =>
  document(`A-${100 + place}`, "C-1", { po_number: "PO-BLANKET" }),
);

const ROWS = [
  {
    id: "1",
    paymentId: "P-1",
    paymentDate: "2026-02-01",
    accountNumber: "C-1",
    documentNumber: "INV-00471",
    currencyCode: "USD",
    deductionAmount: 120.5,
    deductionReasonCode: "SHT",
  },
];

/** A payment that deducted something, and came back. */
const RETURNED = [
  { applied: 400, deducted: 66.6 },
  { applied: -400, deducted: -66.6, applicationStatus: "reversed" },
].map(({ applied, deducted, ...more }, place) => ({
  id: `back-${place}`,
  paymentId: `B-${place}`,
  paymentDate: "2026-02-02",
  accountNumber: "C-2",
  documentNumber: "INV-00480",
  currencyCode: "USD",
  appliedAmount: applied,
  deductionAmount: deducted,
  ...more,
}));

/** Two payments that deducted the same of one document. */
const TWICE = ["T-1", "T-2"].map((paymentId, place) => ({
  id: paymentId,
  paymentId,
  paymentDate: `2026-02-0${3 + place}`,
  accountNumber: "C-1",
  documentNumber: "INV-00481",
  currencyCode: "USD",
  deductionAmount: 13.3,
}));

onEveryStore("match_claims", (at) => {
  let context: TestContext;
  let bare: TestContext;

  beforeAll(async () => {
    at().clock.set("2026-03-02T09:00:00.000Z");
    const admin = await at().tenant(TENANT);
    const how = { format: "ndjson" as const };
    const accounts = [
      { account_number: "C-1", name: "Acme Trading Ltd", currency: "USD" },
      { account_number: "C-2", name: "Borealis AB", currency: "USD" },
      { account_number: "C-3", name: "Borealis Nord AB", currency: "USD" },
    ];
    await importRecords(at(), TENANT, "accounts", ndjson(accounts), how);
    const { rejects } = await importRecords(
      at(),
      TENANT,
      "documents",
      ndjson([...BLANKET, ...DOCUMENTS]),
      how,
    );
    if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
    const closure = {
      document_number: "INV-00473",
      closure_reason: "paid",
      closure_date: "2026-02-10",
    };
    await importRecords(at(), TENANT, "closures", ndjson([closure]), how);
    await load(at(), TENANT, "cashapp", [...ROWS, ...RETURNED, ...TWICE]);
    await make(admin, "/categories", { code: "LOG", description: "Logistics" });
    for (const [code, description] of [
      ["SHORT", "Goods short shipped"],
      ["DMG", "Damaged in transit"],
    ]) {
      await make(admin, "/reasons", { code, description, categoryCode: "LOG" });
    }
    await dispute(admin, {
      accountNumber: "C-1",
      documentNumber: "INV-00472",
      amount: 20,
      reasonCode: "DMG",
    });
    const extensions = new Set(operations.filter((one) => one.extension).map(({ id }) => id));
    context = await createTestContext(at(), TENANT, admin, { extensions });
    bare = await createTestContext(at(), TENANT, admin);
  });

  const match = async (lines: object[], how = context) =>
    (await runInsight(matchClaims, how, { lines })).items as Record<string, unknown>[];
  const numbersOf = (items: Record<string, unknown>[]) =>
    items.map(({ document: found }) => (found as { documentNumber?: string })?.documentNumber);

  verifies("WK-42");
  it.each(["INV-00471", "inv 00471", "INV471", "Inv–0471", "r0471", "R 471", "PO 88-1", "po881"])(
    "finds the document that %s means",
    async (reference) => {
      expect(numbersOf(await match([{ reference }]))).toEqual(["INV-00471"]);
    },
  );

  it.each(["Invoice 5230545", "INV-5230545", "inv. 5230545", "#5230545", "Rechnung Nr. 5230545"])(
    "leaves the words before a number out: %s",
    async (reference) => {
      expect(numbersOf(await match([{ reference }]))).toEqual(["5230545"]);
      expect(numbersOf(await match([{ reference }], bare))).toEqual(["5230545"]);
    },
  );

  it("shows balance, payment and reason of each line in its order", async () => {
    const items = await match([
      { reference: "INV 471", amount: 120.5, reason: "short shipped 3 boxes", customer: "acme" },
      { reference: "nothing like it", amount: 1, reason: "DMG" },
      { customer: "C-1", amount: 77.7, reason: "pallet was damaged" },
    ]);
    expect(items).toMatchObject([
      {
        line: 1,
        document: {
          documentNumber: "INV-00471",
          accountNumber: "C-1",
          accountName: "Acme Trading Ltd",
          balance: 500,
          currencyCode: "USD",
        },
        payment: { match: "exact", paymentId: "P-1", deductionAmount: 120.5 },
        reason: { reasonCode: "SHORT", by: "description" },
        doubts: [],
      },
      { line: 2, doubts: ["none"], reason: { reasonCode: "DMG", by: "code" } },
      {
        line: 3,
        document: { documentNumber: "INV-00472" },
        openDisputes: [{ amount: 20, reasonName: "Damaged in transit" }],
        reason: { reasonCode: "DMG" },
        doubts: [],
      },
    ]);
  });

  it("finds documents by customer and amount beyond the first page, in the currency of the claim", async () => {
    const lines = [
      { customer: "acme", amount: 77.7 },
      { customer: "C-1", amount: 61.3, currencyCode: "USD" },
      { customer: "C-1", amount: 61.3, currencyCode: "EUR" },
    ];
    const admin = await at().person(TENANT, { roles: ["Administrator"] });
    const intercept = <O extends Operation>(operation: O, args: ArgsOf<O>) =>
      operation.id === "documents.list" ? { ...args, limit: 20 } : args;
    const { extensions } = context;
    const paged = await createTestContext(at(), TENANT, admin, { extensions, intercept });
    const { items, notes, truncated } = await runInsight(matchClaims, paged, { lines });
    expect(numbersOf(items as Record<string, unknown>[])).toEqual([
      "INV-00472",
      "5230545",
      undefined,
    ]);
    expect([notes, truncated]).toEqual([[], false]);
    expect(paged.calls.filter((id) => id === "documents.list")).toHaveLength(4);
  });

  it("finds a deduction of its own for each of two equal lines", async () => {
    const line = { reference: "INV-481", amount: 13.3 };
    const items = await match([line, line]);
    const ids = items.map(({ payment }) => (payment as { paymentId: string }).paymentId);
    expect(ids.toSorted()).toEqual(["T-1", "T-2"]);
  });

  it("says which documents and customers it did not read, and why", async () => {
    const ask = (line: object, how: TestContext) => runInsight(matchClaims, how, { lines: [line] });
    const few = { ...context, limits: { ...INSIGHT_LIMITS, documents: 20 } };
    const cut = await ask({ customer: "acme", amount: 77.7 }, few);
    expect([cut.truncated, cut.notes]).toEqual([
      true,
      [expect.stringMatching(/^Only the first 20 documents of C-1 were read: /)],
    ]);
    const noList = await ask({ customer: "acme", amount: 77.7 }, bare);
    expect(noList.notes).toContainEqual(
      expect.stringContaining("does not list documents: a customer"),
    );
    const deducted = { customer: "C-1", amount: 120.5 };
    for (const how of [context, bare]) {
      const { items } = await ask(deducted, how);
      expect(items).toMatchObject([
        { document: { documentNumber: "INV-00471" }, payment: { match: "exact" }, doubts: [] },
      ]);
    }
    const returned = await ask({ customer: "C-2", amount: 66.6 }, context);
    expect(returned.items).toMatchObject([{ doubts: ["none"] }]);
    const none = await ask({ customer: "Zebra", amount: 77.7 }, context);
    expect(none.notes).toEqual(['No account has the number or name "Zebra".']);
    const several = await ask({ customer: "borealis", amount: 77.7 }, context);
    expect(several.notes).toEqual([
      expect.stringMatching(/2 accounts fit "borealis"\. .*C-2 .*C-3/),
    ]);
  });

  it.each<[string, object, string[]]>([
    [
      "another currency",
      { reference: "INV472", amount: 80, currencyCode: "EUR" },
      ["other currency"],
    ],
    [
      "another amount than was deducted",
      { reference: "INV471", amount: 100 },
      ["amount differs by -20.5"],
    ],
    ["more than was billed", { reference: "INV472", amount: 80 }, ["amount differs by 2.3"]],
    ["an open dispute of the amount", { reference: "INV472", amount: 20 }, ["already disputed"]],
    ["a closed document", { reference: "INV473", amount: 5 }, ["closed"]],
    ["another customer", { reference: "INV471", customer: "Borealis" }, ["other customer"]],
    ["two customers' documents", { reference: "PO DOUBLE" }, ["several"]],
    ["the one of the named customer", { reference: "PO DOUBLE", customer: "Borealis AB" }, []],
    ["a number as it is written", { reference: "4711" }, []],
    ["a number that two have with zeros", { reference: "004711" }, ["several"]],
  ])("says what is doubtful: %s", async (_name, line, doubts) => {
    const [item] = await match([line]);
    expect(item?.["doubts"]).toEqual(doubts);
    if (doubts[0] === "several") expect(item?.["candidates"]).toHaveLength(2);
  });

  verifies("C-114");
  it("finds some documents of a purchase order with many, and those of other lines beside them", async () => {
    const { items, notes } = await runInsight(matchClaims, context, {
      lines: [{ reference: "po blanket" }, { reference: "PO 88-1" }, { reference: "a-117" }],
    });
    expect(items[0]).toMatchObject({ doubts: ["several"] });
    expect(items[0]?.["candidates"]).toHaveLength(5);
    expect(Number(items[0]?.["candidatesTotal"])).toBeGreaterThan(5);
    expect(numbersOf(items as Record<string, unknown>[]).slice(1)).toEqual(["INV-00471", "A-117"]);
    expect(notes).toEqual([expect.stringContaining("more documents than are read at once")]);
    const exact = await runInsight(matchClaims, context, { lines: [{ reference: "A-117" }] });
    expect(exact.notes).toEqual([]);
  });

  it("finds disputes of a document beyond the first page of its account", async () => {
    const older = at().clock() - 400 * DAY;
    await copyDispute(at().store, TENANT, 1000, { document_number: "A-151", status: 0 });
    await copyDispute(at().store, TENANT, 1, {
      id: "old",
      code: "D-A-150-01",
      document_number: "A-150",
      status: 1,
      amount: "75",
      amount_order: 75,
      created_at: older,
      closed_at: older + 20 * DAY,
    });
    const [item] = await match([{ reference: "A-150", amount: 75 }]);
    expect(item).toMatchObject({
      endedDisputes: [{ disputeCode: "D-A-150-01", status: "Closed", amount: 75 }],
      doubts: ["disputed before"],
    });
  });

  it("finds documents by their number alone on platforms without additions, and says so", async () => {
    const { items, notes } = await runInsight(matchClaims, bare, {
      lines: [{ reference: "inv-00471" }, { reference: "PO 88-1" }],
    });
    expect(numbersOf(items as Record<string, unknown>[])).toEqual(["INV-00471", undefined]);
    expect(notes[0]).toMatch(/whole number only/);
  });
});
