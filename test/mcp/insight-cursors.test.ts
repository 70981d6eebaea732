import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Broker } from "../../src/broker/port.ts";
import { Problem } from "../../src/contract/errors.ts";
import { createMany, dispute, servePages } from "./records.ts";
import { accountAt, documentAt } from "../support/ingest.ts";
import { load } from "../support/payment-rows.ts";
import { configure, DISPUTES, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { createTenantBroker, type Tenant } from "./each-tool.ts";
import { connectModern, createOptions, type Host, readProblem, readText } from "./hosts.ts";
import { answerIn } from "./insight-host.ts";
import { scriptBroker } from "./script.ts";

/** More groups than a summary shows at once. */
const RECORDS = 210;
const ACCOUNTS = 10;

/** The default budget of an answer, in tokens. */
const BUDGET = 6000;

const DAY = 86_400_000;
const dayOf = (index: number): string =>
  new Date(Date.UTC(2025, 0, 1) + index * DAY).toISOString().slice(0, 10);

const numberOf = (index: number): string => `DOC-${String(index).padStart(3, "0")}`;

/** Creates documents, each with a dispute and a payment. */
const fill = async ({ at, tenantId, admin }: Tenant): Promise<void> => {
  await configure(admin);
  const ingest = await at.exportCaller(tenantId);
  for (let account = 0; account < ACCOUNTS; account += 1) {
    await ingest("PUT", accountAt(`A-${account}`), { body: { name: `Acme ${account}` } });
  }
  const rows = Array.from({ length: RECORDS }, (_, index) => ({
    id: `row-${index}`,
    paymentId: `P-${index}`,
    documentNumber: numberOf(index),
    paymentAmount: index + 1,
    currencyCode: "USD",
  }));
  await load(at, tenantId, "cashapp", rows);
  for (let index = 0; index < RECORDS; index += 1) {
    const [accountNumber, documentNumber] = [`A-${index % ACCOUNTS}`, numberOf(index)];
    const dates = { invoice_date: dayOf(index), due_date: dayOf(index + 30) };
    const document = { account_number: accountNumber, denomination: 100, ...dates };
    await ingest("PUT", documentAt(documentNumber), { body: document });
    const body = { accountNumber, documentNumber, amount: index + 1, reasonCode: "WRONG" };
    await admin.call("POST", DISPUTES, { body });
  }
};

type Walk = { keys: string[]; calls: number; total: number };

/** Follows the cursors of an insight through all of its items. */
const walk = async (
  host: Host,
  name: string,
  args: object,
  keyOf: (item: Record<string, unknown>) => unknown,
): Promise<Walk> => {
  const keys: string[] = [];
  let cursor: unknown;
  for (let calls = 1; calls <= 60; calls += 1) {
    const result = await host.call(name, { ...args, ...(cursor === undefined ? {} : { cursor }) });
    const { items, itemsTotal, itemsShown, nextCursor } = answerIn(result, BUDGET);
    expect(itemsShown).toBe(items.length);
    keys.push(...items.map((item) => JSON.stringify(keyOf(item))));
    cursor = nextCursor;
    expect(cursor === undefined).toBe(keys.length === itemsTotal);
    if (cursor === undefined) return { keys, calls, total: itemsTotal };
  }
  throw new Error(`${name} does not end`);
};

const WALKS: [string, object, string][] = [
  ["disputes_summary", { groupBy: ["document"], limit: 90 }, "key"],
  ["documents_summary", { groupBy: ["due:day"], limit: 90 }, "key"],
  ["payments_summarize", { source: "cashapp", groupBy: ["documentNumber"], limit: 90 }, "key"],
  ["payments_match_disputes", { limit: 90 }, "disputeCode"],
  ["disputes_triage", { accountNumber: "A-1", limit: 8 }, "disputeCode"],
  ["find_records", { text: "A-1", types: ["dispute"], limit: 8 }, "id"],
];

onEveryStore("the cursor of an insight", (at) => {
  const brokers: Broker[] = [];
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = { at: at(), tenantId: "cursors", admin: await at().tenant("cursors") };
    await fill(tenant);
  }, 60_000);
  afterAll(async () => {
    for (const broker of brokers) await broker.close();
  });

  const connect = async (isExtended: boolean): Promise<Host> => {
    const broker = await createTenantBroker(tenant);
    brokers.push(broker);
    const seen = isExtended ? broker : { ...broker, extensions: async () => new Set<string>() };
    return connectModern(
      await createOptions(seen, {
        now: () => tenant.at.clock(),
        settings: { answerTokens: BUDGET },
      }),
    );
  };

  describe.each([true, false])("with extensions: %s", (isExtended) => {
    verifies("WK-01a");
    it.each(WALKS.filter(([name]) => isExtended || name !== "documents_summary"))(
      "%s %j leads through all items, each once",
      async (name, args, key) => {
        const host = await connect(isExtended);
        const { keys, calls, total } = await walk(host, name, args, (item) => item[key]);
        expect(calls).toBeGreaterThan(1);
        expect(keys).toHaveLength(total);
        expect(new Set(keys).size).toBe(total);
        if (total > 100) expect(total).toBe(RECORDS);
      },
      60_000,
    );
  });
});

describe("the cursor of an insight", () => {
  const rows = createMany(300, (index) => dispute(index, { documentNumber: `INV-${index}` }));
  const args = { groupBy: ["document"] };

  verifies("WK-01a");
  it("belongs to the call with the same arguments, and is refused elsewhere", async () => {
    const broker = scriptBroker({ "disputes.list": servePages(rows) });
    const host = await connectModern(await createOptions(broker));
    const { nextCursor: cursor } = answerIn(await host.call("disputes_summary", args), BUDGET);
    const other = await host.call("disputes_summary", { groupBy: ["reason"], cursor });
    expect(readProblem(other)).toMatchObject({ code: "invalid_parameter" });
    const wrong = await host.call("disputes_summary", { ...args, cursor: "x" });
    expect(readText(wrong)).toMatch(/cursor/);
  });

  verifies("WK-01a", "HS-10");
  it("leads on over a platform whose summaries have only the first groups", async () => {
    const refuse = () => {
      throw new Problem("invalid_request", "offset is not a field.");
    };
    const first = {
      asOf: "2026-11-20T12:00:00.000Z",
      filter: {},
      rowCount: 300,
      truncated: false,
      currencyTotals: [],
      itemsTotal: 300,
      notes: [],
      items: rows.slice(0, 20).map(({ documentNumber }) => ({ key: { document: documentNumber } })),
    };
    const broker = scriptBroker(
      {
        "disputes.list": servePages(rows),
        "disputes.summary": (sent) => ("offset" in sent ? refuse() : first),
      },
      { extensions: ["disputes.summary"] },
    );
    const host = await connectModern(await createOptions(broker));
    const { nextCursor: cursor } = answerIn(await host.call("disputes_summary", args), BUDGET);
    const next = answerIn(await host.call("disputes_summary", { ...args, cursor }), BUDGET);
    expect(next.items.length).toBeGreaterThan(5);
    expect(broker.seen.map(({ id }) => id)).toContain("disputes.list");
  });
});
