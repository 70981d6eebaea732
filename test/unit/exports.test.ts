import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decompressRows, regroupRows, sliceRows } from "../../src/platform/exports/chunk.ts";
import { findNextSlot } from "../../src/platform/exports/slot.ts";
import type { RowBytes } from "../../src/platform/store/engine/dialect.ts";
import { compressRows } from "../../src/platform/store/engine/row-frame.ts";
import { verifies } from "../support/verifies.ts";

describe("slots", () => {
  verifies("SC-16", "D-SCH-5", "C-15");
  it("have the times of the schedule's grid, are in the future, and never drift", () => {
    const moment = fc.integer({ min: 0, max: 10_000_000 });
    fc.assert(
      fc.property(moment, fc.integer({ min: 1, max: 1_000_000 }), moment, (slot, interval, now) => {
        const next = findNextSlot(slot, interval, now);
        expect((next - slot) % interval).toBe(0);
        expect(next).toBeGreaterThan(Math.max(slot, now));
        expect(next - interval).toBeLessThanOrEqual(Math.max(slot, now));
      }),
    );
  });
});

const row = fc.record({ name: fc.string({ unit: "grapheme" }), amount: fc.integer() });

async function* bytesOf(batches: readonly object[][]): AsyncGenerator<RowBytes> {
  for (const rows of batches) {
    const text = rows.map((one) => JSON.stringify(one)).join(",\n");
    yield { bytes: Buffer.from(text), rowCount: rows.length };
  }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe("chunks", () => {
  it("regroup rows into chunks of a least length, and return any range of them", async () => {
    const batches = fc.array(fc.array(row, { minLength: 1, maxLength: 9 }), { maxLength: 9 });
    const size = fc.integer({ min: 1, max: 12 });
    await fc.assert(
      fc.asyncProperty(batches, size, fc.nat(), fc.nat(), async (given, length, a, b) => {
        const all = given.flat();
        const chunks: RowBytes[] = [];
        for await (const chunk of regroupRows(bytesOf(given), length)) chunks.push(chunk);
        const counts = chunks.map(({ rowCount }) => rowCount);
        expect(counts.slice(0, -1).every((count) => count >= length && count < length + 9)).toBe(
          true,
        );
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(all.length);
        const parsed = chunks.map(({ bytes }) => JSON.parse(`[${textOf(bytes)}]`) as object[]);
        expect(parsed.map((rows) => rows.length)).toEqual(counts);
        expect(parsed.flat()).toEqual(all);
        for (const [index, { bytes, rowCount }] of chunks.entries()) {
          const [from, to] = [a % rowCount, b % rowCount].toSorted((x, y) => x - y) as [
            number,
            number,
          ];
          const part = sliceRows(Buffer.from(bytes), from, to + 1).toString();
          expect(JSON.parse(`[${part}]`)).toEqual(parsed[index]?.slice(from, to + 1));
        }
      }),
    );
  });

  it("are the rows that the store compressed, as they are, between joined ones", async () => {
    const sizes = [2, 3, 9, 9, 1, 4, 2, 9, 1];
    async function* rows(): AsyncGenerator<RowBytes> {
      for (const [place, rowCount] of sizes.entries()) {
        yield { bytes: Buffer.from(String(place)), rowCount, isFrame: rowCount === 9 };
      }
    }
    const chunks: string[] = [];
    for await (const { bytes, rowCount, isFrame } of regroupRows(rows(), 5)) {
      chunks.push(`${textOf(bytes)} ${rowCount}${isFrame === true ? " frame" : ""}`);
    }
    expect(chunks).toEqual([
      "0,\n1 5",
      "2 9 frame",
      "3 9 frame",
      "4,\n5 5",
      "6 2",
      "7 9 frame",
      "8 1",
    ]);
  });

  it("are one frame of zstd each, and refused if a byte differs", async () => {
    const text = '{"a":1},\n{"a":2}';
    const bytes = await compressRows(Buffer.from(text));
    expect(bytes.readUInt32LE(0)).toBe(0xfd2fb528);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const written = { key: "k", size: bytes.length, sha256 };
    expect((await decompressRows(bytes, written)).toString()).toBe(text);
    const altered = Buffer.from(bytes);
    altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1;
    await expect(decompressRows(altered, written)).rejects.toThrow("other bytes");
    await expect(decompressRows(bytes.subarray(1), written)).rejects.toThrow("bytes");
  });
});
