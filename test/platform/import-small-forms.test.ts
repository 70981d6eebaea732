import { expect, it } from "vitest";
import { bai2, edi820, mt940 } from "../support/bank-files.ts";
import { createMoneyCases } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const HEAD = "paymentId,paymentDate,currencyCode,paymentAmount";

/** Amounts as people and programs write them, with the value that each has. */
const AMOUNTS: readonly (readonly [currency: string, text: string, amount: number])[] = [
  ["INR", "Rs. 1,000.00", 1000],
  ["INR", "Rs.1000.00", 1000],
  ["PKR", "Rs 1,000.00", 1000],
  ["INR", "Rs. 12,34,567.50", 1_234_567.5],
  ["CHF", "CHF 1'000.00", 1000],
  ["CHF", "SFr. 1'000.00", 1000],
  ["SEK", "1 000,00 kr.", 1000],
];

/** Amounts without one meaning, with what the refusal says. */
const REFUSED: readonly (readonly [currency: string, text: string, words: string])[] = [
  ["EUR", "Rs. 1,000.00", '"Rs." beside the number is not the sign of the row\'s currency'],
  ["EUR", "CHF 1'000.00", '"CHF" beside the number is not the sign'],
  ["USD", "(1,000.00) CR", "parentheses and a mark such as CR are two signs"],
  ["USD", "1,000.00 CR", '"CR" beside the number has a meaning only if the map says so'],
  ["USD", "1,000.00DR", '"negative": "DR/CR"'],
];

/** Days and times without a format in a map. */
const DAYS = [
  "2026-03-01 00:00:00",
  "2026-03-01 00:00:00.000",
  "2026-03-01 23:59",
  "2026-03-01T23:59:59",
  "2026-03-01 23:59:59+02:00",
  "2026-03-01 00:00:00 UTC",
];

const NO_DAYS = ["2026-03-01 25:00:00", "2026-02-30 00:00:00", "01.03.2026", "2026-03-01 noon"];

onEveryStore("small forms of files", (at) => {
  const { start, pay, paid } = createMoneyCases(at);

  verifies("MN-17");
  it.each([
    ["carriage returns", "\r"],
    ["carriage returns and line feeds", "\r\n"],
    ["spaces", " "],
    ["nothing", ""],
  ])("reads a BAI2 file whose records are divided by %s", async (_name, between) => {
    await start("USD");
    const file = bai2([
      { cents: "5000", bank: "B1", text: "PAID 3/16 AND 12/31" },
      "16,142,7000,Z,B2,,BOLT/\n88,MORE TEXT/",
    ]);
    const { report, warned } = await pay(file.replaceAll("\n", between));
    expect([report?.read, report?.written, warned]).toEqual([2, 2, []]);
    expect((await paid()).map(({ amount, rows }) => [amount, rows[0]?.["remittanceText"]])).toEqual(
      [
        [50, "PAID 3/16 AND 12/31"],
        [70, "BOLT / MORE TEXT"],
      ],
    );
    expect((await pay(file)).report).toMatchObject({ written: 0, unchanged: 2 });
  });

  verifies("MN-15");
  it("refuses a BAI2 file on one line whose totals differ", async () => {
    await start("USD");
    const file = bai2([{ cents: "5000", bank: "B1", text: "ACME" }]).replaceAll("\n", "");
    const { message } = await pay(file.replace(",5000,", ",6000,"));
    expect(message).toContain("is refused");
    expect(await paid()).toEqual([]);
  });

  verifies("MN-17");
  it("reads MT940 and X12 820 with carriage returns alone, and names lines of them", async () => {
    await start("EUR");
    const file = mt940([":61:2603300330C50,00NTRFNONREF//B1", ":86:ACME"], { closing: "1050,00" });
    const old = file.replaceAll("\r\n", "\r");
    expect((await pay(old)).report).toMatchObject({ written: 1 });
    expect((await paid()).map(({ amount, day }) => [amount, day])).toEqual([[50, "2026-03-30"]]);
    const { message } = await pay(old.replace("1050,00", "1051,00"));
    expect(message).toMatch(/line [5-8] /);
    await start("USD");
    for (const text of [
      edi820(["RMR*IV*INV-1**1500.75"], { terminator: "\r" }),
      edi820(["RMR*IV*INV-1**1500.75"]).replaceAll("~", "~\r"),
    ]) {
      expect((await pay(text)).report).toMatchObject({ rejected: 0, doubtful: 0 });
    }
    expect((await paid()).map(({ amount }) => amount)).toEqual([1500.75]);
  });

  verifies("MN-20");
  it.each(AMOUNTS)("reads %s %s as %d", async (currency, text, amount) => {
    await start(currency);
    const { rejects } = await pay(`${HEAD}\nP1,2026-03-01,${currency},"${text}"\n`);
    expect(rejects).toEqual([]);
    expect((await paid()).map((one) => one.amount)).toEqual([amount]);
  });

  verifies("MN-20");
  it.each(REFUSED)("refuses %s %s with what would be accepted", async (currency, text, words) => {
    await start(currency);
    const { rejects } = await pay(`${HEAD}\nP1,2026-03-01,${currency},"${text}"\n`);
    expect(rejects).toMatchObject([
      { line: 2, field: "paymentAmount", message: expect.stringContaining(words) },
    ]);
    expect(rejects[0]?.message).toContain(`(column "paymentAmount", value "${text}")`);
    expect(await paid()).toEqual([]);
  });

  verifies("MN-16");
  it.each(DAYS)("reads the written day of %s", async (text) => {
    await start("USD");
    const { rejects } = await pay(`${HEAD}\nP1,${text},USD,10.00\n`);
    expect(rejects).toEqual([]);
    expect((await paid()).map(({ day }) => day)).toEqual(["2026-03-01"]);
  });

  verifies("MN-16");
  it.each(NO_DAYS)("refuses the day %s and says how a map reads it", async (text) => {
    await start("USD");
    const { rejects } = await pay(`${HEAD}\nP1,${text},USD,10.00\n`);
    expect(rejects).toMatchObject([{ line: 2, field: "paymentDate" }]);
    expect(rejects[0]?.message).toContain(`(column "paymentDate", value "${text}")`);
    expect(rejects[0]?.message).toContain(
      'in the map: {"column": "paymentDate", "date": "D.M.YYYY"}',
    );
    expect(await paid()).toEqual([]);
  });
});
