import { expect, it } from "vitest";
import { formatTimestamp, MINUTE } from "../../src/kit/clock.ts";
import { undoImport } from "../../src/platform/admin/imports.ts";
import type { BankFormat } from "../../src/platform/import/formats.ts";
import { buildRowKey, deriveId, hashValues } from "../../src/platform/import/payments/row.ts";
import { addPayments, takeSeqs } from "../../src/platform/store/queries/payments.ts";
import { bai2, camt053, edi820, entry, transfer } from "../support/bank-files.ts";
import { createMoneyCases } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

type Row = Record<string, unknown>;
type Former = { format: BankFormat; text: string; shared: Row; rows: readonly Row[] };

const named = [
  { number: "INV-1", share: "60.00" },
  { number: "INV-2", share: "40.00" },
];

const CAMT_PAYER = { payerName: "Muster GmbH", payerAccountLast4: "2051" };
const BATCH = "camt-10365712e54c9a4aeab2edec";
const ADVICE = "edi820-f917b82bb5e72b1821568da6";

/** Files with the rows that version 0.1.0 stored for them: its readers were run on these files. */
const FORMER: readonly Former[] = [
  {
    format: "bai2",
    text: bai2([
      { cents: "10000", bank: "B1", customer: "C1", text: "INV-1" },
      { cents: "250", text: "CASH" },
      { cents: "250", text: "CASH" },
    ]),
    shared: { paymentMethod: "ach", currencyCode: "USD", remittanceSource: "bai2" },
    rows: [
      { paymentId: "bai2-187bb3149215c0290419f4ae", paymentReference: "C1", paymentAmount: 100 },
      { paymentId: "bai2-88dd2e29694154adcbf95111", paymentAmount: 2.5 },
      { paymentId: "bai2-88dd2e29694154adcbf95111-2", paymentAmount: 2.5 },
    ],
  },
  {
    format: "camt",
    text: camt053([
      entry({
        amount: "150.00",
        details: [
          transfer({ id: "E-1", amount: "100.00", documents: named }),
          transfer({ id: "E-2", amount: "50.00" }),
        ],
      }),
      entry({ amount: "9.00" }).replace("SVC-1", "SVC-2"),
    ]),
    shared: { paymentMethod: "other", currencyCode: "EUR", remittanceSource: "camt054" },
    rows: [
      ...named.map(({ number, share }) => ({
        ...CAMT_PAYER,
        paymentId: BATCH,
        paymentReference: "E-1",
        paymentAmount: 100,
        invoiceNumber: number,
        appliedAmount: Number(share),
      })),
      {
        ...CAMT_PAYER,
        paymentId: "camt-3d342e33e18484611d53e001",
        paymentReference: "E-2",
        paymentAmount: 50,
      },
      {
        paymentId: "camt-114b9c1e628c37a0ea90d003",
        paymentReference: "SVC-2",
        paymentAmount: 9,
      },
    ],
  },
  {
    format: "edi820",
    text: edi820(["RMR*IV*INV-1**1000.75", "RMR*IV*INV-2**500"]),
    shared: { paymentMethod: "ach", currencyCode: "USD", remittanceSource: "edi820" },
    rows: [
      { invoiceNumber: "INV-1", appliedAmount: 1000.75 },
      { invoiceNumber: "INV-2", appliedAmount: 500 },
    ].map((row) => ({
      ...row,
      paymentId: ADVICE,
      paymentReference: "TRACE-77",
      remittanceId: "TRACE-77",
      paymentAmount: 1500.75,
    })),
  },
];

onEveryStore("rows of version 0.1.0", (at) => {
  const { start, pay, paid, query, tenant } = createMoneyCases(at);
  const insert = async ({ shared, rows }: Former): Promise<void> => {
    const now = formatTimestamp(at().clock());
    await at().store.transaction(async (tx) => {
      const first = await takeSeqs(tx, tenant(), "cashapp", rows.length);
      const stored = rows.map((row, place) => {
        const values: Row = {
          paymentDate: "2026-02-28",
          shortPay: false,
          applicationStatus: "unapplied",
          ...shared,
          ...row,
        };
        const id = deriveId(tenant(), "cashapp", buildRowKey("cashapp", values), 1);
        const own = { id, tenantId: tenant(), createdAt: now, updatedAt: now };
        // Version 0.1.0 took what a file says is applied from rows without a document.
        const applied = { appliedAmount: 0, unappliedAmount: row["paymentAmount"] };
        return {
          tenantId: tenant(),
          seq: first + place,
          sentHash: hashValues(values),
          values: { ...values, ...applied, ...own },
        };
      });
      await addPayments(tx, "cashapp", stored);
    }, tenant());
  };
  const readIds = async () =>
    (await query("cashapp", ["id", "paymentId", "createdAt"])).map((row) => Object.values(row));

  verifies("MN-03", "IN-12");
  it.each(FORMER)("keeps the ids of rows of $format and doubles nothing", async (former) => {
    await start("USD");
    await insert(former);
    const [ids, before] = [await readIds(), await paid()];
    at().clock.advance(MINUTE);
    const { report } = await pay(former.text, { format: former.format });
    expect(report).toMatchObject({ rejected: 0, doubtful: 0 });
    expect(await readIds()).toEqual(ids);
    const sums = (payments: typeof before) => payments.map(({ id, amount }) => [id, amount]);
    expect(sums(await paid())).toEqual(sums(before));
    const again = await pay(former.text, { format: former.format });
    expect(again.report).toMatchObject({ written: 0, rejected: 0, doubtful: 0 });
    expect(again.report?.unchanged).toBe(report?.read);
    const needs = { store: at().store, clock: at().clock, record: async () => {} };
    expect(await undoImport(needs, report?.importId ?? "")).toMatchObject({ kept: 0 });
    expect([await readIds(), await paid()]).toEqual([ids, before]);
  });

  verifies("MN-03");
  it("keeps a payment of another file beside one that version 0.1.0 stored", async () => {
    await start("USD");
    const credit = { cents: "250", text: "CASH" };
    const paymentId = "bai2-88dd2e29694154adcbf95111";
    const [{ shared } = {}] = FORMER;
    const rows = [{ paymentId, paymentAmount: 2.5 }];
    await insert({ format: "bai2", text: "", shared: shared ?? {}, rows });
    await pay(bai2([credit], { file: "1" }), { format: "bai2" });
    const { report } = await pay(bai2([credit], { file: "2" }), { format: "bai2" });
    expect(report).toMatchObject({ written: 1, doubtful: 1 });
    const payments = await paid();
    expect(payments.map(({ amount, rows: [row] }) => [amount, row?.["doubt"]])).toEqual([
      [2.5, null],
      [2.5, `possible duplicate of ${paymentId}`],
    ]);
  });
});
