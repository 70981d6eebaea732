import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDay, parseDayPattern } from "../../src/platform/import/dates.ts";
import {
  type AmountContext,
  isPlainDecimal,
  type NumberForm,
  readAmount,
  toExactNumber,
} from "../../src/platform/import/numbers.ts";
import { verifies } from "../support/verifies.ts";
import { findCurrencyDecimals, formatAmount } from "../../src/platform/money.ts";

const USD: AmountContext = { currency: "USD", decimals: 2 };

/** The number that a cell is read as, or undefined if it is refused. */
const read = (text: string, context: AmountContext = USD): unknown => {
  if (context.form === undefined && isPlainDecimal(text)) return toExactNumber(text);
  const found = readAmount(text, context);
  return "decimal" in found ? toExactNumber(found.decimal) : undefined;
};

const faultOf = (text: string, context: AmountContext = USD): string => {
  const found = readAmount(text, context);
  return "decimal" in found ? "" : found.message;
};

verifies("MN-20");
describe("amounts without a map", () => {
  it.each([
    ["1,234.56", 1234.56],
    ["(1,234.56)", -1234.56],
    ["50.00-", -50],
    ["-50.00", -50],
    ["\u221250.00", -50],
    ["$75.00", 75],
    ["-$75.00", -75],
    ["USD 75.00", 75],
    ["75.00 USD", 75],
    ["+30.00", 30],
    [" 40.00 ", 40],
    ["1.234,56", 1234.56],
    ["1'234.50", 1234.5],
    ["1\u2019234.50", 1234.5],
    ["1\u202F234,50", 1234.5],
    ["1\u00A0234,50", 1234.5],
    ["1 234", 1234],
    ["12,50", 12.5],
    ["1,234,567", 1_234_567],
    ["1.234.567", 1_234_567],
    ["12,34,567.89", 1_234_567.89],
    ["0.500", 0.5],
    ["0,500", 0.5],
    ["1234.500", 1234.5],
  ])("read %j as %d", (text, value) => {
    expect(read(text)).toBe(value);
  });

  it.each([
    ["$ (1,234.50)", -1234.5],
    ["USD (5.00)", -5],
    ["$(.50)", -0.5],
    [".50", 0.5],
    ["-,50", -0.5],
    ["$ .50", 0.5],
  ])("read %j as spreadsheets write it", (text, value) => {
    expect(read(text, { currency: "USD", decimals: 2 })).toBe(value);
  });

  it.each(["1.000", "12.500", "1,234", "123.456", "-1.000", "(1.000)", "$1,234"])(
    "refuse %j with both readings",
    (text) => {
      expect(read(text)).toBeUndefined();
      expect(faultOf(text)).toMatch(/^can be read as [\d.]+ or as [\d.]+; write .* 2 decimals/);
    },
  );

  it("take three decimals after a point where the currency has three", () => {
    const KWD = { currency: "KWD", decimals: 3 };
    expect(read("1.000", KWD)).toBe(1);
    expect(read("1.234", KWD)).toBe(1.234);
    expect(read("1,234", KWD)).toBeUndefined();
    expect(faultOf("1.000", { currency: "JPY", decimals: 0 })).toContain("such as 1000,");
  });

  it.each([
    "€75.00",
    "EUR 75.00",
    "75.00 CR",
    "1e3",
    "0x10",
    "5.",
    "..5",
    "-",
    "$ -",
    "--1",
    "-(5)",
    "(-5)",
    "1.2.3",
    "1,23,4",
    "1.234.50",
    "1 2",
    "12 34",
    "$",
    "",
    "1,234.5.6",
    "9,".repeat(31),
  ])("refuse %j", (text) => {
    expect(read(text)).toBeUndefined();
    expect(faultOf(text)).toMatch(/^must be a number such as 1234\.56/);
    expect(faultOf(text).length).toBeLessThan(300);
  });
});

verifies("MN-22");
describe("amounts in the form of a map", () => {
  const of = (form: NumberForm, more: AmountContext = {}) => ({ ...USD, ...more, form });

  it("have its signs only", () => {
    const german = of({ decimal: ",", thousands: "." });
    expect(read("1.000", german)).toBe(1000);
    expect(read("1.234,5", german)).toBe(1234.5);
    expect(read("1234,5", german)).toBe(1234.5);
    expect(read("1234.5", german)).toBeUndefined();
    expect(read("1'000", german)).toBeUndefined();
    const swiss = of({ decimal: ".", thousands: "'" });
    expect(read("1\u2019000.50", swiss)).toBe(1000.5);
    expect(read("1.000", swiss)).toBe(1);
    const none = of({ decimal: ".", thousands: "" });
    expect(read("1,000.50", none)).toBeUndefined();
    expect(read("12.500", none)).toBe(12.5);
    expect(faultOf("x", german)).toBe("must be a number such as 1.234,56 or -1.234,56");
  });

  it("mark negatives as it says", () => {
    const form = { decimal: "." } as const;
    const trailing = of({ ...form, negative: "trailing" });
    expect([read("5.00-", trailing), read("(5.00)", trailing)]).toEqual([-5, undefined]);
    const around = of({ ...form, negative: "parentheses" });
    expect([read("(5.00)", around), read("5.00-", around)]).toEqual([-5, undefined]);
    const minus = of({ ...form, negative: "minus" });
    expect([read("-5.00", minus), read("5.00-", minus)]).toEqual([-5, undefined]);
  });

  it("tell debits and credits by DR and CR, in a bank's book and in a ledger", () => {
    const form = { decimal: ".", negative: "DR/CR" } as const;
    const bank = of(form, { negativeMark: "DR" });
    expect([read("5.00 DR", bank), read("5.00CR", bank), read("CR 5.00", bank)]).toEqual([
      -5, 5, 5,
    ]);
    const ledger = of(form, { negativeMark: "CR" });
    expect([read("5.00 Dr.", ledger), read("5.00 CR", ledger)]).toEqual([5, -5]);
    expect([read("5.00", ledger), read("-5.00 CR", ledger)]).toEqual([5, undefined]);
  });
});

