import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { listDoubts } from "../../src/platform/admin/doubts.ts";
import { rowsOf } from "../support/audit.ts";
import { bai2, camtEntry, camtStatement, edi820 } from "../support/bank-files.ts";
import { createMoneyCases } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { findRow } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const camt = { format: "camt" } as const;

const details = (amount: string, invoice: string): string =>
  `<TxDtls><Amt Ccy="EUR">${amount}</Amt><RltdPties><Dbtr><Pty><Nm>Acme</Nm></Pty></Dbtr></RltdPties><RmtInf><Strd><RfrdDocInf><Nb>${invoice}</Nb></RfrdDocInf><RfrdDocAmt><RmtdAmt Ccy="EUR">${amount}</RmtdAmt></RfrdDocAmt></Strd></RmtInf></TxDtls>`;

/** A statement of one entry without a reference of the bank. */
const statement = (id: string, amount: string, invoice: string, day = "2026-03-30"): string => {
  const dates = `<ValDt><Dt>${day}</Dt></ValDt>`;
  const entry = camtEntry({ amount, dates, details: details(amount, invoice) });
  return camtStatement(entry).replace("<Id>S1</Id>", `<Id>${id}</Id>`);
};

const MT940 = [
  ":20:STARTUMS",
  ":25:37040044/0532013000",
  ":28C:1/1",
  ":60F:C260329EUR1000,00",
  ":61:2603300330C50,00NTRFNONREF//B1",
  ":86:ACME",
  ":62F:C260330EUR1050,00",
  "",
].join("\r\n");

const HEAD = "paymentId,paymentDate,currencyCode,paymentAmount,payerName,poNumber";

