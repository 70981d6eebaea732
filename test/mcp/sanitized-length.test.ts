import { beforeEach, describe, expect, it, vi } from "vitest";
import { disputes } from "../../tools/disputes.ts";
import type { Broker } from "../../src/broker/port.ts";
import { recordAnswer } from "../../src/mcp/results/answer.ts";
import { createBasket, isWithinBudget, truncateToBudget } from "../../src/mcp/results/budget.ts";
import { sanitize, sanitizeText } from "../../src/mcp/results/sanitize.ts";
import { askingOf } from "../../src/mcp/tools/asking/question.ts";
import { verifies } from "../support/verifies.ts";

vi.mock("../../src/mcp/results/sanitize.ts", { spy: true });

const BUDGET = 8000;
const MAX_LENGTH = BUDGET * 8;

const sanitizedLength = (): number =>
  vi.mocked(sanitizeText).mock.calls.reduce((sum, [text]) => sum + text.length, 0);

const list = (count: number, text: string) => Array.from({ length: count }, () => ({ note: text }));
const fields = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`field_é<${at}`, value]));
const RECORDS: [string, Record<string, unknown>][] = [
  ["one text of 1 MiB", { text: "é<".repeat(2 ** 19) }],
  ["64 texts of 16 KiB", { texts: list(64, "é<".repeat(2 ** 13)) }],
  ["10,000 long items", { items: list(10_000, "é<".repeat(60)) }],
  ["one object of 10,000 fields", { custom: fields(10_000, "é<") }],
  ["one object of 10,000 objects", { custom: fields(10_000, fields(3, "é<")) }],
  ["10,000 fields", fields(10_000, "é<".repeat(60))],
  ["a name of 1 MiB", { ["é<".repeat(2 ** 19)]: { name: 1 } }],
  ["one object of 10,000 numbers", { custom: fields(10_000, 1) }],
];

verifies("C-88");
describe("a record that is too large for an answer", () => {
  beforeEach(() => {
    vi.clearAllMocks();
  });

  it.each(RECORDS)("is sanitized only as far as it could fit: %s", (_what, record) => {
    const { cut } = truncateToBudget(record, BUDGET);
    expect(cut).toBe(true);
    expect(sanitizedLength()).toBeGreaterThan(0);
    expect(sanitizedLength()).toBeLessThanOrEqual(MAX_LENGTH);
  });

  it.each(RECORDS)("is within the budget after it is cut: %s", (_what, record) => {
    const { record: cut } = truncateToBudget(record, BUDGET);
    expect(Object.keys(cut).length).toBeGreaterThan(0);
    expect(isWithinBudget(cut, BUDGET)).toBe(true);
  });

  it("says how many fields of its objects are left", () => {
    const answer = recordAnswer(
      { custom: fields(10_000, "é<") },
      { answerTokens: 500, etag: null },
    );
    const { custom } = answer.structured as { custom: object };
    const { length } = Object.keys(custom);
    expect(length).toBeGreaterThan(1);
    expect(answer.notes).toContain(`Objects have their first ${length} fields at most.`);
  });

  it("is cut before the question about it is sanitized", async () => {
    const output = { description: "é<".repeat(2 ** 19), custom: fields(10_000, "é<".repeat(2000)) };
    const reply = { output, etag: null };
    const extensions = async () => new Set<string>();
    const broker = { call: async () => reply, extensions } as unknown as Broker;
    const tool = disputes.find(({ name }) => name === "disputes_delete");
    if (tool === undefined) throw new Error("there is no tool disputes_delete");
    const args = { disputeId: "D-1" };
    const { summary } = await askingOf({
      broker,
      tool,
      args,
      options: { tool: tool.name },
    });
    expect(summary).toContain("D-1");
    expect(sanitizedLength()).toBeLessThanOrEqual(300_000);
  });

  it("is not sanitized after the budget of a list is spent", () => {
    const basket = createBasket(BUDGET);
    expect(basket.add({ note: "short" })).toBe(true);
    vi.clearAllMocks();
    expect(basket.add({ note: "é<".repeat(2 ** 19) })).toBe(false);
    expect(vi.mocked(sanitize)).not.toHaveBeenCalled();
    expect(sanitizedLength()).toBe(0);
  });
});
