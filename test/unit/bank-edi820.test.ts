import { describe, expect, it } from "vitest";
import { readEdi820 } from "../../src/platform/import/bank/edi820.ts";
import { edi820 } from "../support/bank-files.ts";
import { readBank } from "../support/bank-reading.ts";
import { verifies } from "../support/verifies.ts";

const read = (text: string, options = {}) => readBank(readEdi820, text, options);

// The builder's payment is 1,500.75.
const linesOf = async (...segments: string[]) => {
  const { payments } = await read(edi820(["N1*PR*ACME CORP", "ENT*1", ...segments]));
  return payments[0]?.remittances.map(({ cells }) => cells);
};

describe("820 remittances", () => {
  verifies("MN-14");
  it.each<[title: string, segments: string[], cells: Record<string, unknown>[]]>([
    [
      "a discount in RMR06",
      ["RMR*IV*I1**1500.75*1520.75*20"],
      [{ invoiceNumber: "I1", appliedAmount: 1500.75, invoiceAmount: 1520.75, discountTaken: 20 }],
    ],
    [
      "reason and amount in RMR07 and RMR08",
      ["RMR*IV*I1**1500.75*1600.75**L7*-100"],
      [{ appliedAmount: 1500.75, deductionAmount: 100, deductionReasonCode: "L7" }],
    ],
    [
      "a positive RMR08 that amounts prove to be deducted",
      ["RMR*IV*I1**1500.75*1600.75**L7*100"],
      [{ appliedAmount: 1500.75, deductionAmount: 100 }],
    ],
    ["an RMR without an amount", ["RMR*IV*I1"], [{ invoiceNumber: "I1" }]],
    [
      "a purchase order whose REF names the invoice",
      ["RMR*PO*PO-5**1500.75", "REF*IV*I1"],
      [{ poNumber: "PO-5", invoiceNumber: "I1", appliedAmount: 1500.75 }],
    ],
    [
      "a credit memo, which reduces",
      ["RMR*IV*I1**1600.75", "RMR*CM*C1**100"],
      [{ appliedAmount: 1600.75 }, { invoiceNumber: "C1", appliedAmount: -100 }],
    ],
    [
      "an ADX before the first RMR, which adjusts no document",
      ["ADX*-150*56*CM*CB12345", "RMR*IV*I1**1650.75"],
      [
        {
          appliedAmount: -150,
          deductionAmount: 150,
          deductionReasonCode: "56",
          remittanceText: "CB12345",
        },
        { invoiceNumber: "I1", appliedAmount: 1650.75 },
      ],
    ],
    [
      "an ADX of the next entity, which is not that of the RMR before",
      ["RMR*IV*I1**1600.75", "ENT*2", "ADX*-100*52"],
      [
        { invoiceNumber: "I1", appliedAmount: 1600.75 },
        { appliedAmount: -100, deductionAmount: 100 },
      ],
    ],
    [
      "several adjustments of an RMR",
      ["RMR*IV*I1**1500.75*1630.75", "ADX*-100*52", "NTE*ADD*torn", "ADX*-30*53"],
      [
        {
          appliedAmount: 1500.75,
          deductionAmount: 100,
          deductionReasonCode: "52",
          remittanceText: "torn",
        },
        { invoiceNumber: "I1", appliedAmount: 0, deductionAmount: 30, deductionReasonCode: "53" },
      ],
    ],
    [
      "amounts before adjustments, known by the payment",
      ["RMR*IV*I1**1600.75", "ADX*-100*52"],
      [{ appliedAmount: 1500.75, deductionAmount: 100 }],
    ],
  ])("reads %s", async (_title, segments, cells) => {
    const lines = await linesOf(...segments);
    expect(lines).toHaveLength(cells.length);
    expect(lines).toMatchObject(cells);
  });

  it("leaves the invoice out of an adjustment of no document", async () => {
    const lines = await linesOf("ADX*-150*56*CM*CB1", "RMR*IV*I1**1650.75");
    expect(lines?.[0]).not.toHaveProperty("invoiceNumber");
    expect((await linesOf("RMR*PO*P1**1"))?.[0]).not.toHaveProperty("invoiceNumber");
    expect((await linesOf("RMR*IV*I1"))?.[0]).not.toHaveProperty("appliedAmount");
  });

  verifies("MN-13");
  it("binds notes and references to their own remittance or entity", async () => {
    const lines = await linesOf(
      "NTE*ADD*entity one",
      "RMR*IV*I1**1000",
      "NTE*ADD*about I1",
      "REF*ZZ*Z1*free text",
      "IT1*1",
      "REF*QI*ITEM-1",
      "RMR*IV*I2**500.75",
      "ENT*2",
      "NTE*ADD*entity two",
      "RMR*IV*I3**0",
    );
    expect(lines?.map((cells) => cells["remittanceText"])).toEqual([
      "entity one / about I1 / free text / Z1 / ITEM-1",
      "entity one",
      "entity two",
    ]);
  });

  verifies("MN-16");
  it("reads the day from the header when the BPR has none", async () => {
    const text = edi820(["DTM*097*20260330", "ENT*1", "RMR*IV*I1**1500.75"]).replace(
      "*20260228",
      "*",
    );
    const { entries, payments } = await read(text);
    expect(entries[0]?.day).toBe("2026-03-30");
    expect(payments[0]?.formerIds).toEqual([]);
    await expect(read(text.replace("DTM*097", "DTM*582"))).rejects.toThrow("without a date");
  });
});

