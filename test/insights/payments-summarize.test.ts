import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Source } from "../../src/contract/payments/catalogue.ts";
import type { PaymentSummaryItem } from "../../src/contract/insights/payment-summary.ts";
import { Problem } from "../../src/contract/errors.ts";
import { paymentsSummarize } from "../../src/insights/payments-summarize.ts";
import { createDice } from "../support/dice.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { load } from "../support/payment-rows.ts";
import {
  groupBySql,
  randomPayments,
  type SqlGroup,
  toDatabase,
  toFigure,
} from "../support/payment-sql.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "summary";
const SOURCES = ["cashapp", "iandp", "bpn"] as const;
const UNITS = ["day", "week", "month", "quarter", "year"];

const AMOUNTS: Record<Source, string[]> = {
  cashapp: ["paymentAmount", "unappliedAmount", "appliedAmount", "deductionAmount"],
  iandp: ["amountPaid", "invoiceAmount"],
  bpn: ["paymentAmount", "feeAmount", "netAmount", "amountPaid"],
};

const WHERE: [filters: Record<string, unknown>, sql: string][] = [
  [{}, "1"],
  [{ paymentMethod: { in: ["ach", "wire"] } }, `"paymentMethod" in ('ach', 'wire')`],
  [{ paymentDate: { gte: "2023-06-01" } }, `"paymentDate" >= '2023-06-01'`],
  [{ accountNumber: { isNull: true } }, `"accountNumber" is null`],
];

const randomQuery = (source: Source, seed: number) => {
  const dice = createDice(seed);
  const date = `paymentDate:${dice.pick(UNITS)}`;
  const payer = source === "iandp" ? "paymentMethod" : "payerName";
  const posted = source === "cashapp" ? `postedAt:${dice.pick(UNITS)}` : date;
  const always = ["accountNumber", "paymentMethod", payer, "currencyCode", "paymentDate"];
  const names = [...always, date, posted];
  const groupBy = [...new Set([dice.pick(names), dice.pick(names)])].slice(0, dice.whole(0, 2));
  const fields = AMOUNTS[source];
  const measures = [
    { op: "sum", field: dice.pick(fields) },
    { op: dice.pick(["sum", "avg"]), field: dice.pick(fields) },
    { op: dice.pick(["min", "max"]), field: dice.pick([...fields, "paymentDate"]) },
    { op: "countDistinct", field: "accountNumber" },
    { op: "count", field: "accountNumber" },
  ];
  const [filters, where] = dice.pick(WHERE);
  return { source, groupBy, measures, filters, where };
};

type Query = ReturnType<typeof randomQuery>;

const fromItem = ({ groupBy, measures }: Query, item: PaymentSummaryItem) => [
  ...groupBy.map((name) => item.key[name]),
  item.currencyCode,
  item.payments,
  item.rows,
  ...measures.map(({ op, field }) => item[op as "sum"]?.[field]),
];

const fromSql = ({ source, groupBy, measures }: Query, group: SqlGroup) => [
  ...[...groupBy, "currency"].map((_, place) => group[`k${place}`]),
  group["payments"],
  group["rows"],
  ...measures.map((one) => toFigure(one, source, group[`${one.op}(${one.field})`])),
];

const sorted = (groups: unknown[][]): string[] =>
  groups.map((one) => JSON.stringify(one)).toSorted();

