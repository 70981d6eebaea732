import { beforeAll, describe, expect, it } from "vitest";
import { operations } from "../../src/contract/index.ts";
import { fitReason } from "../../src/insights/claim-reasons.ts";
import { matchClaims } from "../../src/insights/match-claims.ts";
import { dispute, make } from "../support/configuration.ts";
import { importRecords } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { load, ndjson } from "../support/payment-rows.ts";
import { onEveryStore } from "../support/platform.ts";
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
    await load(at(), TENANT, "cashapp", ROWS);
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

  it.each<[string, object, string[]]>([
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
    expect(numbersOf(items as Record<string, unknown>[]).slice(1)).toEqual(["INV-00471", "A-117"]);
    expect(notes).toEqual([expect.stringContaining("more documents than are read at once")]);
    const exact = await runInsight(matchClaims, context, { lines: [{ reference: "A-117" }] });
    expect(exact.notes).toEqual([]);
  });

  it("finds documents by their number alone on platforms without additions, and says so", async () => {
    const { items, notes } = await runInsight(matchClaims, bare, {
      lines: [{ reference: "inv-00471" }, { reference: "PO 88-1" }],
    });
    expect(numbersOf(items as Record<string, unknown>[])).toEqual(["INV-00471", undefined]);
    expect(notes[0]).toMatch(/whole number only/);
  });
});

describe("the reason of a customer's words", () => {
  const reason = (code: string, description: string) =>
    ({ reasonId: code, code, description, active: true }) as Parameters<
      typeof fitReason
    >[1][number];
  const reasons = [reason("PRC", "Wrong price"), reason("QTY", "Wrong quantity")];
  const earlier = (count: number, reasonId: string) =>
    Array.from(
      { length: count },
      () =>
        ({ reasonId, externalReasonName: "Code 17" }) as Parameters<typeof fitReason>[2][number],
    );

  it.each<[string, string, number, number, object | undefined]>([
    ["a code", "prc", 0, 0, { reasonCode: "PRC", by: "code" }],
    [
      "words of one description",
      "the price is too high",
      0,
      0,
      { reasonCode: "PRC", by: "description" },
    ],
    ["words of both", "wrong", 0, 0, undefined],
    ["no known word", "n/a", 0, 0, undefined],
    [
      "earlier claims",
      "code 17",
      5,
      3,
      { reasonCode: "QTY", by: "earlier claims", cases: 5, of: 8 },
    ],
    ["too few of them", "code 17", 4, 0, undefined],
    ["too many others", "code 17", 5, 4, undefined],
  ])("%s", (_name, text, quantity, price, expected) => {
    const all = [...earlier(quantity, "QTY"), ...earlier(price, "PRC")];
    expect(fitReason(text, reasons, all)).toEqual(expected);
  });
});
