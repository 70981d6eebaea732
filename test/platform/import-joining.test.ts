import { expect, it } from "vitest";
import { listDoubts } from "../../src/platform/admin/doubts.ts";
import { undoImport } from "../../src/platform/admin/imports.ts";
import { bai2, camtEntry, camtStatement, edi820, NOTIFICATION } from "../support/bank-files.ts";
import { createMoneyCases, listAmounts } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const REPORT = { message: "BkToCstmrAcctRpt", statement: "Rpt", version: "052.001.08" };
const STATEMENT = {};

const KINDS = { "052": REPORT, "053": STATEMENT, "054": NOTIFICATION } as const;
type Name = keyof typeof KINDS;

const ORDERS: readonly (readonly Name[])[] = [
  ["052", "053", "054"],
  ["052", "054", "053"],
  ["053", "052", "054"],
  ["053", "054", "052"],
  ["054", "052", "053"],
  ["054", "053", "052"],
];

const camt = { format: "camt" } as const;

const details = (id: string, amount: string, payer: string, invoice: string): string =>
  `<TxDtls><Refs><EndToEndId>${id}</EndToEndId></Refs><Amt Ccy="EUR">${amount}</Amt><RltdPties><Dbtr><Pty><Nm>${payer}</Nm></Pty></Dbtr></RltdPties><RmtInf><Strd><RfrdDocInf><Nb>${invoice}</Nb></RfrdDocInf></Strd></RmtInf></TxDtls>`;

const statementOf = (...entries: readonly string[]): string => camtStatement(entries.join(""));

