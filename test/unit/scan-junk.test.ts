import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Extension } from "../../src/contract/file-types.ts";
import { builtInScanner } from "../../src/platform/scan/built-in.ts";
import { extentOf } from "../support/extent.ts";
import { GOOD } from "../support/uploads.ts";
import { verifies } from "../support/verifies.ts";

type Change = { at: number; bytes: Uint8Array; act: "overwrite" | "insert" | "cut" };

const change = fc.record<Change>({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
  act: fc.constantFrom("overwrite", "insert", "cut"),
});

const changed = (bytes: Buffer, { at, bytes: put, act }: Change): Buffer => {
  const place = Math.floor(at * bytes.byteLength);
  const skipped = act === "insert" ? 0 : put.byteLength;
  const parts = [
    bytes.subarray(0, place),
    act === "cut" ? "" : put,
    bytes.subarray(place + skipped),
  ];
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
};

const STATUSES = ["Available", "Infected", "Rejected"];

describe("damaged files", () => {
  verifies("C-52", "C-47");
  it.each(Object.keys(GOOD) as Extension[])(
    "get a verdict instead of an error: %s",
    async (extension) => {
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          const bytes = changes.reduce(changed, GOOD[extension]);
          const verdict = await builtInScanner.scan({
            fileName: `a${extension}`,
            size: bytes.byteLength,
            open: () => Promise.resolve(new Blob([Uint8Array.from(bytes)]).stream()),
          });
          expect(STATUSES).toContain(verdict.status);
        }),
        { numRuns: extentOf(15, 100), seed: 20_261_121 },
      );
    },
  );
});
