import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getMessage } from "../../src/kit/error.ts";
import type { Broker } from "../../src/broker/port.ts";
import type { InsightResult } from "../../src/insights/insight.ts";
import { createTenantBroker } from "../mcp/each-tool.ts";
import { connectModern, createOptions, type Host } from "../mcp/hosts.ts";
import { answerIn } from "../mcp/insight-host.ts";
import { importDisputes, importPayments, importRecords } from "../support/importing.ts";
import { ledgerMap, recordMaps } from "../support/ledger.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { itemsBy, totalsOf } from "../support/questions.ts";
import { verifies } from "../support/verifies.ts";

/** A vendor's ledger and files of banks. Their licence does not allow them to be a part of this project. */
const DATA = join(import.meta.dirname, "../../../shared/data");
const TENANT = "ledger";
const SEEN = "2013-09-30";
const PAID_BY = "2013-10-15";

const source = "cashapp";
const NAMED = { payerName: { isNull: false } };
const during = (year: number) => ({
  paymentDate: { between: [`${year}-01-01`, `${year}-12-31`] },
});

type Question = [
  question: string,
  tool: string,
  args: Record<string, unknown>,
  read: (result: InsightResult) => unknown,
  expected: unknown,
];

/** The figures were computed from the files by a script of its own. */
const PAYMENTS: Question[] = [
  [
    "payments to payers named X: number and sum",
    "payments_summarize",
    { source, filters: { payerName: { contains: "abc" } } },
    totalsOf,
    [["USD", 2, 39_000]],
  ],
  [
    "top five payers of a year",
    "payments_summarize",
    { source, filters: { ...NAMED, ...during(2007) }, groupBy: ["payerName"], limit: 5 },
    itemsBy("key.payerName", "currencyCode", "payments", "sum.paymentAmount"),
    [
      ["ABC PLASTICS", "USD", 2, 39_000],
      ["ALFA MEDAL CO", "USD", 1, 255],
    ],
  ],
  [
    "paid per method in a year",
    "payments_summarize",
    { source, filters: during(2022), groupBy: ["paymentMethod"] },
    itemsBy("key.paymentMethod", "payments", "sum.paymentAmount"),
    [
      ["ach", 12, 258.58],
      ["wire", 1, 138.55],
    ],
  ],
  [
    "negative payments: number and the most negative",
    "payments_summarize",
    { source, filters: { paymentAmount: { lt: 0 } }, topRows: 1, topOrder: "smallest" },
    ({ rowCount, topRows }) => [rowCount, topRows],
    [0, []],
  ],
  [
    "month by month of a year, highest month",
    "payments_summarize",
    { source, filters: during(2007), groupBy: ["paymentDate:month"] },
    itemsBy("key.paymentDate:month", "currencyCode", "sum.paymentAmount"),
    [
      ["2007-05", "USD", 19_000],
      ["2007-06", "USD", 20_000],
      ["2007-11", "USD", 255],
    ],
  ],
  [
    "top three payers of all time",
    "payments_summarize",
    {
      source,
      filters: { ...NAMED, currencyCode: { eq: "USD" } },
      groupBy: ["payerName"],
      limit: 3,
    },
    itemsBy("key.payerName", "sum.paymentAmount"),
    [
      ["ABC PLASTICS", 39_000],
      ["ALFA MEDAL CO", 255],
    ],
  ],
  [
    "payments above 10,000 since a day: number and sum",
    "payments_summarize",
    {
      source,
      filters: { paymentAmount: { gt: 10_000 }, paymentDate: { gte: "2004-06-20" } },
    },
    totalsOf,
    [["USD", 4, 339_000]],
  ],
];

