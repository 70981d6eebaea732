import { beforeAll, expect, it } from "vitest";
import { extensions } from "../../src/contract/index.ts";
import { accountOverview } from "../../src/insights/account-overview.ts";
import { importRecords } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { ndjson } from "../support/payment-rows.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "large-families";
const BRANCHES = 210;
const ROOT = "ROOT";
const NO_CURRENCY = "PLAIN";

const branch = (place: number): string => `BRANCH-${place}`;

onEveryStore("families that owe in more groups than one answer has", (at) => {
  const admin = useTenant(at, TENANT);
  let context: TestContext;

  beforeAll(async () => {
    // Accounts of this model need no currency.
    const model = { currency_model: "extended" as const };
    await at().store.transaction((tx) =>
      tx.updateTable("tenants").set(model).where("id", "=", TENANT).execute(),
    );
    context = await createTestContext(at(), TENANT, admin, { extensions: new Set(extensions) });
    const below = Array.from({ length: BRANCHES }, (_, place) => ({
      account_number: branch(place),
      name: `Branch ${place}`,
      currency: "EUR",
      parent_account_number: ROOT,
      is_parent_account: false,
    }));
    const accounts = [
      { account_number: ROOT, name: "Root", currency: "EUR", credit_limit: 100 },
      { account_number: NO_CURRENCY, name: "Plain", credit_limit: 10 },
      ...below,
    ];
    const owed = [
      { account_number: ROOT, denomination: 1.5, currency: "EUR" },
      { account_number: branch(0), denomination: 0.25, currency: "USD" },
      ...below.map(({ account_number }, place) => ({
        account_number,
        denomination: 1000 - place,
        currency: "EUR",
      })),
      { account_number: NO_CURRENCY, denomination: 7, currency: "EUR" },
      { account_number: NO_CURRENCY, denomination: 20, currency: "USD" },
    ];
    const documents = owed.map((row, place) => ({
      ...row,
      document_number: `DOC-${place}`,
      document_type: "invoice",
      invoice_date: "2026-01-05",
      due_date: "2026-02-05",
    }));
    for (const [kind, rows] of [
      ["accounts", accounts],
      ["documents", documents],
    ] as const) {
      const { rejects } = await importRecords(at(), TENANT, kind, ndjson(rows), {
        format: "ndjson",
      });
      if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
    }
  });

  const readFamily = async (account: string) => {
    const args = { account, includeChildren: true };
    const { items } = await runInsight(accountOverview, context, args);
    const [item] = items as { family: { members: Record<string, unknown>[]; limit: object } }[];
    return item?.family;
  };

  verifies("WK-61");
  it("show every amount of the members that are shown, those of the parent first", async () => {
    const { members = [] } = (await readFamily(ROOT)) ?? {};
    const shown = members.map(({ accountNumber, openAmounts }) => [accountNumber, openAmounts]);
    const euros = (amount: number) => ({ currencyCode: "EUR", count: 1, amount });
    expect(shown.slice(0, 3)).toEqual([
      [ROOT, [euros(1.5)]],
      [branch(0), [euros(1000), { currencyCode: "USD", count: 1, amount: 0.25 }]],
      [branch(1), [euros(999)]],
    ]);
    expect(members).toHaveLength(15);
  });

  verifies("WK-61");
  it("are compared with no limit whose currency is not known among several", async () => {
    const family = await readFamily(NO_CURRENCY);
    expect(family?.limit).toEqual({
      available: false,
      reason: expect.stringContaining("no currency"),
      creditLimit: 10,
    });
  });
});
