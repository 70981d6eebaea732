import { expect, it } from "vitest";
import { matchPayments } from "../../src/platform/admin/payments.ts";
import { createMatchTenants } from "../support/match-tenants.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const APPLIED = ["documentNumber", "appliedAmount", "unappliedAmount"] as const;

onEveryStore("payments that are matched with documents", (at) => {
  const { tenant, fresh, documents, pay, rows } = createMatchTenants(at);
  const named = (invoiceNumber: string, appliedAmount?: number, more: object = {}) => ({
    invoiceNumber,
    ...(appliedAmount === undefined ? {} : { appliedAmount }),
    ...more,
  });

  verifies("MN-30");
  it("pays the named document of an unknown payer where currency and amounts agree", async () => {
    await fresh();
    await documents(
      { number: "INV-1", amount: 1000 },
      { number: "INV-2", amount: 500 },
      { number: "INV-3", amount: 80, currency: "USD" },
    );
    const deducted = { discountTaken: 20, deductionAmount: 50, deductionReasonCode: "DMGD" };
    await pay(
      { id: "P1", amount: 930, payerName: "Unknown", lines: [named("inv 001", 930, deducted)] },
      { id: "P2", amount: 75, payerName: "Other", lines: [named("INV-2", 75)] },
      { id: "P3", amount: 80, payerName: "Third", lines: [named("INV-3", 80)] },
    );
    expect(await rows(["P1"], ...APPLIED, ...Object.keys(deducted), "accountName")).toEqual([
      {
        documentNumber: "INV-1",
        appliedAmount: 930,
        unappliedAmount: 0,
        accountName: "Acme",
        ...deducted,
      },
    ]);
    const [second] = await rows(["P2"], ...APPLIED, "matchMethod", "matchConfidence");
    expect(second).toMatchObject({ appliedAmount: 0, unappliedAmount: 75 });
    expect(second?.["matchMethod"]).toBe("suggested");
    expect(second?.["matchConfidence"]).toBeLessThan(1);
    expect(await rows(["P3"], ...APPLIED)).toEqual([{ appliedAmount: 0, unappliedAmount: 80 }]);
  });

  it("never pays a document of another customer than the payer", async () => {
    await fresh();
    await documents(
      { number: "A-1", amount: 100 },
      { number: "B-1", amount: 100, account: "C2" },
      { number: "B-2", amount: 100, account: "C2" },
      { number: "SAME", amount: 70 },
      { number: "S-2", amount: 70, account: "C2", invoice: "SAME" },
    );
    const meier = { payerName: "Meier", payerAccountLast4: "1234" };
    await pay(
      { id: "N1", amount: 100, payerName: "Acme", lines: [named("B-1", 100)] },
      { id: "N2", amount: 100, payerName: "x", paymentReference: "for C1", lines: [named("B-1")] },
      { id: "N3", amount: 100, ...meier, lines: [named("A-1", 100)] },
      { id: "N4", amount: 100, ...meier, lines: [named("B-1", 100)] },
      { id: "N5", amount: 70, lines: [named("SAME", 70)] },
    );
    await pay({ id: "N6", amount: 100, ...meier, lines: [named("B-2", 100)] });
    await pay({ id: "N7", amount: 70, payerName: "bolt", lines: [named("S-2", 70)] });
    const found = await rows(["N1", "N2", "N3", "N4", "N5", "N6", "N7"], "appliedAmount");
    expect(found.map(({ appliedAmount }) => appliedAmount)).toEqual([0, 0, 100, 0, 0, 0, 70]);
  });

  it("suggests what references and texts mention, and applies none of it", async () => {
    await fresh();
    await documents(
      { number: "20260330", amount: 500, account: "C2" },
      { number: "INV-2001", amount: 119 },
    );
    await pay(
      { id: "S1", amount: 75, payerName: "Other GmbH", paymentReference: "20260330" },
      { id: "S2", amount: 119, payerName: "Bau Meier", remittanceText: "Rechnung: inv 2001." },
      { id: "S3", amount: 119, payerName: "Acme", remittanceText: "INV-2001" },
    );
    expect(await rows(["S1"], ...APPLIED)).toEqual([{ appliedAmount: 0, unappliedAmount: 75 }]);
    const suggested = { documentNumber: "INV-2001", appliedAmount: 0, unappliedAmount: 119 };
    expect(await rows(["S2", "S3"], ...APPLIED, "matchConfidence")).toEqual([
      { ...suggested, matchConfidence: 0.7 },
      { ...suggested, matchConfidence: 0.9 },
    ]);
  });

  verifies("MN-31");
  it("leaves a second payment unapplied, and instalments without a deduction", async () => {
    await fresh();
    await documents({ number: "INV-5", amount: 1000 }, { number: "INV-6", amount: 1000 });
    const amounts = ["appliedAmount", "unappliedAmount", "deductionAmount", "shortPay"];
    await pay(
      { id: "T1", amount: 1000, lines: [named("INV-5", 1000)] },
      { id: "T2", amount: 1000, lines: [named("INV-5", 1000)] },
    );
    expect(await rows(["T1", "T2"], ...amounts)).toEqual([
      { appliedAmount: 1000, unappliedAmount: 0, shortPay: false },
      { appliedAmount: 0, unappliedAmount: 1000, shortPay: false },
    ]);
    const acme = { payerName: "Acme", lines: [named("INV-6")] };
    await pay({ id: "T3", amount: 400, ...acme });
    expect(await rows(["T3"], ...amounts, "applicationStatus")).toEqual([
      { appliedAmount: 400, unappliedAmount: 0, shortPay: false, applicationStatus: "partial" },
    ]);
    await pay({ id: "T4", amount: 450, ...acme });
    expect(await rows(["T4"], ...amounts)).toEqual([
      { appliedAmount: 450, unappliedAmount: 0, deductionAmount: 150, shortPay: true },
    ]);
    await pay({ id: "T5", amount: 170, ...acme });
    expect(await rows(["T3", "T4", "T5"], ...amounts)).toEqual([
      { appliedAmount: 400, unappliedAmount: 0, shortPay: false },
      { appliedAmount: 450, unappliedAmount: 0, shortPay: false },
      { appliedAmount: 150, unappliedAmount: 20, shortPay: false },
    ]);
  });

  it("counts what the ledger says of a balance once", async () => {
    await fresh();
    await documents({ number: "INV-1", amount: 1000 });
    const acme = { payerName: "Acme", lines: [named("INV-1")] };
    await pay({ id: "L1", amount: 400, ...acme });
    // The ledger has posted the payment.
    await documents({ number: "INV-1", amount: 1000, balance: 600 });
    await pay({ id: "L2", amount: 700, ...acme });
    expect(await rows(["L2"], ...APPLIED)).toEqual([
      { documentNumber: "INV-1", appliedAmount: 600, unappliedAmount: 100 },
    ]);
  });

  it("reduces an invoice by its credit notes, and uses those that are named", async () => {
    await fresh();
    const credit = { type: "credit_note", appliesTo: "INV-1" };
    await documents(
      { number: "INV-1", amount: 1000 },
      { number: "CN-1", amount: -50, ...credit },
      { number: "INV-2", amount: 500 },
    );
    await pay({ id: "R1", amount: 1000, payerName: "Acme", lines: [named("INV-1", 1000)] });
    expect(await rows(["R1"], ...APPLIED)).toEqual([
      { documentNumber: "INV-1", appliedAmount: 950, unappliedAmount: 50 },
    ]);
    const lines = [named("INV-2", 500), named("CN-1", -50)];
    await pay({ id: "R2", amount: 450, payerName: "Acme", lines });
    expect(await rows(["R2"], ...APPLIED)).toEqual([
      { documentNumber: "INV-2", appliedAmount: 500, unappliedAmount: 0 },
      { documentNumber: "CN-1", appliedAmount: -50, unappliedAmount: 0 },
    ]);
    await pay({
      id: "R3",
      amount: 450,
      payerName: "Acme",
      lines: [named("CN-1", -50), named("INV-1", 500)],
    });
    expect(await rows(["R3"], ...APPLIED)).toEqual([
      { appliedAmount: 0, unappliedAmount: 400 },
      { documentNumber: "INV-1", appliedAmount: 50, unappliedAmount: 400 },
    ]);
  });

  it("loads a remittance that does not add up unapplied, and names the doubt", async () => {
    await fresh();
    await documents({ number: "INV-2", amount: 700 }, { number: "INV-3", amount: 700 });
    const advice = { remittanceSource: "edi820" };
    await pay(
      { id: "U1", amount: 1000, lines: [named("INV-2", 700), named("INV-3", 700)] },
      { id: "U2", amount: 1000, ...advice, lines: [named("INV-2", 700)] },
    );
    const found = await rows(["U1", "U2"], "appliedAmount", "unappliedAmount", "doubt");
    const unapplied = { appliedAmount: 0, unappliedAmount: 1000 };
    const doubt = (total: string) => `its remittance adds up to ${total}, the payment is 1000.00`;
    expect(found).toEqual([
      { ...unapplied, doubt: doubt("1400.00") },
      { ...unapplied, doubt: doubt("1400.00") },
      { ...unapplied, doubt: doubt("700.00") },
    ]);
  });

  it("keeps a deduction of no document beside the invoice that is paid in full", async () => {
    await fresh();
    await documents({ number: "INV-1", amount: 1000 });
    const adjustment = { appliedAmount: -150, deductionAmount: 150, deductionReasonCode: "CM" };
    const advice = { remittanceSource: "edi820", lines: [adjustment, named("INV-1", 1000)] };
    await pay({ id: "A1", amount: 850, ...advice });
    expect(await rows(["A1"], ...APPLIED, "deductionAmount")).toEqual([
      { appliedAmount: -150, unappliedAmount: 0, deductionAmount: 150 },
      { documentNumber: "INV-1", appliedAmount: 1000, unappliedAmount: 0 },
    ]);
    await pay({ id: "A2", amount: 850, ...advice, lines: [adjustment, named("NONE", 1000)] });
    expect(await rows(["A2"], ...APPLIED)).toEqual([
      { appliedAmount: 0, unappliedAmount: 850 },
      { appliedAmount: 0, unappliedAmount: 850 },
    ]);
  });

  const signed = ["documentNumber", "appliedAmount", "unappliedAmount", "applicationStatus"];

  verifies("MN-31");
  it("has a return take back what its payment paid, and opens the documents again", async () => {
    await fresh();
    await documents({ number: "INV-1", amount: 600 }, { number: "INV-2", amount: 400 });
    const both = [named("INV-1", 600), named("INV-2", 380, { deductionAmount: 20 })];
    await pay({ id: "B1", amount: 1000, payerName: "Acme", lines: both });
    await pay({ id: "B2", amount: 600, payerName: "Acme", lines: [named("INV-1", 600)] });
    const back = { applicationStatus: "reversed", returnedPaymentId: "B1" };
    await pay({ id: "B3", amount: -1000, ...back });
    expect(await rows(["B3"], ...signed, "deductionAmount")).toEqual([
      {
        documentNumber: "INV-1",
        appliedAmount: -600,
        unappliedAmount: -20,
        applicationStatus: "reversed",
      },
      {
        documentNumber: "INV-2",
        appliedAmount: -380,
        unappliedAmount: -20,
        deductionAmount: -20,
        applicationStatus: "reversed",
      },
    ]);
    // The second payment of the invoice has waited for it.
    expect(await rows(["B2"], ...APPLIED)).toEqual([
      { documentNumber: "INV-1", appliedAmount: 600, unappliedAmount: 0 },
    ]);
  });

  it("has a partial return take unapplied money, then the last documents", async () => {
    await fresh();
    await documents({ number: "INV-1", amount: 600 }, { number: "INV-2", amount: 300 });
    const lines = [named("INV-1", 600), named("INV-2", 300)];
    await pay({ id: "B1", amount: 1000, payerName: "Acme", lines });
    const back = { applicationStatus: "reversed", returnedPaymentId: "B1" };
    await pay({ id: "B2", amount: -250, ...back });
    await pay({ id: "B3", amount: -750, ...back });
    const found = await rows(["B2", "B3"], "documentNumber", "appliedAmount", "unappliedAmount");
    expect(found).toEqual([
      { documentNumber: "INV-2", appliedAmount: -150, unappliedAmount: -100 },
      { documentNumber: "INV-1", appliedAmount: -600, unappliedAmount: 0 },
      { documentNumber: "INV-2", appliedAmount: -150, unappliedAmount: 0 },
    ]);
  });

  verifies("MN-31");
  it("computes a deduction again when the payment that had made up for it is returned", async () => {
    await fresh();
    await documents({ number: "INV-1", amount: 100 });
    const short = ["appliedAmount", "deductionAmount", "shortPay"];
    const acme = { payerName: "Acme" };
    await pay({ id: "R1", amount: 90, ...acme, lines: [named("INV-1")] });
    const deducted = [{ appliedAmount: 90, deductionAmount: 10, shortPay: true }];
    expect(await rows(["R1"], ...short)).toEqual(deducted);
    await pay({ id: "R2", amount: 10, ...acme, lines: [named("INV-1")] });
    expect(await rows(["R1"], ...short)).toEqual([{ appliedAmount: 90, shortPay: false }]);
    await pay({ id: "R3", amount: -10, applicationStatus: "reversed", returnedPaymentId: "R2" });
    expect(await rows(["R1"], ...short)).toEqual(deducted);
    await pay({ id: "R4", amount: 10, ...acme, lines: [named("INV-1")] });
    expect(await rows(["R1", "R4"], ...short)).toEqual([
      { appliedAmount: 90, shortPay: false },
      { appliedAmount: 10, shortPay: false },
    ]);
  });

  verifies("MN-01");
  it("counts discounts no further than a document is open", async () => {
    await fresh();
    await documents({ number: "INV-1", amount: 100 });
    const discounts = ["appliedAmount", "discountTaken", "unappliedAmount"];
    const early = { discountTaken: 8 };
    await pay({ id: "S1", amount: 60, payerName: "Acme", lines: [named("INV-1", 60, early)] });
    await pay({ id: "S2", amount: 30, payerName: "Acme", lines: [named("INV-1", 30, early)] });
    await pay({ id: "S3", amount: 30, payerName: "Acme", lines: [named("INV-1", 30, early)] });
    expect(await rows(["S1", "S2", "S3"], ...discounts)).toEqual([
      { appliedAmount: 60, discountTaken: 8, unappliedAmount: 0 },
      { appliedAmount: 30, discountTaken: 2, unappliedAmount: 0 },
      { appliedAmount: 0, unappliedAmount: 30 },
    ]);
    // The discount that the sender stated is granted once the document is open for it.
    await pay({ id: "S4", amount: -60, applicationStatus: "reversed", returnedPaymentId: "S1" });
    expect(await rows(["S3"], ...discounts)).toEqual([
      { appliedAmount: 30, discountTaken: 8, unappliedAmount: 0 },
    ]);
  });

  it("has a return wait for a payment that comes after it", async () => {
    await fresh();
    await documents({ number: "INV-1", amount: 600 });
    const back = { applicationStatus: "reversed", paymentReference: "CHK-9001" };
    await pay({ id: "W1", amount: -600, ...back });
    expect(await rows(["W1"], ...signed)).toEqual([
      { appliedAmount: 0, unappliedAmount: -600, applicationStatus: "reversed" },
    ]);
    const check = { payerName: "Acme", paymentReference: "CHK-9001" };
    await pay({ id: "W2", amount: 600, ...check, lines: [named("INV-1", 600)] });
    expect(await rows(["W1"], "returnedPaymentId", "appliedAmount", "unappliedAmount")).toEqual([
      { returnedPaymentId: "W2", appliedAmount: -600, unappliedAmount: 0 },
    ]);
    await pay({ id: "W3", amount: 600, payerName: "Acme", lines: [named("INV-1", 600)] });
    expect(await rows(["W3"], ...APPLIED)).toEqual([
      { documentNumber: "INV-1", appliedAmount: 600, unappliedAmount: 0 },
    ]);
  });

  verifies("MN-31");
  it("takes a computed deduction back when a credit note for it comes", async () => {
    await fresh();
    await documents({ number: "INV-1", amount: 100 });
    await pay({ id: "K1", amount: 80, payerName: "Acme", lines: [named("INV-1")] });
    const short = ["appliedAmount", "deductionAmount", "shortPay"];
    expect(await rows(["K1"], ...short)).toEqual([
      { appliedAmount: 80, deductionAmount: 20, shortPay: true },
    ]);
    const credit = { type: "credit_note", appliesTo: "INV-1" };
    await documents({ number: "CN-1", amount: -15, ...credit });
    expect(await rows(["K1"], ...short)).toEqual([
      { appliedAmount: 80, deductionAmount: 5, shortPay: true },
    ]);
    await documents({ number: "CN-2", amount: -5, ...credit });
    expect(await rows(["K1"], ...short)).toEqual([{ appliedAmount: 80, shortPay: false }]);
  });

  verifies("MN-14", "MN-32");
  it("uses a credit note that comes after the invoice beside it", async () => {
    await fresh();
    await documents({ number: "INV-1", amount: 100 });
    const lines = [named("INV-1", 100), named("CN-1", -30)];
    await pay({ id: "N1", amount: 70, payerName: "Acme", lines });
    expect(await rows(["N1"], "appliedAmount", "unappliedAmount")).toEqual([
      { appliedAmount: 70, unappliedAmount: 0 },
      { appliedAmount: 0, unappliedAmount: 0 },
    ]);
    await documents({ number: "CN-1", amount: -30, type: "credit_note" });
    expect(await rows(["N1"], ...APPLIED)).toEqual([
      { documentNumber: "INV-1", appliedAmount: 100, unappliedAmount: 0 },
      { documentNumber: "CN-1", appliedAmount: -30, unappliedAmount: 0 },
    ]);
  });

  verifies("MN-32");
  it("matches payments that came first when their documents are imported or put", async () => {
    await fresh();
    const call = await at().exportCaller(tenant());
    await pay(
      { id: "F1", amount: 119, payerName: "X", lines: [named("INV-77", 119)] },
      { id: "F2", amount: 50, payerName: "Y", lines: [named("inv78", 50)] },
    );
    await documents({ number: "INV-77", amount: 119 });
    expect(await rows(["F1"], ...APPLIED, "matchMethod")).toEqual([
      { documentNumber: "INV-77", appliedAmount: 119, unappliedAmount: 0, matchMethod: "auto" },
    ]);
    const body = {
      account_number: "C2",
      invoice_date: "2026-01-01",
      due_date: "2026-02-01",
      currency: "EUR",
      denomination: 50,
    };
    const path = "/api/v1/ingest/documents/INV-78";
    expect((await call("PUT", path, { body })).status).toBe(201);
    await at().platform.worker.runDue();
    expect(await rows(["F2"], ...APPLIED)).toEqual([
      { documentNumber: "INV-78", appliedAmount: 50, unappliedAmount: 0 },
    ]);
  });

  it("matches everything that is left on demand", async () => {
    await fresh();
    await documents({ number: "INV-1", amount: 100 });
    const text = { remittanceText: "for INV-9" };
    await pay(
      { id: "D1", amount: 100, payerName: "Bolt", lines: [named("INV-1", 100)] },
      { id: "D2", amount: 40, payerName: "Acme", ...text },
    );
    await documents({ number: "INV-9", amount: 40 });
    const needs = { store: at().store, clock: at().clock };
    const counts = { checked: 2, matched: 0, changed: 1 };
    expect(await matchPayments(needs, tenant())).toEqual({ tenantId: tenant(), ...counts });
    expect(await rows(["D2"], "documentNumber", "matchMethod", "appliedAmount")).toEqual([
      { documentNumber: "INV-9", matchMethod: "suggested", appliedAmount: 0 },
    ]);
    expect(await matchPayments(needs, tenant())).toMatchObject({ checked: 2, changed: 0 });
  });
});
