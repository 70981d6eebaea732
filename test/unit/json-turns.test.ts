import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measureLongestTurn, MOST_MS } from "../../bench/insights/turn.ts";
import { findExceededLimit, RECORD_LIMITS } from "../../src/kit/json.ts";
import { parseJson, parseJsonInTurns } from "../../src/kit/parse-json.ts";
import { createIdScanner, scanId } from "../../src/mcp/message-ids.ts";
import { createLineFilter } from "../../src/mcp/stdio/lines.ts";
import { verifies } from "../support/verifies.ts";

/** A little less than the largest body of the ingest API. */
const SIZE = 5_200_000;

const fill = (part: string, length = SIZE): string => part.repeat(Math.floor(length / part.length));
const list = (item: string, count = 9999): string =>
  `[${fill(`${item},`, (item.length + 1) * (count - 1))}${item}]`;
const fieldsOf = (names: string[]): string => `{${names.map((name) => `"${name}":1`).join(",")}}`;
const namesOf = (count: number, length = 1): string[] =>
  Array.from({ length: count }, (_, at) => `${"n".repeat(length)}${String(at).padStart(6, "0")}`);

/** The largest bodies that are accepted, and those that are found to be no JSON. */
const BODIES: [what: string, body: string][] = [
  ["short texts", list(list(String.raw`"\nxxxxx"`), 49)],
  ["long texts of escapes", `{"a":12345678901234567,"b":"${fill(String.raw`\"`)}"}`],
  ["small objects", list(list('{"a":1,"b":"x","c":null,"d":0.25}'), 9)],
  ["objects between numbers", list(list('{"a":1},1,{}', 3333), 14)],
  ["objects of many shapes", list(list(fieldsOf(namesOf(1999)), 40), 8)],
  ["long numbers", list("1".repeat(480))],
  ["long names", fieldsOf(namesOf(300, 15_900))],
  ["spaces", `${fill(" ")}{}`],
  ["minus signs", `[${fill("-")}`],
  ["one name and colons", `{"${"n".repeat(16_000)}"${":".repeat(4_000_000)}1}`],
];

const fail = (error: unknown): never => {
  throw error;
};
const isRefusal = (error: unknown): boolean => error instanceof SyntaxError;
/** The least of three runs, so that a collection of garbage by others does not count. */
const measure = async (act: () => Promise<unknown>): Promise<number> => {
  const runs = [];
  for (let run = 0; run < 3; run += 1) runs.push(await measureLongestTurn(act));
  return Math.min(...runs);
};

verifies("C-114", "OP-50");
describe("a long body", () => {
  it.each(BODIES)("of %s holds no turn of the event loop", async (_what, body) => {
    const act = () => parseJsonInTurns(body, RECORD_LIMITS).catch(isRefusal);
    expect(await measure(act)).toBeLessThan(MOST_MS);
  });

  it("is read as in one piece, and refused as in one piece", async () => {
    const number = fc.constantFrom(
      "1",
      "-0",
      "12345678901234567",
      "-1234567890.12345678e-5",
      "1e12345678901234567",
      "1.00000000000000000000",
      "999999999999999999999e3",
    );
    const name = fc.oneof(fc.constantFrom("__proto__", "constructor", "a"), fc.string());
    const value = fc.oneof(number, fc.json({ maxDepth: 3 }));
    const object = fc
      .array(fc.tuple(name, value), { maxLength: 6 })
      .map(
        (fields) =>
          `{${fields.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(" ,")}}`,
      );
    const broken = fc.option(fc.tuple(fc.nat(), fc.constantFrom("]", "}", ",", '"', "-", "1")));
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(object, { minLength: 1, maxLength: 8 }),
        number,
        broken,
        async (items, one, cut) => {
          const array = fill(`${items.join(",")},${one},`, 200_000);
          const whole = `{"list":[${array}${one}], "one":${one},"text":"${"x".repeat(140_000)}"}`;
          const at = cut === null ? 0 : cut[0] % whole.length;
          const sent = cut === null ? whole : whole.slice(0, at) + cut[1] + whole.slice(at);
          const parse = (): unknown => {
            try {
              return { value: parseJson(sent) };
            } catch {
              refused += 1;
              return "refused";
            }
          };
          const parsed = await parseJsonInTurns(sent, {}).catch(() => "refused");
          // The test library's own comparison takes a field `constructor` for the type of the object.
          expect(isDeepStrictEqual(parsed, parse())).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it("exceeds a limit as in one piece", async () => {
    for (const body of [
      list("1", 10_001),
      list("[", 40),
      `{"a":${"1".repeat(1001)}}`,
      list("{}", 100_001),
    ]) {
      const exceeded = findExceededLimit(body, RECORD_LIMITS);
      expect(exceeded).toBeDefined();
      expect(await parseJsonInTurns(body, RECORD_LIMITS)).toEqual({ exceeded });
    }
  });
});

/** Passes lines through the filter of the stdio transport, and returns the refusals. */
const filterLines = async (...lines: string[]): Promise<{ passed: string; refused: string[] }> => {
  const refused: string[] = [];
  const onRefusal = (answer: string) => void refused.push(answer);
  const filter = createLineFilter({ onMessage: () => {}, onRefusal, onFailure: fail });
  const passed = text(filter);
  filter.end(lines.map((line) => `${line}\n`).join(""));
  return { passed: await passed, refused };
};

verifies("C-114", "HS-05");
describe("a long line over stdio", () => {
  const ping = '{"jsonrpc":"2.0","id":8,"method":"ping"}';

  it.each([
    ["brackets", `{"id":7,"x":${"[".repeat(2_000_000)}`],
    ["names", `{"id":7,"x":${fieldsOf(namesOf(300_000))}}`],
    ["names of one length", `{"id":7,"x":${fieldsOf(namesOf(240, 16_380))}}`],
  ])("of %s is refused within a turn, and the next one is read", async (_what, line) => {
    const { passed, refused } = await filterLines(line, ping);
    expect(passed).toBe(`${ping}\n`);
    expect(refused.map((one) => JSON.parse(one))).toMatchObject([
      { id: 7, error: { code: -32_600 } },
    ]);
    expect(await measure(() => filterLines(line))).toBeLessThan(MOST_MS);
  });

  it("is passed on in its place", async () => {
    const long = `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"${"x".repeat(3_000_000)}"}}`;
    expect(await filterLines(ping, long, ping)).toEqual({
      passed: `${ping}\n${long}\n${ping}\n`,
      refused: [],
    });
  });
});

verifies("C-114", "HS-05");
describe("the id of a message that is no JSON", () => {
  it.each<[what: string, rest: string]>([
    ["colons", fill(":", 2_000_000)],
    ["texts in a list", fill('"",')],
    ["names that may be an id", fill(String.raw`"\u0069d":x,`)],
    ["ids", fill('"id":x,')],
    ["fields", fill('"a":1,')],
    ["long names", fill(`"${"n".repeat(2400)}":1,`)],
    ["spaces", fill(" \n")],
    ["texts in lists", `"a":[${fill('"\\\\",')}`],
  ])("is found in front of many %s within a turn", async (_what, rest) => {
    const bytes = Buffer.from(`{"id":7,${rest}`);
    expect(scanId(bytes)).toBe(7);
    expect(await measure(async () => scanId(bytes))).toBeLessThan(MOST_MS);
  });

  it("is found behind thousands of fields, in every spelling of its name", () => {
    for (const name of ["id", String.raw`\u0069d`, String.raw`i\u0064`, String.raw`\u0069\u0064`]) {
      const bytes = Buffer.from(`{${fill('"a":"x:,",', 60_000)}"${name}" : "one" ,,`);
      expect(scanId(bytes)).toBe("one");
      const scanner = createIdScanner();
      for (let at = 0; at < bytes.length; at += 7) scanner.read(bytes.subarray(at, at + 7));
      expect(scanner.id()).toBe("one");
    }
    expect(scanId(Buffer.from('{"x":{"id":1},"ID":2,"idd":3,"i":4,,'))).toBeUndefined();
  });
});
