import { describe, expect, it } from "vitest";
import { operations } from "../../src/contract/index.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { StoredDocument } from "../../src/contract/operations/documents.ts";
import { SOURCES } from "../../src/contract/payments/catalogue.ts";
import { DAY, formatTimestamp } from "../../src/kit/clock.ts";
import { formatEndpoint } from "../../src/platform/http/audit.ts";
import { createRowCheck } from "../../src/platform/import/payments/row.ts";
import { ANY_WEEKDAY, demoAt } from "../support/demo.ts";

const NOW = Date.parse("2026-11-21T08:00:00Z");
const demo = await demoAt(NOW);
const { users } = demo;
const days = await Promise.all(ANY_WEEKDAY.map(async (now) => ({ now, made: await demoAt(now) })));
const { cashapp, iandp, bpn } = demo.payments;
const all = SOURCES.flatMap((source) => demo.payments[source].map((row) => ({ source, row })));
type Row = (typeof all)[number]["row"];

const cents = (value: unknown): number => Math.round(Number(value) * 100);
const sum = (rows: readonly Row[], name: string): number =>
  rows.reduce((so, row) => so + cents(row[name]), 0);
const documents = new Map(
  demo.documents.map((row) => [
    row.document_number,
    { row, fields: StoredDocument.parse(JSON.parse(row.fields)) },
  ]),
);
const accounts = new Map(demo.accounts.map((row) => [row.account_number, row]));
const disputes = new Map(demo.disputes.map((row) => [row.id, row]));
const credits = [...documents.values()].filter(
  ({ fields }) => fields.document_type === "credit_note" && fields.denomination === 0,
);

/** Payments by invoice, from all sources. */
const arrived = [
  ...cashapp.map((row) => ({ row, cents: cents(row["appliedAmount"]) })),
  ...iandp
    .filter((row) => row["paymentStatus"] === "settled")
    .map((row) => ({ row, cents: cents(row["amountPaid"]) })),
  ...bpn
    .filter((row) => row["deliveryStatus"] === "delivered")
    .map((row) => ({ row, cents: cents(row["amountPaid"]) })),
].filter(({ row }) => typeof row["invoiceNumber"] === "string");

const inOrder = (...moments: unknown[]): void => {
  const known = moments.filter((moment) => typeof moment === "string");
  expect(known).toEqual(known.toSorted());
};

const countsBy = (rows: readonly Row[], name: string): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(rows, (row) => String(row[name]))].map(([value, some]) => [value, some.length]),
  );