const DISPUTES: Question[] = [
  [
    "open disputes: number, total, oldest",
    "disputes_summary",
    { status: "Open" },
    itemsBy("count", "amount", "oldest.createDate", "oldest.disputeCode"),
    [[31, 2003.32, "2013-08-21T00:00:00.000Z", "D-0910856055-01"]],
  ],
  [
    "aging as of a day",
    "disputes_summary",
    { status: "Open", asOf: "2013-08-31", groupBy: ["age"] },
    itemsBy("key.age", "count", "amount"),
    [
      ["0-30", 22, 1448.2],
      ["31-60", 5, 381.23],
      ["61-90", 0, 0],
      ["91+", 0, 0],
    ],
  ],
  [
    "five accounts with most disputes ever",
    "disputes_summary",
    { groupBy: ["account"], orderBy: "count", limit: 5 },
    itemsBy("key.account", "count"),
    [
      ["3448-OWJOT", 26],
      ["3568-JJMFW", 23],
      ["8102-ABPKQ", 23],
      ["1080-NDGAE", 21],
      ["9725-EZTEJ", 21],
    ],
  ],
  [
    "average days to close",
    "disputes_summary",
    { status: "Closed" },
    ({ avgDaysToClose, rowCount }) => [avgDaysToClose, rowCount],
    [37, 490],
  ],
  [
    "open disputes on closed documents",
    "disputes_triage",
    { limit: 5 },
    ({ flags, rowCount }) => [flags, rowCount],
    [expect.objectContaining({ documentClosed: 13 }), 31],
  ],
  [
    "one account: open documents, open and closed disputes",
    "account_overview",
    { account: "1080-ndgae" },
    itemsBy(
      "openDocuments.count",
      "openDocuments.totals.0.amount",
      "disputes.open.count",
      "disputes.closed.count",
    ),
    [[4, 355.78, 2, 19]],
  ],
  [
    "three months of creation with the highest disputed total",
    "disputes_summary",
    { groupBy: ["created:month"], orderBy: "amount", limit: 3 },
    itemsBy("key.created:month", "amount"),
    [
      ["2013-03", 2382.67],
      ["2013-05", 2149.93],
      ["2013-07", 2022.59],
    ],
  ],
];

const importLedger = async (at: TestPlatform): Promise<void> => {
  const csv = readFileSync(join(DATA, "ledger/ar-invoices.csv"));
  const { accounts, documents, closures } = recordMaps(PAID_BY);
  const { "billing_address.country": _country, ...withoutCountry } = accounts;
  const maps = { accounts: withoutCountry, documents, closures };
  for (const kind of ["accounts", "documents", "closures"] as const) {
    const { rejects } = await importRecords(at, TENANT, kind, csv, { map: maps[kind] });
    expect(rejects).toEqual([]);
  }
  const how = { map: ledgerMap(SEEN), createConfiguration: true };
  expect((await importDisputes(at, TENANT, csv, how)).rejects).toEqual([]);
};

const importBankFiles = async (at: TestPlatform): Promise<void> => {
  for (const format of ["bai2", "camt", "edi820"] as const) {
    for (const name of readdirSync(join(DATA, "bank", format))) {
      const file = readFileSync(join(DATA, "bank", format, name));
      const of = { tenantId: TENANT, source: "cashapp" } as const;
      // One of the files has wrong control totals, and is refused.
      const { rejects } = await importPayments(at, of, file, { format }).catch((error: unknown) => {
        expect(getMessage(error)).toMatch(/names the control total/);
        return { rejects: [] };
      });
      expect(rejects).toEqual([]);
    }
  }
};

describe.skipIf(!existsSync(DATA))("the ledger and bank files beside the project, if any", () => {
  let at: TestPlatform;
  let broker: Broker;
  let host: Host;

  beforeAll(async () => {
    at = await startPlatform();
    broker = await createTenantBroker({ at, tenantId: TENANT, admin: await at.tenant(TENANT) });
    host = await connectModern(await createOptions(broker, { now: at.clock }));
    await importLedger(at);
    await importBankFiles(at);
  });
  afterAll(async () => {
    await host?.close();
    await broker?.close();
    await at?.close();
  });

  verifies("IN-90");
  it.each([...PAYMENTS, ...DISPUTES])(
    "answer in one call: %s",
    async (_question, tool, args, read, expected) => {
      const answer = answerIn(await host.call(tool, args));
      expect(read(answer)).toEqual(expected);
      expect(answer.truncated).toBe(false);
    },
  );
});
