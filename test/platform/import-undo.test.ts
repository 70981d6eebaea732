import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { listImports, undoImport } from "../../src/platform/admin/imports.ts";
import type { Db } from "../../src/platform/store/port.ts";
import { rowsOf } from "../support/audit.ts";
import { camtEntry, camtStatement, NOTIFICATION } from "../support/bank-files.ts";
import { createMoneyCases, documentsFile } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const camt = { format: "camt" } as const;

const named = (id: string, amount: string, invoice: string, payer = "Acme"): string =>
  `<TxDtls><Refs><EndToEndId>${id}</EndToEndId></Refs><Amt Ccy="EUR">${amount}</Amt><RltdPties><Dbtr><Pty><Nm>${payer}</Nm></Pty></Dbtr></RltdPties><RmtInf><Strd><RfrdDocInf><Nb>${invoice}</Nb></RfrdDocInf><RfrdDocAmt><RmtdAmt Ccy="EUR">${amount}</RmtdAmt></RfrdDocAmt></Strd></RmtInf></TxDtls>`;

const payment = (id: string, amount: string, invoice: string, day = "2026-03-30"): string =>
  camtEntry({
    amount,
    dates: `<ValDt><Dt>${day}</Dt></ValDt>`,
    reference: id,
    details: named(id, amount, invoice),
  });

const returned = (id: string, amount: string, of: string): string =>
  camtEntry({
    amount,
    sign: "DBIT",
    reversal: true,
    reference: id,
    details: `<TxDtls><Refs><AcctSvcrRef>${of}</AcctSvcrRef><EndToEndId>${of}</EndToEndId></Refs><Amt Ccy="EUR">${amount}</Amt><RtrInf><Rsn><Cd>MD06</Cd></Rsn></RtrInf></TxDtls>`,
  });

const statement = (id: string, ...entries: readonly string[]): string =>
  camtStatement(entries.join("")).replace("<Id>S1</Id>", `<Id>${id}</Id>`);

