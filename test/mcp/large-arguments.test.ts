import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type * as faults from "../../src/contract/faults.ts";
import { MAX_FAULTS } from "../../src/contract/faults.ts";
import { parseFilter } from "../../src/contract/payments/filter.ts";
import {
  findExceededLimit,
  InexactNumber,
  isLargerThan,
  parseSent,
  RECORD_LIMITS,
} from "../../src/kit/json.ts";
import { parseJson } from "../../src/kit/parse-json.ts";
import { firstCharacters, hasMoreCharacters } from "../../src/kit/text.ts";
import { createIdScanner, scanId } from "../../src/mcp/message-ids.ts";
import { readMessage } from "../../src/mcp/messages.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { parseAttachmentUri, parseName, parseRunUri } from "../../src/mcp/resources/address.ts";
import { DISPUTE, EXPORT_RUNS } from "../../src/mcp/results/resource-uris.ts";
import { connectScripted, readProblem } from "./hosts.ts";
import { verifies } from "../support/verifies.ts";

/** The most issues that a schema found in one value. */
const issues = vi.hoisted(() => ({ most: 0 }));
type Issue = { errors?: readonly (readonly Issue[])[] };

vi.mock("../../src/contract/faults.ts", async (load) => {
  const real = await load<typeof faults>();
  const count = (found: readonly Issue[]): number =>
    found.reduce((sum, { errors = [] }) => sum + 1 + count(errors.flat()), 0);
  const toFaults: typeof real.toFaults = (error) => {
    issues.most = Math.max(issues.most, count(error.issues as readonly Issue[]));
    return real.toFaults(error);
  };
  return { ...real, toFaults };
});

