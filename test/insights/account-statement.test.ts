import Big from "big.js";
import { beforeAll, expect, it } from "vitest";
import { extensions } from "../../src/contract/index.ts";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import { accountOverview } from "../../src/insights/account-overview.ts";
import { accountStatement } from "../../src/insights/account-statement.ts";
import { documentsSummary } from "../../src/insights/documents-summary.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { HOUR } from "../../src/kit/clock.ts";
import { configure, onEveryStore, useExportCaller, useTenant } from "../support/platform.ts";
import { createDice, type Dice } from "../support/dice.ts";
import { dispute } from "../support/configuration.ts";
import { importPayments } from "../support/importing.ts";
import { accountAt, documentAt } from "../support/ingest.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { localDay } from "../support/local-days.ts";
import { ndjson } from "../support/payment-rows.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "statements";
const ZONE = "Europe/Berlin";
const ACCOUNT = "C-1";
const DAY_MS = 86_400_000;
const STEPS = 40;

type Item = { day: string; kind: string; amount: number; balance: number; currencyCode: string };
type Balances = {
  currencyCode: string;
  openingBalance: number;
  closingBalance: number;
  disputed: number | null;
};

/** Opening balance and lines add up to the closing balance, line by line. */
const checkSums = (items: readonly Item[], balances: readonly Balances[]): void => {
  for (const { currencyCode, openingBalance, closingBalance } of balances) {
    let balance = new Big(openingBalance);
    for (const one of items.filter((item) => item.currencyCode === currencyCode)) {
      balance = balance.plus(one.amount);
      expect(balance.toNumber()).toBe(one.balance);
    }
    expect(balance.toNumber()).toBe(closingBalance);
  }
};

