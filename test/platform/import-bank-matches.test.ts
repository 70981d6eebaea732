import { expect, it } from "vitest";
import { bai2, camt053, edi820, entry, transfer } from "../support/bank-files.ts";
import { createBankTenants } from "../support/bank-tenants.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("documents that payments of banks pay", (at) => {
  const { fresh, bring, documents, rows, total } = createBankTenants(at);

  verifies("MN-30");
  it("matches documents that are named, reports short payments and suggests what is mentioned", async () => {
    await fresh();
    await documents([
      { number: "D-1", invoice: "INV-1", balance: 1200 },
      { number: "D-2", invoice: "INV-2", balance: 500.75 },
      { number: "D-3", invoice: "TWICE", balance: 5 },
      { number: "D-4", invoice: "TWICE", balance: 5 },
      { number: "D-5", invoice: "EURO", balance: 5, currency: "EUR" },
      { number: "D-6", invoice: "INV-6", balance: 600 },
    ]);
    const remitted = ["INV-1**990", "D-2**500.75", "TWICE**5", "EURO**5"];
    await bring("edi820", edi820(remitted.map((text) => `RMR*IV*${text}`)));
    const found = await rows(
      "documentNumber",
      "accountName",
      "applicationStatus",
      "shortPay",
      "appliedAmount",
      "invoiceBalance",
      "matchMethod",
    );
    expect(found.map((row) => Object.values(row))).toEqual([
      ["Acme", "D-1", 990, 1200, true, "partial", "auto"],
      ["Acme", "D-2", 500.75, 500.75, false, "matched", "auto"],
      [null, null, 0, null, false, "unapplied", null],
      [null, null, 0, null, false, "unapplied", null],
    ]);
    await bring("bai2", bai2([{ cents: "60000", customer: "INV-6" }]));
    const [paid] = (
      await rows("documentNumber", "appliedAmount", "unappliedAmount", "matchMethod")
    ).slice(-1);
    expect(paid).toEqual({
      documentNumber: "D-6",
      appliedAmount: 0,
      unappliedAmount: 600,
      matchMethod: "suggested",
    });
  });

  verifies("MN-30");
  it("never takes numbers for the same whose dashes or zeros stand elsewhere", async () => {
    await fresh();
    await documents([
      { number: "X-0-20", balance: 600 },
      { number: "Y-12-3", balance: 300 },
      { number: "Z-2026-007", balance: 600.75 },
    ]);
    await bring(
      "edi820",
      edi820(["X-2-0**600", "Y-1-23**300", "z 2026007**600.75"].map((text) => `RMR*IV*${text}`)),
    );
    expect(
      await rows("invoiceNumber", "documentNumber", "appliedAmount", "unappliedAmount"),
    ).toEqual(
      [
        ["X-2-0", null, 0],
        ["Y-1-23", null, 0],
        ["z 2026007", "Z-2026-007", 600.75],
      ].map(([invoiceNumber, documentNumber, appliedAmount]) => ({
        invoiceNumber,
        documentNumber,
        appliedAmount,
        unappliedAmount: 900,
      })),
    );
  });

  verifies("IN-12");
  it("says on each row what of a payment no document took, so that a summary counts it once", async () => {
    await fresh();
    const balances = { "R-1": 4, "R-2": 6, "R-3": 30, "R-4": 15 };
    await documents(
      Object.entries(balances).map(([number, balance]) => ({ number, balance, currency: "EUR" })),
    );
    const named = [
      { number: "R-1", share: "4" },
      { number: "R-2", share: "6.5" },
      { number: "R-9", share: "2" },
    ];
    const many = Array.from({ length: 1200 }, (_, place) => ({ number: `X-${place}`, share: "1" }));
    const file = camt053([
      entry({ amount: "13", details: [transfer({ id: "E1", amount: "13", documents: named })] }),
      entry({
        amount: "40",
        details: [
          transfer({ id: "E2", amount: "40", documents: [{ number: "R-3" }, { number: "R-4" }] }),
        ],
      }),
      entry({
        amount: "1300",
        details: [
          transfer({
            id: "E3",
            amount: "1300",
            documents: [...many, { number: "R-1", share: "3" }],
          }),
        ],
      }),
      entry({
        amount: "10",
        details: [transfer({ id: "E4", amount: "5" }), transfer({ id: "E4", amount: "5" })],
      }),
    ]);
    await bring("camt", file);
    const found = await rows(
      "invoiceNumber",
      "appliedAmount",
      "unappliedAmount",
      "deductionAmount",
      "applicationStatus",
    );
    const of = (...numbers: string[]) =>
      found
        .filter(({ invoiceNumber }) => numbers.includes(String(invoiceNumber)))
        .map((row) => Object.values(row).slice(0, 5));
    expect(of("R-2", "R-9", "R-3", "R-4", "X-7")).toEqual([
      ["R-2", 6, 3, null, "matched"],
      ["R-9", 0, 3, null, "unapplied"],
      ["R-3", 30, 0, null, "matched"],
      ["R-4", 10, 0, 5, "partial"],
      ["X-7", 0, 1300, null, "unapplied"],
    ]);
    expect(await total()).toEqual({
      payments: 5,
      paymentAmount: 1363,
      unappliedAmount: 1313,
      appliedAmount: 50,
    });
    expect((await bring("camt", file)).counts).toMatchObject({ written: 0 });
    const changed = file.replace(">6.5<", ">1<");
    expect((await bring("camt", changed)).counts).toMatchObject({ written: 3 });
    expect(await total()).toMatchObject({ payments: 5, unappliedAmount: 1318, appliedAmount: 45 });
  });
});
