import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findExceededLimit, isDeeperThan } from "../../src/kit/json.ts";
import { readBody } from "../../src/mcp/http/body.ts";
import { verifies } from "../support/verifies.ts";

const NONE = { depth: Infinity, arrayLength: Infinity, names: Infinity };

type Counts = { depth: number; arrayLength: number; names: Set<string> };

const count = (value: unknown, counts: Counts, depth = 1): Counts => {
  if (typeof value !== "object" || value === null) return counts;
  counts.depth = Math.max(counts.depth, depth);
  if (Array.isArray(value)) counts.arrayLength = Math.max(counts.arrayLength, value.length);
  else for (const name of Object.keys(value)) counts.names.add(JSON.stringify(name));
  for (const child of Object.values(value)) count(child, counts, depth + 1);
  return counts;
};

const namesOf = (length: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length }, (_, at) => [`k${at}`, "a:b,{["])));

verifies("OP-50");
describe("the limits of JSON text", () => {
  it("are those of the parsed value", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat(4), (text, space) => {
        const value: unknown = JSON.parse(text);
        const pretty = JSON.stringify(value, null, space);
        const { depth, arrayLength, names } = count(value, {
          depth: 0,
          arrayLength: 0,
          names: new Set(),
        });
        const exact = { depth, arrayLength: Math.max(1, arrayLength), names: names.size };
        expect(findExceededLimit(pretty, exact)).toBeUndefined();
        expect(isDeeperThan(value, depth)).toBe(false);
        if (depth > 0) {
          expect(findExceededLimit(pretty, { ...NONE, depth: depth - 1 })).toBe("depth");
          expect(isDeeperThan(value, depth - 1)).toBe(true);
        }
        if (arrayLength > 1) {
          const most = arrayLength - 1;
          expect(findExceededLimit(pretty, { ...NONE, arrayLength: most })).toBe("arrayLength");
        }
        if (names.size > 0) {
          expect(findExceededLimit(pretty, { ...NONE, names: names.size - 1 })).toBe("names");
        }
      }),
    );
  });

  it("hold for requests to the MCP server", async () => {
    const send = (body: string) =>
      readBody(
        new Request("http://127.0.0.1/mcp", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        }),
      );
    const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(await send(namesOf(9000))).not.toBeInstanceOf(Response);
    for (const body of [namesOf(10_001), deep(200_001), "[".repeat(2 ** 20)]) {
      expect(await send(body)).toMatchObject({ status: 400 });
    }
  });
});
