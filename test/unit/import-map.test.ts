import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Problem } from "../../src/contract/errors.ts";
import { collectFields } from "../../src/platform/import/fields.ts";
import { parseImportMap } from "../../src/platform/import/map.ts";
import { createMapping } from "../../src/platform/import/mapping.ts";
import { ledgerMap } from "../support/ledger.ts";
import { ROOT } from "../support/sources.ts";

const fields = collectFields(
  z.object({
    name: z.string().optional(),
    amount: z.number().optional(),
    paid: z.boolean().nullable().optional(),
    level: z.preprocess((value) => value, z.literal([0, 1, 2])).optional(),
    address: z.object({ city: z.string(), country: z.string() }).optional(),
    since: z.string().optional(),
  }),
);

const mapped = (map: object | undefined, cells: Record<string, string>) =>
  createMapping(
    fields,
    map === undefined ? undefined : parseImportMap(JSON.stringify(map), fields),
    Object.keys(cells),
  )(cells);

const record = (map: object | undefined, cells: Record<string, string>) => {
  const result = mapped(map, cells);
  return result.as === "record" ? result.record : result;
};

const faultsOf = (map: string | object) => {
  try {
    parseImportMap(typeof map === "string" ? map : JSON.stringify(map), fields);
  } catch (error) {
    if (error instanceof Problem) return error.details.errors ?? error.code;
  }
  return undefined;
};

describe("a map", () => {
  it("is in the manual as in the ledger tests", () => {
    const manual = readFileSync(join(ROOT, "docs/import.md"), "utf8");
    const [, sample = ""] = /## Disputes[^]*?```json\n([^]*?)```/.exec(manual) ?? [];
    expect(JSON.parse(sample)).toEqual(ledgerMap("2013-09-30"));
  });

  it("names its fields, nested ones with dots", () => {
    expect([...fields.keys()]).toEqual([
      "name",
      "amount",
      "paid",
      "level",
      "address.city",
      "address.country",
      "since",
    ]);
    expect(record({ "address.country": "C", "address.city": "T" }, { C: "NO", T: "Oslo" })).toEqual(
      { address: { country: "NO", city: "Oslo" } },
    );
  });

  it("reports every fault at once", () => {
    const faults = faultsOf({
      nome: "N",
      name: { column: "N", dates: "M/D/YYYY" },
      amount: { column: "" },
      since: { column: "S", date: "YY-MM" },
      paid: { value: [1] },
      level: { column: "L", asOf: "2013-02-30", values: { a: {} } },
      "address.city": 4,
      where: [{ column: "A" }, { column: "A", notAfter: "soon" }],
      sourceKey: [],
    });
    expect(faults).toEqual([
      expect.objectContaining({ field: "nome", code: "unknown" }),
      expect.objectContaining({ field: "name.dates", code: "unknown" }),
      expect.objectContaining({ field: "amount.column", code: "empty" }),
      expect.objectContaining({ field: "since.date" }),
      expect.objectContaining({ field: "paid.value" }),
      expect.objectContaining({ field: "level.asOf" }),
      expect.objectContaining({ field: "level.values.a" }),
      expect.objectContaining({ field: "address.city", code: "type" }),
      expect.objectContaining({ field: "where[0]", code: "required" }),
      expect.objectContaining({ field: "where[1].notAfter" }),
      expect.objectContaining({ field: "sourceKey", code: "empty" }),
    ]);
  });

  it("must be a JSON object", () => {
    expect(faultsOf("{")).toBe("invalid_json");
    expect(faultsOf("[]")).toEqual([expect.objectContaining({ code: "type" })]);
  });

  it("is refused if it names columns that the file lacks, or has twice", () => {
    const map = parseImportMap('{"name": "N", "sourceKey": "K"}', fields);
    expect(() => createMapping(fields, map, ["n", "K"])).toThrow(/does not have: N\. It has n, K/);
    expect(() => createMapping(fields, map, ["N", "K", "K"])).toThrow(/more than one column K/);
    expect(() => createMapping(fields, undefined, ["name", "name"])).toThrow(/column name/);
  });
});