verifies("MN-05");
onEveryStore("taking an import back", (at) => {
  const { start, bring, pay, paid, tenant } = createMoneyCases(at);
  const needs = () => {
    const { store, clock } = at();
    const record = createRecordChange({ store, clock, newId: randomId, operator: "tester" });
    return { store, clock, record };
  };
  const undo = (one: { report?: { importId: string } | undefined }) =>
    undoImport(needs(), one.report?.importId ?? "");
  const later = (): void => at().clock.advance(MINUTE);
  const list = async (table: "accounts" | "documents" | "disputes" | "payment_entries") =>
    at().store.read.selectFrom(table).selectAll().where("tenant_id", "=", tenant()).execute();
  const amounts = async () =>
    (await paid()).map(({ amount, applied, unapplied }) => [amount, applied, unapplied]);

  it("lists the imports, the newest first, and writes what was taken back to the audit log", async () => {
    await start("EUR");
    const accounts = await bring("accounts", "account_number,name,currency\nC1,Acme,EUR\n");
    later();
    const payments = await pay(statement("S1", payment("P-1", "10.00", "X")), camt);
    const listed = await listImports(at().store.read, tenant());
    expect(listed).toMatchObject([
      {
        importId: payments.report?.importId,
        tenantId: tenant(),
        kind: "payments",
        source: "cashapp",
        status: "completed",
        actor: "tester",
        written: 1,
        totals: [{ file: "payments", currencyCode: "EUR", credits: 10, written: 10 }],
      },
      { importId: accounts.report?.importId, kind: "accounts", status: "completed", written: 1 },
    ]);
    expect(await undo(payments)).toMatchObject({ kind: "payments", undone: 2, kept: 0 });
    await expect(undo(payments)).rejects.toMatchObject({ code: "conflict" });
    await expect(undoImport(needs(), "no-such-import")).rejects.toMatchObject({
      code: "not_found",
    });
    const [first] = await listImports(at().store.read, tenant());
    expect(first).toMatchObject({ importId: payments.report?.importId, status: "undone" });
    const entries = (await rowsOf(at().store.read, tenant())).filter(
      ({ action }) => action === "admin.import_undone",
    );
    expect(entries.map(({ metadata }) => JSON.parse(metadata))).toMatchObject([
      { resourceId: payments.report?.importId, kind: "payments", undone: 2, kept: 0 },
    ]);
  });

  it("takes accounts and documents back, and keeps those that others refer to", async () => {
    await start("EUR");
    const head = "account_number,name,currency";
    const accounts = await bring("accounts", `${head}\nC1,Acme,EUR\nC2,Bolt,EUR\n`);
    const renamed = await bring("accounts", `${head}\nC1,Acme Corp,EUR\n`);
    const documents = await bring("documents", documentsFile({ D1: "10.00", D2: "5.00" }, "EUR"));
    expect(await undo(renamed)).toMatchObject({ undone: 1, kept: 0 });
    const names = async () =>
      (await list("accounts")).map(({ fields }) => JSON.parse(fields).name).toSorted();
    expect(await names()).toEqual(["Acme", "Bolt"]);
    const partly = await undo(accounts);
    expect(partly).toMatchObject({
      undone: 1,
      kept: 1,
      reasons: [{ record: 'accounts ["C1"]', reason: "it has changed since" }],
    });
    expect(await names()).toEqual(["Acme"]);
    expect(await undo(documents)).toMatchObject({ undone: 2, kept: 0 });
    expect(await list("documents")).toEqual([]);
  });

  it("names the table that refers to a record", async () => {
    await start("EUR");
    const accounts = await bring("accounts", "account_number,name,currency\nC1,Acme,EUR\n");
    const documents = await bring("documents", documentsFile({ D1: "10.00" }, "EUR"));
    const payments = await pay(statement("S1", payment("P-1", "10.00", "D1")), camt);
    expect(await amounts()).toEqual([[10, 10, 0]]);
    expect(await undo(accounts)).toMatchObject({
      undone: 0,
      reasons: [{ record: 'accounts ["C1"]', reason: "documents refer to it" }],
    });
    expect(await undo(documents)).toMatchObject({
      undone: 0,
      reasons: [{ record: 'documents ["D1"]', reason: "cashapp_payments refer to it" }],
    });
    expect(await undo(payments)).toMatchObject({ kept: 0 });
    expect(await paid()).toEqual([]);
  });

  it("takes disputes back, those that were changed too, and keeps those with a later change", async () => {
    await start("EUR", { accounts: ["Acme"], documents: { D1: "100.00" } });
    const head = "accountNumber,documentNumber,amount,currencyCode,categoryCode,reasonCode,key";
    const same = ["accountNumber", "documentNumber", "amount", "currencyCode"];
    const map = {
      ...Object.fromEntries([...same, "categoryCode", "reasonCode"].map((name) => [name, name])),
      sourceKey: ["key"],
    };
    const how = { createConfiguration: true, map };
    const first = await bring(
      "disputes",
      `${head}\nC1,D1,10.00,EUR,DED,SHORT,K1\nC1,D1,20.00,EUR,DED,SHORT,K2\n`,
      how,
    );
    const read = async () =>
      (await list("disputes")).map(({ amount }) => Number(amount)).toSorted((a, b) => a - b);
    expect([first.report?.written, await read()]).toEqual([2, [10, 20]]);
    const totals = async () => {
      const rows = at().store.read.selectFrom("dispute_totals").selectAll();
      const found = await rows.where("tenant_id", "=", tenant()).execute();
      return found.reduce((sum, row) => sum + row.total, 0);
    };
    expect(await undo(first)).toMatchObject({ kept: 0 });
    expect([await read(), await totals()]).toEqual([[], 0]);
    const second = await bring("disputes", `${head}\nC1,D1,10.00,EUR,DED,SHORT,K1\n`, how);
    expect([second.report?.written, await read(), await totals()]).toEqual([1, [10], 1]);
    const changed = await bring("disputes", `${head}\nC1,D1,15.00,EUR,DED,SHORT,K1\n`, how);
    expect([changed.report?.written, await read()]).toEqual([1, [15]]);
    expect(await undo(second)).toMatchObject({ undone: 0, kept: 1 });
    expect(await undo(changed)).toMatchObject({ undone: 1, kept: 0 });
    expect([await read(), await totals()]).toEqual([[10], 1]);
  });

  verifies("MN-31");
  it("opens the documents of payments that are taken back, for payments that wait", async () => {
    await start("EUR", { accounts: ["Acme"], documents: { D1: "100.00" } });
    const first = await pay(statement("S1", payment("P-1", "100.00", "D1")), camt);
    later();
    await pay(statement("S2", payment("P-2", "100.00", "D1", "2026-03-31")), camt);
    expect(await amounts()).toEqual([
      [100, 100, 0],
      [100, 0, 100],
    ]);
    later();
    expect(await undo(first)).toMatchObject({ kept: 0 });
    expect(await amounts()).toEqual([[100, 100, 0]]);
  });

  verifies("MN-10");
  it("pays documents again when a return is taken back, with its further rows", async () => {
    await start("EUR", { accounts: ["Acme"], documents: { D1: "60.00", D2: "40.00" } });
    const two = camtEntry({
      amount: "100.00",
      reference: "P-1",
      details: named("P-1", "100.00", "D1").replace(
        /<RmtInf>.*<\/RmtInf>/,
        `<RmtInf>${[
          ["D1", "60.00"],
          ["D2", "40.00"],
        ]
          .map(
            ([number, amount]) =>
              `<Strd><RfrdDocInf><Nb>${number}</Nb></RfrdDocInf><RfrdDocAmt><RmtdAmt Ccy="EUR">${amount}</RmtdAmt></RfrdDocAmt></Strd>`,
          )
          .join("")}</RmtInf>`,
      ),
    });
    const payments = await pay(statement("S1", two), camt);
    later();
    const back = await pay(statement("S2", returned("R-1", "100.00", "P-1")), camt);
    const [one, other] = await paid();
    expect([one?.documents, other?.documents]).toEqual([
      { D1: 60, D2: 40 },
      { D1: -60, D2: -40 },
    ]);
    expect(other?.rows).toHaveLength(2);
    later();
    await pay(statement("S3", payment("P-2", "60.00", "D1")), camt);
    expect((await paid()).map(({ applied }) => applied)).toEqual([100, -100, 60]);
    expect(await undo(payments)).toMatchObject({ undone: 0, kept: 3 });
    later();
    expect(await undo(back)).toMatchObject({ kept: 0 });
    expect((await paid()).map(({ applied, unapplied }) => [applied, unapplied])).toEqual([
      [100, 0],
      [0, 60],
    ]);
    const again = await pay(statement("S2", returned("R-1", "100.00", "P-1")), camt);
    expect(again.report).toMatchObject({ written: 1 });
    expect((await paid()).map(({ applied }) => applied)).toEqual([100, 60, -100]);
  });

  it("takes a file with a payment and its return back as a whole", async () => {
    await start("EUR", { accounts: ["Acme"], documents: { D1: "100.00" } });
    const file = statement("S1", payment("P-1", "100.00", "D1"), returned("R-1", "100.00", "P-1"));
    const both = await pay(file, camt);
    expect((await paid()).map(({ applied }) => applied)).toEqual([100, -100]);
    expect(await undo(both)).toMatchObject({ kept: 0 });
    expect([await paid(), await list("payment_entries")]).toEqual([[], []]);
    expect((await pay(file, camt)).report).toMatchObject({ written: 2 });
    expect((await paid()).map(({ applied }) => applied)).toEqual([100, -100]);
  });

  it("takes a file back whose return comes before its payment", async () => {
    await start("EUR", { accounts: ["Acme"], documents: { D1: "100.00" } });
    const file = statement("S1", returned("R-1", "100.00", "P-1"), payment("P-1", "100.00", "D1"));
    const both = await pay(file, camt);
    expect((await paid()).map(({ applied }) => applied).toSorted()).toEqual([-100, 100]);
    expect(await undo(both)).toMatchObject({ kept: 0 });
    expect([await paid(), await list("payment_entries")]).toEqual([[], []]);
  });

  it("takes details of a returned payment back as a whole", async () => {
    await start("EUR", { accounts: ["Acme"], documents: { D1: "60.00", D2: "40.00" } });
    const brief = camtEntry({
      amount: "100.00",
      reference: "P-1",
      details: named("P-1", "100.00", "D1"),
    });
    const strd = (number: string, amount: string): string =>
      `<Strd><RfrdDocInf><Nb>${number}</Nb></RfrdDocInf><RfrdDocAmt><RmtdAmt Ccy="EUR">${amount}</RmtdAmt></RfrdDocAmt></Strd>`;
    const detailed = brief.replace(
      /<RmtInf>.*<\/RmtInf>/,
      `<RmtInf>${strd("D1", "60.00")}${strd("D2", "40.00")}</RmtInf>`,
    );
    await pay(statement("S1", brief.replace(/<RmtInf>.*<\/RmtInf>/, "")), camt);
    later();
    const details = await pay(camtStatement(detailed, NOTIFICATION), camt);
    later();
    await pay(statement("S2", returned("R-1", "100.00", "P-1")), camt);
    const shape = async () =>
      (await paid()).map(({ rows, applied, unapplied }) => [rows.length, applied, unapplied]);
    expect(await shape()).toEqual([
      [2, 100, 0],
      [2, -100, 0],
    ]);
    later();
    expect(await undo(details)).toMatchObject({ kept: 0 });
    expect(await shape()).toEqual([
      [1, 0, 100],
      [1, 0, -100],
    ]);
    // The details come again.
    await pay(camtStatement(detailed, NOTIFICATION), camt);
    expect(await shape()).toEqual([
      [2, 100, 0],
      [2, -100, 0],
    ]);
  });

  it("goes on with an undo that was killed between two transactions", async () => {
    const count = 260;
    const numbers = Array.from({ length: count }, (_, place) => `D${place}`);
    await start("EUR", {
      accounts: ["Acme"],
      documents: Object.fromEntries(numbers.map((number) => [number, "10.00"])),
    });
    const entries = numbers.map((number) => payment(`P-${number}`, "10.00", number));
    const payments = await pay(statement("S1", ...entries), camt);
    later();
    const waiting = numbers.slice(-10);
    const twins = waiting.map((number) => payment(`Q-${number}`, "10.00", number, "2026-03-31"));
    await pay(statement("S2", ...twins), camt);
    later();
    const { store, clock, record } = needs();
    let transactions = 0;
    const killed = {
      ...store,
      transaction: <T>(act: (tx: Db) => Promise<T>, tenantId?: string): Promise<T> => {
        transactions += 1;
        return store.transaction(async (tx) => {
          const done = await act(tx);
          if (transactions === 2) throw new Error("killed");
          return done;
        }, tenantId);
      },
    };
    const id = payments.report?.importId ?? "";
    await expect(undoImport({ store: killed, clock, record }, id)).rejects.toThrow("killed");
    const state = async () => {
      const [one] = (await listImports(store.read, tenant())).filter(
        (listed) => (listed as { importId: string }).importId === id,
      );
      const all = await paid();
      return { ...one, payments: all.length, open: all.filter(({ unapplied }) => unapplied > 0) };
    };
    const half = await state();
    // The payments that waited for the documents that are open again are applied.
    expect(half).toMatchObject({ status: "undoing", undone: 500, payments: 30, open: [] });
    expect(await undo(payments)).toMatchObject({ undone: 2 * count, kept: 0 });
    expect(await state()).toMatchObject({ status: "undone", payments: 10, open: [] });
    expect((await pay(statement("S1", ...entries), camt)).report).toMatchObject({ written: count });
  });

  const HEAD = "paymentId,paymentDate,currencyCode,paymentAmount,payerName,documentNumber,poNumber";

  it("puts changed rows of a table back, and keeps rows that a later import changed", async () => {
    await start("USD");
    const row = (order: string): string => `${HEAD}\nP1,2026-03-01,USD,10.00,Acme,,${order}\n`;
    const first = await pay(row("A"));
    later();
    const second = await pay(row("B"));
    later();
    const third = await pay(row("C"));
    const order = async () => (await paid()).map(({ rows }) => rows[0]?.["poNumber"]);
    expect(await undo(second)).toMatchObject({
      undone: 0,
      kept: 1,
      reasons: [{ reason: "it has changed since" }],
    });
    expect(await undo(third)).toMatchObject({ undone: 1, kept: 0 });
    expect(await order()).toEqual(["B"]);
    expect(await undo(first)).toMatchObject({ undone: 0, kept: 1 });
    expect(await order()).toEqual(["B"]);
  });

  it("keeps payments that a message of another import is about", async () => {
    await start("EUR");
    const entry = payment("P-1", "10.00", "X");
    const first = await pay(statement("S1", entry), camt);
    const report = { message: "BkToCstmrAcctRpt", statement: "Rpt", version: "052.001.08" };
    const joined = await pay(camtStatement(entry, report), camt);
    const reason = "a file of another import is about the same payment";
    expect(await undo(first)).toMatchObject({ undone: 0, reasons: [{ reason }, { reason }] });
    expect(await paid()).toHaveLength(1);
    expect(await undo(joined)).toMatchObject({ undone: 1, kept: 0 });
    expect(await paid()).toHaveLength(1);
  });

  it("reports a dry run as an import and changes nothing", async () => {
    await start("EUR", { accounts: ["Acme"], documents: { D1: "10.00" } });
    const before = await rowsOf(at().store.read, tenant());
    const file = statement("S1", payment("P-1", "10.00", "D1"));
    const { record } = needs();
    const dry = await pay(file, { ...camt, record, dryRun: true });
    expect(await rowsOf(at().store.read, tenant())).toEqual(before);
    expect([await paid(), await list("payment_entries")]).toEqual([[], []]);
    const listed = await listImports(at().store.read, tenant());
    expect(listed.map((one) => (one as { kind: string }).kind).toSorted()).toEqual([
      "accounts",
      "documents",
    ]);
    const real = await pay(file, { ...camt, record });
    expect(dry.report?.written).toBe(1);
    expect({ ...dry.report, importId: "" }).toEqual({ ...real.report, importId: "" });
    expect(await amounts()).toEqual([[10, 10, 0]]);
  });
});
