import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { findExceededLimit, RECORD_LIMITS } from "../../src/kit/json.ts";
import { parseJson, parseJsonInTurns } from "../../src/kit/parse-json.ts";
import { createIdScanner, parseWithIds, scanId } from "../../src/mcp/message-ids.ts";
import { createLineFilter } from "../../src/mcp/stdio/lines.ts";
import { verifies } from "../support/verifies.ts";

/** A little less than the largest body of the ingest API. */
const SIZE = 5_200_000;

const fill = (part: string, length = SIZE): string => part.repeat(Math.floor(length / part.length));
const list = (item: string, count = 9999): string =>
  `[${fill(`${item},`, (item.length + 1) * (count - 1))}${item}]`;

/** Returns how often other work had its turn on the event loop meanwhile. */
const countTurns = async (act: () => Promise<unknown>): Promise<number> => {
  let [turns, isOver] = [0, false];
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await act();
  isOver = true;
  return turns;
};

/** The characters of a body that are checked, or parsed, in a turn. */
const PER_TURN = 131_072;

verifies("C-114", "OP-50");
describe("a long body", () => {
  it.each([
    ["short texts", list(list(String.raw`"\nxxxxx"`), 49)],
    ["small objects", list(list('{"a":1,"b":"x","c":null,"d":0.25}'), 9)],
    ["long numbers", list("1".repeat(480))],
  ])("of %s is checked and parsed in many turns", async (_what, body) => {
    const turns = await countTurns(() => parseJsonInTurns(body, RECORD_LIMITS));
    expect(turns).toBeGreaterThan((1.5 * body.length) / PER_TURN);
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
          `{${fields.map(([key, json]) => `${JSON.stringify(key)}: ${json}`).join(" ,")}}`,
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

  it.each(["{}", "[1]", "12345678901234567890", "-1.2345678901234567e5"])(
    "with %s in place of the name of a field is no JSON",
    async (name) => {
      for (const colon of [":", " \n\t\r:"]) {
        const body = (length: number) => `{${name}${colon}1,"x":"${"x".repeat(length)}"}`;
        expect(() => parseJson(body(1))).toThrow(SyntaxError);
        await expect(parseJsonInTurns(body(200_000), RECORD_LIMITS)).rejects.toThrow(SyntaxError);
      }
    },
  );

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

const fail = (error: unknown): never => {
  throw error;
};

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
  const names = Array.from({ length: 300_000 }, (_, at) => `"n${at}":1`).join(",");
  const long = Array.from({ length: 240 }, (_, at) => `"${"n".repeat(16_380)}${at}":1`).join(",");

  it.each([
    ["brackets", `{"id":7,"x":${"[".repeat(4_000_000)}`],
    ["names", `{"id":7,"x":{${names}}}`],
    ["long names", `{"id":7,"x":{${long}}}`],
  ])("of %s is refused before it is parsed, and the next one is read", async (_what, line) => {
    const parse = vi.spyOn(JSON, "parse");
    const { passed, refused } = await filterLines(line, ping);
    expect(Math.max(...parse.mock.calls.map(([json]) => json.length))).toBeLessThan(100);
    parse.mockRestore();
    expect(passed).toBe(`${ping}\n`);
    expect(refused.map((one) => JSON.parse(one))).toMatchObject([
      { id: 7, error: { code: -32_600 } },
    ]);
  });

  it.each([
    ["blanks", `{"jsonrpc":"2.0","id":7,"method":"ping"${fill(" ", 4_000_000)}}`],
    ["texts", `{"id":7,"x":"${fill("x", 4_000_000)}`],
  ])("of %s is checked in many turns", async (_what, line) => {
    expect(await countTurns(() => filterLines(line))).toBeGreaterThan(
      (0.9 * line.length) / PER_TURN,
    );
  });

  it("is passed on in its place", async () => {
    const call = `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"${"x".repeat(3_000_000)}"}}`;
    expect(await filterLines(ping, call, ping)).toEqual({
      passed: `${ping}\n${call}\n${ping}\n`,
      refused: [],
    });
  });
});

verifies("C-114", "HS-05");
describe("the id of a message that is a number other than a safe integer", () => {
  const number = (digits: string): string => `\u0001number:${digits}`;

  it("is read as it is written, where it is the id of a message", () => {
    for (const digits of ["1.0", "-0", "12345678901234567890", "1e3", "0.5"]) {
      const one = `{"method":"ping","id" : ${digits}}`;
      expect(parseWithIds(one)).toEqual({ method: "ping", id: number(digits) });
      expect(parseWithIds(`[${one},{"id":3},${one}]`)).toEqual([
        { method: "ping", id: number(digits) },
        { id: 3 },
        { method: "ping", id: number(digits) },
      ]);
      expect(parseWithIds(`{"params":{"requestId":${digits}}}`)).toEqual({
        params: { requestId: number(digits) },
      });
    }
    const long = parseWithIds(`{"id":${"1".repeat(300)}}`);
    expect(long).toEqual({ id: "1".repeat(300) });
  });

  it("leaves arguments and texts as they are", () => {
    const values = { text: '{"id": 1.5}', 'x"id': 2.5, a: { id: 3.5, requestId: 4.5 }, id: 5.5 };
    const params = { name: "t", arguments: values };
    const sent = JSON.stringify({ id: 0.25, params });
    expect(parseWithIds(sent)).toEqual({ id: number("0.25"), params });
  });

  it.each(['{"id":01.0}', '{"id":1.0.0}', '{"id":1.}', '{"id":-}', '{"id":1.0 2}', '{"id":1e}'])(
    "is no number in %s",
    (text) => {
      expect(parseWithIds(text)).toBeUndefined();
    },
  );

  it("is found without a call for each value of the message", () => {
    const parse = vi.spyOn(JSON, "parse");
    parseWithIds(`{"id":1.0,"x":${list("[[[]]]", 3000)}}`);
    const functions = parse.mock.calls.map(([, reviver]) => reviver);
    parse.mockRestore();
    expect(functions).toEqual([undefined, undefined]);
  });
});

verifies("C-114", "HS-05");
describe("the id of a message that is no JSON", () => {
  it("is found in front of many fields, texts and ids", () => {
    for (const rest of [":", '"",', String.raw`"\u0069d":x,`, '"id":x,', '"a":1,', " \n"]) {
      expect(scanId(Buffer.from(`{"id":7,${fill(rest)}`))).toBe(7);
    }
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
