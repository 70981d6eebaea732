import { beforeAll, expect, it } from "vitest";
import { deductionsWithoutDispute } from "../../src/insights/deductions-without-dispute.ts";
import { importDisputes } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { load, ndjson } from "../support/payment-rows.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "narrowed";

const row = (id: string, more: object) => ({
  id,
  paymentId: `P-${id}`,
  paymentDate: "2026-01-10",
  accountNumber: "ACC-1",
  currencyCode: "USD",
  ...more,
});

const dispute = (documentNumber: string, amount: number, more: object = {}) => ({
  documentNumber,
  accountNumber: "ACC-1",
  amount,
  currencyCode: "USD",
  categoryCode: "C",
  reasonCode: "BROKEN",
  ...more,
});

onEveryStore("deductions_without_dispute of some deductions", (at) => {
  let context: TestContext;
  beforeAll(async () => {
    const admin = await at().tenant(TENANT);
    context = await createTestContext(at(), TENANT, admin);
  });

  const find = (args: Record<string, unknown>) =>
    runInsight(deductionsWithoutDispute, context, args);
  const listed = async (args: Record<string, unknown>) =>
    (await find(args)).items.map(({ documentNumber, amount }) => [documentNumber, amount]);

  verifies("WK-40");
  it("proposes a reason by the code alone, of disputes of any account and day", async () => {
    const code = { deductionReasonCode: "Frt" };
    const explained = ["2025-01-10", "2025-02-10", "2025-03-10", "2025-04-10", "2025-05-10"];
    await load(at(), TENANT, "cashapp", [
      ...explained.map((paymentDate, place) =>
        row(`e${place}`, {
          accountNumber: `ACC-E${place}`,
          documentNumber: `E-${place}`,
          deductionAmount: 3,
          paymentDate,
          ...(place < 3 ? code : { deductionReasonCode: "FRT" }),
        }),
      ),
      // Another code that begins and ends alike, and another reason for the whole deduction of a document.
      row("e8", { documentNumber: "E-8", deductionAmount: 3, deductionReasonCode: "frtfrt" }),
      row("e9", { documentNumber: "E-4", deductionAmount: 4, accountNumber: "ACC-E4" }),
      row("e10", {
        documentNumber: "E-10",
        deductionAmount: 9,
        accountNumber: "ACC-E10",
        currencyCode: "EUR",
        ...code,
      }),
      row("e11", { documentNumber: "E-11", deductionAmount: 9, accountNumber: "ACC-E11" }),
    ]);
    const claims = [
      ...explained.map((_day, place) => dispute(`E-${place}`, 3, { accountNumber: "ACC-1" })),
      dispute("E-8", 3, { reasonCode: "LOST" }),
      dispute("E-4", 4, { reasonCode: "LOST" }),
    ];
    const how = { format: "ndjson" as const, createConfiguration: true };
    const { rejects } = await importDisputes(at(), TENANT, ndjson(claims), how);
    expect(rejects).toEqual([]);
    const proposedReason = { reasonCode: "BROKEN", cases: 5, of: 5 };
    for (const args of [
      { limit: 200 },
      { accountNumber: "ACC-E10" },
      { from: "2026-01-10", to: "2026-01-10", currencyCode: "EUR" },
      { currencyCode: "EUR" },
    ]) {
      const { items } = await find(args);
      const one = items.find(({ documentNumber }) => documentNumber === "E-10");
      expect([args, one]).toEqual([args, expect.objectContaining({ proposedReason })]);
    }
    // A deduction without a code has no proposal.
    expect((await find({ accountNumber: "ACC-E11" })).items).toEqual([
      expect.not.objectContaining({ proposedReason: expect.anything() }),
    ]);
  });

  verifies("WK-40");
  it("finds of an account what it finds of all, also where another account has the dispute", async () => {
    const of = (id: string, accountNumber: string, documentNumber: string, day: string) =>
      row(id, { accountNumber, documentNumber, deductionAmount: 50, paymentDate: day });
    await load(at(), TENANT, "cashapp", [
      of("q1", "ACC-P", "Q-1", "2026-08-01"),
      // Two deductions of a document need two disputes, of any accounts.
      of("q2", "ACC-P", "Q-2", "2026-08-01"),
      of("q3", "ACC-Q", "Q-2", "2026-08-02"),
    ]);
    const claims = [
      dispute("Q-1", 50, { accountNumber: "ACC-B" }),
      dispute("Q-2", 50, { accountNumber: "ACC-P" }),
    ];
    const how = { format: "ndjson" as const, createConfiguration: true };
    expect((await importDisputes(at(), TENANT, ndjson(claims), how)).rejects).toEqual([]);
    const all = (await listed({ limit: 200 })).filter(([name]) => String(name).startsWith("Q-"));
    expect(all).toEqual([["Q-2", 50]]);
    expect(await listed({ accountNumber: "ACC-P" })).toEqual([]);
    expect(await listed({ accountNumber: "ACC-Q" })).toEqual([["Q-2", 50]]);
  });
});
