import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCsvReader } from "../../src/platform/import/csv.ts";
import { MAX_LINE_BYTES, readLines } from "../../src/platform/import/lines.ts";
import { createNdjsonReader } from "../../src/platform/import/ndjson.ts";
import { isRow, type Item, type Reader } from "../../src/platform/import/rows.ts";
import { pieces } from "../support/importing.ts";

const read = async (reader: Reader, text: string | Buffer, size?: number): Promise<Item[]> => {
  const items: Item[] = [];
  for await (const lines of readLines(pieces(text, size))) items.push(...reader.push(lines));
  return [...items, ...reader.end()];
};
const csv = (text: string | Buffer, size?: number) => read(createCsvReader(), text, size);
const ndjson = (text: string | Buffer) => read(createNdjsonReader(), text);

/** Lines and cells of rows, lines and codes of what is none. */
const brief = (items: Item[]) =>
  items.map((item) =>
    isRow(item) ? [item.line, ...Object.values(item.cells)] : [item.line, item.fault.code],
  );

const quoted = (cell: string): string =>
  /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

describe("CSV", () => {
  it("skips a byte order mark, trims the header's names and keeps cells as they are", async () => {
    const [item] = await csv('\uFEFF a ,"b ",c\r\n 1 ,"x, ""y""",\r\n');
    expect(item).toEqual({ line: 2, cells: { a: " 1 ", b: 'x, "y"', c: "" } });
  });

  it("limits the memory for an unclosed quote to the size of a line", () => {
    const reader = createCsvReader();
    const text = "x".repeat(64 * 1024);
    const at = (number: number, line: string) => ({ number, text: line });
    expect(reader.push([at(1, "a"), at(2, '"open')])).toEqual([]);
    const held = MAX_LINE_BYTES / text.length;
    const more = Array.from({ length: held }, (_, index) => at(index + 3, text));
    const [refused, ...rest] = brief(reader.push(more));
    expect(refused).toEqual([2, "quote"]);
    expect(rest).toEqual(more.map(({ number }) => [number, text]));
  });

  it("counts lines of the file with any line breaks and blank lines", async () => {
    const text = 'a,b\n1,2\n\n"3\r\n3",4\r\n   \n5,"6"';
    expect(brief(await csv(text))).toEqual([
      [2, "1", "2"],
      [4, "3\r\n3", "4"],
      [7, "5", "6"],
    ]);
  });

  it("refuses a row with another number of cells than the header", async () => {
    expect(brief(await csv("a,b\n1\n1,2\n1,2,3\n"))).toEqual([
      [2, "columns"],
      [3, "1", "2"],
      [4, "columns"],
    ]);
  });

  it("loses only the line of a stray quote", async () => {
    const good = ["1,2", '"3","4"', "5,6"];
    for (const stray of ['5" pipe,2', '"open,2', 'x,"open', '"a"b,2', 'x,y"z', '"', 'a,"b"" ,c']) {
      const text = ["a,b", good[0], stray, good[1], good[2], ""].join("\n");
      expect(brief(await csv(text)), stray).toEqual([
        [2, "1", "2"],
        [3, "quote"],
        [4, "3", "4"],
        [5, "5", "6"],
      ]);
    }
  });

  it("loses two lines to two stray quotes, not the lines between them", async () => {
    const text = 'a,b\nx,"open\n1,2\n3,4\ny,"open\n5,6\n';
    expect(brief(await csv(text))).toEqual([
      [2, "quote"],
      [3, "1", "2"],
      [4, "3", "4"],
      [5, "quote"],
      [6, "5", "6"],
    ]);
  });

  it("does not load a file into memory for an unclosed quote", async () => {
    const row = `1,${"x".repeat(1000)}\n`;
    const items = await csv(`a,b\n"open,2\n${row.repeat(2500)}`, 65_536);
    expect(items).toHaveLength(2501);
    expect(items.filter((item) => !isRow(item)).map(({ line }) => line)).toEqual([2]);
  });

  it("refuses a line that is not UTF-8, and reads its neighbours", async () => {
    const text = Buffer.concat([
      Buffer.from("a,b\nä,1\n"),
      Buffer.from([0xc3, 0x28, 0x2c, 0x31, 0x0a]),
      Buffer.from('"ö\nö",2\n'),
    ]);
    expect(brief(await csv(text, 1))).toEqual([
      [2, "ä", "1"],
      [3, "encoding"],
      [4, "ö\nö", "2"],
    ]);
  });

  it("refuses a line that is not UTF-8 within a quoted cell, with its record", async () => {
    const text = Buffer.concat([
      Buffer.from('a,b\n"x\n'),
      Buffer.from([0xff, 0x0a]),
      Buffer.from("1,2\n"),
    ]);
    expect(brief(await csv(text))).toEqual([
      [2, "quote"],
      [3, "encoding"],
      [4, "1", "2"],
    ]);
  });

  it("refuses a line beyond the size limit without loading it", async () => {
    const long = "x".repeat(3 * MAX_LINE_BYTES);
    const items = await csv(`a,b\n1,2\n${long},2\n3,4\n`, 65_536);
    expect(brief(items)).toEqual([
      [2, "1", "2"],
      [3, "too_long"],
      [4, "3", "4"],
    ]);
    expect(items[1]).toHaveProperty("text.length", 1000);
  });

  it("refuses a file with an invalid header", async () => {
    await expect(csv('a,"b\n1,2\n')).rejects.toThrow(/header line/);
    await expect(csv("a,b\r1,2\r")).rejects.toThrow(/carriage return/);
    await expect(csv(Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x0a]))).rejects.toThrow(/UTF-8/);
  });

  it("returns nothing for an empty file", async () => {
    expect(await csv("")).toEqual([]);
    expect(await csv("\uFEFF")).toEqual([]);
    expect(await csv("a,b\r\n")).toEqual([]);
  });

  it("reads the same rows in pieces of any size", async () => {
    const cell = fc.string({ unit: fc.constantFrom("a", "é", "😀", '"', ",", "\n", "\r\n", " ") });
    const rows = fc.array(fc.tuple(fc.constant("k"), cell, cell), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 40 }), async (written, size) => {
        const text = written.map((row) => `${row.map(quoted).join(",")}\n`).join("");
        const items = await csv(`a,b,c\n${text}`, size);
        expect(items.map((item) => isRow(item) && Object.values(item.cells))).toEqual(written);
      }),
    );
  });
});

describe("NDJSON", () => {
  it("reads an object per line and refuses other values", async () => {
    const items = await ndjson(
      '\uFEFF{"a": 1}\r\n\n[1]\n{"a": \nnull\n{"a": {"b": null}}\n12345678901234567890',
    );
    expect(brief(items)).toEqual([
      [1, 1],
      [3, "type"],
      [4, "invalid_json"],
      [5, "type"],
      [6, { b: null }],
      [7, "type"],
    ]);
  });

  it("refuses objects that are too deep or too wide", async () => {
    const deep = `{"a":${"[".repeat(40)}${"]".repeat(40)}}`;
    const wide = `{"a":[${"1,".repeat(10_001)}1]}`;
    expect(brief(await ndjson(`${deep}\n${wide}\n{"a":1}`))).toEqual([
      [1, "depth"],
      [2, "too_long"],
      [3, 1],
    ]);
  });
});
