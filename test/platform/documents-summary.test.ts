import Big from "big.js";
import { beforeAll, expect, it } from "vitest";
import { createDice } from "../support/dice.ts";
import { dispute } from "../support/configuration.ts";
import { importRecords } from "../support/importing.ts";
import { INGEST } from "../support/ingest.ts";
import { ndjson } from "../support/payment-rows.ts";
import { configure, onEveryStore, useExportCaller, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const SUMMARY = `${INGEST}/documents/summary`;
const TODAY = "2026-03-02";
const DAY = 86_400_000;

type Doc = {
  document_number: string;
  account_number: string;
  document_type: string;
  invoice_date: string;
  due_date: string;
  currency?: string;
  denomination: number;
};

const createDocuments = (count: number): Doc[] => {
  const dice = createDice(5);
  const dueDays = [-40, -1, 0, 1, 30, 31, 60, 61, 90, 91, 400];
  return Array.from({ length: count }, (_, number) => {
    const due = Date.parse(TODAY) - dice.pick(dueDays) * DAY;
    return {
      document_number: `INV-${number}`,
      account_number: dice.pick(["ACC-1", "ACC-2"]),
      document_type: dice.pick(["invoice", "other"]),
      invoice_date: new Date(due - 30 * DAY).toISOString().slice(0, 10),
      due_date: new Date(due).toISOString().slice(0, 10),
      ...(dice.chance(0.8) ? { currency: dice.pick(["EUR", "USD"]) } : {}),
      denomination: dice.pick([0, 0.1, 0.2, -5.05, 1_000_000.55, 12_345_678_901.25]),
    };
  });
};

const overdue = ({ due_date }: Doc, asOf = TODAY): number =>
  (Date.parse(asOf) - Date.parse(due_date)) / DAY;

const bucketOf = (days: number): string => {
  if (days <= 0) return "current";
  const last = [30, 60, 90].find((limit) => days <= limit);
  return last === undefined ? "91+" : `${last - 29}-${last}`;
};

verifies("IN-47");
onEveryStore("documents.summary against a model", (at) => {
  const call = useExportCaller(at, "aging", ["ingest:read"]);
  const admin = useTenant(at, "aging");
  const documents = createDocuments(80);
  const disputed = new Map<string, Big>();

  const ask = async (body: object) => {
    const reply = await call("POST", SUMMARY, { body });
    expect(reply.status, `${reply.text} ${at().logged.at(-1)}`).toBe(200);
    return reply.body;
  };

  // Documents without a currency have the tenant's.
  const currencyOf = ({ currency }: Doc): string => currency ?? "USD";

  const model = (docs: readonly Doc[], keyOf: (doc: Doc) => object) =>
    [...Map.groupBy(docs, (doc) => JSON.stringify([keyOf(doc), currencyOf(doc)]))].map(
      ([text, own]) => {
        const [key, currencyCode] = JSON.parse(text);
        const add = (amounts: Big[]) => amounts.reduce((sum, one) => sum.plus(one), new Big(0));
        const sorted = own.toSorted((a, b) =>
          `${a.due_date}${a.document_number}` < `${b.due_date}${b.document_number}` ? -1 : 1,
        );
        return {
          key,
          currencyCode,
          count: own.length,
          amount: add(own.map((doc) => new Big(doc.denomination))).toNumber(),
          disputedAmount: add(
            own.map(({ document_number }) => disputed.get(document_number) ?? new Big(0)),
          ).toNumber(),
          oldest: { documentNumber: sorted[0]?.document_number, dueDate: sorted[0]?.due_date },
        };
      },
    );

  const open = documents.filter(({ denomination }) => denomination !== 0);

  beforeAll(async () => {
    await configure(admin);
    const how = { format: "ndjson" as const };
    const { rejects } = await importRecords(at(), "aging", "documents", ndjson(documents), how);
    if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
    for (const [number, doc] of open.entries()) {
      if (number % 3 !== 0) continue;
      const { document_number: documentNumber, account_number: accountNumber } = doc;
      const body = { documentNumber, accountNumber, reasonCode: "WRONG" };
      for (const amount of [0.1, 0.2]) await dispute(admin, { ...body, amount });
      disputed.set(documentNumber, new Big("0.3"));
    }
  });

  verifies("IN-73");
  it("adds up open documents by days past due, with empty buckets", async () => {
    const body = await ask({});
    const expected = model(open, (doc) => ({ age: bucketOf(overdue(doc)) }));
    expect(new Set(body.items.filter(({ count }: Doc & { count: number }) => count > 0))).toEqual(
      new Set(expected),
    );
    const ages = body.items.map((item: { key: { age: string } }) => item.key.age);
    expect([...new Set(ages)]).toEqual(["current", "1-30", "31-60", "61-90", "91+"]);
    expect(body).toMatchObject({ rowCount: open.length, truncated: false, itemsTotal: 10 });
    expect(body.filter).toEqual({ status: "open", timeZone: "UTC" });
  });

  verifies("WK-30");
  it("takes documents issued by a past day with their first known balances, undisputed", async () => {
    const asOf = "2025-12-31";
    const body = await ask({ asOf, status: "all", ageBuckets: [30, 60, 90] });
    const issued = documents.filter(({ invoice_date }) => invoice_date <= asOf);
    const expected = model(issued, (doc) => ({ age: bucketOf(overdue(doc, asOf)) })).map(
      (item) => ({ ...item, disputedAmount: 0 }),
    );
    expect(new Set(body.items.filter(({ count }: Doc & { count: number }) => count > 0))).toEqual(
      new Set(expected),
    );
    expect([body.asOf, body.rowCount, body.notes.length]).toEqual([asOf, issued.length, 2]);
    expect(body.notes[1]).toContain(`${issued.length} documents without an original amount`);
  });

  it("groups by account, type, status, currency and spans of both dates", async () => {
    const body = await ask({
      groupBy: ["account", "due:month", "type"],
      accountNumber: "acc-1",
      status: "all",
      limit: 200,
    });
    const own = documents.filter(({ account_number }) => account_number === "ACC-1");
    const expected = model(own, (doc) => ({
      account: "ACC-1",
      "due:month": doc.due_date.slice(0, 7),
      type: doc.document_type,
    }));
    expect(new Set(body.items)).toEqual(new Set(expected));
    const months = body.items.map((item: { key: Record<string, string> }) => item.key["due:month"]);
    expect(months).toEqual(months.toSorted());
    const years = await ask({
      groupBy: ["invoice:year", "currency"],
      orderBy: "count",
      order: "asc",
    });
    const counts = years.items.map(({ count }: { count: number }) => count);
    expect(counts).toEqual(counts.toSorted((a: number, b: number) => a - b));
  });

  verifies("WK-47");
  it("filters by both days, groups by closing reason, and adds up what was billed", async () => {
    const dice = createDice(21);
    const days = ["2026-01-10", "2026-01-31", "2026-02-01"];
    const reasons = ["paid", "write_off", "open"] as const;
    const own = Array.from({ length: 40 }, (_, number) => ({
      document_number: `B-${number}`,
      account_number: "ACC-9",
      document_type: dice.pick(["invoice", "other"]),
      invoice_date: dice.pick(days),
      due_date: "2026-02-20",
      currency: "EUR",
      original_denomination: dice.whole(1, 900) / 4,
      denomination: dice.whole(1, 900) / 4,
      reason: dice.pick(reasons),
      closed: dice.pick(days),
    }));
    type Own = (typeof own)[number];
    const rows = own.map(({ reason: _reason, closed: _closed, ...fields }) => fields);
    const how = { format: "ndjson" as const };
    const loaded = await importRecords(at(), "aging", "documents", ndjson(rows), how);
    const closures = own.flatMap(({ document_number, reason, closed }) =>
      reason === "open" ? [] : [`${document_number},${reason},${closed}T12:00:00Z`],
    );
    const csv = ["document_number,closure_reason,closure_date", ...closures, ""].join("\n");
    const ended = await importRecords(at(), "aging", "closures", csv);
    expect([...loaded.rejects, ...ended.rejects]).toEqual([]);
    const sum = (docs: readonly Own[], name: "denomination" | "original_denomination") =>
      docs.reduce((total, doc) => total + doc[name], 0);
    const isWithin = (day: string, from: string, to: string) => from <= day && day <= to;
    const account = { accountNumber: "ACC-9", groupBy: ["closureReason"] };

    const within = { closedFrom: "2026-01-31", closedTo: "2026-02-01" };
    const body = await ask({ ...account, ...within, measure: "originalAmount" });
    const meant = own.filter(
      ({ reason, closed }) => reason !== "open" && isWithin(closed, "2026-01-31", "2026-02-01"),
    );
    const figures = (items: Record<string, unknown>[]) =>
      new Set(items.map(({ key, count, amount }) => ({ key, count, amount })));
    const expected = [...Map.groupBy(meant, ({ reason }) => reason)].map(([reason, docs]) => ({
      key: { closureReason: reason },
      count: docs.length,
      amount: sum(docs, "original_denomination"),
    }));
    expect(figures(body.items)).toEqual(new Set(expected));
    expect(body.filter.status).toBe("closed");
    expect(body.notes).toEqual(["Amounts are those that were billed, not open balances."]);

    const all = await ask({
      ...account,
      status: "all",
      invoiceFrom: "2026-01-31",
      invoiceTo: "2026-01-31",
    });
    const billed = own.filter(({ invoice_date }) => invoice_date === "2026-01-31");
    const balances = [
      ...Map.groupBy(billed, ({ reason }) => (reason === "open" ? null : reason)),
    ].map(([reason, docs]) => ({
      key: { closureReason: reason },
      count: docs.length,
      amount: reason === null ? sum(docs, "denomination") : 0,
    }));
    expect(figures(all.items)).toEqual(new Set(balances));
  });
});
