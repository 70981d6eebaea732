import { beforeEach, describe, expect, it, vi } from "vitest";
import { createBasket, truncateToBudget } from "../../src/mcp/results/budget.ts";
import { sanitize, sanitizeText } from "../../src/mcp/results/sanitize.ts";
import { verifies } from "../support/verifies.ts";

vi.mock("../../src/mcp/results/sanitize.ts", { spy: true });

const BUDGET = 8000;
const MAX_LENGTH = BUDGET * 8;

const sanitizedLength = (): number =>
  vi.mocked(sanitizeText).mock.calls.reduce((sum, [text]) => sum + text.length, 0);

const list = (count: number, text: string) => Array.from({ length: count }, () => ({ note: text }));
const RECORDS: [string, Record<string, unknown>][] = [
  ["one text of 1 MiB", { text: "é<".repeat(2 ** 19) }],
  ["64 texts of 16 KiB", { texts: list(64, "é<".repeat(2 ** 13)) }],
  ["10,000 long items", { items: list(10_000, "é<".repeat(60)) }],
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

  it("is not sanitized after the budget of a list is spent", () => {
    const basket = createBasket(BUDGET);
    expect(basket.add({ note: "short" })).toBe(true);
    vi.clearAllMocks();
    expect(basket.add({ note: "é<".repeat(2 ** 19) })).toBe(false);
    expect(vi.mocked(sanitize)).not.toHaveBeenCalled();
    expect(sanitizedLength()).toBe(0);
  });
});
