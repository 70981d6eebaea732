import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DisputeSummaryItem } from "../../src/contract/insights/dispute-summary.ts";
import { disputePacket } from "../../src/insights/dispute-packet.ts";
import { disputesSummary } from "../../src/insights/disputes-summary.ts";
import { disputesTriage } from "../../src/insights/disputes-triage.ts";
import { paymentsMatchDisputes } from "../../src/insights/payments-match-disputes.ts";
import { make } from "../support/configuration.ts";
import { createDice } from "../support/dice.ts";
import { groupDisputes, loadDisputes, readIntoDatabase } from "../support/dispute-sql.ts";
import { importDisputes } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { configure, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "summary";
const TODAY = "2026-03-02";

const GROUPINGS = [
  "status",
  "account",
  "document",
  "reason",
  "category",
  "department",
  "assignee",
  "resolution",
  "valid",
  "age",
  "daysToClose",
  ...["created", "closed"].flatMap((date) =>
    ["day", "week", "month", "quarter", "year"].map((unit) => `${date}:${unit}`),
  ),
];

const WHERE: [filters: Record<string, unknown>, sql: string][] = [
  [{}, "1"],
  [{ status: "Open" }, "status = 'Open'"],
  [{ status: [1, "canceled"] }, "status in ('Closed', 'Canceled')"],
  [{ accountNumber: "acc-3" }, "account = 'ACC-3'"],
  [
    { accountNumber: ["ACC-1", "ACC-2"], currencyCode: "usd" },
    "account in ('ACC-1', 'ACC-2') and currency = 'USD'",
  ],
  [{ accountName: "ACCOUNT 4" }, "accountName = 'Account 4 Ltd'"],
  [{ reason: "damag" }, "reason = 'DAMAGED'"],
  [{ category: "PRICE" }, "category = 'PRICE'"],
  [{ assignee: "ANA@x.example" }, "assignee = 'Ana Silva'"],
  [{ assignee: "lind" }, "assignee = 'Bo Lind'"],
  [{ department: "sales" }, "department = 'Sales'"],
  [{ resolution: "issued" }, "resolution = 'CREDIT'"],
  [{ unassigned: true }, "assignee is null"],
  [{ unassigned: false, amountMin: 20 }, "assignee is not null and cents >= 2000"],
  [{ amountMin: 10.25, amountMax: 30 }, "cents between 1025 and 3000"],
  [
    { createdFrom: "2025-11-03", createdTo: "2025-12-20" },
    "substr(createdAt, 1, 10) between '2025-11-03' and '2025-12-20'",
  ],
  [
    { closedFrom: "2025-12-01", closedTo: "2026-01-15" },
    "substr(closedAt, 1, 10) between '2025-12-01' and '2026-01-15'",
  ],
  [{ olderThanDays: 45 }, "age > 45"],
  [{ updatedBefore: "2026-03-01" }, "substr(updatedAt, 1, 10) <= '2026-03-01'"],
];

const randomQuery = (seed: number) => {
  const dice = createDice(seed);
  const names = [dice.pick(GROUPINGS), dice.pick(GROUPINGS)].slice(0, dice.whole(0, 2));
  const [filters, where] = WHERE[seed % WHERE.length] ?? [{}, "1"];
  const asOf = dice.chance(0.4) ? dice.pick(["2025-12-31", "2026-01-20", "2025-10-02"]) : undefined;
  return { groupBy: [...new Set(names)], filters, where, asOf };
};

type Figures = Pick<DisputeSummaryItem, "oldest" | "avgAgeDays" | "avgDaysToClose">;

const figuresOf = ({ oldest, avgAgeDays, avgDaysToClose }: Figures) => ({
  oldest: oldest === null ? null : `${oldest.createDate} ${oldest.disputeCode}`,
  avgAgeDays,
  avgDaysToClose,
});

onEveryStore("disputes_summary", (at) => {
  let context: TestContext;
  const admin = useTenant(at, TENANT);
  let database: DatabaseSync;
  beforeAll(async () => {
    context = await createTestContext(at(), TENANT, admin);
    await make(admin, "/departments", { code: "SALES", description: "Sales" });
    for (const [firstName, lastName, email] of [
      ["Ana", "Silva", "ana@x.example"],
      ["Bo", "Lind", "bo@x.example"],
    ]) {
      const person = { firstName, lastName, email };
      await make(admin, "/assignees", { departmentCode: "SALES", person });
    }
    await make(admin, "/resolutions", {
      code: "CREDIT",
      description: "Credit issued",
      isValid: true,
    });
    const closedBefore = await loadDisputes(at(), TENANT, admin, { count: 1200, seed: 5 });
    database = await readIntoDatabase(admin, closedBefore);
  });
  afterAll(() => database.close());

  const summarize = (args: Record<string, unknown>) => runInsight(disputesSummary, context, args);

  verifies("IN-21");
  it.each([disputesTriage, paymentsMatchDisputes])(
    "$name takes the same disputes as they stood at the end of a day",
    async (insight) => {
      const args = { asOf: "2025-12-31", status: "Open" };
      const { asOf, rowCount, currencyTotals } = await summarize(args);
      expect(await runInsight(insight, context, { ...args, limit: 1 })).toMatchObject({
        asOf,
        rowCount,
        currencyTotals,
      });
      expect(rowCount).toBeLessThan((await summarize({ createdTo: args.asOf })).rowCount);
    },
  );

  verifies("IN-26", "IN-31", "IN-46");
  it("counts a dispute from the future as 0 days old", async () => {
    const ahead = "ahead";
    const person = await at().tenant(ahead);
    await configure(person);
    const lines = ["2099-03-01", "2026-02-20"].map(
      (day, place) => `${place},A-1,INV-${place},10,USD,PRICE,WRONG,${day}`,
    );
    const columns =
      "sourceKey,accountNumber,documentNumber,amount,currencyCode,categoryCode,reasonCode,createDate";
    const { rejects } = await importDisputes(at(), ahead, [columns, ...lines, ""].join("\n"));
    expect(rejects).toEqual([]);
    for (const extensions of [[], ["disputes.summary"]]) {
      const own = await createTestContext(at(), ahead, person, {
        extensions: new Set(extensions),
      });
      const summary = await runInsight(disputesSummary, own, { groupBy: ["age"] });
      expect(summary["avgAgeDays"]).toBe(5);
      expect(summary.items[0]).toMatchObject({ key: { age: "0-30" }, count: 2, avgAgeDays: 5 });
      const { items } = await runInsight(disputesTriage, own, { documentNumber: "INV-0" });
      // No assignee, and the largest amount.
      expect(items[0]).toMatchObject({ ageDays: 0, score: 25 });
      const disputeId = String(items[0]?.["disputeCode"]);
      const packet = await runInsight(disputePacket, own, { disputeId });
      expect(packet.items[0]).toMatchObject({ dispute: { ageDays: 0 } });
    }
  });

  verifies("IN-01");
  it.each([
    [{ closedFrom: "2026-01-02", closedTo: "2026-01-01" }, "closedFrom is greater than closedTo"],
    [{ amountMin: 10, amountMax: 9 }, "amountMin is greater than amountMax"],
  ])("says of %j why nothing matches", async (args, why) => {
    const { rowCount, notes } = await summarize(args);
    expect([rowCount, notes]).toEqual([0, [`Nothing matches, because ${why}.`]]);
  });

  verifies("IN-01", "IN-21");
  it("says that reopened disputes count as open where the audit log cannot be read", async () => {
    const limited = await createTestContext(at(), TENANT, admin, { scopes: ["export:read"] });
    const past = await runInsight(disputesSummary, limited, { asOf: "2025-12-31" });
    expect(past.notes).toEqual([expect.stringMatching(/count as open.*"audit:read" is missing/)]);
    expect((await runInsight(disputesSummary, limited, {})).notes).toEqual([]);
  });

  verifies("IN-06");
  it.each([
    { groupBy: ["created:quarter", "status", "valid"], orderBy: "created:quarter" },
    { groupBy: ["valid", "age"], ageBuckets: [7, 30, 60, 100], orderBy: "valid" },
    { groupBy: ["status", "account", "currency"], orderBy: "count", order: "asc", limit: 200 },
  ])("orders equal groups of %j alike both ways", async (args) => {
    const extended = { ...context, extensions: new Set(["disputes.summary"]) };
    expect(await runInsight(disputesSummary, extended, args)).toEqual(await summarize(args));
  });

  verifies("WK-47");
  it.each([
    { orderBy: "count" as const, order: "desc" as const },
    { orderBy: "count" as const, order: "asc" as const },
    { orderBy: "avgAgeDays" as const, order: "desc" as const },
  ])("orders groups over all currencies by %j", async ({ orderBy, order }) => {
    const args = { groupBy: ["account"], orderBy, order, limit: 200 };
    const extended = { ...context, extensions: new Set(["disputes.summary"]) };
    for (const one of [extended, context]) {
      const { groups } = await runInsight(disputesSummary, one, args);
      const figures = (groups as Record<string, number | null>[])
        .map((group) => group[orderBy] ?? null)
        .filter((figure) => figure !== null);
      expect(figures.length).toBeGreaterThan(3);
      expect(new Set(figures).size).toBeGreaterThan(1);
      const ascending = figures.toSorted((a, b) => a - b);
      expect(figures).toEqual(order === "asc" ? ascending : ascending.toReversed());
    }
  });

  verifies("IN-01", "IN-21");
  it("says which conditions and groupings do not follow the day", async () => {
    const args = { asOf: "2025-12-31", updatedBefore: "2026-03-01", groupBy: ["assignee"] };
    const note =
      "asOf regards status, age and closing: updatedBefore and assignee are those of now.";
    expect((await summarize(args)).notes).toEqual([note]);
  });

  verifies("IN-06", "IN-20", "IN-21", "IN-25", "IN-26", "IN-27");
  it.each(Array.from({ length: WHERE.length * 4 }, (_, seed) => seed))(
    "gives the same figures as SQL for query %i",
    async (seed) => {
      const { groupBy, filters, where, asOf } = randomQuery(seed);
      const past = asOf === undefined ? {} : { asOf };
      const args = { ...filters, ...past, groupBy, limit: 200 };
      const result = await summarize(args);
      const extended = { ...context, extensions: new Set(["disputes.summary"]) };
      expect(await runInsight(disputesSummary, extended, args)).toEqual(result);
      const day = asOf ?? TODAY;
      const sql = { where, day, isPast: asOf !== undefined };
      const expected = groupDisputes(database, { ...sql, groupBy });
      const valid = (value: unknown) => (typeof value === "boolean" ? Number(value) : value);
      const items = (result.items as DisputeSummaryItem[])
        .filter(({ count }) => count > 0)
        .map((item) => [
          ...groupBy.map((name) => valid(item.key[name])),
          item.currencyCode,
          { count: item.count, amount: item.amount, ...figuresOf(item) },
        ]);
      if (expected.length <= 200) {
        const groups = expected.map((group) => [
          ...[...groupBy, ""].map((_, place) => group[`k${place}`]),
          Object.fromEntries(Object.entries(group).filter(([name]) => !/^k\d$/.test(name))),
        ]);
        const sorted = (all: unknown[][]) => all.map((one) => JSON.stringify(one)).toSorted();
        expect(sorted(items)).toEqual(sorted(groups));
      }
      const totals = groupDisputes(database, { ...sql, groupBy: [] });
      expect(result.rowCount).toBe(totals.reduce((sum, one) => sum + Number(one["count"]), 0));
      expect(result.currencyTotals.map(({ amount }) => amount).toSorted()).toEqual(
        totals.map(({ amount }) => amount).toSorted(),
      );
      const oldest = totals.map((one) => String(one["oldest"])).toSorted()[0] ?? null;
      expect(figuresOf(result as unknown as Figures).oldest).toBe(oldest);
    },
  );

  it("has every age bucket, empty ones too, youngest first", async () => {
    const filters = { accountNumber: "ACC-1", olderThanDays: 70, currencyCode: "EUR" };
    const { items } = await summarize({ ...filters, groupBy: ["age"], ageBuckets: [30, 60] });
    expect(items.map(({ key }) => key)).toEqual([
      { age: "0-30" },
      { age: "31-60" },
      { age: "61+" },
    ]);
    expect(items.map(({ count }) => count).slice(0, 2)).toEqual([0, 0]);
    expect(items[0]).toMatchObject({ amount: 0, oldest: null, avgAgeDays: null });
  });

  it("says how long disputes took to close, in ranges, quickest first", async () => {
    const args = { groupBy: ["daysToClose"], ageBuckets: [5, 10, 20], currencyCode: "EUR" };
    const { items } = await summarize(args);
    expect(items.map(({ key }) => Object.values(key as object)[0])).toEqual([
      "0-5",
      "6-10",
      "11-20",
      "21+",
      null,
    ]);
    const closed = await summarize({ ...args, status: "Closed", order: "desc" });
    const keys = closed.items.map(({ key }) => Object.values(key as object)[0]);
    expect(keys).toEqual(["21+", "11-20", "6-10", "0-5"]);
    const extended = { ...context, extensions: new Set(["disputes.summary"]) };
    expect((await runInsight(disputesSummary, extended, args)).items).toEqual(items);
  });

  it("orders dates ascending, other groups by amount, and as asked", async () => {
    const orderOf = async (args: Record<string, unknown>, figure: string) => {
      const { items } = await summarize({ currencyCode: "USD", limit: 200, ...args });
      return items.map((item) => item[figure] ?? (item["key"] as Record<string, unknown>)[figure]);
    };
    const months = await orderOf({ groupBy: ["created:month"] }, "created:month");
    expect(months).toEqual(months.toSorted());
    const descending = (a: unknown, b: unknown) => Number(b) - Number(a);
    const amounts = await orderOf({ groupBy: ["account"] }, "amount");
    expect(amounts).toEqual(amounts.toSorted(descending));
    const counts = await orderOf({ groupBy: ["account"], orderBy: "count" }, "count");
    expect(counts).toEqual(counts.toSorted(descending));
    const ages = await orderOf(
      { groupBy: ["account"], orderBy: "avgAgeDays", order: "asc" },
      "avgAgeDays",
    );
    expect(ages).toEqual(ages.toSorted(descending).toReversed());
    const names = await orderOf(
      { groupBy: ["account"], orderBy: "account", order: "desc" },
      "account",
    );
    expect(names).toEqual(names.toSorted().toReversed());
  });

  verifies("IN-04");
  it.each([
    [{ groupBy: ["asignee"] }, /assignee/],
    [{ orderBy: "total" }, /count, amount/],
    [{ reason: "damaged goods" }, /names no reason.*DAMAGED/],
    [{ assignee: "anna@x.example" }, /names no assignee.*similar: ana@x.example/],
    [{ documentStatus: "gone" }, /open.*closed.*missing/],
  ])("refuses %j with what is known", async (args, said) => {
    await expect(summarize(args)).rejects.toThrow(said);
  });

  it("compares names in the disputes where the configuration cannot be read, and says so", async () => {
    const reader = await at().person(TENANT, { grants: ["Dispute Management : READ"] });
    const limited = await createTestContext(at(), TENANT, reader);
    const args = { assignee: "silva" };
    const { rowCount, notes } = await runInsight(disputesSummary, limited, args);
    expect(rowCount).toBe((await summarize(args)).rowCount);
    expect(notes).toEqual([
      expect.stringMatching(/configuration cannot be read.*Configuration : READ/),
    ]);
  });

  verifies("IN-05");
  it("says how far it got when the limit on disputes is reached", async () => {
    const limits = { ...context.limits, disputes: 500 };
    const { rowCount, truncated, notes } = await runInsight(
      disputesSummary,
      { ...context, limits },
      {},
    );
    expect([rowCount, truncated]).toEqual([1000, true]);
    expect(notes[0]).toMatch(/^Only the first 1,000 disputes were read/);
  });
});
