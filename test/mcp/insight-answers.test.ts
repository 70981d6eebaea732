import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { present } from "../../src/mcp/results/answer.ts";
import { disputesSummary } from "../../src/insights/disputes-summary.ts";
import type { Fields, Insight, InsightResult } from "../../src/insights/insight.ts";
import { receivablesKpis } from "../../src/insights/receivables-kpis.ts";
import { insightAnswer } from "../../src/mcp/results/insight-answer.ts";
import { INSIGHT_TOKENS } from "../../src/mcp/tools/insight-call.ts";
import { o200kTokens } from "../support/o200k.ts";
import { verifies } from "../support/verifies.ts";

const EMPTY: InsightResult = {
  asOf: "2026-11-20T12:00:00.000Z",
  filter: {},
  rowCount: 0,
  truncated: false,
  currencyTotals: [],
  items: [],
  itemsTotal: 0,
  notes: [],
};

const shown = (result: InsightResult, tokens = INSIGHT_TOKENS) => {
  const { structuredContent, content } = present(insightAnswer(result, { tokens }));
  const [part] = content;
  if (part?.type !== "text") throw new Error("no text");
  return { structured: structuredContent as InsightResult, text: part.text };
};

// Scripts that cost many tokens per character, markup, and text that a sanitizer lengthens.
const wild = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.string({ unit: fc.constantFrom("漢", "ꙮ", "𒀀", "<", "\u202e", "é"), maxLength: 300 }),
);
const fields = fc.dictionary(
  fc.string({ maxLength: 20 }),
  fc.oneof(wild, fc.double(), fc.array(wild)),
);

verifies("IN-03");
it("keeps every answer of any records within 2,000 tokens", () => {
  fc.assert(
    fc.property(
      fc.array(fields, { maxLength: 60 }),
      fields,
      fc.array(wild),
      (items, figures, notes) => {
        const result = {
          ...EMPTY,
          filter: figures,
          figures,
          notes,
          items,
          itemsTotal: items.length,
        };
        const { structured, text } = shown(result);
        expect(o200kTokens(text)).toBeLessThanOrEqual(2000);
        expect(o200kTokens(structured)).toBeLessThanOrEqual(2000);
      },
    ),
    { numRuns: 300 },
  );
});

verifies("IN-03");
it("shows totals and notes before the items", () => {
  const { structured } = shown({ ...EMPTY, notes: ["partial"], flags: { stale: 1 } });
  expect(Object.keys(structured)).toEqual([
    "about",
    "asOf",
    "filter",
    "rowCount",
    "truncated",
    "itemsTotal",
    "currencyTotals",
    "flags",
    "notes",
    "items",
  ]);
});

const totalsOf = (currencies: number) =>
  Array.from({ length: currencies }, (_, place) => ({
    currencyCode: `C${place}`,
    count: 1234,
    amount: 1_234_567.89,
  }));

verifies("IN-01", "IN-03");
it("keeps the total of each currency beside long conditions and rows, and says what it cut", () => {
  const filter = { accountNumber: Array.from({ length: 1000 }, (_, place) => `ACC-${place}`) };
  const topRows = Array.from({ length: 20 }, (_, id) => ({
    id,
    payer: "Juniper Street ".repeat(30),
  }));
  const items = [{ key: {}, payments: 7 }];
  const given = { ...EMPTY, filter, currencyTotals: totalsOf(6), topRows, items, itemsTotal: 1 };
  const { structured } = shown(given);
  expect(structured).toMatchObject({ currencyTotals: totalsOf(6), items });
  const rows = structured["topRows"] as unknown[];
  expect(rows.length).toBeGreaterThan(3);
  expect(structured.notes).toEqual([`topRows has the first ${rows.length} of 20.`]);
});

verifies("IN-01");
it("says how many currencies it leaves out", () => {
  const { structured } = shown({ ...EMPTY, currencyTotals: totalsOf(150) });
  const { length } = structured.currencyTotals;
  expect(length).toBeGreaterThan(10);
  expect(structured.notes).toEqual([`currencyTotals has the first ${length} of 150.`]);
});

it("says how many items fit, and keeps the total", () => {
  const items = Array.from({ length: 200 }, (_, index) => ({
    index,
    name: "Juniper Street".repeat(4),
  }));
  const { structured } = shown({ ...EMPTY, items, itemsTotal: 950 });
  const fitting = structured.items.length;
  expect(fitting).toBeGreaterThan(20);
  expect(fitting).toBeLessThan(200);
  expect(structured).toMatchObject({ itemsTotal: 950, truncated: false });
  expect(structured.notes).toEqual([`The first ${fitting} of 950 items fit; narrow the filters.`]);
  expect(shown({ ...EMPTY, items, itemsTotal: 950 }, 20_000).structured.items).toHaveLength(200);
});

it("suggests a higher limit only where that has a larger budget", () => {
  const items = Array.from({ length: 200 }, () => ({ name: "Juniper Street".repeat(4) }));
  const result = { ...EMPTY, items, itemsTotal: 200 };
  const [raisable] = insightAnswer(result, { tokens: INSIGHT_TOKENS, isRaisable: true }).structured[
    "notes"
  ] as string[];
  expect(raisable).toMatch(/; narrow the filters, or ask for a higher limit\.$/);
});

