import { expect, it } from "vitest";
import { InexactNumber } from "../../src/kit/json.ts";
import type { BankItem } from "../../src/platform/import/bank/entry.ts";
import { createSpool } from "../../src/platform/import/spool.ts";
import { verifies } from "../support/verifies.ts";

const entry = (line: number, appliedAmount: unknown): BankItem => ({
  line,
  message: { kind: "camt.053", identity: ["M"] },
  place: line,
  account: "DE1",
  amount: "1.00",
  currency: "EUR",
  day: "2026-02-28",
  bankReferences: [],
  payments: [
    {
      line,
      amount: "1.00",
      cells: { payerName: "Süd" },
      references: [],
      remittances: [{ line, cells: { invoiceNumber: "INV-1", appliedAmount } }],
      formerIds: [],
    },
  ],
});

const LEFT_OUT: BankItem = { line: 3, leftOut: { type: "camt PMNT", reason: "a debit" } };

verifies("MN-02");
it("a spool gives the items of a bank file again, with its warnings and exact numbers", async () => {
  const first = [entry(1, 1), entry(2, new InexactNumber("1234567890123456.78"))];
  const spool = createSpool();
  const passed: BankItem[][] = [];
  const filling = spool.fill(async function* read(warn) {
    yield first;
    warn("line 2", "is odd");
    yield [LEFT_OUT];
    warn("line 4", "is the last one");
  });
  expect(spool.isComplete()).toBe(false);
  for await (const items of filling) passed.push(items);
  expect(spool.isComplete()).toBe(true);
  for (let time = 0; time < 2; time += 1) {
    const warned: string[] = [];
    const replayed = [...spool.replay((place, message) => warned.push(`${place} ${message}`))];
    expect(passed).toEqual([first, [LEFT_OUT]]);
    expect(replayed.flat()).toStrictEqual([...first, LEFT_OUT]);
    expect(warned).toEqual(["line 2 is odd", "line 4 is the last one"]);
  }
  spool.close();
});