onEveryStore("payments_summarize", (at) => {
  let context: TestContext;
  const admin = useTenant(at, TENANT);
  const databases = new Map<Source, DatabaseSync>();
  beforeAll(async () => {
    context = await createTestContext(at(), TENANT, admin);
    for (const [seed, source] of SOURCES.entries()) {
      const rows = randomPayments(source, 400, seed + 1, 0.05);
      await load(at(), TENANT, source, rows);
      databases.set(source, toDatabase(source, rows));
    }
  });
  afterAll(() => {
    for (const database of databases.values()) database.close();
  });

  const summarize = (args: Record<string, unknown>) => runInsight(paymentsSummarize, context, args);
  const databaseOf = (source: Source): DatabaseSync => {
    const database = databases.get(source);
    if (database === undefined) throw new Error(`no ${source}`);
    return database;
  };

  verifies("IN-02", "IN-06", "IN-12");
  it.each(Array.from({ length: 60 }, (_, seed) => seed))(
    "gives the same figures as SQL for query %i",
    async (seed) => {
      const query = randomQuery(SOURCES[seed % 3] ?? "cashapp", seed);
      const { source, groupBy, measures, filters } = query;
      const args = { source, groupBy, measures, filters, limit: 200 };
      const { items, itemsTotal } = await summarize(args);
      const expected = groupBySql(databaseOf(source), query);
      expect(itemsTotal).toBe(expected.length);
      const extended = { ...context, extensions: new Set(["payments.summary"]) };
      expect(await runInsight(paymentsSummarize, extended, args)).toEqual(await summarize(args));
      if (expected.length > 200) return;
      expect(sorted((items as PaymentSummaryItem[]).map((item) => fromItem(query, item)))).toEqual(
        sorted(expected.map((group) => fromSql(query, group))),
      );
    },
  );

  const sqlOf = (sql: string): unknown[][] =>
    databaseOf("cashapp")
      .prepare(sql)
      .all()
      .map((row) => Object.values(row));

  verifies("IN-11", "IN-15");
  it("adds up the source's amount per currency when nothing else is asked for", async () => {
    const result = await summarize({ source: "cashapp" });
    const expected =
      sqlOf(`with p as (select "currencyCode" c, payment, max("paymentAmount") a from t group by 1, 2)
      select c, count(*), sum(a) / 1e6 from p group by c order by sum(a) desc`);
    const { items, currencyTotals, rowCount, truncated, notes } = result;
    expect(items.map((item) => [item["currencyCode"], item["payments"], item["sum"]])).toEqual(
      expected.map(([currency, count, paymentAmount]) => [currency, count, { paymentAmount }]),
    );
    expect(currencyTotals.map((one) => Object.values(one))).toEqual(expected);
    expect(items.map(({ key }) => key)).toEqual(expected.map(() => ({})));
    expect([rowCount, truncated]).toEqual([sqlOf("select count(*) from t")[0]?.[0], false]);
    const inSeveral = sqlOf(
      `select count(*) from (select 1 from t group by payment having count(distinct coalesce("currencyCode", '')) > 1)`,
    );
    expect(notes).toEqual([
      expect.stringContaining(`${String(inSeveral[0]?.[0])} payments belong to several groups`),
    ]);
  });

  verifies("IN-10", "IN-13");
  it("orders dates ascending, other groups by the first sum, and as asked", async () => {
    const months = await summarize({
      source: "cashapp",
      groupBy: ["paymentDate:month"],
      limit: 200,
    });
    const names = (months.items as PaymentSummaryItem[]).map(({ key }) => key["paymentDate:month"]);
    const dated = names.filter((name) => name !== null);
    expect(dated).toEqual(dated.toSorted());
    expect(names.indexOf(null)).toBe(dated.length);

    const orderOf = async (more: object) => {
      const filters = { currencyCode: { eq: "USD" }, accountNumber: { isNull: false } };
      const groupBy = ["accountNumber"];
      const measures = [{ op: "sum", field: "appliedAmount" }];
      const { items } = await summarize({ source: "cashapp", filters, groupBy, measures, ...more });
      return (items as PaymentSummaryItem[]).map(({ key }) => key["accountNumber"]);
    };
    const by = (order: string) =>
      sqlOf(`select "accountNumber" from t where "currencyCode" = 'USD' and "accountNumber" is not null
        group by 1 order by ${order}, 1`).flat();
    expect(await orderOf({})).toEqual(by(`sum("appliedAmount") desc`));
    expect(await orderOf({ order: "asc" })).toEqual(by(`sum("appliedAmount")`));
    expect(await orderOf({ orderBy: "rows" })).toEqual(by("count(*) desc"));
    expect(await orderOf({ orderBy: "payments" })).toEqual(by("count(distinct payment) desc"));
    expect(await orderOf({ orderBy: "accountNumber", order: "desc" })).toEqual(by("1 desc"));
    expect(await orderOf({ orderBy: "sum(appliedAmount)", limit: 2 })).toEqual(
      by(`sum("appliedAmount") desc`).slice(0, 2),
    );
  });

  it("says where a payment is in several groups", async () => {
    const args = { source: "cashapp", groupBy: ["documentNumber"] };
    const { notes } = await summarize(args);
    expect(notes).toEqual([
      expect.stringMatching(
        /^\d+ payments belong to several groups.*amounts of such payments repeat in sum\(paymentAmount\)\.$/,
      ),
    ]);
    const measures = [{ op: "sum", field: "appliedAmount" }];
    const lines = await summarize({ ...args, measures });
    expect(lines.notes[0]).toMatch(/so the items add up to more payments than there are\.$/);
    const amounts = { source: "iandp", groupBy: ["accountNumber"] };
    expect((await summarize(amounts)).notes.join()).not.toContain("repeat");
  });

  verifies("IN-01");
  it.each([
    ["cashapp", "deductionAmount", "paymentAmount"],
    ["iandp", "invoiceAmount", "amountPaid"],
  ])(
    "names the amount in the totals of %s where the items have %s",
    async (source, field, amount) => {
      const notesOf = async (name: string, more: object = {}) =>
        (await summarize({ source, measures: [{ op: "sum", field: name }], ...more })).notes.join();
      const note = `The amounts in currencyTotals are sum(${amount}).`;
      expect(await notesOf(field)).toContain(note);
      expect(await notesOf(amount)).not.toContain(note);
      expect(await notesOf(field, { filters: { id: { eq: "none" } } })).toBe("");
    },
  );

  verifies("IN-14");
  it.each([
    ["largest", "desc"],
    ["smallest", "asc"],
  ])("returns the %s rows", async (topOrder, order) => {
    const measures = [{ op: "sum", field: "appliedAmount" }];
    const { topRows } = await summarize({ source: "cashapp", measures, topRows: 7, topOrder });
    const expected =
      sqlOf(`select id, "appliedAmount" / 1e6 from t where "appliedAmount" is not null
      order by "appliedAmount" ${order}, id limit 7`);
    const rows = topRows as Record<string, unknown>[];
    expect(rows.map((row) => [row["id"], row["appliedAmount"]])).toEqual(expected);
    expect(rows.flatMap(Object.values)).not.toContain(null);
    expect(Object.keys(rows[0] ?? {})).not.toContain("exportedAt");
  });

  /** A context whose platform gives pages of 100 rows. */
  const shortPages = async (refuse: (call: number) => Problem | undefined = () => undefined) => {
    let call = 0;
    return createTestContext(at(), TENANT, admin, {
      intercept(_operation, args) {
        call += 1;
        const refusal = refuse(call);
        if (refusal !== undefined) throw refusal;
        return { ...args, limit: 100 };
      },
    });
  };

  it("reads page after page and tells the host how far it is", async () => {
    const paged = await shortPages();
    const result = await runInsight(paymentsSummarize, paged, { source: "bpn" });
    expect(result).toEqual({ ...(await summarize({ source: "bpn" })), asOf: result.asOf });
    expect(paged.calls).toHaveLength(Math.ceil(result.rowCount / 100));
    expect(paged.messages.slice(0, 2)).toEqual([
      "Read 100 payment rows.",
      "Read 200 payment rows.",
    ]);
  });

  verifies("IN-01", "IN-05");
  it("says how far it got when the limit on rows or time is reached", async () => {
    const paged = await shortPages();
    const limits = { ...paged.limits, paymentRows: 300 };
    const few = await runInsight(paymentsSummarize, { ...paged, limits }, { source: "bpn" });
    expect(few).toMatchObject({ rowCount: 300, truncated: true });
    expect(few.notes[0]).toMatch(/^Only the first 300 payment rows were read: an answer reads at/);
    let time = Date.parse("2026-03-02T09:00:00Z");
    const slow = await shortPages(() => {
      time += 25_000;
      return undefined;
    });
    const late = await runInsight(
      paymentsSummarize,
      { ...slow, now: () => time },
      { source: "bpn" },
    );
    expect(late).toMatchObject({ rowCount: 300, truncated: true });
    expect(late.notes[0]).toMatch(/reading took 60 seconds/);
  });

  it("keeps what it read when the platform then asks to wait", async () => {
    const busy = new Problem("rate_limited", "Too many requests.");
    const later = await shortPages((call) => (call > 2 ? busy : undefined));
    const result = await runInsight(paymentsSummarize, later, { source: "bpn" });
    expect(result).toMatchObject({ rowCount: 200, truncated: true });
    expect(result.notes[0]).toMatch(/the platform refused \(Too many requests\)/);
    const never = await shortPages(() => busy);
    await expect(runInsight(paymentsSummarize, never, { source: "bpn" })).rejects.toBe(busy);
    const forbidden = new Problem("forbidden_permission", "No.");
    const denied = await shortPages((call) => (call > 2 ? forbidden : undefined));
    await expect(runInsight(paymentsSummarize, denied, { source: "bpn" })).rejects.toBe(forbidden);
  });

  verifies("IN-04");
  it.each([
    [{ source: "cashapp", groupBy: ["payerNam"] }, /payerName/],
    [{ source: "cashapp", groupBy: ["paymentDate:monthly"] }, /similar: month/],
    [{ source: "cashapp", groupBy: ["payerName:month"] }, /paymentDate/],
    [{ source: "cashapp", measures: [{ op: "sum", field: "payerName" }] }, /paymentAmount/],
    [{ source: "cashapp", orderBy: "payment" }, /payments/],
    [{ source: "cashapp", filters: { payer: { eq: "x" } } }, /payerName/],
  ])("refuses %j with what is known", async (args, said) => {
    await expect(summarize(args)).rejects.toThrow(said);
  });
});
