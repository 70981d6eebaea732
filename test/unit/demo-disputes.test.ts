import { describe, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { fold } from "../../src/platform/store/engine/fold.ts";
import { ANY_WEEKDAY, demoAt, type DemoRows } from "../support/demo.ts";

const NOW = Date.parse("2026-11-21T08:00:00Z");
const demo = await demoAt(NOW);
const byId = <T extends { id: string }>(rows: readonly T[]) =>
  new Map(rows.map((row) => [row.id, row]));
const reasons = byId(demo.reasons);
const categories = byId(demo.categories);
const assignees = byId(demo.assignees);
const resolutions = byId(demo.resolutions);
const disputes = byId(demo.disputes);
const inStatus = (status: number) => demo.disputes.filter((row) => row.status === status);
const open = inStatus(0);
const ageDays = (at: number): number => (NOW - at) / DAY;

/** The disputes without their dates. */
const undated = (rows: DemoRows) =>
  rows.disputes
    .map(({ id, amount, reason_id, account_number, status }) => ({
      id,
      amount,
      reason_id,
      account_number,
      status,
    }))
    .toSorted((one, other) => one.id.localeCompare(other.id));

/** The work that a triage must find. */
const workIn = (rows: DemoRows, now: number) => {
  const due = rows.disputes.filter((row) => row.status === 0);
  const unassigned = due.filter((row) => row.assignee_id === null);
  const large = unassigned.filter(
    (row) => now - row.created_at > 30 * DAY && row.amount_order > 5000,
  );
  const left = rows.assignees.find((row) => row.active === 0);
  const orphaned = due.filter((row) => row.assignee_id === left?.id);
  const claims = Map.groupBy(due, (row) =>
    [row.document_number, row.amount, row.reason_id].join("/"),
  );
  return {
    duplicates: [...claims.values()].filter((same) => same.length > 1).length,
    enough: unassigned.length > 10 && large.length > 1 && orphaned.length > 2,
  };
};

describe("the demo tenant's disputes", () => {
  it("are the same on any day of the week, with dates relative to that day", async () => {
    const days = await Promise.all(
      ANY_WEEKDAY.map(async (now) => ({ now, later: await demoAt(now) })),
    );
    for (const { now, later } of days) {
      expect(undated(later)).toEqual(undated(demo));
      expect(later.dispute_notes.every((note) => note.created_at <= now)).toBe(true);
      expect(later.disputes.every((row) => row.updated_at <= now)).toBe(true);
      expect(workIn(later, now)).toEqual({ duplicates: 6, enough: true });
    }
  });

  it("has 300 disputes: 165 open, 105 closed, 30 cancelled", () => {
    expect([inStatus(0), inStatus(1), inStatus(2)].map((rows) => rows.length)).toEqual([
      165, 105, 30,
    ]);
  });

  it("has folded names of its configuration, by which it is searched", () => {
    const { departments, categories, reasons, resolutions, assignees } = demo;
    for (const row of [...departments, ...categories, ...reasons, ...resolutions]) {
      expect(row.code_folded).toBe(fold(row.code));
    }
    for (const row of [...departments, ...categories, ...reasons]) {
      expect(row.description_folded).toBe(fold(row.description));
    }
    for (const row of assignees) {
      expect(row.email_folded).toBe(fold(row.email));
      expect(row.name_folded).toBe(fold(`${row.first_name} ${row.last_name}`));
    }
  });

  it("has unique ids, and codes that count a document's disputes by date", () => {
    const ids = [
      ...demo.departments,
      ...demo.categories,
      ...demo.reasons,
      ...demo.assignees,
      ...demo.resolutions,
      ...demo.disputes,
      ...demo.dispute_notes,
    ].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) {
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-[48][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    }
    const byDocument = Map.groupBy(demo.disputes, (row) => row.document_number);
    for (const [document, rows] of byDocument) {
      const inTime = rows.toSorted((one, other) => one.created_at - other.created_at);
      expect(inTime.map(({ code }) => code)).toEqual(
        rows.map((_row, place) => `D-${document}-${String(place + 1).padStart(2, "0")}`),
      );
      expect(demo.dispute_sequences.find((row) => row.document_number === document)?.last).toBe(
        rows.length,
      );
    }
    expect(demo.dispute_sequences).toHaveLength(byDocument.size);
  });

  it("refers only to existing records of suitable visibility", () => {
    for (const row of demo.disputes) {
      const reason = reasons.get(row.reason_id);
      expect(reason?.active).toBe(1);
      expect(["Internal", "All"]).toContain(reason?.visibility);
      if (row.external_reason_id !== null) {
        const external = reasons.get(row.external_reason_id);
        expect(["External", "All"]).toContain(external?.visibility);
        const category = categories.get(external?.category_id ?? "");
        expect(category?.default_internal_reason_id).toBe(row.reason_id);
      }
      if (row.assignee_id !== null) expect(assignees.has(row.assignee_id)).toBe(true);
    }
    for (const note of demo.dispute_notes) expect(disputes.has(note.dispute_id)).toBe(true);
    for (const reason of demo.reasons) expect(categories.has(reason.category_id)).toBe(true);
    for (const category of demo.categories) {
      const internal = reasons.get(category.default_internal_reason_id ?? "");
      expect(["Internal", "All"]).toContain(internal?.visibility);
      if (category.default_external_reason_id !== null) {
        const external = reasons.get(category.default_external_reason_id);
        expect(["External", "All"]).toContain(external?.visibility);
      }
      if (category.default_assignee_id !== null) {
        expect(assignees.get(category.default_assignee_id)?.active).toBe(1);
      }
    }
    const departments = byId(demo.departments);
    for (const row of demo.assignees) expect(departments.has(row.department_id)).toBe(true);
  });

  it("is signed by existing users", () => {
    const ids = [...demo.users.values()];
    for (const row of [...demo.disputes, ...demo.dispute_notes, ...demo.categories]) {
      expect(ids).toContain(row.created_by);
      expect(ids).toContain(row.updated_by);
    }
  });

  it("gives closed disputes a resolution, ended ones a date between creation and now", () => {
    for (const row of demo.disputes) {
      expect(row.created_at).toBeLessThan(NOW);
      expect(row.updated_at).toBeGreaterThanOrEqual(row.created_at);
      expect(row.updated_at).toBeLessThanOrEqual(NOW);
      expect(row.version === 1).toBe(row.updated_at === row.created_at);
      const resolution = resolutions.get(row.resolution_id ?? "");
      expect(resolution !== undefined).toBe(row.status === 1);
      if (resolution !== undefined) expect(resolution).toMatchObject({ active: 1 });
      expect(row.is_valid).toBe(resolution?.is_valid ?? 0);
      expect(row.closed_at === null).toBe(row.status === 0);
      if (row.closed_at === null) continue;
      expect(row.closed_at).toBeGreaterThan(row.created_at);
      expect(row.closed_at).toBeLessThanOrEqual(NOW);
    }
  });

  it("has a realistic age structure: every bucket filled, most disputes younger than 60 days", () => {
    const within = (from: number, to: number) =>
      open.filter((row) => ageDays(row.created_at) > from && ageDays(row.created_at) <= to).length;
    for (const [from, to] of [
      [0, 7],
      [7, 30],
      [30, 60],
      [60, 90],
      [90, 400],
    ] as const) {
      expect(within(from, to)).toBeGreaterThan(9);
    }
    expect(within(0, 60)).toBeGreaterThan(within(60, 400));
  });

  it("has exact amounts with a long tail, mostly in USD", () => {
    for (const row of demo.disputes) {
      expect(row.amount).toMatch(/^\d+(\.\d{1,2})?$/);
      expect(Number(row.amount)).toBe(row.amount_order);
      expect(row.amount_order).toBeGreaterThan(0);
    }
    const usd = demo.disputes.filter((row) => row.currency_code === "USD");
    expect(usd.length / demo.disputes.length).toBeGreaterThan(0.6);
    expect(new Set(demo.disputes.map((row) => row.currency_code))).toEqual(
      new Set(["USD", "CAD", "EUR"]),
    );
    const amounts = usd.map((row) => row.amount_order).toSorted((one, other) => one - other);
    const median = amounts[Math.floor(amounts.length / 2)] ?? 0;
    expect(amounts.at(-1)).toBeGreaterThan(20 * median);
  });

  it("includes disputes to triage: unassigned, a leaver's, duplicates, claims from the portal", () => {
    expect(workIn(demo, NOW)).toEqual({ duplicates: 6, enough: true });
    expect(demo.assignees.filter((row) => row.active === 0)).toHaveLength(1);
    expect(demo.disputes.filter((row) => row.external_reason_id !== null).length).toBeGreaterThan(
      9,
    );
  });

  it("has one name and currency per account, and one account per document", () => {
    const named = Map.groupBy(demo.disputes, (row) => row.account_number);
    expect(named.size).toBeGreaterThan(50);
    for (const rows of named.values()) {
      expect(new Set(rows.map((row) => `${row.account_name}${row.currency_code}`)).size).toBe(1);
    }
    for (const rows of Map.groupBy(demo.disputes, (row) => row.document_number).values()) {
      expect(new Set(rows.map((row) => row.account_number)).size).toBe(1);
    }
  });

  it("has 0 to 5 distinct notes per dispute, within its time", () => {
    const counts = new Set<number>();
    const noted = Map.groupBy(demo.dispute_notes, (note) => note.dispute_id);
    for (const row of demo.disputes) {
      const notes = noted.get(row.id) ?? [];
      counts.add(notes.length);
      expect(new Set(notes.map(({ content }) => content)).size).toBe(notes.length);
      for (const { created_at: at, content } of notes) {
        expect(at).toBeGreaterThanOrEqual(row.created_at);
        expect(at).toBeLessThanOrEqual(row.closed_at ?? NOW);
        expect(content).not.toMatch(/[{}]|undefined|NaN/);
      }
    }
    expect(counts).toEqual(new Set([0, 1, 2, 3, 4, 5]));
    expect(
      demo.dispute_notes.some(({ content }) => /PTP 202\d-\d\d-\d\d [\d,]+\.\d\d/.test(content)),
    ).toBe(true);
  });
});

describe("the notes of the demo tenant", () => {
  it("show customers only external ones", () => {
    const shared = demo.dispute_notes.filter((note) => note.visibility === "All");
    expect(shared.length).toBeGreaterThan(20);
    for (const { content } of shared) {
      expect(content).toMatch(/^(Sent|Asked|Resubmitted|Credit memo|Agreed|Corrected|POD|Payment)/);
      expect(content).not.toMatch(/Escalated|Ellen|Robert|threatens/);
    }
  });

  it("are never written by a person who had left before", () => {
    const left = demo.assignees.find((row) => row.active === 0);
    const notes = demo.dispute_notes.filter((note) => note.created_by === left?.user_id);
    expect(notes.length).toBeGreaterThan(0);
    for (const note of notes) expect(note.created_at).toBeLessThanOrEqual(left?.updated_at ?? 0);
  });
});
