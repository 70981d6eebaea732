import { describe, expect, it } from "vitest";
import { createCsvReader } from "../../src/platform/import/csv.ts";
import { parseBankMap, parseImportMap } from "../../src/platform/import/map.ts";
import { createMapping } from "../../src/platform/import/mapping.ts";
import { csv, fieldsOf, readTable } from "../support/import-tables.ts";
import { verifies } from "../support/verifies.ts";

const PAYMENT = "paymentId,paymentDate,currencyCode,paymentAmount,payerName,documentNumber";

describe("a text table", () => {
  verifies("MN-21", "MN-22");
  it.each([",", ";", "\t", "|"])(
    "is read with %j between cells and lines above its header",
    async (sign) => {
      const header = PAYMENT.replaceAll(",", sign);
      const row = ["P1", "2026-03-01", "USD", "10.00", "A", ""].join(sign);
      const { records, layout } = await readTable(
        "cashapp",
        csv(`Report, of; today\n\n${header}\n${row}\n`),
      );
      expect(layout).toMatchObject({ delimiter: sign, header: 3 });
      expect(records).toMatchObject([{ paymentId: "P1", paymentAmount: 10 }]);
    },
  );

  it("obeys the first line of spreadsheet programs", async () => {
    const text = `sep=;\n${PAYMENT.replaceAll(",", ";")}\nP1;2026-03-01;USD;1,5;A, B;\n`;
    const { records } = await readTable("cashapp", csv(text));
    expect(records).toMatchObject([{ paymentAmount: 1.5, payerName: "A, B" }]);
  });

  verifies("MN-21");
  it("skips blank rows and leaves out lines of totals by name", async () => {
    const text = [
      PAYMENT,
      "P1,2026-03-01,USD,10.00,A,",
      ",,,,,",
      " , ,,,,",
      "P2,2026-03-01,USD,5.00,Total Energies,",
      ",,,15.00,,",
      "Total,,,15.00,,",
      "Total général,15.00",
      "P3,2026-03-01,USD,1.00,A,,,",
    ].join("\n");
    const { records, leftOut, refused } = await readTable("cashapp", csv(text));
    expect(records.map(({ paymentId }) => paymentId)).toEqual(["P1", "P2", "P3"]);
    expect(leftOut).toEqual(["total", "total", "total"]);
    expect(refused).toEqual([]);
  });

  it("leaves out a header that is repeated on each page", async () => {
    const text = `${PAYMENT}\nP1,2026-03-01,USD,1.00,A,\n${PAYMENT}\nP2,2026-03-02,USD,2.00,A,\n`;
    const { records, leftOut, refused } = await readTable("cashapp", csv(text));
    expect(records.map(({ paymentId }) => paymentId)).toEqual(["P1", "P2"]);
    expect(leftOut).toEqual(["header"]);
    expect(refused).toEqual([]);
  });

  it.each(["\n", "\r\n"])("reads a header of several lines that end with %j", async (end) => {
    const lines = ["Report", 'Tag,Nr,"Betrag', '(USD)",Name', "2026-03-01,P1,5.00,A", ""];
    const map = {
      paymentId: "Nr",
      paymentDate: "Tag",
      paymentAmount: "Betrag\n(USD)",
      currencyCode: { value: "USD" },
    };
    const { records, layout } = await readTable("cashapp", csv(lines.join(end)), map);
    expect(layout).toMatchObject({ header: 2 });
    expect(records).toMatchObject([{ paymentId: "P1", paymentAmount: 5 }]);
  });

  it("refuses a row without a number that is no sum of the rows above", async () => {
    const text = `${PAYMENT}\nP1,2026-03-01,USD,10.00,A,\n,,,9.00,,\n,2026-03-02,USD,10.00,Total SE,\n`;
    const { records, leftOut } = await readTable("cashapp", csv(text));
    // Without a key these records are refused by the target.
    expect(records).toHaveLength(3);
    expect(leftOut).toEqual([]);
  });

  verifies("MN-21");
  it("is refused as a whole without a required column, naming the nearest one", async () => {
    const text =
      "document_number,account_number,invoice_date,due_date,currency,amount\nI1,C1,2026-03-01,2026-03-31,USD,1\n";
    await expect(readTable("documents", csv(text))).rejects.toThrow(
      /has no column denomination|has no column original_denomination.*"amount"; did you mean/,
    );
    await expect(readTable("cashapp", csv("a,b\n1,2\n"))).rejects.toThrow(
      /has no column paymentId/,
    );
    await expect(readTable("cashapp", csv("a\n1\n"), { paymentId: "a" })).rejects.toThrow(
      /The map gives no paymentDate, currencyCode, paymentAmount/,
    );
  });

  it("reads texts that a spreadsheet program wrote as formulas", async () => {
    const text = `${PAYMENT}\n"=""00123""",2026-03-01,EUR,1.00,"=""A, B""","=X"\n`;
    const { records } = await readTable("cashapp", csv(text));
    expect(records).toMatchObject([
      { paymentId: "00123", payerName: "A, B", documentNumber: "=X" },
    ]);
  });

  it("trims cells", async () => {
    const { records } = await readTable(
      "cashapp",
      csv(`${PAYMENT}\nP1  , 2026-03-01,usd, 1.00 , A ,INV-1     \n`),
    );
    expect(records).toEqual([
      {
        paymentId: "P1",
        paymentDate: "2026-03-01",
        currencyCode: "USD",
        paymentAmount: 1,
        payerName: "A",
        documentNumber: "INV-1",
      },
    ]);
  });

  verifies("MN-20");
  it.each(["4.50001E+12", "1,0002E+14", "1.0002e+14"])(
    "refuses the rounded number %s",
    async (number) => {
      const { refused } = await readTable(
        "cashapp",
        csv(`${PAYMENT}\n"${number}",2026-03-01,USD,1.00,A,\n`),
      );
      expect(refused).toEqual([
        expect.stringMatching(/^paymentId has lost digits .* format the column as text/),
      ]);
      const mapRow = createMapping(fieldsOf("cashapp"), undefined, null);
      expect(mapRow({ paymentId: number })).toMatchObject({ as: "refused" });
    },
  );

  it("shows line, column and value of a refused cell, in few characters", async () => {
    const long = "x".repeat(5000);
    const { refused } = await readTable("cashapp", csv(`Nr,Tag,Wert\n1,${long},1.000\n`), {
      paymentId: "Nr",
      paymentDate: { column: "Tag", date: "D.M.YYYY" },
      paymentAmount: "Wert",
      currencyCode: { value: "EUR" },
    });
    expect(refused).toEqual([
      expect.stringMatching(/must be a date as D\.M\.YYYY \(column "Tag", value "x{80,100}…\)/),
      expect.stringMatching(/can be read as 1 or as 1000; .*\(column "Wert", value "1\.000"\)/),
    ]);
    expect(refused.join("").length).toBeLessThan(700);
  });

  it("refuses a header line that the file does not have", async () => {
    const reader = createCsvReader({ header: 9 });
    reader.push([{ number: 1, text: "a,b" }]);
    expect(() => reader.end()).toThrow(/line 9 by the map/);
  });
});

const BASE = { paymentId: "R", paymentDate: "D", currencyCode: { value: "USD" } };
const read = (map: object, ...rows: string[]) =>
  readTable("cashapp", csv(["R,D,A,B,S,T", ...rows].join("\n")), { ...BASE, ...map });

describe("a field of a map", () => {
  verifies("MN-22");
  it("joins columns, and takes the group of a regular expression", async () => {
    const map = {
      paymentAmount: "A",
      payerName: { join: ["B", "S"], with: ", " },
      documentNumber: { column: "T", regex: "(INV-[0-9]+)" },
    };
    const { records } = await read(
      map,
      "1,2026-03-01,1.00,Ada,Co,for INV-12 and INV-13",
      "2,2026-03-01,1.00,,Co,none",
    );
    expect(records).toMatchObject([
      { payerName: "Ada, Co", documentNumber: "INV-12" },
      { payerName: "Co" },
    ]);
    expect(records[1]).not.toHaveProperty("documentNumber");
  });

  verifies("MN-22");
  it("takes the amount from debits and credits, and leaves out debits of an account", async () => {
    const map = {
      paymentAmount: { debit: "A", credit: "B" },
      applicationStatus: { column: "T", values: { r: "reversed", "": null } },
    };
    const rows = [
      "1,2026-03-01,,5.00,,",
      "2,2026-03-01,3.00,0.00,,",
      "3,2026-03-01,3.00,,,r",
      "4,2026-03-01,1.00,1.00,,",
    ];
    const { records, leftOut, refused } = await read(map, ...rows);
    expect(records.map(({ paymentAmount }) => paymentAmount)).toEqual([5, -3]);
    expect(leftOut).toEqual(["debit"]);
    expect(refused).toEqual([
      'paymentAmount must be a debit or a credit, not both (columns "A" and "B")',
    ]);
  });

  verifies("MN-22");
  it("takes a dash in a column of debits or credits for a blank", async () => {
    const map = { paymentAmount: { debit: "A", credit: "B" } };
    const { records, leftOut } = await read(
      map,
      "1,2026-03-01,-,5.00,,",
      "2,2026-03-01, $ - ,6.00,,",
      "3,2026-03-01,7.00,\u2013,,",
    );
    expect(records.map(({ paymentAmount }) => paymentAmount)).toEqual([5, 6]);
    expect(leftOut).toEqual(["debit"]);
  });

  it("takes the sign from a column, and turns it", async () => {
    const signFrom = { column: "S", negative: ["D"], positive: ["C", ""] };
    const signed = await read(
      { paymentAmount: { column: "A", signFrom } },
      "1,2026-03-01,5.00,,C,",
      "2,2026-03-01,5.00,,D,",
      "3,2026-03-01,5.00,,X,",
      "4,2026-03-01,-5.00,,D,",
    );
    expect(signed.records).toMatchObject([{ paymentAmount: 5 }]);
    expect(signed.leftOut).toEqual(["debit"]);
    expect(signed.refused).toEqual([
      expect.stringMatching(/none of \["D","C",""\] \(column "S", value "X"\)/),
      expect.stringMatching(/a minus beside its sign/),
    ]);
    const turned = await read(
      { paymentAmount: { column: "A", negate: true } },
      "1,2026-03-01,-5.00,,,",
    );
    expect(turned.records).toMatchObject([{ paymentAmount: 5 }]);
  });

  verifies("MN-22");
  it("is a number in the form of the map or of its own", async () => {
    const map = {
      number: { decimal: ",", thousands: "." },
      paymentAmount: "A",
      appliedAmount: { column: "B", number: { decimal: "." } },
    };
    const { records } = await read(map, '1,2026-03-01,"1.000",1.5,,');
    expect(records).toMatchObject([{ paymentAmount: 1000, appliedAmount: 1.5 }]);
  });

  verifies("MN-23");
  it("is the sum of the rows of a payment", async () => {
    const map = { paymentAmount: { sum: "A" }, appliedAmount: "A", documentNumber: "T" };
    const { records } = await read(
      map,
      "1,2026-03-01,0.10,,,I1",
      "2,2026-03-01,5.00,,,I2",
      "1,2026-03-01,0.20,,,I3",
      "Total,,5.30,,,",
    );
    expect(
      records.map(({ paymentAmount, appliedAmount }) => [paymentAmount, appliedAmount]),
    ).toEqual([
      [0.3, 0.1],
      [5, 5],
      [0.3, 0.2],
    ]);
  });

  verifies("MN-22");
  it("refuses members that do not fit", () => {
    const faults = (map: object) => {
      try {
        parseImportMap(JSON.stringify(map), fieldsOf("cashapp"));
      } catch (error) {
        return String(error);
      }
      return "";
    };
    expect(faults({ payerName: { column: "a", negate: true } })).toContain(
      "payerName.negate is for amounts",
    );
    expect(faults({ payerName: { column: "a", regex: "(a)(b)" } })).toContain("exactly one group");
    expect(faults({ payerName: { column: "a", regex: "(a)\\1" } })).toContain("RE2");
    expect(faults({ number: { decimal: ".", thousands: "." } })).toContain("different signs");
    expect(faults({ header: 0, delimiter: "ab", encoding: "klingon" })).toMatch(
      /header .*delimiter .*encoding/,
    );
    expect(faults({ take: ["165"] })).toContain("take is for bank files only");
    expect(faults({ payernme: "a" })).toContain("did you mean payerName");
  });

  it("takes a regular expression in linear time", async () => {
    const text = "a".repeat(50_000);
    const map = { paymentAmount: "A", payerName: { column: "B", regex: "^(a+)+$" } };
    const { records } = await read(map, `1,2026-03-01,1.00,${text}b,,`);
    expect(records).toHaveLength(1);
  });

  verifies("MN-22");
  it("of a bank file names codes and encoding only", () => {
    expect(parseBankMap('{"take": ["354"], "leaveOut": ["165 "]}')).toEqual({
      take: ["354"],
      leaveOut: ["165"],
    });
    expect(() => parseBankMap('{"take": ["1"], "leaveOut": ["1"]}')).toThrow(/as leaveOut has/);
    expect(() => parseBankMap('{"paymentId": "a"}')).toThrow(/not usable/);
  });
});
