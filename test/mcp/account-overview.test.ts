import { beforeAll, expect, it } from "vitest";
import { extensions } from "../../src/contract/index.ts";
import { accountOverview } from "../../src/insights/account-overview.ts";
import { accountStatement } from "../../src/insights/account-statement.ts";
import { findRecords } from "../../src/insights/find-records.ts";
import { INSIGHT_LIMITS } from "../../src/insights/insight.ts";
import { DAY, formatDay } from "../../src/kit/clock.ts";
import { application, COMPANY, score } from "../support/credit.ts";
import { importCredit, importDisputes, importRecords } from "../support/importing.ts";
import { accountAt, documentAt } from "../support/ingest.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { load, ndjson, paymentRow } from "../support/payment-rows.ts";
import { configure, DISPUTES, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { connectModern, createOptions } from "./hosts.ts";
import { answerIn, askAt } from "./insight-host.ts";

const payment = (id: string, more: object) => ({
  id,
  paymentId: id,
  accountNumber: "A-7",
  accountName: COMPANY.name,
  currencyCode: "USD",
  ...more,
});

const CLOSED = `sourceKey,accountNumber,documentNumber,amount,currencyCode,categoryCode,reasonCode,status,createDate,closedDate
1,A-7,INV-1,10.10,USD,PRICE,WRONG,1,2026-01-01,2026-01-11
2,A-7,INV-2,20.20,USD,PRICE,WRONG,1,2026-01-01,2026-01-06
`;

const TWINS = "twins";

onEveryStore("account_overview", (at) => {
  const asking = askAt(at, "overviews");
  beforeAll(async () => {
    const { admin, at: platform, tenantId } = asking();
    await configure(admin);
    const ingest = await platform.exportCaller(tenantId);
    await ingest("PUT", accountAt("A-7"), {
      body: { name: COMPANY.name, currency: "USD", credit_limit: 5000, payment_terms: "NET30" },
    });
    await ingest("PUT", accountAt("A-8"), { body: { name: "Kappa", currency: "USD" } });
    await ingest("PUT", accountAt("A-70"), { body: { name: "Juniper Island", currency: "EUR" } });
    for (const note of [1, 2, 3, 4]) {
      const body = {
        reference: `n-${note}`,
        body: `Note ${note}.`,
        effective_date: `2026-02-0${note}`,
      };
      await ingest("POST", `${accountAt("A-7")}/notes`, { body });
    }
    for (const [number, due, denomination] of [
      ["INV-2", "2026-02-20", 40],
      ["INV-1", "2025-12-20", 100],
      ["INV-3", "2025-12-20", 0],
    ] as const) {
      const body = { account_number: "A-7", invoice_date: "2025-12-01", due_date: due };
      await ingest("PUT", documentAt(number), { body: { ...body, currency: "USD", denomination } });
    }
    const { rejects } = await importDisputes(platform, tenantId, CLOSED);
    if (rejects.length > 0) throw new Error(JSON.stringify(rejects));
    for (const amount of [0.1, 0.2]) {
      const body = { accountNumber: "A-7", documentNumber: "INV-9", amount, reasonCode: "WRONG" };
      await admin.call("POST", DISPUTES, { body });
    }
    await load(platform, tenantId, "cashapp", [
      payment("p-1", { paymentDate: "2026-02-20", paymentAmount: 100, documentNumber: "INV-1" }),
      {
        ...payment("p-1", { paymentDate: "2026-02-20" }),
        id: "p-1b",
        documentNumber: "INV-2",
        shortPay: true,
        deductionAmount: 7.5,
        deductionReasonCode: "PR",
      },
      {
        ...payment("p-1", { paymentDate: "2026-02-20", paymentAmount: 30, currencyCode: "EUR" }),
        id: "p-1c",
      },
      payment("p-0", { paymentDate: "2025-06-01", paymentAmount: 900 }),
      {
        ...payment("p-9", { paymentDate: "2026-02-21", paymentAmount: 1 }),
        accountNumber: "A-70",
        accountName: "Juniper Island",
      },
      ...["2024-02-29", "2025-01-01", undefined, "2024-06-01"].map((paymentDate, place) => ({
        ...payment(`u-${place}`, { paymentDate, paymentAmount: 1 }),
        accountNumber: "A-8",
        accountName: "Kappa",
      })),
    ]);
    await importCredit(platform, tenantId, "credit-applications", [application("app-1")]);
    await importCredit(platform, tenantId, "scores", [
      score(COMPANY.companyId, "2026-01-01", { creditLimit: 1200 }),
    ]);
  });

  verifies("IN-41");
  it("gives disputes, payments, credit and notes of one account", async () => {
    const { items } = await asking().ask("account_overview", { account: "a-7" });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      account: { accountNumber: "A-7", creditLimit: 5000, paymentTerms: "NET30" },
      disputes: {
        open: {
          count: 2,
          totals: [{ currencyCode: "USD", count: 2, amount: 0.3 }],
          largest: [{ amount: 0.2 }, { amount: 0.1 }],
        },
        closed: {
          count: 2,
          totals: [{ currencyCode: "USD", count: 2, amount: 30.3 }],
          avgDaysToClose: 7.5,
        },
      },
      payments: {
        count: 1,
        totals: [
          { currencyCode: "USD", count: 1, amount: 100 },
          { currencyCode: "EUR", count: 1, amount: 30 },
        ],
        last: { paymentId: "p-1", paymentDate: "2026-02-20" },
        shortPayments: {
          count: 1,
          deductions: [{ currencyCode: "USD", count: 1, amount: 7.5 }],
          latest: [{ documentNumber: "INV-2", deductionReasonCode: "PR" }],
        },
      },
      openDocuments: {
        count: 2,
        totals: [{ currencyCode: "USD", count: 2, amount: 140 }],
        daysPastDue: {
          current: [],
          "1-30": [{ currencyCode: "USD", count: 1, amount: 40 }],
          "61-90": [{ currencyCode: "USD", count: 1, amount: 100 }],
        },
        oldest: [
          { documentNumber: "INV-1", dueDate: "2025-12-20", balance: 100 },
          { documentNumber: "INV-2", dueDate: "2026-02-20", balance: 40 },
        ],
      },
      credit: { applicationId: "app-1", scores: { creditLimit: 1200 } },
      notesTotal: 4,
      notes: [{ reference: "n-4" }, { reference: "n-3" }, { reference: "n-2" }],
    });
  });

  verifies("IN-41");
  it("gives the candidates if several accounts have the name", async () => {
    const answer = await asking().ask("account_overview", { account: "juniper" });
    expect(answer.items.map(({ accountNumber }) => accountNumber).toSorted()).toEqual([
      "A-7",
      "A-70",
    ]);
    expect(answer.notes[0]).toBe("2 accounts match: call again with an accountNumber.");
    const { items } = await asking().ask("account_overview", { account: "island" });
    expect(items[0]).toMatchObject({ account: { accountNumber: "A-70" } });
  });

  verifies("IN-41");
  it("gives the last payment, however long ago", async () => {
    at().clock.advance(120 * DAY);
    const { items } = await asking().ask("account_overview", { account: "A-7" });
    expect(items[0]).toMatchObject({
      payments: { count: 0, totals: [], last: { paymentId: "p-1" } },
    });
  });

  verifies("IN-01", "IN-41");
  it("gives the last payment that has a date, and counts the rows without one", async () => {
    const { items, notes } = await asking().ask("account_overview", { account: "A-8" });
    expect(items[0]).toMatchObject({
      payments: { count: 0, last: { paymentId: "u-1", paymentDate: "2025-01-01" } },
    });
    expect(notes).toEqual(["Payment rows left out because they have no paymentDate: 1."]);
  });

  it("takes payments that came back off what was received, and is not the last of them", async () => {
    const { tenantId } = asking();
    const dayOf = (days: number) => formatDay(at().clock() - days * DAY);
    const paid = (id: string, days: number, paymentAmount: number, more: object = {}) => ({
      ...payment(id, { paymentDate: dayOf(days), paymentAmount, appliedAmount: paymentAmount }),
      accountNumber: "A-8",
      documentNumber: `of ${Math.abs(paymentAmount)}`,
      ...more,
    });
    const back = { applicationStatus: "reversed" };
    await load(at(), tenantId, "cashapp", [
      paid("r-1", 10, 500),
      paid("r-1 back", 8, -500, back),
      paid("r-2", 20, 300),
      { ...paid("r-2", 20, 300, { documentNumber: "another" }), id: "r-2b" },
      paid("r-3", 5, 80, back),
      paid("r-4", 12, 40, { currencyCode: "EUR" }),
      paid("r-4 part back", 3, -15, { ...back, currencyCode: "EUR" }),
      paid("r-5", 200, 700, { accountNumber: "A-70" }),
      paid("r-5 back", 9, -700, { ...back, accountNumber: "A-70" }),
      paid("r-6", 300, 60, { accountNumber: "A-70" }),
    ]);
    const paymentsOf = async (account: string) => {
      const { items } = await asking().ask("account_overview", { account });
      return (items[0] as { payments: object }).payments;
    };
    expect(await paymentsOf("A-8")).toMatchObject({
      count: 3,
      totals: [
        { currencyCode: "USD", count: 2, amount: 300 },
        { currencyCode: "EUR", count: 1, amount: 25 },
      ],
      returned: [
        { currencyCode: "USD", count: 1, amount: -500 },
        { currencyCode: "EUR", count: 1, amount: -15 },
      ],
      last: { paymentId: "r-4", paymentDate: dayOf(12) },
    });
    expect(await paymentsOf("A-70")).toMatchObject({
      count: 0,
      totals: [{ currencyCode: "USD", count: 0, amount: -700 }],
      last: { paymentId: "p-9", paymentDate: "2026-02-21" },
    });
  });

  verifies("IN-01", "IN-05");
  it("is truncated where not every open document was read", async () => {
    const { admin, tenantId } = asking();
    const context = await createTestContext(at(), tenantId, admin, {
      extensions: new Set(["documents.list"]),
      limits: { ...INSIGHT_LIMITS, documents: 1 },
    });
    const answer = await runInsight(accountOverview, context, { account: "A-7" });
    expect(answer).toMatchObject({ truncated: true, items: [{ openDocuments: { count: 1 } }] });
    expect(answer.notes[0]).toMatch(/^Only the first 1 documents were read/);
  });

  verifies("IN-41");
  it("names what a platform without extensions cannot list", async () => {
    const broker = { ...asking().broker, extensions: async () => new Set<string>() };
    const host = await connectModern(await createOptions(broker, { now: at().clock }));
    const answer = answerIn(await host.call("account_overview", { account: "A-7" }));
    expect(answer.items[0]).toMatchObject({
      openDocuments: {
        available: false,
        reason: "This platform does not list documents; documents_get reads one by its number.",
      },
    });
    const byName = answerIn(await host.call("account_overview", { account: "island" }));
    expect(byName.items[0]).toMatchObject({ account: { accountNumber: "A-70" } });
  });

  verifies("IN-41");
  it("gives accounts with similar names for a misspelt one", async () => {
    const { items, notes } = await asking().ask("account_overview", { account: "Junper iland" });
    expect(items).toEqual([{ accountNumber: "A-70", name: "Juniper Island" }]);
    expect(notes[0]).toContain('No account has the number or name "Junper iland"; these are');
  });

  it("says so if there is no such account", async () => {
    expect(await asking().refused("account_overview", { account: "nowhere" })).toMatch(
      /^not_found: No account has the number or name "nowhere"\./,
    );
  });

  verifies("WK-46");
  it("distinguishes two accounts of one name in one call, both ways", async () => {
    const person = await at().tenant(TWINS);
    const context = await createTestContext(at(), TWINS, person);
    const twins = [
      { account_number: "H-1", city: "Austin", country: "US", parent_account_number: "Gone-1" },
      { account_number: "H-2", city: "Dublin", country: "IE" },
    ];
    const accounts = twins.map(({ city, country, ...rest }) => ({
      ...rest,
      name: "Harbor Foods Inc.",
      currency: "EUR",
      billing_address: { city, country },
      ...("parent_account_number" in rest ? { is_parent_account: true } : {}),
    }));
    const how = { format: "ndjson" as const };
    const { rejects } = await importRecords(at(), TWINS, "accounts", ndjson(accounts), how);
    expect(rejects).toEqual([]);
    const paid = twins.map(({ account_number }, number) => ({
      ...paymentRow("cashapp", 9000 + number),
      paymentId: `H-${number}`,
      accountNumber: account_number,
      accountName: "Harbor Foods Inc.",
    }));
    await load(at(), TWINS, "cashapp", paid);
    const places = [
      { city: "Austin", country: "US", parentAccountNumber: "Gone-1" },
      { city: "Dublin", country: "IE" },
    ];
    for (const one of [context, { ...context, extensions: new Set<string>(extensions) }]) {
      const found = await runInsight(findRecords, one, { text: "harbor foods", types: "account" });
      expect(found.items).toMatchObject(places);
      const overview = await runInsight(accountOverview, one, { account: "harbor foods" });
      expect(overview.items).toMatchObject(places);
    }
  });

  verifies("WK-46");
  it("takes the account of exactly that name, though others have it in theirs", async () => {
    const branches = "branches";
    const person = await at().tenant(branches);
    const context = await createTestContext(at(), branches, person);
    const address = { city: "Cork", country: "IE" };
    const accounts = ["Quay Tools", "Quay Tools - East", "Quay Tools - West"].map(
      (name, place) => ({
        account_number: `Q-${place}`,
        name,
        currency: "EUR",
        billing_address: address,
        ...(place === 0 ? {} : { parent_account_number: "Q-0", is_parent_account: false }),
      }),
    );
    const how = { format: "ndjson" as const };
    const { rejects } = await importRecords(at(), branches, "accounts", ndjson(accounts), how);
    expect(rejects).toEqual([]);
    const own = { ...context, extensions: new Set<string>(extensions) };
    const overview = await runInsight(accountOverview, own, { account: "quay tools" });
    expect(overview.items).toMatchObject([{ account: { accountNumber: "Q-0" } }]);
    expect(overview.notes).toContainEqual(expect.stringMatching(/^Q-0 has exactly .* 2 others/));
    const statement = await runInsight(accountStatement, own, { account: "QUAY TOOLS" });
    expect(statement).toMatchObject({ accountNumber: "Q-0" });
    await expect(runInsight(accountStatement, own, { account: "quay" })).rejects.toThrow(
      /^3 accounts fit "quay".*: Q-0 \(Quay Tools; Cork, IE\), Q-1 \(Quay Tools - East; Cork, IE; parent Q-0\)/,
    );
  });
});