describe("a field's source", () => {
  it("can be a column; a blank cell is absent", () => {
    expect(record({ name: "N", since: "S" }, { N: " Ann ", S: "  " })).toEqual({ name: "Ann" });
  });

  it("can be a constant of any type", () => {
    expect(
      record({ name: { value: "x" }, paid: { value: false }, amount: { value: null } }, {}),
    ).toEqual({ name: "x", paid: false });
  });

  it("is converted to a number or boolean if the field requires it, and stays text if it is none", () => {
    const map = { amount: "A", paid: "P", level: "L" };
    expect(record(map, { A: " -007.50", P: "TRUE", L: "2" })).toEqual({
      amount: -7.5,
      paid: true,
      level: 2,
    });
    for (const A of ["1,5", "1 000", "1e3", "0x10", "5.", ".5", "+5", "NaN", "--1", "1.2.3"]) {
      expect(record(map, { A, P: "yes", L: "open" })).toEqual({
        amount: A,
        paid: "yes",
        level: "open",
      });
    }
    expect(record({ amount: "A" }, { A: "0.1234567890123456" })).toEqual({
      amount: { source: "0.1234567890123456" },
    });
  });

  it.each([
    ["M/D/YYYY", "1/2/2013", "2013-01-02"],
    ["M/D/YYYY", "11/22/2013", "2013-11-22"],
    ["M/D/YYYY", "01/02/2013", "2013-01-02"],
    ["DD.MM.YYYY", "29.02.2024", "2024-02-29"],
    ["YYYYMMDD", "20240229", "2024-02-29"],
    ["YYYY-MM-DD", "2024-12-31", "2024-12-31"],
  ])("reads a date as %s: %s", (date, text, day) => {
    expect(record({ since: { column: "S", date } }, { S: ` ${text} ` })).toEqual({ since: day });
  });

  it.each([
    ["M/D/YYYY", "2/30/2013"],
    ["M/D/YYYY", "13/1/2013"],
    ["M/D/YYYY", "0/1/2013"],
    ["M/D/YYYY", "1/0/2013"],
    ["M/D/YYYY", "1/2/13"],
    ["M/D/YYYY", "001/2/2013"],
    ["M/D/YYYY", "1/2/2013 10:00"],
    ["DD.MM.YYYY", "29.02.2023"],
    ["DD.MM.YYYY", "29x02x2024"],
    ["DD.MM.YYYY", "1.2.2024"],
  ])("refuses what is no date as %s: %s", (date, text) => {
    expect(record({ since: { column: "S", date } }, { S: text })).toEqual({
      as: "refused",
      faults: [
        {
          field: "since",
          code: "format",
          message: `must be a date as ${date} (column "S", value ${JSON.stringify(text)})`,
        },
      ],
    });
  });

  it("counts a day after asOf as blank, before its values are mapped", () => {
    const map = {
      since: { column: "S", date: "M/D/YYYY", asOf: "2013-09-30" },
      level: { column: "S", date: "M/D/YYYY", asOf: "2013-09-30", values: { "": 0, "*": 1 } },
    };
    expect(record(map, { S: "9/30/2013" })).toEqual({ since: "2013-09-30", level: 1 });
    expect(record(map, { S: "10/1/2013" })).toEqual({ level: 0 });
    expect(record(map, { S: "" })).toEqual({ level: 0 });
  });

  it("compares asOf without a pattern with days and timestamps", () => {
    const map = { since: { column: "S", asOf: "2013-09-30" } };
    expect(record(map, { S: "2013-09-30T23:59:59Z" })).toEqual({ since: "2013-09-30T23:59:59Z" });
    // The day is the written one: it is October in UTC.
    expect(record(map, { S: "2013-09-30T23:00:00-02:00" })).toEqual({
      since: "2013-09-30T23:00:00-02:00",
    });
    expect(record(map, { S: "2013-10-01T01:00:00+02:00" })).toEqual({});
    expect(record(map, { S: "2013-09-30" })).toEqual({ since: "2013-09-30" });
    expect(record(map, { S: "30.9.2013" })).toMatchObject({ as: "refused" });
  });

  it("maps values, blank and any other included, and refuses unlisted ones", () => {
    const map = { level: { column: "V", values: { Yes: 2, "": null } } };
    expect(record(map, { V: " Yes" })).toEqual({ level: 2 });
    expect(record(map, { V: "" })).toEqual({});
    expect(record(map, { V: "yes" })).toMatchObject({
      faults: [{ field: "level", code: "enum" }],
    });
    const other = { level: { column: "V", values: { "*": 1 } } };
    expect(record(other, { V: "constructor" })).toEqual({ level: 1 });
    expect(record(other, { V: "" })).toMatchObject({ faults: [{ code: "required" }] });
  });

  it("reports every fault of a row", () => {
    const map = {
      since: { column: "S", date: "M/D/YYYY" },
      level: { column: "V", values: {} },
      sourceKey: "K",
    };
    expect(record(map, { S: "x", V: "x", K: "" })).toMatchObject({
      faults: [{ field: "since" }, { field: "level" }, { field: "K", code: "required" }],
    });
  });

  it("is the column with the field's name without a map", () => {
    const cells = { name: "Ann", "address.city": "Oslo", amount: "5", other: "x" };
    expect(record(undefined, cells)).toEqual({
      name: "Ann",
      address: { city: "Oslo" },
      amount: 5,
    });
  });
});

