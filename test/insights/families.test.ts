import { beforeAll, expect, it } from "vitest";
import { extensions } from "../../src/contract/index.ts";
import { Problem } from "../../src/contract/errors.ts";
import { accountOverview } from "../../src/insights/account-overview.ts";
import { disputesSummary } from "../../src/insights/disputes-summary.ts";
import { documentsSummary } from "../../src/insights/documents-summary.ts";
import { createFamilies, readFamily } from "../../src/insights/families.ts";
import type { InsightContext } from "../../src/insights/insight.ts";
import { paymentsSummarize } from "../../src/insights/payments-summarize.ts";
import { createDice } from "../support/dice.ts";
import { createForest, loadForest, modelFamilies } from "../support/forests.ts";
import { importDisputes, importRecords } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { load, ndjson, paymentRow } from "../support/payment-rows.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "families";
const COUNT = 30;

onEveryStore("families of accounts", (at) => {
  const admin = useTenant(at, TENANT);
  const forest = createForest(3, COUNT);
  const model = modelFamilies(forest);
  const numbers = forest.map(({ account_number }) => account_number);
  const disputed = [...numbers, "Gone-1", "Unknown-1"];
  let context: TestContext;

  const dice = createDice(8);
  const money = () => ({
    account: dice.pick(disputed),
    cents: dice.whole(1, 900) * 25,
    currency: dice.pick(["EUR", "USD"]),
  });
  const records = {
    disputes: Array.from({ length: 200 }, money),
    documents: Array.from({ length: 150 }, money),
    payments: Array.from({ length: 180 }, money),
  };
  type Money = (typeof records.disputes)[number];

  beforeAll(async () => {
    context = await createTestContext(at(), TENANT, admin);
    await loadForest(at(), TENANT, forest);
    const disputeRows = records.disputes.map(({ account, cents, currency }, number) => ({
      accountNumber: account,
      documentNumber: `INV-${number}`,
      amount: cents / 100,
      currencyCode: currency,
      categoryCode: "PRICE",
      reasonCode: "WRONG",
      createDate: "2026-02-01",
    }));
    const how = { format: "ndjson" as const };
    const asked = { ...how, createConfiguration: true };
    const disputes = await importDisputes(at(), TENANT, ndjson(disputeRows), asked);
    const documentRows = records.documents.map(({ account, cents, currency }, number) => ({
      document_number: `DOC-${number}`,
      document_type: "invoice",
      account_number: account,
      invoice_date: "2026-01-05",
      due_date: "2026-02-05",
      currency,
      denomination: cents / 100,
    }));
    const documents = await importRecords(at(), TENANT, "documents", ndjson(documentRows), how);
    const refused = [...disputes.rejects, ...documents.rejects];
    if (refused.length > 0) throw new Error(JSON.stringify(refused[0]));
    const paid = records.payments.map(({ account, cents, currency }, number) => ({
      ...paymentRow("cashapp", number),
      paymentId: `P-${number}`,
      accountNumber: account,
      currencyCode: currency,
      paymentAmount: cents / 100,
    }));
    await load(at(), TENANT, "cashapp", paid);
  });

  const timed = (more: Partial<InsightContext> = {}): InsightContext => ({
    ...context,
    skip: 0,
    isWhole: false,
    endsAt: Number.MAX_SAFE_INTEGER,
    ...more,
  });

  verifies("WK-60");
  it("reads an account and everything below it, both ways", async () => {
    const extended = timed({ extensions: new Set(["accounts.list.family"]) });
    const roots = [...new Set(numbers.map(model.topOf))].slice(0, 12);
    for (const root of [...roots, "ROUND-3", "Gone-2", numbers[7] ?? ""]) {
      const expected = numbers.filter((number) => model.isBelow(number, root));
      const { members, isPartial, notes } = await readFamily(extended, root);
      const found = members.map(({ accountNumber }) => accountNumber);
      expect(new Set(found)).toEqual(new Set(expected));
      expect([found.length, isPartial, notes]).toEqual([expected.length, false, []]);
      if (numbers.includes(root)) expect(found[0]).toBe(root);
    }
    const whole = await readFamily(extended, "ROUND-2");
    const sought = await readFamily(timed(), "ROUND-2");
    const disputedOnly = await readFamily(timed(), roots[0] ?? "");
    expect(sought.members).toEqual(
      whole.members.filter((one) =>
        sought.members.some((two) => two.accountNumber === one.accountNumber),
      ),
    );
    expect(sought.notes[0]).toContain("does not list the accounts below a parent");
    expect(disputedOnly.isPartial).toBe(true);
  });

  verifies("WK-60");
  it("reads parents and groups one by one, at most 500 accounts, and says so", async () => {
    const families = createFamilies(timed());
    await families.read(disputed);
    for (const number of disputed) {
      expect([number, families.topOf(number)]).toEqual([number, model.topOf(number)]);
      expect(families.groupOf(number)).toBe(model.groupOf(number));
      for (const parent of ["ROUND-4", "ROUND-2", numbers[2] ?? ""]) {
        expect(families.createBelowTest([parent.toLowerCase()])(number)).toBe(
          model.isBelow(number, parent),
        );
      }
    }
    expect([families.isPartial(), families.notes()]).toEqual([false, []]);
    const before = context.calls.length;
    const many = Array.from({ length: 501 }, (_, place) => `None-${place}`);
    const limited = createFamilies(timed());
    await limited.read(many);
    await limited.read(["None-9", "Other"]);
    expect(context.calls.length - before).toBe(500);
    expect(limited.isPartial()).toBe(true);
    expect(limited.notes().at(-1)).toContain("groups of 2 accounts are unknown");
    expect(limited.topOf("None-500")).toBe("None-500");
  });

  /** A random question: groupings, and conditions on what the account belongs to. */
  const askRandomly = (seed: number) => {
    const own = createDice(seed);
    const groupBy = [
      ...new Set([own.pick(["parent", "accountGroup"]), own.pick(["parent", "account"])]),
    ];
    const parent = own.pick([...numbers, "Gone-1", "Gone-2", "ROUND-3", "Unknown-1"]);
    const spelt = numbers.includes(parent) && own.chance(0.5) ? parent.toUpperCase() : parent;
    const group = own.pick(["north", "SÜD", "nowhere"]);
    const filters = {
      ...(own.chance(0.6)
        ? { parentAccountNumber: own.chance(0.5) ? spelt : [spelt, "Gone-3"] }
        : {}),
      ...(own.chance(0.4) ? { accountGroup: group } : {}),
    };
    const isMeant = ({ account }: Money): boolean => {
      const parents = [filters.parentAccountNumber ?? []]
        .flat()
        .map((one) => (one === spelt ? parent : one));
      const isBelow = parents.length === 0 || parents.some((one) => model.isBelow(account, one));
      const isGrouped =
        filters.accountGroup === undefined ||
        model.groupOf(account)?.toLowerCase() === group.toLowerCase();
      return isBelow && isGrouped;
    };
    return { args: { ...filters, limit: 200 }, groupBy, isMeant };
  };

  const KEYS: Record<string, (account: string) => string | null> = {
    parent: model.topOf,
    accountGroup: model.groupOf,
    account: (account) => account,
    accountNumber: (account) => account,
  };

  const addUp = (rows: readonly Money[], groupBy: readonly string[]) =>
    [
      ...Map.groupBy(rows, ({ account, currency }) =>
        JSON.stringify([...groupBy.map((name) => KEYS[name]?.(account)), currency]),
      ),
    ]
      .map(([key, own]) => `${key} ${own.length} ${own.reduce((sum, { cents }) => sum + cents, 0)}`)
      .toSorted();

  type Item = {
    key: Record<string, string | null>;
    currencyCode: string;
    count?: number;
    payments?: number;
    amount?: number;
    sum?: { paymentAmount: number };
  };

  const toLines = (items: readonly unknown[], groupBy: readonly string[]) =>
    (items as readonly Item[])
      .map(({ key, currencyCode, count, payments, amount, sum }) => {
        const names = JSON.stringify([...groupBy.map((name) => key[name] ?? null), currencyCode]);
        const cents = Math.round((amount ?? sum?.paymentAmount ?? 0) * 100);
        return `${names} ${count ?? payments} ${cents}`;
      })
      .toSorted();

  const CASES = [
    { insight: documentsSummary, of: "documents", account: "account", more: {} },
    { insight: disputesSummary, of: "disputes", account: "account", more: {} },
    {
      insight: paymentsSummarize,
      of: "payments",
      account: "accountNumber",
      more: { source: "cashapp" },
    },
  ] as const;

  verifies("WK-60", "IN-06");
  it.each(Array.from({ length: 40 }, (_, seed) => seed))(
    "groups and filters by parent and group as computed apart, each record once: question %i",
    async (seed) => {
      const { isMeant, groupBy: names, args } = askRandomly(seed);
      const extended = { ...context, extensions: new Set<string>(extensions) };
      for (const { insight, of, account, more: source } of CASES) {
        const groupBy = names.map((name) => (name === "account" ? account : name));
        const more = { ...source, groupBy };

        const rows = records[of].filter(isMeant);
        const result = await runInsight(insight, extended, { ...args, ...more });
        expect(toLines(result.items, groupBy)).toEqual(addUp(rows, groupBy));
        expect([result.rowCount, result.truncated]).toEqual([rows.length, false]);
        if (of !== "documents") {
          const paged = await runInsight(insight, context, { ...args, ...more });
          expect(paged).toEqual(result);
        }
      }
    },
  );

  verifies("WK-61");
  it("lists who owes more than the credit limit, families against the parent's", async () => {
    const extended = { ...context, extensions: new Set<string>(extensions) };
    const sum = (rows: readonly Money[]) => rows.reduce((total, { cents }) => total + cents, 0);
    const families = Map.groupBy(records.documents, ({ account }) => model.limitOf(account));
    const expected = [...families].flatMap(([holder, rows]) => {
      if (holder?.credit_limit === undefined) return [];
      const own = rows.filter(({ currency }) => currency === holder.currency);
      const others = rows.filter(({ currency }) => currency !== holder.currency);
      const over = sum(own) - holder.credit_limit * 100;
      const other = { count: others.length, amount: sum(others) / 100 };
      const otherCurrencies = [{ currencyCode: others[0]?.currency, ...other }];
      const figures = { count: own.length, amount: sum(own) / 100, overBy: over / 100 };
      return over <= 0
        ? []
        : {
            key: { account: holder.account_number },
            accountName: holder.name,
            currencyCode: holder.currency,
            creditLimit: holder.credit_limit,
            ...figures,
            ...(others.length === 0 ? {} : { otherCurrencies }),
          };
    });
    expected.sort((a, b) => b.overBy - a.overBy || (a.key.account < b.key.account ? -1 : 1));
    const result = await runInsight(documentsSummary, extended, { overLimit: true, limit: 200 });
    const shown = result.items.map(
      ({ disputedAmount: _disputed, oldest: _oldest, ...item }) => item,
    );
    expect(shown).toEqual(expected);
    expect(expected.some((one) => "otherCurrencies" in one)).toBe(true);
    const counted = expected.reduce((total, { count }) => total + count, 0);
    expect([result.rowCount, result.itemsTotal]).toEqual([counted, expected.length]);
    const totals = Map.groupBy(expected, ({ currencyCode }) => currencyCode);
    const amounts = [...totals].map(([currencyCode, own]) => ({
      currencyCode,
      count: own.reduce((total, { count }) => total + count, 0),
      amount: Math.round(own.reduce((total, { amount }) => total + amount * 100, 0)) / 100,
    }));
    expect(new Set(result.currencyTotals)).toEqual(new Set(amounts));
    const page = await runInsight(
      documentsSummary,
      { ...extended, skip: 1 },
      { overLimit: true, limit: 2 },
    );
    expect(page.items).toEqual(result.items.slice(1, 3));
    const one = { overLimit: true, parentAccountNumber: expected[0]?.key.account };
    const [first] = (await runInsight(documentsSummary, extended, one)).items;
    expect(first).toEqual(result.items[0]);
  });

  verifies("WK-61");
  it("shows a family in one: what each member owes, and all of them against the parent's limit", async () => {
    const extended = { ...context, extensions: new Set<string>(extensions) };
    const sizes = numbers.map((root) => ({
      root,
      members: numbers.filter((number) => model.isBelow(number, root)),
    }));
    const limited = sizes.filter(({ root }) => model.limitOf(root)?.account_number === root);
    const [largest] = limited.toSorted((a, b) => b.members.length - a.members.length);
    const { root = "", members = [] } = largest ?? {};
    expect(members.length).toBeGreaterThan(2);
    const totalsOf = (rows: readonly Money[]) =>
      new Set(
        [...Map.groupBy(rows, ({ currency }) => currency)].map(([currencyCode, own]) => ({
          currencyCode,
          count: own.length,
          amount: own.reduce((sum, { cents }) => sum + cents, 0) / 100,
        })),
      );
    const rowsOf = (all: readonly Money[], accounts: readonly string[]) =>
      all.filter(({ account }) => accounts.includes(account));
    const args = { account: root, includeChildren: true };
    const { items, truncated } = await runInsight(accountOverview, extended, args);
    const item = items[0] as Record<string, Record<string, unknown>>;
    const family = item["family"] as {
      members: { accountNumber: string; openAmounts: object[] }[];
      membersTotal: number;
      limit: Record<string, unknown>;
    };
    expect([family.membersTotal, truncated]).toEqual([members.length, false]);
    expect(family.members[0]?.accountNumber).toBe(root);
    for (const { accountNumber, openAmounts } of family.members) {
      const own = rowsOf(records.documents, [accountNumber]);
      expect(new Set(openAmounts)).toEqual(totalsOf(own));
    }
    const holder = model.limitOf(root);
    const owed = totalsOf(rowsOf(records.documents, members));
    const own = [...owed].find(({ currencyCode }) => currencyCode === holder?.currency);
    const limit = holder?.credit_limit ?? 0;
    expect(family.limit).toMatchObject({
      currencyCode: holder?.currency,
      creditLimit: limit,
      openAmount: own?.amount ?? 0,
      overBy: Math.max(0, (own?.amount ?? 0) - limit),
    });
    expect(new Set((family.limit["otherCurrencies"] ?? []) as object[])).toEqual(
      new Set([...owed].filter((one) => one !== own)),
    );
    expect(new Set(item["openDocuments"]?.["totals"] as object[])).toEqual(owed);
    const { open } = item["disputes"] as { open: { count: number; totals: object[] } };
    expect(new Set(open.totals)).toEqual(totalsOf(rowsOf(records.disputes, members)));
    const paged = await runInsight(accountOverview, context, args);
    const [other] = paged.items as Record<string, Record<string, unknown>>[];
    const found = other?.["family"]?.["members"] as { accountNumber: string }[];
    const sought = members.filter((one) => rowsOf(records.disputes, [one]).length > 0);
    expect(found.map(({ accountNumber }) => accountNumber)).toEqual(expect.arrayContaining(sought));
    expect(other?.["disputes"]).toMatchObject({ open: { count: open.count } });
    expect(other?.["openDocuments"]).toMatchObject({ available: false });
    expect([paged.truncated, paged.notes[0]]).toEqual([
      true,
      expect.stringContaining("does not list the accounts below a parent"),
    ]);
    const unknown = { account: "Unknown-1", includeChildren: true };
    const alone = await runInsight(accountOverview, extended, unknown);
    expect(alone.items[0]).toMatchObject({ family: { membersTotal: 0 } });
  });

  verifies("WK-61", "IN-04");
  it.each([
    { groupBy: ["account"] },
    { measure: "originalAmount" },
    { status: "closed" },
    { asOf: "2026-01-31" },
  ])("refuses %j beside the comparison with credit limits", async (more) => {
    const extended = { ...context, extensions: new Set<string>(extensions) };
    await expect(
      runInsight(documentsSummary, extended, { overLimit: true, ...more }),
    ).rejects.toThrow(`${Object.keys(more)[0]} must be`);
  });

  verifies("WK-60");
  it("says which figures are partial where accounts were not read, or that a platform has no parents", async () => {
    const former = { ...context, extensions: new Set(["documents.summary"]) };
    await expect(runInsight(documentsSummary, former, { groupBy: ["parent"] })).rejects.toThrow(
      /does not know parent/,
    );
    const unknowing = await createTestContext(at(), TENANT, admin, {
      intercept(operation, args) {
        if (operation.id === "accounts.get") throw new Problem("account_not_found", "none");
        return args;
      },
    });
    const { notes, items } = await runInsight(disputesSummary, unknowing, {
      groupBy: ["parent"],
      limit: 200,
    });
    expect(notes).toEqual([expect.stringContaining("knows none of these accounts")]);
    expect(toLines(items, ["parent"]).length).toBe(addUp(records.disputes, ["account"]).length);
  });
});
