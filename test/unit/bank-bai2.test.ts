import { describe, expect, it } from "vitest";
import { readBai2 } from "../../src/platform/import/bank/bai2.ts";
import { bai2 } from "../support/bank-files.ts";
import { readBank } from "../support/bank-reading.ts";
import { verifies } from "../support/verifies.ts";

const read = (text: string, options = {}) => readBank(readBai2, text, options);

describe("BAI2 deposits with their items", () => {
  const deposit = { type: "115", cents: "10000", bank: "LB1", text: "LOCKBOX 55" };
  const items = (...cents: string[]) =>
    cents.map((one, place) => ({ type: "116", cents: one, bank: "LB1", customer: `CHK${place}` }));

  verifies("MN-01", "MN-02");
  it("takes the items that add up to their deposit, and leaves that out by name", async () => {
    const credits = [deposit, ...items("6000", "4000"), { type: "142", cents: "500" }];
    const { entries, leftOut, warnings } = await read(
      bai2(credits, { summary: ",100,10500,4,", sum: 10_500n }),
    );
    expect(entries.map(({ amount }) => amount)).toEqual(["60.00", "40.00", "5.00"]);
    expect(leftOut.map((one) => one.leftOut)).toMatchObject([
      { type: "BAI2 115", reason: "is divided into its items, which follow it", amount: "100.00" },
    ]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ["that do not add up to it", items("6000", "4001"), ["100.00", "60.00", "40.01"], 1],
    ["of another kind of deposit", [{ type: "143", cents: "10000" }], ["100.00", "100.00"], 0],
  ])("takes a deposit and items %s as payments", async (_, others, amounts, warned) => {
    const { entries, leftOut, warnings } = await read(bai2([deposit, ...others]));
    expect(entries.map(({ amount }) => amount)).toEqual(amounts);
    expect([leftOut, warnings.length]).toEqual([[], warned]);
  });

  verifies("MN-15");
  it.each(["10500,,", "10500,,,", ",,,,100,10500,,"])(
    "reads the summary %s, which ends a record and goes on in the next",
    async (written) => {
      const summary = written.startsWith(",") ? written : `,010,${written}`;
      const records = ["88,045,700,,/", { type: "142", cents: "10500" }];
      const { entries } = await read(bai2(records, { summary, sum: 11_200n }));
      expect(entries.map(({ amount }) => amount)).toEqual(["105.00"]);
    },
  );
});

describe("BAI2 directions", () => {
  verifies("MN-10");
  it("reads a deposited item that came back as a payment below zero", async () => {
    const { entries, payments, leftOut } = await read(
      bai2([
        { type: "115", cents: "120000", bank: "DEP1", text: "LOCKBOX 68751" },
        "16,555,45000,V,260331,,DEP1,1234,DEPOSITED ITEM RETURNED NSF/",
      ]),
    );
    expect(entries.map(({ amount }) => amount)).toEqual(["1200.00", "-450.00"]);
    expect(leftOut).toEqual([]);
    expect(payments[0]?.cells).toMatchObject({ paymentMethod: "lockbox", lockboxNumber: "68751" });
    expect(payments[1]).toMatchObject({
      amount: "-450.00",
      cells: { applicationStatus: "reversed", remittanceText: "DEPOSITED ITEM RETURNED NSF" },
      returned: { references: ["DEP1", "1234"] },
      formerIds: [],
    });
    expect(entries.map(({ bankReferences }) => bankReferences)).toEqual([["DEP1"], []]);
  });

  it.each([
    ["557", "-5.00"],
    ["558", "-5.00"],
    ["566", "-5.00"],
    ["694", "-5.00"],
    ["142", "5.00"],
    ["206", "5.00"],
    ["921", "5.00"],
  ])("takes the type %s as %s", async (type, amount) => {
    const { entries, leftOut } = await read(bai2([{ type, cents: "500" }]));
    expect(entries.map((entry) => entry.amount)).toEqual([amount]);
    expect(leftOut).toEqual([]);
  });

  it.each([
    ["354", "5.00", "Interest Credit: interest"],
    ["275", "5.00", "own accounts"],
    ["257", "5.00", "gives back a payment of the company's own"],
    ["171", "5.00", "a loan"],
    ["140", "5.00", "a total"],
    ["451", "-5.00", "ACH Debit Received: a debit"],
    ["567", "-5.00", "Return Item Fee: a debit"],
    ["961", "-5.00", "customized type of the bank: a debit"],
    ["890", undefined, "moves no money"],
    ["905", undefined, "moves no money"],
  ])("leaves out the type %s by name", async (type, amount, reason) => {
    const { entries, leftOut } = await read(bai2([{ type, cents: "500" }]));
    expect(entries).toEqual([]);
    expect(leftOut).toMatchObject([
      { line: 4, leftOut: { type: `BAI2 ${type}`, reason: expect.stringContaining(reason) } },
    ]);
    expect(leftOut[0]?.leftOut.amount).toBe(amount);
  });

  it("takes and leaves out the types that a map names", async () => {
    const text = bai2([
      { type: "354", cents: "1" },
      { type: "142", cents: "2" },
      { type: "409", cents: "3" },
    ]);
    const options = { take: ["354", "BAI2 409"], leaveOut: ["142"] };
    const { entries, leftOut } = await read(text, { options });
    expect(entries.map(({ amount }) => amount)).toEqual(["0.01", "-0.03"]);
    expect(leftOut.map((one) => one.leftOut.type)).toEqual(["BAI2 142"]);
  });

  it("refuses a negative amount by its line", async () => {
    const text = bai2(["16,142,-12,Z,,,/"]).replaceAll("500100", "500088");
    await expect(read(text)).rejects.toThrow("line 4 has the negative amount -12");
  });
});

describe("BAI2 texts", () => {
  verifies("MN-13", "MN-17");
  it("keeps the text with all continuations, and reads all references", async () => {
    const text = bai2([
      "16,195,100,Z,B1,C1,Incoming, with a comma",
      "88,EREF: E-1",
      "88,DBNM: ABC CORP",
      "88,DACT: 8348572423",
      "88,TRN*1*TRACE-9*1512345678/",
    ]);
    for (const size of [1, 7, 10_000]) {
      const { payments, warnings } = await read(text, { size });
      expect(payments).toMatchObject([
        {
          cells: {
            payerName: "ABC CORP",
            payerAccountLast4: "2423",
            paymentReference: "C1",
            remittanceText:
              "Incoming, with a comma / EREF: E-1 / DBNM: ABC CORP / TRN*1*TRACE-9*1512345678",
          },
          references: ["B1", "C1", "E-1", "TRACE-9"],
        },
      ]);
      expect(warnings).toEqual([]);
    }
  });

  it("cuts a long text at 2,000 characters", async () => {
    const { payments } = await read(bai2([{ cents: "1", text: "word ".repeat(900) }]));
    const text = String(payments[0]?.cells["remittanceText"]);
    expect(text).toHaveLength(2000);
    expect(text.endsWith("…")).toBe(true);
  });
});

describe("BAI2 control totals", () => {
  const file = bai2([{ cents: "150000" }, { cents: "27505" }]);

  verifies("MN-15");
  it.each([
    [
      "49",
      "line 6 names the control total 10250.49, but the records of the account add up to 6776.05",
    ],
    [
      "98",
      "line 7 names the control total 10250.49, but the accounts of the group add up to 6776.05",
    ],
    ["99", "line 8 names the control total 1025049, but the groups of the file add up to 677605"],
  ])("refuses a wrong sum in record %s with both figures", async (code, message) => {
    const wrong = file.replace(`\n${code},677605`, `\n${code},1025049`);
    await expect(read(wrong)).rejects.toThrow(message);
  });

  it("adds up summaries with signs, distributed funds and continuations", async () => {
    const summary = ",010,-500,,,190,700,4,0,110\n88,70,15,D,3,0,20,1,30,3,20";
    const { entries, warnings } = await read(bai2([{ cents: "100" }], { summary, sum: 270n }));
    expect(entries).toHaveLength(1);
    expect(warnings.filter((one) => one.includes("total"))).toEqual([]);
  });

  it.each([
    ["the credits' total", "100,250099,2", { cents: "1000" }, { cents: "249099" }],
    ["a total without the number of its items", "100,250099,", { cents: "250099" }],
    ["a total of which the file has no transactions", "100,250099,2"],
    ["the debits' total", "400,100,1,,100,5,1", "16,455,100,,B1,C1,FEE/", { cents: "5" }],
    ["a total beside a total among the transactions", "100,5,1", "16,100,5,,,,/", { cents: "5" }],
    ["a total beside a type of the bank", "100,5,2", "16,921,7,,B1,C1,BONUS/", { cents: "5" }],
  ])("accepts %s", async (_, total, ...transactions) => {
    const digits = [...total.matchAll(/[14]00,(\d+)/g)].reduce(
      (sum, [, one]) => sum + BigInt(one ?? 0),
      0n,
    );
    const { warnings } = await read(bai2(transactions, { summary: `,${total}`, sum: digits }));
    expect(warnings.filter((one) => one.includes("total "))).toEqual([]);
  });

  it("refuses a total of as many credits or debits as there are that is not their sum", async () => {
    const made = (total: string, ...transactions: Parameters<typeof bai2>[0]) =>
      read(bai2(transactions, { summary: `,${total}`, sum: 250_099n }));
    await expect(made("100,250099,2", { cents: "1000" }, { cents: "200" })).rejects.toThrow(
      "line 6 ends an account whose 03 record names total credits of 2 items of 2500.99 (type 100), but its 2 transactions of that side add up to 12.00",
    );
    await expect(made("400,250099,1", "16,455,100,,B1,C1,FEE/")).rejects.toThrow(
      "names total debits of 1 items of 2500.99 (type 400), but its 1 transactions",
    );
  });

  it("warns if a total has more items, or does not say how many", async () => {
    for (const total of ["100,250099,3", "100,250099,"]) {
      const { entries, warnings } = await read(
        bai2([{ cents: "1000" }], { summary: `,${total}`, sum: 250_099n }),
      );
      expect(entries).toHaveLength(1);
      expect(warnings).toEqual([expect.stringContaining("add up to 10.00")]);
    }
  });

  it("warns about wrong numbers of records", async () => {
    const wrong = file
      .replace("49,677605,4/", "49,677605,9/")
      .replace("98,677605,1,6", "98,677605,2,6");
    const { entries, warnings } = await read(wrong);
    expect(entries).toHaveLength(2);
    expect(warnings).toEqual([
      "line 6 names 9 records, but there are 4",
      "line 7 names 2 accounts, but there are 1",
    ]);
  });

  it("loads nothing of a test group, and says so", async () => {
    const { entries, leftOut, warnings } = await read(bai2([{ cents: "100" }], { status: "4" }));
    expect(entries).toEqual([]);
    expect(leftOut).toMatchObject([{ leftOut: { reason: expect.stringContaining("is a test") } }]);
    expect(warnings).toEqual(["line 2 begins a group of status 4 (test), which is not loaded"]);
  });

  it.each(["2", "3"])("refuses transactions in a group of status %s", async (status) => {
    await expect(read(bai2([{ cents: "100" }], { status }))).rejects.toThrow(
      `line 4 is in a group of status ${status}`,
    );
    expect((await read(bai2([], { status }))).warnings).toHaveLength(1);
  });
});

describe("BAI2 texts", () => {
  verifies("MN-13");
  it.each(["16,000 UNITS", "49,50 EUR", "01,02,03", "98,6 DEGREES", "03,2026"])(
    "takes no record from a text such as / %s",
    async (text) => {
      const { payments } = await read(
        bai2([{ cents: "500", text: `PAID / ${text} / 16,142,700,Z,,,NEXT` }]),
      );
      expect(payments.map(({ amount, cells }) => [amount, cells["remittanceText"]])).toEqual([
        ["5.00", `PAID / ${text}`],
        ["7.00", "NEXT"],
      ]);
    },
  );
});

describe("BAI2 identity", () => {
  it("tells messages apart by the file's number, and entries by their place", async () => {
    const [one, two] = await Promise.all(
      ["1", "2"].map((file) => read(bai2([{ cents: "500" }, { cents: "500" }], { file }))),
    );
    expect(one?.entries.map(({ place }) => place)).toEqual([1, 2]);
    expect(one?.entries[0]?.message).not.toEqual(two?.entries[0]?.message);
  });

  it("names the ids that version 0.1.0 gave to the same records", async () => {
    const same = { cents: "500", bank: "R" };
    const { payments } = await read(
      bai2([
        same,
        same,
        { type: "115", cents: "450000", funds: "S,1,2,3", bank: "BNK", text: "LOCKBOX 5" },
        same,
        { type: "354", cents: "7", bank: "I" },
        "16,142,12345,Z,REF/\n88,CUST,more text, with a comma\n88,and more",
      ]),
    );
    expect(payments.map(({ formerIds }) => formerIds)).toEqual([
      ["bai2-4f244f7c0c1fd86d44a8df4e"],
      ["bai2-4f244f7c0c1fd86d44a8df4e-2"],
      ["bai2-d4a2442ad055cc012c157f90"],
      ["bai2-4f244f7c0c1fd86d44a8df4e-3"],
      ["bai2-08a44788e0ceaab36a7d8664"],
    ]);
  });
});