onEveryStore("doubtful payments", (at) => {
  const { start, pay, paid, tenant, list, settle, undo } = createMoneyCases(at);
  const settlements = async () =>
    (await rowsOf(at().store.read, tenant()))
      .filter(({ action }) => action === "admin.payment_doubt_settled")
      .map(({ metadata }) => JSON.parse(metadata));

  verifies("MN-03", "MN-04", "MN-12");
  it.each([
    ["camt", (): string => camtStatement(camtEntry({ amount: "50.00", reference: "B1" }))],
    ["mt940", (): string => MT940],
    ["bai2", (): string => bai2([{ cents: "5000", bank: "B1", text: "ACME" }])],
    ["edi820", (): string => edi820(["RMR*IV*D1**1500.75"])],
  ] as const)(
    "doubts the entries of a message that a file of %s has twice",
    async (format, file) => {
      await start("EUR");
      const once = (await pay(file(), { format })).report;
      const [first] = await paid();
      await start("EUR");
      const text =
        format === "camt" ? file() + file().replace(/^<\?xml[^>]*>/, "") : file() + file();
      const { report } = await pay(text, { format });
      expect([once?.written, report?.written, report?.doubtful]).toEqual([1, 2, 1]);
      const payments = await paid();
      expect(payments.map(({ amount }) => amount)).toEqual([first?.amount, first?.amount]);
      const [doubt] = await list();
      const other = payments.find(({ id }) => id !== doubt?.paymentIds[0]);
      expect(doubt?.reason).toBe(`possible duplicate of ${other?.id}`);
      const again = await pay(text, { format });
      expect([again.report?.written, again.report?.unchanged]).toEqual([0, 2]);
      await settle("same", doubt?.id);
      expect((await paid()).map(({ amount }) => amount)).toEqual([first?.amount]);
      expect((await pay(text, { format })).report?.written).toBe(0);
      expect(await list()).toEqual([]);
    },
  );

  verifies("MN-03");
  it("lists a payment of a bank that may repeat another one", async () => {
    await start("EUR");
    await pay(statement("S1", "100.00", "D1"), camt);
    const [first] = await paid();
    const { report } = await pay(statement("S2", "100.00", "D1"), camt);
    const second = (await paid()).find(({ id }) => id !== first?.id);
    expect(await list()).toMatchObject([
      {
        paymentIds: [second?.id],
        source: "cashapp",
        from: "camt.053",
        amount: 100,
        currencyCode: "EUR",
        paymentDate: "2026-03-30",
        importId: report?.importId,
        reason: `possible duplicate of ${first?.id}`,
      },
    ]);
  });

  verifies("MN-03", "MN-31");
  it("removes a repeated payment, opens its documents and never imports it again", async () => {
    await start("EUR", { accounts: ["Acme"], documents: { D1: "200.00" } });
    await pay(statement("S1", "100.00", "D1"), camt);
    at().clock.advance(MINUTE);
    await pay(statement("S2", "100.00", "D1"), camt);
    await pay(statement("S3", "70.00", "D1", "2026-03-31"), camt);
    expect((await paid()).map(({ applied }) => applied)).toEqual([100, 100, 0]);
    const [doubt] = await list();
    at().clock.advance(MINUTE);
    expect(await settle("same", doubt?.id)).toMatchObject({ id: doubt?.id, settledAs: "same" });
    expect(await list()).toEqual([]);
    expect((await paid()).map(({ amount, applied }) => [amount, applied])).toEqual([
      [100, 100],
      [70, 70],
    ]);
    const again = await pay(statement("S2", "100.00", "D1"), camt);
    expect(again.report).toMatchObject({ written: 0, unchanged: 1, doubtful: 0 });
    expect(await paid()).toHaveLength(2);
    await expect(settle("same", doubt?.id)).rejects.toMatchObject({ code: "not_found" });
    expect(await settlements()).toMatchObject([
      { resourceId: doubt?.id, settledAs: "same", payments: 1 },
    ]);
  });

  verifies("MN-03");
  it("keeps a payment that is different, without the doubt", async () => {
    await start("EUR");
    await pay(statement("S1", "100.00", "D1"), camt);
    await pay(statement("S2", "100.00", "D1"), camt);
    const [doubt] = await list();
    expect(await settle("different", doubt?.id)).toMatchObject({ settledAs: "different" });
    expect(await list()).toEqual([]);
    const again = await pay(statement("S2", "100.00", "D1"), camt);
    expect(again.report).toMatchObject({ written: 0, unchanged: 1, doubtful: 0 });
    expect((await paid()).map(({ rows }) => rows[0]?.["doubt"])).toEqual([null, null]);
    expect(await settlements()).toMatchObject([{ settledAs: "different" }]);
  });

  const conflict = async () => {
    await start("USD");
    await pay(`${HEAD}\nP1,2026-03-01,USD,10.00,Acme,A\n`);
    const second = `${HEAD}\nP1,2026-04-01,USD,12.00,Bolt,A\n`;
    const { report } = await pay(second);
    const [doubt] = await list();
    return { second, doubt, report };
  };

  verifies("MN-03");
  it("removes a repeated payment of a table and never imports it again", async () => {
    const { second, doubt } = await conflict();
    expect(doubt).toMatchObject({ source: "cashapp", from: "table cashapp", amount: 12 });
    await settle("same", doubt?.id);
    expect((await paid()).map(({ id, amount }) => [id, amount])).toEqual([["P1", 10]]);
    expect((await pay(second)).report).toMatchObject({ written: 0, unchanged: 1, doubtful: 0 });
    expect([await list(), (await paid()).length]).toEqual([[], 1]);
  });

  verifies("MN-03");
  it("keeps a payment of a table that is different, also when it changes", async () => {
    const { second, doubt } = await conflict();
    await settle("different", doubt?.id);
    expect((await pay(second)).report).toMatchObject({ written: 0, unchanged: 1, doubtful: 0 });
    const changed = await pay(second.replace("Bolt,A", "Bolt,B"));
    expect(changed.report).toMatchObject({ written: 1, doubtful: 0 });
    expect((await paid()).map(({ amount, rows }) => [amount, rows[0]?.["doubt"]])).toEqual([
      [10, null],
      [12, null],
    ]);
    expect(await list()).toEqual([]);
  });

  verifies("MN-05");
  it("forgets the doubt of an import that is taken back", async () => {
    const { second, report } = await conflict();
    const undone = await undo(report?.importId);
    expect(undone).toMatchObject({ undone: 2, kept: 0 });
    expect([await list(), (await paid()).length]).toEqual([[], 1]);
    expect((await pay(second)).report).toMatchObject({ written: 1, doubtful: 1 });
  });

  verifies("MN-10");
  it("takes the return of a repeated payment for the return of the one that stays", async () => {
    await start("EUR", { accounts: ["Acme"], documents: { D1: "100.00" } });
    await pay(statement("S1", "100.00", "D1"), camt);
    const [first] = await paid();
    await pay(statement("S2", "100.00", "D1"), camt);
    const [doubt] = await list();
    const [second] = doubt?.paymentIds ?? [];
    const back = `${HEAD},applicationStatus,returnedPaymentId\nR1,2026-04-02,EUR,-100.00,Acme,A,reversed,${second}\n`;
    expect((await pay(back)).rejects).toEqual([]);
    expect((await paid()).map(({ applied }) => applied)).toEqual([100, 0, 0]);
    await settle("same", doubt?.id);
    const payments = await paid();
    expect(payments.map(({ applied }) => applied)).toEqual([100, -100]);
    expect(payments[1]?.rows[0]?.["returnedPaymentId"]).toBe(first?.id);
  });

  /** The orders of an advice, its own deposit, an equal deposit of the payer on that day, and the return of that one. */
  const EQUALS = ["TAOR", "TARO", "TRAO", "RTAO", "ATOR", "ATRO", "AOTR", "OATR", "OTAR"].map(
    (order) => [order],
  );

  verifies("MN-10", "MN-12");
  it.each(EQUALS)(
    "has an advice pay by its own deposit, not by an equal one (%s)",
    async (order) => {
      await start("USD", { accounts: ["Acme"], documents: { "INV-1": "1500.75" } });
      const advice = edi820(["N1*PR*Acme", "ENT*1", "RMR*IV*INV-1**1500.75"]);
      const item = (type: string, trace: string): string =>
        bai2([`16,${type},150075,Z,,${trace},Sent ${trace}/`, "88,DBNM: Acme/"], {
          file: `${type}${trace}`,
        });
      const files: Record<string, [string, "edi820" | "bai2"]> = {
        A: [advice.replace("*DA*2*", "*DA*00112233445*"), "edi820"],
        O: [item("142", "TRACE-77"), "bai2"],
        T: [item("142", "OTHER-1"), "bai2"],
        R: [item("555", "OTHER-1"), "bai2"],
      };
      for (const name of order) {
        const [text, format] = files[name] ?? ["", "bai2"];
        expect((await pay(text, { format })).report?.rejected).toBe(0);
      }
      const payments = await paid();
      expect(payments.map(({ amount }) => amount).toSorted()).toEqual([-1500.75, 1500.75, 1500.75]);
      const documents = payments.map((one) => one.documents).filter((one) => "INV-1" in one);
      expect(documents).toEqual([{ "INV-1": 1500.75 }]);
      const [equal] = payments.filter((one) => one.amount > 0 && !("INV-1" in one.documents));
      const [back] = payments.filter(({ amount }) => amount < 0);
      expect(back?.rows[0]).toMatchObject({ returnedPaymentId: equal?.id });
      const stored = await findRow(at().store.read, "cashapp_payments", {
        tenant_id: tenant(),
        payment_id: String(equal?.id),
      });
      expect(stored["payment_reference"]).toMatch(/^OTHER-?1$/);
      expect(stored["remittance_text"]).toMatch(/OTHER-?1/i);
      expect(await listDoubts(at().store.read, tenant())).toEqual([]);
      for (const [text, format] of Object.values(files)) {
        expect((await pay(text, { format })).report).toMatchObject({ written: 0, rejected: 0 });
      }
    },
  );
});