const LOCALES: readonly [locale: string, form: NumberForm][] = [
  ["en-US", { decimal: ".", thousands: "," }],
  ["de-DE", { decimal: ",", thousands: "." }],
  ["fr-FR", { decimal: ",", thousands: " " }],
  ["de-CH", { decimal: ".", thousands: "'" }],
  ["en-IN", { decimal: ".", thousands: "," }],
];

describe("amounts of any size", () => {
  const cents = fc
    .integer({ min: -99_999_999_999, max: 99_999_999_999 })
    .filter((value) => Math.abs(value) >= 100);

  verifies("MN-20", "MN-22");
  it.each(LOCALES)(
    "are read in the locale %s by a map, and right or not at all without",
    (locale, form) => {
      fc.assert(
        fc.property(cents, fc.constantFrom(2, 0), (amount, digits) => {
          const value = digits === 0 ? Math.round(amount / 100) : amount / 100;
          const text = value.toLocaleString(locale, {
            minimumFractionDigits: digits,
            maximumFractionDigits: digits,
          });
          expect(read(text, { ...USD, form })).toBe(value);
          expect([value, undefined]).toContain(read(text));
        }),
        { numRuns: 500 },
      );
    },
  );

  it("never get a value that their digits do not have", () => {
    const text = fc.string({ unit: fc.constantFrom(..."0123456789.,'-() $€CR".split("")) });
    fc.assert(
      fc.property(text, (cell) => {
        const found = read(cell);
        if (typeof found !== "number") return;
        const digits = cell.replaceAll(/\D/g, "").replace(/^0+/, "");
        // A double holds 15 digits of any decimal.
        const shown = Math.abs(found).toPrecision(15).replaceAll(/\D/g, "").replace(/^0+/, "");
        expect(shown.startsWith(digits.replace(/0+$/, ""))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("days", () => {
  verifies("MN-22");
  it.each([
    ["M/D/YY", "2/13/26", "2026-02-13"],
    ["D-MMM-YY", "13-Feb-26", "2026-02-13"],
    ["D. MMM YYYY", "3. M\u00E4rz 2026", "2026-03-03"],
    ["D MMM YYYY", "3 f\u00E9vr. 2026", "2026-02-03"],
    ["D-MMM-YYYY", "03-ene-2026", "2026-01-03"],
    ["DMMMYYYY", "13FEB2026", "2026-02-13"],
    ["MMM D, YYYY", "December 1, 2026", "2026-12-01"],
    ["YYYY-MM-DD HH:mm:ss", "2026-02-13 00:00:00", "2026-02-13"],
    ["M/D/YYYY h:mm:ss A", "2/13/2026 12:00:00 AM", "2026-02-13"],
    ["DD.MM.YY", "01.02.70", "1970-02-01"],
  ])("in the form %s: %s", (pattern, text, day) => {
    expect(parseDayPattern(pattern)?.read(text)).toBe(day);
  });

  it.each(["MDYYYY", "DMMYYYY", "YY-MM", "D/M/YYYY/YY", "HH:mm", "YYYYMD"])(
    "have no form %s, which is incomplete or has two readings",
    (pattern) => {
      expect(parseDayPattern(pattern)).toBeUndefined();
    },
  );

  it("ignore the offset of a timestamp", () => {
    expect(parseDay("2026-06-30T21:15:00-07:00")).toBe("2026-06-30");
    expect(parseDay("2026-07-01T00:15:00+14:00")).toBe("2026-07-01");
    expect(parseDay("2026-06-31")).toBeUndefined();
  });

  verifies("MN-22");
  it("are read right or refused in every form", () => {
    const at = fc.integer({ min: 0, max: 36_500 }).map((days) => new Date(days * 86_400_000));
    const forms = ["D.M.YYYY", "DD/MM/YYYY", "M/D/YYYY", "YYYYMMDD", "D MMM YYYY"];
    const months = "Jan Feb M\u00E4r Apr Mai Jun Jul Aug Sep Okt Nov Dez".split(" ");
    fc.assert(
      fc.property(at, fc.constantFrom(...forms), fc.constantFrom(...forms), (day, form, other) => {
        const [year = "", month = "", date = ""] = day.toISOString().slice(0, 10).split("-");
        const text = form
          .replace("YYYY", year)
          .replace("MMM", "@")
          .replace("MM", month)
          .replace("DD", date)
          .replace("M", String(Number(month)))
          .replace("D", String(Number(date)))
          .replace("@", months[Number(month) - 1] ?? "");
        const iso = day.toISOString().slice(0, 10);
        expect(parseDayPattern(form)?.read(text)).toBe(iso);
        const otherwise = parseDayPattern(other)?.read(text);
        if (otherwise !== undefined) expect(otherwise.slice(0, 4)).toBe(year);
      }),
    );
  });
});

describe("amounts in the store", () => {
  it("are plain decimals of any size, with the decimals of their currency", () => {
    const texts = [0, -0, 0.1, -12.5, 1e-7, 123_456_789_012.34, 1e21].map(formatAmount);
    expect(texts).toEqual([
      "0",
      "0",
      "0.1",
      "-12.5",
      "0.0000001",
      "123456789012.34",
      "1000000000000000000000",
    ]);
    expect(["JPY", "KWD", "usd", "XXQ"].map(findCurrencyDecimals)).toEqual([0, 3, 2, 2]);
    expect(() => formatAmount(Number.NaN)).toThrow();
  });
});
