import { describe, expect, expectTypeOf, it } from "vitest";
import type { Broker } from "../src/broker/port.ts";
import { createClient } from "../src/client/client.ts";
import { contract } from "../src/contract/index.ts";
import type { ArgsOf, CallArguments, Operation, OutputOf } from "../src/contract/operation.ts";
import type { Dispute } from "../src/contract/operations/disputes.ts";
import type { InsightContext } from "../src/insights/insight.ts";
import { silentLog } from "../src/kit/log.ts";
import type { RequestContext } from "../src/platform/http/context.ts";
import { type Source, sources } from "./support/sources.ts";

const { disputes, documents } = contract;

const refuse = () => Promise.reject(new Error("nothing may be sent"));

const client = createClient({
  transport: { send: refuse, requestMs: 1000, getWithBody: true, close: async () => {} },
  headerWord: "Platform",
  log: silentLog,
});

const call: InsightContext["call"] = (operation, args) =>
  client.call(operation, args, {}, { tool: "insight" });

// The type check of the whole tree fails where a line below `@ts-expect-error` has no error.
describe("a call of an insight", () => {
  it("with a misspelt argument is an error of the type check, and a bug at run time", async () => {
    // @ts-expect-error: the argument is AccountNumber
    await expect(call(disputes.list, { AcountNumber: "A-1" })).rejects.toThrow(/AcountNumber/);
  });

  it("without a required argument is an error of the type check", async () => {
    // @ts-expect-error: document_number is missing
    await expect(call(documents.get, {})).rejects.toThrow(/document_number is missing/);
  });

  it("takes arguments of their types, and never the tenant", () => {
    type Takes<Args> = Args extends ArgsOf<typeof disputes.get> ? "yes" : "no";
    expectTypeOf<Takes<{ disputeId: string }>>().toEqualTypeOf<"yes">();
    expectTypeOf<Takes<{ disputeId: number }>>().toEqualTypeOf<"no">();
    expect(Object.keys(disputes.get.params.shape)).toEqual(["tenantId", "disputeId"]);
    expectTypeOf<keyof ArgsOf<typeof disputes.get>>().toEqualTypeOf<"disputeId">();
  });
});

describe("an answer", () => {
  it("has the type that the operation declares", () => {
    expectTypeOf<OutputOf<typeof disputes.list>>().toEqualTypeOf<Dispute[]>();
    expectTypeOf<OutputOf<typeof disputes.delete>>().toEqualTypeOf<null>();
    expect(disputes.delete.output).toBeNull();
  });

  it("of an operation that is known at run time only is unknown, and takes any names", () => {
    expectTypeOf<OutputOf<Operation>>().toBeUnknown();
    expectTypeOf<CallArguments>().toExtend<ArgsOf<Operation>>();
    expectTypeOf<Parameters<Broker["call"]>[0]>().toExtend<Operation>();
  });
});

describe("the context of a request", () => {
  it("is read only: a step returns what it has found out", () => {
    expectTypeOf<RequestContext>().toEqualTypeOf<Readonly<RequestContext>>();
    const written = sources("src/platform/http").flatMap(({ path, text }) =>
      [...text.matchAll(/\bcontext\.\w+ (?:\?\?)?= .*/g)].map(([line]) => `${path}: ${line}`),
    );
    expect(written).toEqual([]);
  });
});

const MAP = String.raw`(?:Readonly<)?Record<string, unknown>>?`;

/** The names that stand for any record of unknown values, beside those that the contract declares. */
const aliasesIn = (files: readonly Source[]): string[] => [
  ...new Set(
    files.flatMap(({ text }) =>
      [...text.matchAll(new RegExp(`type (\\w+) = ${MAP};`, "g"))].map(([, name = ""]) => name),
    ),
  ),
];

const CASTS = [
  /\boutput\)? as (?!const\b)/,
  /\.output as (?!const\b)/,
  /\boutput: [^,;]* as never/,
  /as (?:unknown as )?(?:OutputOf|ArgsOf|Reply)</,
];

/** Lines that take an operation's answer, or its arguments, for something that the compiler has not seen. */
const untypedIn = (files: readonly Source[], aliases: readonly string[]): string[] => {
  const loose = [MAP, ...aliases.filter((name) => name !== "CallArguments")].join("|");
  const refused = [...CASTS, new RegExp(`\\bargs\\??: (?:${loose})(?![\\w<])`)];
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => refused.some((pattern) => pattern.test(line)))
      .map((line) => `${path}: ${line.trim()}`),
  );
};

// A view receives answers of tools over MCP, and a span takes the arguments of any function.
const isElsewhere = ({ path }: Source): boolean =>
  path.startsWith("src/views/app/") || path === "src/kit/tracing.ts";

describe("types from end to end", () => {
  const code = ["src", "tools", "prompts", "scripts", "bench"]
    .flatMap(sources)
    .filter((file) => !isElsewhere(file));

  it("no answer is cast, and no arguments are a record of anything under another name", () => {
    expect(untypedIn(code, aliasesIn(code))).toEqual([]);
  });

  it("each form of a cast and of a loose record is found", () => {
    const lines = [
      "const { data } = output as { data: Row[] };",
      "const rows = (await call(list, {})).output as Row[];",
      "return reply as Reply<O>;",
      "const read = (args: Record<string, unknown>) => args;",
      "type Loose = Record<string, unknown>; const run = (args: Loose) => args;",
    ];
    const files = lines.map((text, at) => ({ path: `src/x/${at}.ts`, text }));
    expect(untypedIn(files, aliasesIn(files))).toHaveLength(lines.length);
  });
});