verifies("C-114");
describe("large arguments", () => {
  it("are counted up to a limit only", () => {
    const wide = Array.from({ length: 1000 }, () => ({ a: [1, 2, 3] }));
    expect(isLargerThan(wide, 5000)).toBe(false);
    expect(isLargerThan(wide, 4999)).toBe(true);
  });

  it("are refused with more values than a record can have", async () => {
    const { host, broker } = await connectScripted({ "disputes.list_by_ids": () => [] });
    const disputeIds = Array.from({ length: 300_000 }, () => "d");
    const result = await host.call("disputes_list_by_ids", { disputeIds });
    expect(readProblem(result).code).toBe("invalid_request");
    expect(readProblem(result).message).toContain("250000");
    expect(broker.seen).toEqual([]);
  });

  it("with numbers of millions of digits are refused, and long ones are parsed at once", () => {
    const digits = "9".repeat(4_000_000);
    expect(findExceededLimit(`[${digits}]`, RECORD_LIMITS)).toBe("digits");
    expect(findExceededLimit(`["${digits}",${"9".repeat(999)}]`, RECORD_LIMITS)).toBeUndefined();
    const parse = vi.spyOn(JSON, "parse");
    const many = `[${Array.from({ length: 200_000 }, () => "123456789012345").join(",")}]`;
    expect(parseJson(many)).toHaveLength(200_000);
    // Without a function that is called for each number.
    expect(parse.mock.calls).toEqual([[many]]);
  });

  it("with long numbers among many values are parsed without a function that is called for each", () => {
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    const many = `[${"1,".repeat(200_000)}12345678901234567]`;
    expect(parseJson(many)).toHaveLength(200_001);
    expect(parse.mock.calls.map((given) => given.length)).toEqual([1]);
  });

  it("have exact numbers wherever they stand", () => {
    const expected = (text: string): unknown =>
      JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
        const digits = context?.source?.replace(/e.*$/i, "").replaceAll(/[-.]/g, "") ?? "";
        const significant = digits.replace(/^0+/, "").replace(/0+$/, "");
        return typeof value === "number" && significant.length > 15
          ? new InexactNumber(context?.source ?? "")
          : value;
      });
    const long = fc
      .tuple(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), fc.nat(30), fc.nat(9))
      .map(([digits, scale, zeros]) => `${digits}.${"0".repeat(zeros)}${scale}e-${scale}`);
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.array(long), (text, numbers) => {
        const whole = `{"__proto__":[${numbers.join(",")}],"a":${text},"a":{"1":${numbers[0] ?? 1}}}`;
        expect(parseJson(whole)).toEqual(expected(whole));
        expect(parseJson(text)).toEqual(expected(text));
      }),
    );
    expect(parseJson("1234567890.1234567")).toEqual(new InexactNumber("1234567890.1234567"));
    for (const broken of [
      "[01234567890123456789]",
      "[1234567890123456789.]",
      "[--1234567890123456]",
    ]) {
      expect(() => parseJson(broken)).toThrow(SyntaxError);
    }
  });

  it("have the ids of their messages found wherever the bytes are cut", () => {
    const long = JSON.stringify('\\"x'.repeat(700));
    const parts = fc.tuple(fc.json({ maxDepth: 4 }), fc.json({ maxDepth: 4 }), fc.nat());
    fc.assert(
      fc.property(parts, fc.array(fc.nat(400)), ([before, after, id], cuts) => {
        const text = `{"long":${long},"n":${"7".repeat(2000)},"a":${before},"id":${id},"b":${after},,`;
        const bytes = Buffer.from(text);
        expect(scanId(bytes)).toBe(id);
        const scanner = createIdScanner();
        let at = 0;
        for (const cut of cuts) {
          scanner.read(bytes.subarray(at, at + cut));
          at += cut;
        }
        scanner.read(bytes.subarray(at));
        expect(scanner.id()).toBe(id);
      }),
    );
  });

  it("with thousands of texts that are no JSON are refused after some of them", async () => {
    const { host } = await connectScripted({});
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    const items = Array.from({ length: 9000 }, () => `{${"x".repeat(100)}`);
    for (const [name, args] of [
      ["disputes_summary", { ageBuckets: items }],
      ["match_claims", { lines: items }],
      ["disputes_apply", { changes: items }],
      ["disputes_list", { Status: items }],
      ["receivables_kpis", { groupBy: items }],
    ] as const) {
      expect(readProblem(await host.call(name, args)).code, name).toBe("invalid_request");
    }
    expect(parse.mock.calls.length).toBeLessThan(1000);
  });

  it("with thousands of unknown names are compared with the known ones once", async () => {
    const { host } = await connectScripted({});
    const many = Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`Name_${at}`, 1]));
    await host.call("disputes_update", { disputeId: "d", other: 1 });
    const replace = vi.spyOn(String.prototype, "replaceAll");
    onTestFinished(() => replace.mockRestore());
    const result = await host.call("disputes_update", { disputeId: "d", ...many });
    expect(readProblem(result).code).toBe("invalid_request");
    // Each name of the call once, the known names not again.
    expect(replace.mock.calls.length).toBeLessThan(20_000);
  });

  it("are not taken apart into characters before they are refused", async () => {
    const { host } = await connectScripted({});
    const texts = toolList({ toolsets: toolsetNames, readOnly: false }).flatMap(
      ({ name, inputSchema: { properties, required = [] } }) =>
        Object.entries(properties)
          .filter(([, { type }]) => type === "string")
          .map(([argument]) => ({ name, argument, required })),
    );
    const spread: number[] = [];
    const iterate = String.prototype[Symbol.iterator];
    const iterator = vi.spyOn(String.prototype, Symbol.iterator).mockImplementation(function (
      this: string,
    ) {
      spread.push(this.length);
      return iterate.call(this);
    });
    onTestFinished(() => iterator.mockRestore());
    const long = [];
    for (const { name, argument, required } of texts) {
      const others = Object.fromEntries(required.map((one) => [one, "x"]));
      spread.length = 0;
      await host.call(name, { ...others, [argument]: "x".repeat(100_000) });
      if (Math.max(...spread, 0) > 50_000) long.push(`${name}.${argument}`);
    }
    expect(texts.length).toBeGreaterThan(200);
    expect(long).toEqual([]);
    expect("x".repeat(20_000)[Symbol.iterator]().next().value).toBe("x");
    expect(spread.at(-1)).toBe(20_000);
  });

  it("are not parsed, searched or rewritten in full before they are refused", async () => {
    const { host } = await connectScripted({});
    const letters = "_x".repeat(2_000_000);
    const [digits, brackets] = ["9".repeat(2_000_000), "[".repeat(2_000_000)];
    const numbers = `[${"1,".repeat(500_000)}1]`;
    const parse = vi.spyOn(JSON, "parse");
    const replace = vi.spyOn(String.prototype, "replaceAll");
    onTestFinished(() => {
      vi.restoreAllMocks();
    });
    for (const args of [
      { [letters]: 1 },
      { Status: letters },
      ...[digits, brackets, numbers].flatMap((text) => [
        { fields: text },
        { Status: text },
        { disputeId: text },
      ]),
    ]) {
      const result = await host.call("disputes_list", args);
      expect(readProblem(result).code).toBe("invalid_request");
    }
    const message = { id: 1, method: "tools/call", params: { name: "x", arguments: brackets } };
    expect(readMessage(message)).toHaveProperty("refusal");
    const longest = (texts: readonly unknown[]): number =>
      Math.max(0, ...texts.map((text) => String(text).length));
    // The parser sees at the first character that letters are no JSON.
    const parsed = parse.mock.calls.map(([text]) => text).filter((text) => !text.startsWith("_"));
    expect(longest(parsed)).toBeLessThan(1_000_000);
    expect(longest(replace.mock.contexts)).toBeLessThan(1_000_000);
  });

  it("with long names and numerals in filters of payments are refused at once", () => {
    const name = "AbcDef".repeat(150_000);
    const digits = "7".repeat(900_000);
    const { faults } = parseFilter("cashapp", {
      [name]: {},
      poNumber: { [name]: 1 },
      paymentAmount: digits,
      invoiceAmount: { eq: digits },
    });
    expect(faults.map(({ code }) => code)).toEqual(["unknown", "unknown", "type", "type"]);
    for (const { field, message } of faults)
      expect(field.length + message.length).toBeLessThan(900);
  });

  it("with thousands of conditions are refused at the first one too many", () => {
    const or = Array.from({ length: 9000 }, () => ({ poNumber: { eq: "A" } }));
    const { faults } = parseFilter("cashapp", { or });
    expect(faults).toMatchObject([{ field: "filters.or[100].poNumber.eq", code: "too_long" }]);
  });

  it("that are lists of thousands of wrong items are refused after some of them", async () => {
    const { host } = await connectScripted({});
    const lists = toolList({ toolsets: toolsetNames, readOnly: false }).flatMap(
      ({ name, inputSchema: { properties, required = [] } }) =>
        Object.entries(properties)
          .filter(([, { type }]) => [type].flat().includes("array"))
          .map(([argument]) => ({ name, argument, required })),
    );
    const long = [];
    for (const { name, argument, required } of lists) {
      const others = Object.fromEntries(required.map((one) => [one, "x"]));
      for (const item of ["x", {}]) {
        issues.most = 0;
        await host.call(name, { ...others, [argument]: Array.from({ length: 9000 }, () => item) });
        // A wrong item may have several faults.
        if (issues.most > 10 * MAX_FAULTS) long.push(`${name}.${argument}: ${issues.most}`);
      }
    }
    expect(lists.length).toBeGreaterThan(30);
    expect(long).toEqual([]);
  });

  it("with a JSON text within the limits are read", () => {
    expect(parseSent(' {"a":[1]}')).toEqual({ a: [1] });
    expect([parseSent("12"), parseSent('"x"'), parseSent("x")]).toEqual([12, "x", undefined]);
    expect(parseSent(`[${"1,".repeat(20_000)}1]`)).toHaveLength(20_001);
    expect(parseSent(`[${"1,".repeat(20_001)}1]`)).toBeUndefined();
  });

  it("are counted by characters, not by the units of UTF-16", () => {
    const smile = "\u{1F600}";
    expect(hasMoreCharacters(smile.repeat(200), 200)).toBe(false);
    expect(hasMoreCharacters(`${smile.repeat(199)}xy`, 200)).toBe(true);
    expect(hasMoreCharacters(smile.repeat(201), 200)).toBe(true);
    expect(firstCharacters(`${smile}x${smile}`, 2)).toBe(`${smile}x`);
    expect(firstCharacters(`x${smile}${smile}`, 2)).toBe(`x${smile}`);
    expect(firstCharacters(smile, 2)).toBe(smile);
  });

  it("with URIs of 2 MB name nothing, and are not repeated", async () => {
    const slashes = "/".repeat(2_000_000);
    expect(parseAttachmentUri(DISPUTE + slashes, DISPUTE)).toBeUndefined();
    expect(parseRunUri(EXPORT_RUNS + slashes)).toBeUndefined();
    expect(parseName(DISPUTE + slashes, DISPUTE)).toBeUndefined();
    const { host } = await connectScripted({});
    const uri = `${DISPUTE}${slashes}`;
    const error = await host.client.readResource({ uri }).catch((reason: unknown) => reason);
    expect((error as Error).message.length).toBeLessThan(1000);
  });
});
