import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import {
  aging,
  duplicates,
  heldByInactive,
  reassignments,
  totals,
  unassignedAndOld,
} from "../../scripts/demo/analysis.ts";
import type { Assignee, Dispute } from "../../scripts/demo/records.ts";
import { machine, readable } from "../../scripts/demo/transcript.ts";
import { money } from "../../scripts/demo/words.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const daysAgo = (days: number): string => new Date(NOW - days * 86_400_000).toISOString();

let made = 0;
const dispute = (fields: Partial<Dispute>): Dispute => {
  made += 1;
  return {
    disputeId: `id-${made}`,
    disputeCode: `D-${made}-01`,
    categoryId: "pricing",
    categoryName: "Pricing",
    reasonId: "price",
    reasonName: "Price",
    assigneeId: "ann",
    assigneeName: "Ann A",
    departmentId: "sales",
    departmentName: "Sales",
    status: 0,
    amount: 100,
    currencyCode: "USD",
    accountNumber: "C-1",
    documentNumber: String(made),
    resolutionCode: null,
    createDate: daysAgo(1),
    ...fields,
  };
};

const assignee = (id: string, departmentId: string, fields: Partial<Assignee> = {}): Assignee => ({
  assigneeId: id,
  departmentId,
  active: true,
  person: { firstName: id, lastName: "X", email: `${id}@x.example`, title: "Analyst" },
  ...fields,
});

const NOBODY = { assigneeId: null, assigneeName: null, departmentId: null, departmentName: null };

describe("the demo's reading of disputes", () => {
  it("adds amounts exactly and never across currencies", () => {
    const rows = [
      ...Array.from({ length: 10 }, () => dispute({ amount: 0.1 })),
      dispute({ amount: 5, currencyCode: "EUR" }),
    ];
    expect(totals(rows)).toEqual([
      { currencyCode: "USD", count: 10, amount: 1 },
      { currencyCode: "EUR", count: 1, amount: 5 },
    ]);
  });

  it("assigns every dispute to one age bucket", () => {
    const rows = [0, 7, 8, 30, 31, 60, 61, 90, 91, 400].map((days) =>
      dispute({ createDate: daysAgo(days) }),
    );
    expect(aging(rows, NOW).map(({ count }) => count)).toEqual([2, 2, 2, 2, 2]);
  });

  it("finds the unassigned ones that are older than 30 days, the largest first", () => {
    const small = dispute({ ...NOBODY, createDate: daysAgo(31), amount: 1 });
    const large = dispute({ ...NOBODY, createDate: daysAgo(40), amount: 2 });
    const others = [dispute({ ...NOBODY, createDate: daysAgo(30) }), dispute({})];
    expect(unassignedAndOld([small, ...others, large], NOW)).toEqual([large, small]);
  });

  it("finds the disputes of inactive assignees", () => {
    const gone = assignee("gone", "sales", { active: false });
    const orphan = dispute({ assigneeId: "gone" });
    expect(heldByInactive([dispute({}), orphan, dispute(NOBODY)], [gone])).toEqual([orphan]);
  });

  it("finds duplicates only with the same document, amount and reason", () => {
    const claim = { documentNumber: "77", amount: 12.5 };
    const first = dispute({ ...claim, createDate: daysAgo(9) });
    const again = dispute({ ...claim, createDate: daysAgo(2) });
    const others = [
      dispute({ ...claim, amount: 12.51 }),
      dispute({ ...claim, reasonId: "freight" }),
      dispute({ ...claim, accountNumber: "C-2" }),
    ];
    expect(duplicates([again, ...others, first])).toEqual([{ kept: first, again }]);
  });

  it("assigns disputes to the active person of the department with the fewest", () => {
    const assignees = [
      assignee("ann", "sales"),
      assignee("ben", "sales"),
      assignee("cat", "sales", {
        person: { firstName: "cat", lastName: "X", email: "c@x.example", title: "On leave" },
      }),
      assignee("dan", "sales", { active: false }),
      assignee("eve", "tax"),
    ];
    const open = [dispute({}), dispute({}), dispute({ assigneeId: "ben" })];
    const chosen = [
      dispute({ assigneeId: "dan" }),
      dispute(NOBODY),
      dispute(NOBODY),
      dispute({ ...NOBODY, categoryId: "never assigned" }),
    ];
    const moves = reassignments(chosen, [...open, ...chosen], { assignees });
    expect(moves.map(({ to }) => to.assigneeId)).toEqual(["ben", "ann", "ben"]);
  });
});

describe("the demo's transcript", () => {
  const told = (colour: boolean): string => {
    let text = "";
    const out = readable((more) => (text += more), colour);
    out.begin("look", "Look around");
    out.called({ tool: "disputes_list", arguments: { Status: [0] } }, "2 of 3");
    out.called({ tool: "disputes_list", arguments: { Status: [0], cursor: "x" } }, "1 of 3");
    out.quote("The server asks:", "Close?");
    out.table(["Name", "Amount"], [["a", money({ amount: 1234.5, currencyCode: "USD" })]], [1]);
    out.end();
    return text;
  };

  it("has aligned columns, and colour only if enabled", () => {
    expect(told(false)).toBe(
      [
        "",
        " 1  Look around",
        "    > disputes_list Status=[0] -> 2 of 3",
        "      ... 1 more of disputes_list",
        "    The server asks: “Close?”",
        "    Name        Amount",
        "    a     1,234.50 USD",
        "",
      ].join("\n"),
    );
    expect(told(true)).not.toBe(told(false));
    expect(stripVTControlCharacters(told(true))).toBe(told(false));
  });

  it("is one JSON line per step for machines", () => {
    const lines: string[] = [];
    const out = machine((line) => lines.push(line));
    out.begin("look", "Look around");
    out.say("not for machines");
    out.called({ tool: "t", arguments: { a: 1 } }, "done");
    out.quote("A customer", "Hm.");
    out.result({ open: 3 });
    out.end();
    out.begin("next", "Next");
    out.end();
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        step: "look",
        title: "Look around",
        open: 3,
        calls: [{ tool: "t", arguments: { a: 1 }, outcome: "done" }],
        quotes: [{ who: "A customer", words: "Hm." }],
      },
      { step: "next", title: "Next", calls: [], quotes: [] },
    ]);
    expect(lines.every((line) => line.endsWith("\n"))).toBe(true);
  });
});