onEveryStore("payments that several messages are about", (at) => {
  const { start, pay, paid, tenant } = createMoneyCases(at);
  const undo = (importId = "") =>
    undoImport({ store: at().store, clock: at().clock, record: async () => {} }, importId);
  const again = async (text: string, format: "camt" | "bai2" | "edi820"): Promise<void> => {
    const { report } = await pay(text, { format });
    expect(report).toMatchObject({ written: 0, rejected: 0, doubtful: 0 });
    expect(report?.unchanged).toBe((report?.read ?? 0) - (report?.leftOut ?? 0));
  };

  verifies("MN-03", "MN-12");
  it.each(ORDERS)("joins camt %s, %s and %s of one account to one payment", async (...order) => {
    await start("EUR");
    const entry = camtEntry({
      amount: "80.00",
      reference: "A1B2C3",
      details: details("E2E-80", "80.00", "Acme", "INV-1"),
    });
    const unreferenced = camtEntry({
      amount: "33.00",
      details: details("E2E-33", "33.00", "Bolt", "INV-2"),
    });
    const files = order.map((name) => camtStatement(entry + unreferenced, KINDS[name]));
    const reports = [];
    for (const file of files) reports.push((await pay(file, camt)).report);
    expect(reports.map((one) => [one?.written, one?.unchanged, one?.doubtful])).toEqual([
      [2, 0, 0],
      [0, 2, 0],
      [0, 2, 0],
    ]);
    expect(listAmounts(await paid())).toEqual([
      [80, "EUR"],
      [33, "EUR"],
    ]);
    for (const file of files) await again(file, "camt");
  });

  const batch = camtEntry({ amount: "300.00", reference: "BATCH1", text: "Collection of March" });
  const parts = [
    details("E1", "100.00", "Acme", "INV-1"),
    details("E2", "200.00", "Bolt", "INV-2"),
  ];
  const detailed = camtEntry({ amount: "300.00", reference: "BATCH1", details: parts.join("") });

  verifies("MN-12", "MN-05");
  it("replaces a batch by its details, keeps its payment id and takes the details back", async () => {
    await start("EUR");
    const lump = await pay(camtStatement(batch), camt);
    const [one] = await paid();
    const notified = await pay(camtStatement(detailed, NOTIFICATION), camt);
    const payments = await paid();
    expect(listAmounts(payments)).toEqual([
      [200, "EUR"],
      [100, "EUR"],
    ]);
    expect(payments.map(({ id }) => id)).toContain(one?.id);
    expect(payments.map(({ rows }) => rows[0]?.["payerName"]).toSorted()).toEqual(["Acme", "Bolt"]);
    await again(camtStatement(batch), "camt");
    await again(camtStatement(detailed, NOTIFICATION), "camt");
    expect(await undo(lump.report?.importId)).toMatchObject({ undone: 0 });
    expect(await undo(notified.report?.importId)).toMatchObject({ kept: 0, reasons: [] });
    const restored = await paid();
    expect(restored).toMatchObject([{ id: one?.id, amount: 300 }]);
    expect(restored[0]?.rows).toEqual(one?.rows);
  });

  verifies("MN-12");
  it("keeps the details of a notification when its batch follows in a statement", async () => {
    await start("EUR");
    await pay(camtStatement(detailed, NOTIFICATION), camt);
    const before = await paid();
    const { report } = await pay(camtStatement(batch), camt);
    expect(report).toMatchObject({ written: 0, unchanged: 1 });
    expect(await paid()).toEqual(before);
  });

  verifies("MN-12");
  it.each([
    ["advice", "deposit"],
    ["deposit", "advice"],
  ])("joins the %s to the %s", async (...order) => {
    await start("USD");
    const files = {
      advice: [edi820(["RMR*IV*INV-1**1500.75"]), "edi820"],
      deposit: [bai2([{ cents: "150075", bank: "B1", customer: "TRACE-77" }]), "bai2"],
    } as const;
    for (const name of order as ("advice" | "deposit")[]) {
      const [text, format] = files[name];
      expect((await pay(text, { format })).report?.rejected).toBe(0);
    }
    const payments = await paid();
    expect(payments).toMatchObject([{ amount: 1500.75, currency: "USD" }]);
    expect(payments[0]?.rows).toMatchObject([{ invoiceNumber: "INV-1" }]);
    for (const [text, format] of Object.values(files)) await again(text, format);
    expect(await paid()).toHaveLength(1);
  });

  verifies("MN-03");
  it("keeps two messages of one kind without a reference apart, the second as doubtful", async () => {
    await start("EUR");
    const entry = camtEntry({ amount: "50.00", text: "DEPOSIT" });
    const first = camtStatement(entry);
    const second = camtStatement(entry).replace("<Id>S1</Id>", "<Id>S2</Id>");
    await pay(first, camt);
    const [one] = await paid();
    const { report } = await pay(second, camt);
    expect(report).toMatchObject({ written: 1, doubtful: 1 });
    const reason = `possible duplicate of ${one?.id}`;
    expect(report?.files[0]?.doubts).toMatchObject([{ amount: 50, currencyCode: "EUR", reason }]);
    expect(report?.files[0]?.totals).toMatchObject([{ written: 50, doubtful: 50 }]);
    const payments = await paid();
    expect(payments.map(({ rows }) => rows[0]?.["doubt"])).toEqual([null, reason]);
    await again(first, "camt");
    await again(second, "camt");
  });

  verifies("MN-03");
  it("joins two messages of one kind by the bank's reference", async () => {
    await start("EUR");
    const entry = camtEntry({ amount: "50.00", reference: "REF-50", text: "DEPOSIT" });
    await pay(camtStatement(entry), camt);
    await again(camtStatement(entry).replace("<Id>S1</Id>", "<Id>S2</Id>"), "camt");
    expect(await paid()).toHaveLength(1);
  });

  verifies("MN-04");
  it("keeps equal entries of one file, and adds the further one of a statement sent again", async () => {
    await start("EUR");
    const entry = camtEntry({ amount: "10.00", text: "CARD" });
    const { report } = await pay(statementOf(entry, entry), camt);
    expect(report).toMatchObject({ written: 2, doubtful: 0 });
    await again(statementOf(entry, entry), "camt");
    const more = await pay(statementOf(entry, entry, entry), camt);
    expect(more.report).toMatchObject({ written: 1, unchanged: 2, doubtful: 0 });
    const other = await pay(statementOf(entry, entry, entry, camtEntry({ amount: "7.00" })), camt);
    expect(other.report).toMatchObject({ written: 1, unchanged: 3 });
    expect(listAmounts(await paid()).map(([amount]) => amount)).toEqual([10, 10, 10, 7]);
    // A report of another kind about the same three is joined one to one.
    const three = await pay(camtStatement(entry + entry + entry, REPORT), camt);
    expect(three.report).toMatchObject({ written: 0, unchanged: 3, doubtful: 0 });
  });

  verifies("MN-04", "MN-12");
  it("never joins two entries of a statement to one of a report, also when the second one comes later", async () => {
    await start("EUR");
    const entry = camtEntry({ amount: "10.00", text: "CARD" });
    await pay(camtStatement(entry, REPORT), camt);
    expect((await pay(statementOf(entry), camt)).report).toMatchObject({ written: 0 });
    const more = await pay(statementOf(entry, entry), camt);
    expect(more.report).toMatchObject({ written: 1, unchanged: 1, doubtful: 0 });
    expect(listAmounts(await paid()).map(([amount]) => amount)).toEqual([10, 10]);
    // The same, where the statement was first.
    await start("EUR");
    await pay(statementOf(entry), camt);
    expect((await pay(camtStatement(entry, REPORT), camt)).report).toMatchObject({ written: 0 });
    const again = await pay(statementOf(entry, entry), camt);
    expect(again.report).toMatchObject({ written: 1, unchanged: 1, doubtful: 0 });
    expect(await paid()).toHaveLength(2);
  });

  verifies("MN-04", "MN-12");
  it("joins each entry of a long statement to one of another message, also across batches", async () => {
    await start("EUR");
    const entry = camtEntry({ amount: "10.00", text: "CARD" });
    const others = Array.from({ length: 1200 }, (_, place) =>
      camtEntry({ amount: "1.00", text: `OTHER ${place}`, reference: `O${place}` }),
    );
    await pay(camtStatement(entry, REPORT), camt);
    const { report } = await pay(statementOf(entry, ...others, entry), camt);
    expect(report).toMatchObject({ written: 1201, unchanged: 1, doubtful: 0 });
  });

  verifies("MN-03", "MN-12");
  it("doubts no deposit because of an advice that is about another one", async () => {
    await start("USD");
    const deposit = (bank: string) => ({ cents: "150075", bank, text: "Acme" });
    const advice = edi820(["N1*PR*Acme", "ENT*1", "RMR*IV*INV-1**1500.75"]);
    await pay(advice, { format: "edi820" });
    const first = await pay(bai2([deposit("B1")], { file: "1" }), { format: "bai2" });
    expect(first.report).toMatchObject({ written: 0, unchanged: 1, doubtful: 0 });
    const second = await pay(bai2([deposit("B2")], { file: "2" }), { format: "bai2" });
    expect(second.report).toMatchObject({ written: 1, doubtful: 0 });
    expect(await paid()).toHaveLength(2);
  });

  verifies("MN-03", "MN-12");
  it("settles a doubt when a message has an entry for each of the two payments", async () => {
    await start("EUR");
    const entry = (payer: string): string =>
      camtEntry({
        amount: "10.00",
        details: `<TxDtls><RltdPties><Dbtr><Pty><Nm>${payer}</Nm></Pty></Dbtr></RltdPties></TxDtls>`,
      });
    const doubts = async () => (await paid()).map(({ rows }) => rows[0]?.["doubt"] ?? null);
    await pay(camtStatement(entry("Acme"), REPORT), camt);
    const other = await pay(camtStatement(entry("Bolt"), NOTIFICATION), camt);
    expect(other.report).toMatchObject({ written: 1, doubtful: 1 });
    expect(await doubts()).toEqual([null, expect.stringContaining("possible duplicate")]);
    const both = await pay(statementOf(entry("Acme"), entry("Bolt")), camt);
    expect(both.report).toMatchObject({ written: 0, unchanged: 2, doubtful: 0 });
    expect(await doubts()).toEqual([null, null]);
    expect(await listDoubts(at().store.read, tenant())).toEqual([]);
    await again(statementOf(entry("Acme"), entry("Bolt")), "camt");
    await undo(both.report?.importId);
    expect(await doubts()).toEqual([null, expect.stringContaining("possible duplicate")]);
    expect(await listDoubts(at().store.read, tenant())).toHaveLength(1);
  });

  verifies("MN-03", "MN-12");
  it("settles the doubt of an advice when its own deposit comes", async () => {
    await start("USD");
    const advice = edi820(["N1*PR*Acme", "ENT*1", "RMR*IV*INV-1**1500.75"]);
    const deposit = (bank: string, day: string) =>
      bai2([{ cents: "150075", bank, text: "Acme" }], { file: bank }).replace("260228", day);
    const first = await pay(deposit("OTHER-1", "260227"), { format: "bai2" });
    expect(first.report).toMatchObject({ written: 1, doubtful: 0 });
    expect((await pay(advice, { format: "edi820" })).report).toMatchObject({ doubtful: 1 });
    const own = await pay(deposit("TRACE-77", "260228"), { format: "bai2" });
    expect(own.report).toMatchObject({ written: 0, unchanged: 1, doubtful: 0 });
    expect(await listDoubts(at().store.read, tenant())).toEqual([]);
    expect(await paid()).toHaveLength(2);
  });

  /** The orders of two advices and their deposits, of instalments of one document a week apart. */
  const INSTALMENTS = ["ADad", "aDAd", "DaAd", "AdDa", "aAdD", "daDA"].map((order) => [order]);

  verifies("MN-03", "MN-12");
  it.each(INSTALMENTS)(
    "joins each instalment of a document to its own advice (%s)",
    async (order) => {
      await start("USD");
      const advise = (trace: string, day: string) =>
        edi820(["N1*PR*Acme", "ENT*1", "RMR*IV*INV-1**1500.75"])
          .replace("TRACE-77", trace)
          .replace("20260228", day)
          .replaceAll("000000042", trace.padStart(9, "0"));
      const deposit = (customer: string, day: string) =>
        bai2([{ cents: "150075", customer, text: "INV-1" }], { file: customer }).replace(
          "260228",
          day,
        );
      const files: Record<string, [string, "edi820" | "bai2"]> = {
        A: [advise("10001", "20260220"), "edi820"],
        D: [deposit("10001", "260220"), "bai2"],
        a: [advise("10002", "20260227"), "edi820"],
        d: [deposit("10002", "260227"), "bai2"],
      };
      for (const name of order) {
        const [text, format] = files[name] ?? ["", "bai2"];
        await pay(text, { format });
      }
      expect(listAmounts(await paid())).toEqual([
        [1500.75, "USD"],
        [1500.75, "USD"],
      ]);
      expect(await listDoubts(at().store.read, tenant())).toEqual([]);
    },
  );

  verifies("MN-10");
  it("has a return wait for the payment that it names, and gives back the one that it was taken for", async () => {
    await start("EUR", { accounts: ["Acme"], documents: { "INV-1": "80.00", "INV-2": "80.00" } });
    const credit = (id: string, invoice: string): string =>
      camtEntry({
        amount: "80.00",
        reference: `BK-${id}`,
        details: details(id, "80.00", "Acme", invoice),
      });
    const back = camtEntry({
      amount: "80.00",
      sign: "DBIT",
      reversal: true,
      reference: "BK-R1",
      details: `<TxDtls><Refs><EndToEndId>E2E-2</EndToEndId></Refs><Amt Ccy="EUR">80.00</Amt><RltdPties><Dbtr><Pty><Nm>Acme</Nm></Pty></Dbtr></RltdPties><RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf></TxDtls>`,
    });
    const message = (id: string, entry: string): string =>
      statementOf(entry).replace("<Id>S1</Id>", `<Id>${id}</Id>`);
    const documents = async () => (await paid()).map((one) => one.documents);
    await pay(message("S1", credit("E2E-1", "INV-1")), camt);
    await pay(message("S2", back), camt);
    // It is the only payment of the payer with this amount.
    expect(await documents()).toEqual([{ "INV-1": 80 }, { "INV-1": -80 }]);
    await pay(message("S3", credit("E2E-2", "INV-2")), camt);
    expect(await documents()).toEqual([{ "INV-1": 80 }, { "INV-2": -80 }, { "INV-2": 80 }]);
    const files = [message("S1", credit("E2E-1", "INV-1")), message("S2", back)];
    for (const file of files) await again(file, "camt");
    expect(await documents()).toEqual([{ "INV-1": 80 }, { "INV-2": -80 }, { "INV-2": 80 }]);
  });

  const HEAD = "paymentId,paymentDate,currencyCode,paymentAmount,payerName,documentNumber";

  verifies("MN-10");
  it.each([["payment first"], ["return first"]])(
    "opens the documents of a payment that is returned with charges (%s)",
    async (order) => {
      await start("EUR", { accounts: ["Acme"], documents: { "INV-1": "100.00" } });
      const credit = camtEntry({
        amount: "100.00",
        details: details("E1", "100.00", "Acme", "INV-1"),
      });
      const reason = "<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>";
      const back = camtEntry({
        amount: "104.00",
        sign: "DBIT",
        details: `<TxDtls><Refs><EndToEndId>E1</EndToEndId></Refs>${reason}</TxDtls>`,
      });
      const files = [statementOf(credit), statementOf(back).replace("<Id>S1", "<Id>S2")];
      if (order === "return first") files.reverse();
      for (const file of files) await pay(file, camt);
      const all = await paid();
      const [payment, returned] = all.toSorted((a, b) => b.amount - a.amount);
      expect(returned).toMatchObject({ amount: -104, applied: -100, unapplied: -4 });
      expect(returned?.rows[0]).toMatchObject({ returnedPaymentId: payment?.id });
      expect(returned?.documents).toEqual({ "INV-1": -100 });
    },
  );

  verifies("MN-03");
  it("keeps a table's row with the id of another payment beside it, as doubtful", async () => {
    await start("USD");
    const first = `${HEAD}\nP1,2026-03-01,USD,10.00,Acme,\n`;
    const second = `${HEAD}\nP1,2026-04-01,USD,12.00,Bolt,\n`;
    await pay(first);
    const { report } = await pay(second);
    expect(report).toMatchObject({ written: 1, doubtful: 1 });
    const payments = await paid();
    expect(listAmounts(payments)).toEqual([
      [12, "USD"],
      [10, "USD"],
    ]);
    expect(payments.map(({ rows }) => rows[0]?.["doubt"])).toEqual([
      null,
      "possible duplicate of P1",
    ]);
    for (const text of [first, second]) {
      expect((await pay(text)).report).toMatchObject({ written: 0, unchanged: 1, doubtful: 0 });
    }
    const entries = at().store.read.selectFrom("payment_entries").select("doubt");
    expect(await entries.where("tenant_id", "=", tenant()).execute()).toEqual([{ doubt: "open" }]);
  });

  verifies("MN-04", "MN-23");
  it("refuses rows of one payment that contradict each other by both lines", async () => {
    await start("USD");
    const rows = ["P1,2026-03-01,USD,10.00,Acme,A", "P1,2026-03-02,USD,10.00,Acme,B"];
    const { report, rejects, exit } = await pay([HEAD, ...rows, ""].join("\n"));
    expect([exit, report?.rejected]).toEqual([1, 2]);
    expect(rejects.map(({ line, message }) => [line, message])).toEqual([
      [2, expect.stringMatching(/line 3.*paymentDate/)],
      [3, expect.stringMatching(/line 2.*paymentDate/)],
    ]);
  });

  verifies("MN-04");
  it("tells equal rows of a table apart by their occurrence", async () => {
    await start("USD");
    const row = "P1,2026-03-01,USD,10.00,Acme,A";
    const text = [HEAD, row, row, ""].join("\n");
    expect((await pay(text)).report).toMatchObject({ written: 2 });
    expect((await pay(text)).report).toMatchObject({ written: 0, unchanged: 2 });
    const [one] = await paid();
    expect([one?.amount, one?.rows.length]).toEqual([10, 2]);
  });
});