describe("820 messages", () => {
  const whole = edi820(["N1*PR*ACME CORP", "ENT*1", "RMR*IV*INV-1**1500.75"]);

  verifies("MN-15");
  it.each([
    ["GE*1*1", "GE*2*1", "names 2 transaction sets, but there are 1"],
    ["IEA*1*", "IEA*2*", "names 2 groups, but there are 1"],
    ["GE*1*1", "GE*1*7", "has the control number 7, but 1 is open"],
    ["IEA*1*000000042", "IEA*1*000000043", "has the control number 000000043"],
    ["SE*7*0001", "SE*7*0002", "ends the set 0002, but the set 0001 is open"],
    ["GE*1*1~", "", "the group has no GE yet"],
  ])("refuses %s as %j", async (from, to, message) => {
    await expect(read(whole.replace(from, to))).rejects.toThrow(message);
  });

  it("warns about a wrong number of segments", async () => {
    const { entries, warnings } = await read(whole.replace("SE*7", "SE*9"));
    expect(entries).toHaveLength(1);
    expect(warnings).toEqual(["segment 9 names 9 segments of set 0001, but there are 7"]);
  });

  verifies("MN-10", "MN-17");
  it("names what is no payment, and sets of other kinds", async () => {
    const debit = await read(whole.replace("*1500.75*C*ACH", "*1500.75*D*ACH"));
    expect(debit.leftOut).toMatchObject([{ leftOut: { type: "820 BPR03 D", amount: "-1500.75" } }]);
    const zero = await read(whole.replace("*1500.75*C*ACH", "*0*C*NON"));
    expect(zero.leftOut).toMatchObject([{ leftOut: { type: "820 BPR04 NON" } }]);
    const trial = await read(whole.replace("BPR*C*", "BPR*P*"));
    expect(trial.payments).toEqual([]);
    expect(trial.leftOut).toEqual([
      {
        line: expect.any(Number),
        leftOut: { type: "820 BPR01 P", reason: "a prenotification, which moves no money" },
      },
    ]);
    await expect(read(whole.replace("ST*820", "ST*835"))).rejects.toThrow(
      "835 (health care claim payment)",
    );
  });

  it("tells messages apart by their interchange, and names the id of version 0.1.0", async () => {
    const { entries, payments } = await read(whole, { size: 3 });
    expect(entries[0]?.message.identity).toEqual([
      "PAYER",
      "SELLER",
      "260301",
      "0600",
      "000000042",
      "1",
      "0001",
    ]);
    expect(payments).toMatchObject([
      {
        formerIds: ["edi820-f917b82bb5e72b1821568da6"],
        references: ["TRACE-77"],
        cells: { payerName: "ACME CORP", paymentReference: "TRACE-77" },
      },
    ]);
  });
});
