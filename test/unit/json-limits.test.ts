import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findExceededLimit, isDeeperThan } from "../../src/kit/json.ts";
import { readBody } from "../../src/mcp/http/body.ts";
import { verifies } from "../support/verifies.ts";

type Counts = {
  depth: number;
  arrayLength: number;
  names: Set<string>;
  commas: number;
  containers: number;
};

const count = (value: unknown, counts: Counts, depth = 1): Counts => {
  if (typeof value !== "object" || value === null) return counts;
  counts.containers += 1;
  counts.depth = Math.max(counts.depth, depth);
  if (Array.isArray(value)) counts.arrayLength = Math.max(counts.arrayLength, value.length);
  else for (const name of Object.keys(value)) counts.names.add(JSON.stringify(name));
  counts.commas += Math.max(0, Object.keys(value).length - 1);
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
        const { depth, arrayLength, names, commas, containers } = count(value, {
          depth: 0,
          arrayLength: 0,
          names: new Set(),
          commas: 0,
          containers: 0,
        });
        const exact = {
          depth,
          arrayLength: Math.max(1, arrayLength),
          names: names.size,
          commas,
          containers,
        };
        expect(findExceededLimit(pretty, exact)).toBeUndefined();
        expect(isDeeperThan(value, depth)).toBe(false);
        if (depth > 0) {
          expect(findExceededLimit(pretty, { depth: depth - 1 })).toBe("depth");
          expect(isDeeperThan(value, depth - 1)).toBe(true);
        }
        if (arrayLength > 1) {
          const most = arrayLength - 1;
          expect(findExceededLimit(pretty, { arrayLength: most })).toBe("arrayLength");
        }
        if (commas > 0) {
          expect(findExceededLimit(pretty, { commas: commas - 1 })).toBe("commas");
        }
        if (containers > 0) {
          expect(findExceededLimit(pretty, { containers: containers - 1 })).toBe("containers");
        }
        if (names.size > 0) {
          expect(findExceededLimit(pretty, { names: names.size - 1 })).toBe("names");
        }
      }),
    );
  });

  verifies("C-114");
  it("count fields that repeat a name, and numbers of more than 15 digits", () => {
    const repeated = (fields: number): string => `[{${'"a":1,'.repeat(fields - 1)}"a":2},{"a":1}]`;
    expect(findExceededLimit(repeated(10), { names: 10 })).toBeUndefined();
    expect(findExceededLimit(repeated(11), { names: 10 })).toBe("names");
    const long = '[123456789.1234567,-1234567890123456,"1234567890123456",123456789012345]';
    expect(findExceededLimit(long, { longNumbers: 2 })).toBeUndefined();
    expect(findExceededLimit(long, { longNumbers: 1 })).toBe("longNumbers");
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
    const batch = (length: number) => JSON.stringify(Array(length).fill(1));
    const many = (length: number) => `{"values":${batch(length)}}`;
    for (const body of [namesOf(9000), batch(100), many(20_001)]) {
      expect(await send(body)).not.toBeInstanceOf(Response);
    }
    const refused = [namesOf(10_001), deep(200_001), "[".repeat(2 ** 20), batch(101), many(20_002)];
    for (const body of refused) {
      expect(await send(body)).toMatchObject({ status: 400 });
    }
  });
});