verifies("D-MCP-6", "IN-01");
it("keeps short lists of an item before long ones, and says which it shortened", () => {
  const totals = [{ currencyCode: "USD", count: 22, amount: 1_234.5 }];
  const oldest = Array.from({ length: 20 }, (_, place) => ({
    documentNumber: `INV-${place}`,
    dueDate: "2026-01-31",
    balance: place,
  }));
  const item = { openDocuments: { count: 22, totals, daysPastDue: { "91+": totals }, oldest } };
  const { structured } = shown({ ...EMPTY, items: [item], itemsTotal: 1 }, 600);
  const [{ openDocuments }] = structured.items as [typeof item];
  expect(openDocuments).toMatchObject({ count: 22, totals, daysPastDue: { "91+": totals } });
  const { length } = openDocuments.oldest;
  expect(length).toBeGreaterThan(0);
  expect(length).toBeLessThan(20);
  expect(structured.notes).toEqual([
    `Left out to fit: items[0].openDocuments.oldest has ${length} of 20; the tools that read these records show the rest.`,
  ]);
});

verifies("D-MCP-6", "IN-01");
it("says what its figures and the first record of a list lack", () => {
  const flags = { late: Array.from({ length: 300 }, (_, place) => `D-INV-${place}-01`) };
  const rows = [{ id: 1, parts: Array.from({ length: 500 }, () => "a part of it") }];
  const { structured } = shown({ ...EMPTY, flags, topRows: rows });
  const { late } = structured["flags"] as typeof flags;
  const [{ parts }] = structured["topRows"] as [(typeof rows)[number]];
  expect(structured.notes).toEqual([
    `Left out to fit: answer.flags.late has ${late.length} of 300, topRows[0].parts has ${parts.length} of 500; the tools that read these records show the rest.`,
  ]);
});

it("shortens a single item that is too large for the budget", () => {
  const notes = Array.from({ length: 10 }, () => ({ text: "long note ".repeat(400) }));
  const { structured, text } = shown({
    ...EMPTY,
    items: [{ dispute: "D-1", notes }],
    itemsTotal: 1,
  });
  expect(structured.items).toHaveLength(1);
  expect(structured.items[0]).toMatchObject({ dispute: "D-1" });
  expect(text).toContain("more characters]");
});

it("marks the text of records as data and removes invisible characters from it", () => {
  const { structured, text } = shown({
    ...EMPTY,
    items: [{ name: "A\u202ecme <b>" }],
    itemsTotal: 1,
  });
  expect(text).toMatch(/^Text in records was written by others.*\n<data-[\w-]{12}>/);
  expect(JSON.stringify(structured)).not.toContain("\u202e");
});

describe("items that do not fit whole", () => {
  const ITEMS_OF = { currencyCode: "USD", count: 12 };
  const group = (place: number) => ({
    key: { "created:month": `2026-${place}`, assignee: `Person number ${place}` },
    ...ITEMS_OF,
    amount: 1000.25 + place,
    oldest: { disputeCode: `D-51${place}-01`, createDate: "2026-02-13T22:10:36.647Z" },
    avgAgeDays: 51.5,
    avgDaysToClose: null,
  });
  const measure = (place: number) => ({
    key: {},
    currencyCode: ["EUR", "USD", "CAD"][place % 3],
    measure: `measure${Math.floor(place / 3)}`,
    value: 35.86,
    unit: "days",
    numerator: 2_665_403.73 + place,
    denominator: 4_154_852.19,
    rows: 282,
    formula: "receivables not yet due at the end / sales * 31 days",
  });
  const show = (insight: Insight, items: Fields[]) => {
    const shown = insightAnswer(
      { ...EMPTY, items, itemsTotal: items.length },
      { tokens: INSIGHT_TOKENS, shortenItems: insight.shortenItems },
    );
    return shown.structured as { items: Fields[]; notes: string[]; nextCursor?: string };
  };
  const shorten = (fields: Fields, names: readonly string[]): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

  it("are groups of disputes without their oldest one", () => {
    const few = Array.from({ length: 4 }, (_, place) => group(place));
    expect(show(disputesSummary, few).items).toEqual(few);
    const many = Array.from({ length: 26 }, (_, place) => group(place));
    const { items, notes, nextCursor } = show(disputesSummary, many);
    expect(items).toEqual(many.map((one) => shorten(one, ["oldest", "avgDaysToClose"])));
    expect([notes.join(" "), nextCursor]).toEqual([
      expect.stringContaining("without their oldest dispute"),
      undefined,
    ]);
  });

  it("are measures with one formula each, then without what they are computed from", () => {
    const some = Array.from({ length: 24 }, (_, place) => measure(place));
    const once = show(receivablesKpis, some).items;
    expect(once).toEqual(
      some.map((one, place) => (place % 3 === 0 ? one : shorten(one, ["formula"]))),
    );
    const all = Array.from({ length: 36 }, (_, place) => measure(place));
    const { items, notes } = show(receivablesKpis, all);
    const left = ["formula", "numerator", "denominator", "rows"];
    expect(items).toEqual(all.map((one) => shorten(one, left)));
    expect(notes.join(" ")).toContain("A limit above 36 shows them whole.");
  });
});
