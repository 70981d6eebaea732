import { beforeAll, expect, it } from "vitest";
import { contract, extensions } from "../../src/contract/index.ts";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import type { InsightResult } from "../../src/insights/insight.ts";
import { receivablesKpis } from "../../src/insights/receivables-kpis.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { dispute } from "../support/configuration.ts";
import { importPayments } from "../support/importing.ts";
import { documentAt } from "../support/ingest.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { createKpiModel, type Raw, type Span } from "../support/kpi-model.ts";
import { ACCOUNTS, createKpiTenant, PARENTS, ZONE } from "../support/kpi-tenant.ts";
import { localDay } from "../support/local-days.ts";
import { ndjson } from "../support/payment-rows.ts";
import {
  configure,
  DISPUTES,
  onEveryStore,
  useExportCaller,
  useTenant,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "kpis";
const FAMILY = new Set(["P-1", "C-1", "C-2"]);
const CURRENCIES = ["EUR", "USD"];
const MONTHS: readonly Span[] = [
  { from: "2026-02-01", to: "2026-02-28" },
  { from: "2026-03-01", to: "2026-03-31" },
  { from: "2026-04-01", to: "2026-04-30" },
];
const WHOLE: Span = { from: "2026-02-01", to: "2026-04-30" };
const OF_DISPUTES = new Set([
  "daysDeductionOutstanding",
  "medianDaysToClose",
  "p90DaysToClose",
  "validShare",
  "amountRecovered",
  "reopenedShare",
]);

type Item = {
  key: Record<string, string | null>;
  currencyCode: string;
  measure: string;
  value: number | null;
  numerator: number | null;
  denominator: number | null;
  unit: string;
  rows: number;
  formula: string;
  reason?: string;
};

const itemsOf = ({ items }: InsightResult): Item[] => items as Item[];

/** The values of items by group, currency and measure. */
const toValues = (items: readonly Item[]) =>
  new Map(
    items.map(({ key, currencyCode, measure, value }) => [
      JSON.stringify([key, currencyCode, measure]),
      value,
    ]),
  );

verifies("WK-70");
onEveryStore("receivables_kpis", (at) => {
  const admin = useTenant(at, TENANT);
  const call = useExportCaller(at, TENANT, ["ingest:read", "ingest:write"]);
  let raw: Raw;

  const contextOf = async (
    ids: readonly string[],
    options: Parameters<typeof createTestContext>[3] = {},
  ) => {
    const person = await at().person(TENANT, { roles: ["Administrator"] });
    return createTestContext(at(), TENANT, person, {
      calendar: openCalendar(ZONE),
      extensions: new Set(ids),
      ...options,
    });
  };

  beforeAll(async () => {
    await setTenant({ store: at().store }, TENANT, [`timeZone=${ZONE}`]);
    const play = createKpiTenant({ at: at(), tenantId: TENANT, admin, call });
    raw = await play();
  }, 60_000);

  /** Compares each measure of the items with the formula over raw records. */
  const check = (
    items: readonly Item[],
    spanOf: (key: Item["key"]) => Span,
    accountsOf: (key: Item["key"]) => ReadonlySet<string>,
  ): void => {
    const model = createKpiModel(raw, ZONE);
    const spans = new Map(
      items.map(({ key, currencyCode }) => [
        JSON.stringify([key, currencyCode]),
        { key, currencyCode },
      ]),
    );
    const toGroup = ({ key, currencyCode }: Pick<Item, "key" | "currencyCode">) =>
      [spanOf(key), { currency: currencyCode, accounts: accountsOf(key) }] as const;
    const all = [...spans.values()].map(toGroup);
    for (const one of spans.values()) {
      const [span, group] = toGroup(one);
      const own = items.filter(
        ({ key, currencyCode }) =>
          JSON.stringify([key, currencyCode]) === JSON.stringify([one.key, one.currencyCode]),
      );
      expect([one, Object.fromEntries(own.map(({ measure, value }) => [measure, value]))]).toEqual([
        one,
        model.measure(span, group, all),
      ]);
    }
  };

  const monthOf = (key: Item["key"]): Span =>
    MONTHS.find(({ from }) => from.startsWith(String(key["month"]))) ?? WHOLE;

  const everyAccount = () => new Set(ACCOUNTS);

  it("measures each month as the formulas over raw records do", async () => {
    const args = { groupBy: ["month"], limit: 200 };
    const result = await runInsight(receivablesKpis, await contextOf(extensions), args);
    expect(result.filter).toMatchObject({ from: WHOLE.from, to: WHOLE.to, timeZone: ZONE });
    const items = itemsOf(result);
    expect(items).toHaveLength(MONTHS.length * CURRENCIES.length * 12);
    check(items, monthOf, everyAccount);
    expect(items.filter(({ value }) => value !== null).length).toBeGreaterThan(50);
    for (const { value, reason, unit } of items) {
      expect(reason === undefined).toBe(value !== null);
      if (unit === "share" && value !== null) expect(value >= 0 && value <= 1).toBe(true);
    }
  });

  it.each([
    ["parent", ["month", "parent"]],
    ["account", ["account"]],
    ["accountGroup", ["month", "accountGroup"]],
  ])("measures by %s, page by page, as the formulas do", async (name, groupBy) => {
    const groups: Record<string, (value: string | null) => ReadonlySet<string>> = {
      parent: (value) => (value === "P-1" ? FAMILY : new Set([String(value)])),
      account: (value) => new Set([String(value)]),
      accountGroup: (value) =>
        new Set(PARENTS.filter(([, , group]) => (group ?? null) === value).map(([one]) => one)),
    };
    // Pages of two groups.
    const context = await contextOf(extensions, {
      intercept: (operation, args) =>
        operation.id === contract.documents.summary.id && "limit" in args && Number(args.limit) > 1
          ? { ...args, limit: 2 }
          : args,
    });
    const pages: Item[] = [];
    for (;;) {
      const start = { ...context, skip: pages.length };
      const result = await runInsight(receivablesKpis, start, { groupBy, limit: 100 });
      pages.push(...itemsOf(result));
      if (pages.length >= result.itemsTotal) break;
    }
    expect(new Set(pages.map(({ key }) => key[name])).size).toBeGreaterThan(1);
    check(pages, monthOf, (key) => groups[name]?.(key[name] ?? null) ?? new Set());
  });

  it("counts the days of periods within months, and leaves out those to come", async () => {
    const context = await contextOf(extensions);
    const spans = [
      { from: "2026-03-10", to: "2026-04-17" },
      { from: "2026-03-29", to: "2026-03-31" },
      { from: "2026-04-20", to: "2026-05-10" },
    ];
    for (const span of spans) {
      const sent = span.to === "2026-05-10" ? { ...span, to: "2026-12-31" } : span;
      const result = await runInsight(receivablesKpis, context, { ...sent, limit: 200 });
      expect(result.filter).toMatchObject(span);
      expect(result.notes.join(" ").includes("2026-12-31 has not come")).toBe(span !== sent);
      check(itemsOf(result), () => span, everyAccount);
    }
    const reversed = runInsight(receivablesKpis, context, { from: "2026-04-01", to: "2026-03-01" });
    await expect(reversed).rejects.toThrow("from 2026-04-01 must not be after to 2026-03-01");
  });

  it("gives the figures of disputes by documented operations, and says what they do not tell", async () => {
    for (const groupBy of [["month"], ["parent"]]) {
      const args = { groupBy, limit: 200 };
      const own = itemsOf(await runInsight(receivablesKpis, await contextOf(extensions), args));
      const result = await runInsight(receivablesKpis, await contextOf([]), args);
      const documented = toValues(itemsOf(result));
      const isOfDisputes = ({ measure }: Item) => OF_DISPUTES.has(measure);
      expect(own.some(isOfDisputes)).toBe(true);
      for (const one of itemsOf(result).filter((item) => !isOfDisputes(item))) {
        expect([one.value, one.reason]).toEqual([null, "This platform does not add up documents."]);
      }
      for (const [id, value] of toValues(own.filter(isOfDisputes))) {
        expect([id, documented.get(id) ?? null]).toEqual([id, value]);
      }
      expect(result.notes.join(" ")).toContain("Receivables and sales are unknown");
    }
  });

  it("has no value, but a reason, where records do not reach", async () => {
    const context = await contextOf(extensions);
    const { first } = createKpiModel(raw, ZONE);
    const reasonsOf = async (span: Span) => {
      const result = await runInsight(receivablesKpis, context, { ...span, limit: 200 });
      return new Map(
        itemsOf(result)
          .filter(({ currencyCode }) => currencyCode === "EUR")
          .map(({ measure, value, reason }) => [measure, value === null ? reason : value]),
      );
    };
    const begins = `The documents begin on ${first}`;
    const before = await reasonsOf({ from: "2025-09-01", to: "2025-10-15" });
    for (const measure of [
      "dsoCountback",
      "dsoSimple",
      "collectionEffectiveness",
      "disputedShare",
    ]) {
      expect(before.get(measure)).toContain(begins);
    }
    expect(before.get("validShare")).toBe(
      "No dispute was closed in the period with a decision that is still known.",
    );
    expect(before.get("reopenedShare")).toBe("The audit log does not reach back to that day.");
    const across = await reasonsOf({ from: "2025-10-01", to: "2026-02-28" });
    expect(across.get("dsoSimple")).toContain(begins);
    expect(typeof across.get("disputedShare")).toBe("number");
    const fresh = await reasonsOf({ from: first, to: first });
    expect(fresh.get("collectionEffectiveness")).toContain(begins);
  });

  it("divides by no sales of nothing", async () => {
    const { clock } = at();
    clock.set("2026-08-10T09:00:00.000Z");
    const span = { from: "2026-07-01", to: "2026-07-31" };
    const result = await runInsight(receivablesKpis, await contextOf(extensions), span);
    const simple = itemsOf(result).find(({ measure }) => measure === "dsoSimple");
    expect(simple).toMatchObject({
      value: null,
      denominator: 0,
      formula: "receivables at the end / sales * 31 days",
      reason: "The sales of the period, less credit notes, are not above 0.",
    });
    check(
      itemsOf(
        await runInsight(receivablesKpis, await contextOf(extensions), { ...span, limit: 200 }),
      ),
      () => span,
      everyAccount,
    );
  });

  it("gives the figures of a worked example", async () => {
    const { clock } = at();
    const TEXTBOOK = "textbook";
    clock.set("2027-01-15T09:00:00.000Z");
    const owner = await at().tenant(TEXTBOOK);
    const send = await at().exportCaller(TEXTBOOK, ["ingest:read", "ingest:write"]);
    await configure(owner);
    const invoice = async (number: string, amount: number, due_date: string, more = {}) => {
      const dates = { invoice_date: localDay("UTC", clock()), due_date };
      const amounts = { original_denomination: amount, denomination: amount, currency: "EUR" };
      const body = { account_number: "A", ...dates, ...amounts, ...more };
      expect((await send("POST", documentAt(number), { body })).status).toBe(201);
    };
    const claim = async (documentNumber: string, amount: number): Promise<string> => {
      const body = { documentNumber, accountNumber: "A", reasonCode: "WRONG", amount };
      return (await dispute(owner, { ...body, currencyCode: "EUR" })).disputeId;
    };
    const change = async (disputeId: string, body: object): Promise<void> => {
      const changed = await owner.call("PUT", `${DISPUTES}/${disputeId}`, { body });
      expect(changed.status, changed.text).toBe(200);
    };
    const on = (day: string): void => clock.set(`2027-${day}T09:00:00.000Z`);

    await invoice("JAN", 100, "2027-01-31");
    on("01-20");
    await send("PATCH", documentAt("JAN"), { body: { denomination: 0 } });
    on("02-10");
    await invoice("FEB", 280, "2027-03-12");
    on("02-12");
    const rejected = await claim("FEB", 30);
    on("03-02");
    const [valid, canceled] = [await claim("FEB", 20), await claim("FEB", 10)];
    on("03-03");
    await change(canceled, { status: 1, isValid: false });
    on("03-04");
    await change(valid, { status: 1, isValid: true });
    on("03-05");
    await change(canceled, { status: 0 });
    on("03-06");
    await change(canceled, { status: 2 });
    on("03-10");
    await invoice("MAR", 310, "2027-04-09");
    on("03-11");
    await claim("MAR", 62);
    on("03-12");
    await change(rejected, { status: 1, isValid: false });
    on("03-15");
    const credit = { document_type: "credit_note", applies_to_invoice: "MAR" };
    await invoice("CREDIT", 31, "2027-03-20", credit);
    on("03-20");
    const id = "paid";
    const paid = { paymentDate: "2027-03-20", paymentAmount: 140, appliedAmount: 140 };
    const row = { id, paymentId: id, documentNumber: "FEB", currencyCode: "EUR", ...paid };
    const source = { tenantId: TEXTBOOK, source: "cashapp" as const };
    await importPayments(at(), source, ndjson([row]), { format: "ndjson" });
    await send("PATCH", documentAt("FEB"), { body: { denomination: 140 } });
    on("04-10");

    // A session of its own: others have expired after days.
    const reader = await at().person(TEXTBOOK, { roles: ["Administrator"] });
    const context = await createTestContext(at(), TEXTBOOK, reader, {
      extensions: new Set(extensions),
    });
    const result = await runInsight(receivablesKpis, context, { groupBy: ["month"], limit: 200 });
    const march = itemsOf(result).filter(({ key }) => key["month"] === "2027-03");
    const figures = march.map((one) => [one.measure, one.value, one.numerator, one.denominator]);
    expect(figures).toEqual([
      ["dsoCountback", 45, 419, 559],
      ["dsoSimple", 46.56, 419, 279],
      ["bestPossibleDso", 34.44, 310, 279],
      ["averageDaysDelinquent", 12.11, 109, 279],
      ["collectionEffectiveness", 0.5622, 140, 249],
      ["disputedShare", 0.148, 62, 419],
      ["daysDeductionOutstanding", 23.44, 62, 82],
      ["medianDaysToClose", 2, 1, 2],
      ["p90DaysToClose", 28, 2, 2],
      ["validShare", 0.5, 1, 2],
      ["amountRecovered", 30, 30, 30],
      ["reopenedShare", 0.3333, 1, 3],
    ]);
    expect(result.currencyTotals).toEqual([{ currencyCode: "EUR", count: 3, amount: 419 }]);
  });
});
