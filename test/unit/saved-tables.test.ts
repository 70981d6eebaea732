import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { readSheet } from "read-excel-file/node";
import { describe, expect, it } from "vitest";
import { isRisky, neutralizeParts, neutralizeText } from "../../src/mcp/files/saved/neutralize.ts";
import { parseSavedName } from "../../src/mcp/results/saved-files.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { ALL } from "../mcp/hosts.ts";
import { HOSTILE, NAMES, ROWS, tableOf, toCsv, toXlsx } from "../support/saved-tables.ts";
import { verifies } from "../support/verifies.ts";

const NUMBERS = ["-5", "+49", "-1.5", "1,234.50", "-1.234,50", "1e5", "-12%", "007"];

verifies("WK-90");
describe("text in saved tables", () => {
  it.each(HOSTILE)("is no formula: %j", (text) => {
    expect(isRisky(text)).toBe(true);
    expect(neutralizeText(text)).toBe(`'${text}`);
  });

  it.each([...NUMBERS, "Acme = Sons", "a@example.com", "", "  ", "1-2", "ACC-1", "'=1", "Ω"])(
    "stays as it is: %j",
    (text) => {
      expect(neutralizeText(text)).toBe(text);
    },
  );

  it("begins no further cell where lists are separated by semicolons", () => {
    expect(neutralizeParts('a;=1+1;"')).toBe("a;'=1+1;\"");
    expect(neutralizeParts("a;\t ＝1")).toBe("a;\t' ＝1");
    expect(neutralizeParts("first\n=1+1")).toBe("first\n'=1+1");
    expect(neutralizeParts("plain; -5; text")).toBe("plain; -5; text");
  });

  it("is neutralized with anything before the formula", () => {
    const blank = fc.constantFrom(" ", "\t", "\n", "\u00a0", "\u200b", "\u2060", "\u{e0041}");
    const sign = fc.constantFrom("=", "+", "-", "@", "＝", "＋", "－", "＠");
    const formula = fc.tuple(fc.array(blank), sign, fc.constantFrom("A1", "cmd|x", "SUM(1)"));
    fc.assert(
      fc.property(formula, ([blanks, first, rest]) => {
        expect(neutralizeText(blanks.join("") + first + rest).charAt(0)).toBe("'");
      }),
    );
  });
});

describe("a table as CSV", () => {
  it("is RFC 4180 in UTF-8 with a byte order mark", async () => {
    const text = await toCsv(tableOf(NAMES, ROWS));
    expect(text.startsWith(`\ufeff${NAMES.join(",")}\r\n`)).toBe(true);
    const [, first, second, third] = parse(text, { bom: true, record_delimiter: "\r\n" });
    expect(first).toEqual(["D-1", "80.5", "2026-03-29T00:30:00.000Z", "2026-01-31", "", "", ""]);
    expect(second).toEqual(['quote " and, comma', "-0.1", "", "", "true", "a; b", "two\nlines"]);
    expect(third).toEqual(["_x003D_1+1", "123456789012345.67", "", "soon", "", "", "😀 & <b>"]);
  });

  it("says what it is about above its rows", async () => {
    const text = await toCsv(tableOf(["code"], [{ code: "D-1" }]), true);
    expect(text).toBe(
      "\ufefftool,disputes_list\r\naccountName,=1+1\r\nrows,1\r\n\r\ncode\r\nD-1\r\n".replace(
        ",=1+1",
        ",'=1+1",
      ),
    );
  });

  it("has its header where there are no rows", async () => {
    expect(await toCsv(tableOf(["=code"], []))).toBe("\ufeff'=code\r\n");
  });
});

describe("a table as XLSX", () => {
  it("has numbers as numbers, days as days and times of the tenant's clock", async () => {
    const sheet = await readSheet(await toXlsx(tableOf(NAMES, ROWS)));
    expect(sheet[0]).toEqual(NAMES);
    const [code, amount, created, due] = sheet[1] ?? [];
    expect([code, amount]).toEqual(["D-1", 80.5]);
    // Half an hour before the clocks of Berlin go forward.
    expect(created).toEqual(new Date("2026-03-29T01:30:00.000Z"));
    expect(due).toEqual(new Date("2026-01-31T00:00:00.000Z"));
    expect(sheet[2]?.slice(4)).toEqual([true, "a; b", "two\nlines"]);
    expect(sheet[3]?.slice(1, 2)).toEqual(["123456789012345.67"]);
  });

  it("says on another sheet what it is about", async () => {
    const sheet = await readSheet(await toXlsx(tableOf(["code"], [{ code: 1 }])), "About");
    expect(sheet).toEqual([
      ["tool", "disputes_list"],
      ["accountName", "'=1+1"],
      ["rows", 1],
    ]);
  });

  it("is the same for the same rows", async () => {
    const [one, other] = await Promise.all([
      toXlsx(tableOf(NAMES, ROWS)),
      toXlsx(tableOf(NAMES, ROWS)),
    ]);
    expect(one.equals(other)).toBe(true);
  });

  it("fails if its rows cannot be read", async () => {
    const rows = (async function* () {
      yield [{ code: 1 }];
      throw new Error("the platform ended");
    })();
    await expect(toXlsx({ ...tableOf(["code"], []), rows })).rejects.toThrow("the platform ended");
  });
});

describe("the name of a saved table", () => {
  it("names tool and format, and nothing else is one", () => {
    for (const { name, inputSchema } of toolList(ALL)) {
      if (inputSchema.properties?.["save"] === undefined) continue;
      const saved = parseSavedName(`${name}-2026-11-27-0123abcd.csv`);
      expect([name, saved]).toEqual([name, { tool: name, format: "csv" }]);
    }
    const name = "disputes_list-2026-11-27-0123abcd.xlsx";
    expect(parseSavedName(name)).toEqual({ tool: "disputes_list", format: "xlsx" });
    for (const other of ["../disputes_list.csv", `${name}/text`, "a-2026-11-27-0123ABCD.csv", ""]) {
      expect(parseSavedName(other)).toBeUndefined();
    }
  });
});