verifies("WK-30", "WK-31");
onEveryStore("account_statement", (at) => {
  const admin = useTenant(at, TENANT);
  const call = useExportCaller(at, TENANT, ["ingest:read", "ingest:write"]);
  const days: string[] = [];

  // A session of its own: others have expired after days.
  const contextOf = async (known: readonly string[]) => {
    const person = await at().person(TENANT, { roles: ["Administrator"] });
    return createTestContext(at(), TENANT, person, {
      calendar: openCalendar(ZONE),
      extensions: new Set(known),
    });
  };

  const act = async (dice: Dice, number: string): Promise<void> => {
    const { clock } = at();
    const today = localDay(ZONE, clock());
    const currency = dice.pick(["EUR", "EUR", "USD"]);
    const kind = dice.pick(["put", "put", "patch", "patch", "close", "pay", "pay", "dispute"]);
    if (kind === "put") {
      const body = {
        account_number: dice.pick([ACCOUNT, ACCOUNT, "C-2"]),
        invoice_date: localDay(ZONE, clock() - dice.whole(0, 5) * DAY_MS),
        due_date: today,
        currency,
        original_denomination: 100.1,
        denomination: 100.1,
      };
      await call("POST", documentAt(number), { body });
    } else if (kind === "patch") {
      const body = { denomination: dice.pick([0, 20.05, 60, 100.1]) };
      await call("PATCH", documentAt(number), { body });
    } else if (kind === "close") {
      const closure_reason = dice.pick(["paid", "write_off", "adjustment"]);
      await call("POST", `${documentAt(number)}/closure`, { body: { closure_reason } });
    } else if (kind === "pay") {
      const id = `P-${clock()}`;
      const row = {
        id,
        paymentId: id,
        documentNumber: number,
        accountNumber: ACCOUNT,
        currencyCode: currency,
        paymentDate: localDay(ZONE, clock() - dice.whole(0, 3) * DAY_MS),
        paymentAmount: 40.05,
        appliedAmount: 40.05,
        applicationStatus: "matched",
      };
      const source = { tenantId: TENANT, source: "cashapp" as const };
      await importPayments(at(), source, ndjson([row]), { format: "ndjson" });
    } else {
      const body = { documentNumber: number, accountNumber: ACCOUNT, reasonCode: "WRONG" };
      await dispute(admin, { ...body, amount: 5.05, currencyCode: "EUR" });
    }
  };

  beforeAll(async () => {
    const { store, clock } = at();
    await setTenant({ store }, TENANT, [`timeZone=${ZONE}`]);
    clock.set("2026-03-24T20:00:00.000Z");
    await configure(admin);
    for (const [number, parent] of [[ACCOUNT], ["C-2", ACCOUNT]]) {
      const body = {
        name: `Customer ${number}`,
        currency: "EUR",
        ...(parent === undefined
          ? {}
          : { parent_account_number: parent, is_parent_account: false }),
      };
      const put = await call("PUT", accountAt(number ?? ""), { body });
      if (put.status >= 300) throw new Error(put.text);
    }
    const dice = createDice(31);
    for (let step = 0; step < STEPS; step += 1) {
      clock.advance(dice.whole(1, 9) * HOUR);
      await act(dice, `INV-${dice.whole(1, 8)}`);
    }
    for (let day = Date.parse("2026-03-22"); day < clock(); day += 2 * DAY_MS) {
      days.push(localDay(ZONE, day));
    }
    clock.advance(3 * DAY_MS);
  }, 60_000);

  it("adds up to the balances of past days, with and without children and extensions", async () => {
    const own = await contextOf(extensions);
    const documented = await contextOf([]);
    for (const [place, from] of days.entries()) {
      const to = days[Math.min(days.length - 1, place + 1 + (place % 4))] ?? from;
      const includeChildren = place % 2 === 0;
      const args = { account: ACCOUNT, from, to, includeChildren, limit: 200 };
      const statement = await runInsight(accountStatement, own, args);
      const balances = statement["balances"] as Balances[];
      checkSums(statement.items as Item[], balances);
      expect((statement.items as Item[]).every(({ day }) => day >= from && day <= to)).toBe(true);
      const summary = {
        asOf: to,
        groupBy: ["currency"],
        ...(includeChildren ? { parentAccountNumber: ACCOUNT } : { accountNumber: ACCOUNT }),
      };
      const summed = await runInsight(documentsSummary, own, { ...summary, status: "all" });
      const open = await runInsight(documentsSummary, own, { ...summary, status: "open" });
      const disputed = new Map(
        open.items.map((one) => [one["currencyCode"], one["disputedAmount"]]),
      );
      const figures = summed.items.map((one): [unknown, unknown[]] => {
        const code = one["currencyCode"];
        return [code, [one["amount"], disputed.get(code) ?? 0]];
      });
      const closing = balances.map((one): [unknown, unknown[]] => [
        one.currencyCode,
        [one.closingBalance, one.disputed],
      ]);
      expect(new Map(closing)).toEqual(new Map(figures));
      const alone = await runInsight(accountStatement, documented, {
        ...args,
        includeChildren: false,
      });
      checkSums(alone.items as Item[], alone["balances"] as Balances[]);
      expect(alone.notes.join(" ")).toContain("does not list documents");
    }
  });

  it("agrees with overview and summary on the open documents of a day", async () => {
    const own = await contextOf(extensions);
    for (const asOf of days) {
      const { items, notes } = await runInsight(accountOverview, own, { account: ACCOUNT, asOf });
      const summed = await runInsight(documentsSummary, own, {
        asOf,
        accountNumber: ACCOUNT,
        groupBy: ["currency"],
      });
      const [overview] = items as { openDocuments: { totals: object[] } }[];
      const byCode = (all: readonly object[]) =>
        new Map(all.map((one) => [(one as Item).currencyCode, (one as Item).amount]));
      expect(byCode(overview?.openDocuments.totals ?? [])).toEqual(byCode(summed.items));
      expect(notes).toContain(summed.notes[0]);
    }
  });

  it("shows one currency alone, in any letter case", async () => {
    const own = await contextOf(extensions);
    const args = { account: ACCOUNT, from: days[0], limit: 200 };
    const all = (await runInsight(accountStatement, own, args))["balances"] as Balances[];
    expect(all.length).toBeGreaterThan(1);
    for (const one of all) {
      const currencyCode = one.currencyCode.toLowerCase();
      const { balances } = await runInsight(accountStatement, own, { ...args, currencyCode });
      expect(balances).toEqual([one]);
    }
  });

  it("shows each kind of line on its own day", async () => {
    const { clock } = at();
    clock.set("2026-05-04T10:00:00.000Z");
    const body = {
      account_number: "C-3",
      invoice_date: "2026-05-02",
      due_date: "2026-06-01",
      currency: "EUR",
      original_denomination: 100,
      denomination: 100,
    };
    await call("PUT", accountAt("C-3"), { body: { name: "Third", currency: "EUR" } });
    for (const number of ["K-1", "K-2"]) await call("PUT", documentAt(number), { body });
    const row = {
      id: "pay-1",
      paymentId: "pay-1",
      documentNumber: "K-1",
      accountNumber: "C-3",
      currencyCode: "EUR",
      paymentDate: "2026-05-03",
      paymentAmount: 30,
      appliedAmount: 30,
    };
    const source = { tenantId: TENANT, source: "cashapp" as const };
    await importPayments(at(), source, ndjson([row]), { format: "ndjson" });
    clock.set("2026-05-05T10:00:00.000Z");
    await call("PATCH", documentAt("K-1"), { body: { denomination: 70 } });
    await call("PATCH", documentAt("K-2"), { body: { denomination: 90 } });
    clock.set("2026-05-06T10:00:00.000Z");
    const closure = { closure_reason: "write_off", closure_date: "2026-05-05T20:00:00Z" };
    await call("POST", `${documentAt("K-2")}/closure`, { body: closure });
    const context = await contextOf(extensions);
    const args = { account: "C-3", from: "2026-05-01", to: "2026-05-06" };
    const { items, ...figures } = await runInsight(accountStatement, context, args);
    expect(
      items.map((one) => [one["day"], one["kind"], one["number"], one["amount"], one["balance"]]),
    ).toEqual([
      ["2026-05-02", "invoice", "K-1", 100, 100],
      ["2026-05-02", "invoice", "K-2", 100, 200],
      ["2026-05-03", "payment applied", "K-1", -30, 170],
      ["2026-05-05", "change", "K-2", -10, 160],
      ["2026-05-05", "write-off", "K-2", -90, 70],
    ]);
    expect(figures["balances"]).toEqual([
      { currencyCode: "EUR", openingBalance: 0, closingBalance: 70, disputed: 0 },
    ]);
  });

  it("takes credit notes off, with or without a sign, as overview and summary do", async () => {
    const { clock } = at();
    clock.set("2026-06-01T10:00:00.000Z");
    await call("PUT", accountAt("C-4"), { body: { name: "Fourth", currency: "EUR" } });
    const put = async (number: string, denomination: number, more: object = {}) => {
      const body = {
        account_number: "C-4",
        invoice_date: "2026-06-01",
        due_date: "2026-06-15",
        currency: "EUR",
        original_denomination: denomination,
        denomination,
        ...more,
      };
      const made = await call("PUT", documentAt(number), { body });
      if (made.status >= 300) throw new Error(made.text);
    };
    const credit = { document_type: "credit_note", applies_to_invoice: "M-1" };
    await put("M-1", 100);
    await put("M-2", 30, credit);
    await put("M-3", -20.5, credit);
    // An overpaid document owes the customer.
    await put("M-4", 10, { denomination: -2.25 });
    clock.set("2026-06-03T10:00:00.000Z");
    await call("PATCH", documentAt("M-2"), { body: { denomination: 12 } });
    await call("PATCH", documentAt("M-3"), { body: { denomination: -5 } });
    clock.set("2026-06-05T10:00:00.000Z");
    const closure = { closure_reason: "contra" };
    await call("POST", `${documentAt("M-3")}/closure`, { body: closure });
    clock.set("2026-06-07T10:00:00.000Z");
    const context = await contextOf(extensions);
    const expected: [day: string, balance: number, count: number][] = [
      ["2026-06-02", 100 - 30 - 20.5 - 2.25, 4],
      ["2026-06-04", 100 - 12 - 5 - 2.25, 4],
      ["2026-06-06", 100 - 12 - 2.25, 3],
      ["2026-06-07", 100 - 12 - 2.25, 3],
    ];
    for (const [day, balance, count] of expected) {
      const args = { account: "C-4", from: "2026-06-01", to: day, limit: 200 };
      const statement = await runInsight(accountStatement, context, args);
      const balances = statement["balances"] as Balances[];
      checkSums(statement.items as Item[], balances);
      expect([day, balances[0]?.closingBalance]).toEqual([day, balance]);
      const asOf = day === "2026-06-07" ? {} : { asOf: day };
      const summed = await runInsight(documentsSummary, context, {
        ...asOf,
        accountNumber: "C-4",
        groupBy: ["currency"],
      });
      expect([day, summed.items]).toMatchObject([day, [{ count, amount: balance }]]);
      const { items } = await runInsight(accountOverview, context, { account: "C-4", ...asOf });
      const [{ openDocuments }] = items as [{ openDocuments: object }];
      expect(openDocuments).toMatchObject({ count, totals: [{ amount: balance }] });
    }
  });
});