describe("the demo tenant's payments", () => {
  it("are rows that an import accepts, each with its own id", () => {
    for (const source of SOURCES) {
      const check = createRowCheck(source, "demo");
      const faults = demo.payments[source].flatMap((row) => check(row).faults ?? []);
      expect([source, faults]).toEqual([source, []]);
      expect(demo.payments[source].length).toBeGreaterThan(200);
    }
    expect(new Set(all.map(({ row }) => row.id)).size).toBe(all.length);
  });

  it("refer to existing documents and accounts, in their currency", () => {
    for (const { row } of all) {
      const account = accounts.get(String(row["accountNumber"]));
      if (row["invoiceNumber"] == null) {
        expect(["unapplied", "on_account"]).toContain(row["applicationStatus"]);
        if (row["accountNumber"] == null) continue;
      } else {
        const { row: document, fields } = documents.get(String(row["invoiceNumber"])) ?? {};
        expect(document?.account_number).toBe(row["accountNumber"]);
        expect(document?.currency).toBe(row["currencyCode"]);
        expect(fields?.original_denomination).toBe(row["invoiceAmount"]);
        expect(fields?.document_type).toBe("invoice");
      }
      expect(account?.currency).toBe(row["currencyCode"]);
    }
  });

  it("add up to the paid amounts of their documents, and never exceed the billed amount", () => {
    const paid = new Map<string, number>();
    for (const { row, cents: some } of arrived) {
      const number = String(row["invoiceNumber"]);
      paid.set(number, (paid.get(number) ?? 0) + some);
    }
    const granted = Map.groupBy(credits, ({ fields }) => String(fields.applies_to_invoice));
    let closed = 0;
    for (const [number, { row, fields }] of documents) {
      if (fields.document_type !== "invoice") continue;
      const credited = (granted.get(number) ?? []).reduce(
        (so, { fields: note }) => so - cents(note.original_denomination),
        0,
      );
      const whole = cents(fields.original_denomination);
      expect([number, paid.get(number) ?? 0]).toEqual([
        number,
        whole - cents(fields.denomination) - credited,
      ]);
      expect(paid.get(number) ?? 0).toBeLessThanOrEqual(whole);
      if (row.status === "closed" && credited === 0 && fields.denomination === 0) {
        expect(paid.get(number)).toBe(whole);
        closed += 1;
      }
    }
    expect(closed).toBeGreaterThan(1000);
  });

  it("have ids, and no date that was not resolved", () => {
    for (const { row } of all) expect(JSON.stringify(row)).not.toMatch(/\{[^"{}]*\}|NaN|Invalid/);
    for (const row of iandp) expect(row["paymentId"]).toMatch(/^PAY-\d{8}$/);
    for (const row of bpn) expect(row["networkPaymentId"]).toMatch(/^NP-\d{8}$/);
    expect(new Set(iandp.map((row) => row["paymentId"])).size).toBe(iandp.length);
  });

  it("add up to the whole payment, line by line", () => {
    const named = (rows: readonly Row[], name: string) => [
      ...Map.groupBy(rows, (row) => row[name]).values(),
    ];
    for (const lines of named(
      cashapp.filter((row) => row["applicationStatus"] !== "reversed"),
      "paymentId",
    )) {
      const lineCents = sum(lines, "appliedAmount") + sum(lines, "unappliedAmount");
      expect(lineCents).toBe(cents(lines[0]?.["paymentAmount"]));
    }
    for (const lines of named(bpn, "networkPaymentId")) {
      expect(sum(lines, "amountPaid")).toBe(cents(lines[0]?.["paymentAmount"]));
      expect(lines.map((row) => row["remittanceLine"]).toSorted()).toEqual(
        lines.map((_, place) => place + 1).toSorted(),
      );
      const [line] = lines;
      expect(cents(line?.["netAmount"])).toBe(
        cents(line?.["paymentAmount"]) - cents(line?.["feeAmount"]),
      );
    }
    expect(bpn.some((row) => row["remittanceLine"] === 3)).toBe(true);
    expect(
      bpn.some((row) => row["paymentMethod"] === "vcard" && Number(row["feeAmount"]) > 0),
    ).toBe(true);
  });

  it("are short by the disputed amount, and name the dispute", () => {
    const short = cashapp.filter((row) => row["shortPay"] === true);
    const named = short.filter((row) => typeof row["disputeId"] === "string");
    expect(named.length).toBeGreaterThan(60);
    expect(named.length).toBeLessThan(short.length);
    for (const row of named) {
      const dispute = disputes.get(String(row["disputeId"]));
      expect(dispute?.document_number).toBe(row["documentNumber"]);
      expect(dispute?.currency_code).toBe(row["currencyCode"]);
      expect(cents(dispute?.amount)).toBe(cents(row["deductionAmount"]));
      expect(Date.parse(row.createdAt)).toBeGreaterThan(dispute?.created_at ?? Infinity);
    }
    for (const lines of Map.groupBy(short, (row) => row["documentNumber"]).values()) {
      expect(sum(lines, "deductionAmount")).toBe(cents(lines[0]?.["invoiceBalance"]));
      if (lines.some((row) => row["disputeId"] != null)) continue;
      // Such an invoice has no dispute.
      const number = lines[0]?.["documentNumber"];
      expect(demo.disputes.some((one) => one.document_number === number)).toBe(false);
    }
    const heldBack = bpn.filter((row) => Number(row["adjustmentAmount"]) > 0);
    expect(heldBack.length).toBeGreaterThan(5);
    expect(heldBack.every((row) => row["adjustmentReasonCode"] != null)).toBe(true);
  });

  it("include failed payments of every source", () => {
    expect(countsBy(cashapp, "applicationStatus")).toMatchObject({ reversed: 10 });
    expect(Object.keys(countsBy(cashapp, "applicationStatus")).toSorted()).toEqual([
      "matched",
      "on_account",
      "partial",
      "reversed",
      "unapplied",
    ]);
    expect(countsBy(iandp, "paymentStatus")).toEqual({
      settled: expect.any(Number),
      failed: 22,
      voided: 4,
      charged_back: 5,
      refunded: 5,
      scheduled: 16,
      pending: 6,
    });
    expect(Object.keys(countsBy(bpn, "deliveryStatus")).toSorted()).toEqual([
      "delivered",
      "processing",
      "received",
      "returned",
    ]);
    for (const row of iandp) {
      expect(row["failureCode"] != null).toBe(row["paymentStatus"] === "failed");
    }
  });

  it("have their dates in order, on any day of the week", () => {
    for (const { now, made } of days) {
      const { payments } = made;
      for (const row of payments.cashapp) {
        inOrder(
          row["paymentDate"],
          row["depositDate"],
          row["postedAt"],
          row.updatedAt,
          formatTimestamp(now),
        );
        const issued = documents.get(String(row["documentNumber"]))?.fields.invoice_date;
        if (made === demo) inOrder(issued, row["paymentDate"]);
      }
      for (const row of payments.iandp) {
        inOrder(
          row["invoiceDate"],
          row["paymentDate"],
          row["settlementDate"],
          formatTimestamp(now),
        );
        inOrder(row.createdAt, row.updatedAt, formatTimestamp(now));
        const isScheduled = row["paymentStatus"] === "scheduled";
        expect(typeof row["scheduledDate"] === "string").toBe(isScheduled);
        if (isScheduled) inOrder(formatTimestamp(now), row["scheduledDate"]);
      }
      for (const row of payments.bpn) {
        inOrder(row["paymentDate"], row["settlementDate"], row.updatedAt, formatTimestamp(now));
        inOrder(row["paymentDate"], row.createdAt, row.updatedAt);
      }
      for (const source of SOURCES) inOrder(...payments[source].map((row) => row.createdAt));
    }
  });
});

describe("the demo tenant's past", () => {
  it("has a schedule whose next slot is days away, and runs of earlier slots", () => {
    for (const { now, made } of days) {
      const { schedules, runs } = made;
      const [schedule] = schedules;
      if (schedule === undefined) throw new Error("no schedule");
      expect(schedule.next_run_at).toBeGreaterThan(now + 2 * DAY);
      expect(runs.map(({ status }) => status)).toEqual([
        "completed",
        "failed",
        "completed",
        "completed",
      ]);
      inOrder(
        formatTimestamp(schedule.created_at),
        ...runs.flatMap((row) => [
          formatTimestamp(row.slot_at),
          formatTimestamp(row.started_at ?? 0),
        ]),
        formatTimestamp(schedule.next_run_at),
      );
      const [first, , , last] = runs;
      expect(first?.completed_at).toBeGreaterThan(now - 30 * DAY);
      expect(last?.slot_at).toBe(schedule.next_run_at - schedule.interval_ms);
    }
  });

  it("has audit entries of some weeks in their order, the older ones without an action", () => {
    const { auditEntries } = demo;
    expect(auditEntries.length).toBeGreaterThan(250);
    expect(auditEntries.length).toBeLessThan(600);
    inOrder(...auditEntries.map(({ at }) => formatTimestamp(at)), formatTimestamp(NOW));
    const named = auditEntries.findIndex(({ action }) => action !== null);
    expect(named).toBeGreaterThan(100);
    expect(auditEntries.slice(named).every(({ action }) => action !== null)).toBe(true);
    const known = new Set<unknown>(users.values());
    expect(auditEntries.every(({ metadata }) => known.has(metadata["actor"]))).toBe(true);
    const actions = new Map<string, Operation["audit"]>(
      operations.map((one) => [`${one.method} ${formatEndpoint(one)}`, one.audit]),
    );
    for (const { method, endpoint, action, statusCode: status } of auditEntries) {
      const audit = actions.get(`${method} ${endpoint}`);
      expect(audit).toBeDefined();
      const known = typeof audit === "object" ? audit.choose({ status, body: null }) : audit;
      expect([known, null]).toContain(action);
    }
    const { runs } = demo;
    const read = auditEntries.filter(({ action }) => action === "export.data_read");
    expect(read.map(({ metadata }) => metadata["runId"])).toEqual(runs.map(({ id }) => id));
    expect(read.map(({ statusCode }) => statusCode)).toEqual([200, 409, 200, 200]);
  });
});