describe("the member where", () => {
  const where = (condition: object, cell: string) =>
    mapped({ name: "N", where: condition }, { N: "x", C: cell }).as;

  it("keeps rows that equal, are not empty, or are not after a day", () => {
    expect(where({ column: "C", equals: "Yes" }, " Yes ")).toBe("record");
    expect(where({ column: "C", equals: " Yes " }, "Yes")).toBe("record");
    expect(where({ column: "C", equals: "Yes" }, "yes")).toBe("skipped");
    expect(where({ column: "C", equals: "" }, "")).toBe("record");
    expect(where({ column: "C", notEmpty: true }, "0")).toBe("record");
    expect(where({ column: "C", notEmpty: true }, " ")).toBe("skipped");
    const notAfter = { column: "C", date: "M/D/YYYY", notAfter: "2013-09-30" };
    expect(where(notAfter, "9/30/2013")).toBe("record");
    expect(where(notAfter, "10/1/2013")).toBe("skipped");
    expect(where(notAfter, "")).toBe("skipped");
  });

  it("refuses a row with an invalid day instead of dropping it", () => {
    const result = mapped(
      { name: "N", where: { column: "C", date: "M/D/YYYY", notAfter: "2013-09-30" } },
      { N: "x", C: "soon" },
    );
    expect(result).toMatchObject({ as: "refused", faults: [{ field: "C", code: "format" }] });
  });

  it("requires all conditions of a list", () => {
    const both = [
      { column: "C", equals: "Yes" },
      { column: "N", notEmpty: true },
    ];
    expect(mapped({ name: "N", where: both }, { N: "x", C: "Yes" }).as).toBe("record");
    expect(mapped({ name: "N", where: both }, { N: "", C: "Yes" }).as).toBe("skipped");
  });
});

describe("sourceKey", () => {
  const keyOf = (columns: string | string[], cells: Record<string, string>) => {
    const result = mapped({ name: { value: "x" }, sourceKey: columns }, cells);
    return result.as === "record" ? result.sourceKey : result.as;
  };

  it("distinguishes rows by all its columns, also blank ones", () => {
    const keys = [
      keyOf(["A", "B"], { A: "1", B: "2" }),
      keyOf(["A", "B"], { A: "12", B: "" }),
      keyOf(["A", "B"], { A: "", B: "12" }),
      keyOf(["A", "B"], { A: '1","2', B: "" }),
      keyOf("A", { A: "1", B: "2" }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(keyOf("A", { A: " 1" })).toBe(keyOf("A", { A: "1 " }));
    expect(keyOf(["A", "B"], { A: "", B: " " })).toBe("refused");
  });
});

describe("rows that name their values themselves", () => {
  const map = (entries: object) =>
    createMapping(fields, parseImportMap(JSON.stringify(entries), fields), null);

  it("can be nested objects, and keep JSON's types", () => {
    const cells = { a: { b: "Oslo", "c.d": 1 }, "x.y": "own", n: 5, t: "5" };
    expect(map({ "address.city": "a.b", name: "x.y", amount: "n" })(cells)).toMatchObject({
      record: { address: { city: "Oslo" }, name: "own", amount: 5 },
    });
    // Text is not a number where the source knows numbers.
    expect(map({ amount: "t" })(cells)).toMatchObject({ record: { amount: "5" } });
    expect(map({ name: "a.toString" })(cells)).toMatchObject({ record: {} });
  });

  it("are used unchanged without a map, except blank values", () => {
    const cells = { name: "Ann", amount: null, since: "", address: { city: "Oslo" }, extra: 1 };
    expect(createMapping(fields, undefined, null)(cells)).toEqual({
      as: "record",
      record: { name: "Ann", address: { city: "Oslo" }, extra: 1 },
      sourceKey: undefined,
    });
  });
});
