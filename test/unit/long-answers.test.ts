import { expect, it } from "vitest";
import { CHECKED_PER_TURN, checkOutput } from "../../src/client/check-output.ts";
import { contract } from "../../src/contract/index.ts";
import { utcCalendar } from "../../src/contract/insights/calendar.ts";
import type { Operation } from "../../src/contract/operation.ts";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import { readAccountDisputes, summarizeDisputes } from "../../src/insights/account-disputes.ts";
import {
  createOpenTest,
  listDeletions,
  listDocumentEvents,
} from "../../src/insights/change-events.ts";
import { toMoment } from "../../src/insights/standing.ts";
import { INSIGHT_LIMITS, type InsightContext } from "../../src/insights/insight.ts";
import { readPrecedents } from "../../src/insights/packet-precedents.ts";
import { readPayments } from "../../src/insights/read-payments.ts";
import { selectStanding } from "../../src/insights/standing-payments.ts";
import { forEachInTurns, mapInTurns } from "../../src/kit/in-turns.ts";
import { verifies } from "../support/verifies.ts";

verifies("C-114");

/** Counts what is done in each turn of the event loop while something runs; returns the most. */
const countPerTurn = async (run: (done: () => void) => Promise<unknown>): Promise<number> => {
  let [inTurn, most, isOver] = [0, 0, false];
  const next = (): void => {
    inTurn = 0;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  await run(() => {
    inTurn += 1;
    most = Math.max(most, inTurn);
  });
  isOver = true;
  return most;
};

const numbers = Array.from({ length: 1000 }, (_, number) => number);

it("acts on so many items in a turn", async () => {
  expect(await countPerTurn((done) => forEachInTurns(numbers, done, 7))).toBe(7);
  const doubled: number[] = [];
  const most = await countPerTurn(async (done) => {
    const double = (number: number): number => {
      done();
      return number * 2;
    };
    doubled.push(...(await mapInTurns(numbers, double, 7)));
  });
  expect(most).toBe(7);
  expect(doubled).toEqual(numbers.map((number) => number * 2));
});

/** A record of which a field is counted when it is read. */
const watch = (record: object, field: string, done: () => void): object =>
  Object.defineProperty({ ...record }, field, {
    enumerable: true,
    get: () => {
      done();
      return "text";
    },
  });

const refuse = (path: readonly PropertyKey[]): never => {
  throw new Error(path.join("."));
};

const reason = {
  reasonId: "reason",
  tenantId: "tenant",
  code: "C",
  description: "Damaged",
  active: true,
  categoryId: "category",
  visibility: "All",
  createUser: "someone",
  createDate: "2026-01-01T00:00:00.000Z",
  updateUser: "someone",
  updateDate: "2026-01-01T00:00:00.000Z",
};

const pageOf = (data: readonly object[]) => ({
  data,
  pagination: { cursor: null, hasMore: false, rowCount: data.length },
});

it.each<[string, Operation, object, string, (rows: readonly object[]) => unknown]>([
  ["a list", contract.reasons.list, reason, "code", (rows) => rows],
  ["rows of a page", contract.payments.query, { paymentId: "P-1" }, "paymentId", pageOf],
])("checks %s in turns", async (_name, operation, record, field, wrap) => {
  const most = await countPerTurn((done) =>
    checkOutput(operation, wrap(numbers.map(() => watch(record, field, done))), refuse),
  );
  expect(most).toBe(CHECKED_PER_TURN);
});

it("names the place of a fault in a list, and outside of it", async () => {
  const broken = [reason, { ...reason, active: "yes" }];
  await expect(checkOutput(contract.reasons.list, broken, refuse)).rejects.toThrow("1.active");
  const { query } = contract.payments;
  await expect(checkOutput(query, pageOf([{}, "row"] as object[]), refuse)).rejects.toThrow(
    "data.1",
  );
  const page = { ...pageOf([]), pagination: { cursor: 5, hasMore: false, rowCount: 0 } };
  await expect(checkOutput(query, page, refuse)).rejects.toThrow("pagination.cursor");
  await expect(checkOutput(query, { data: [] }, refuse)).rejects.toThrow("pagination");
  const kept = pageOf([{ paymentId: "P-1", more: 1 }]);
  expect(await checkOutput(query, kept, refuse)).toBe(kept);
});

const contextOf = (call: InsightContext["call"]): InsightContext => ({
  call,
  extensions: new Set(),
  now: () => Date.parse("2026-03-02T09:00:00.000Z"),
  calendar: utcCalendar,
  signal: new AbortController().signal,
  progress: async () => {},
  limits: INSIGHT_LIMITS,
  skip: 0,
  isWhole: false,
  endsAt: Infinity,
});

it.each([
  [["paymentId", "paymentAmount", "currencyCode", "payerName"], 4000],
  [Array.from({ length: 40 }, (_, place) => `field${place}`), 400],
  [undefined, 400],
])("reads pages of payments by the values of their rows", async (fields, most) => {
  const limits: unknown[] = [];
  const context = contextOf((_operation, args) => {
    limits.push("limit" in args ? args.limit : undefined);
    return Promise.reject(new Error("asked"));
  });
  const query = { source: "cashapp", fields, filters: {} } as const;
  await expect(readPayments(context, query, () => {})).rejects.toThrow("asked");
  expect(limits).toEqual([most]);
});

/** More values than a function can have as arguments. */
const MANY = 150_000;

it("reads the whole list of a platform that does not divide it into pages", async () => {
  const ended = {
    disputeId: "dispute-0",
    reasonId: "reason",
    accountNumber: "C-1",
    currencyCode: "USD",
    amount: 5,
    status: 1,
    isValid: true,
    resolutionCode: "PAID",
    departmentId: null,
    assigneeId: null,
    createDate: "2026-01-01T00:00:00.000Z",
    closedDate: "2026-02-01T00:00:00.000Z",
  };
  const rows = Array.from({ length: MANY }, (_, place) => ({
    ...ended,
    disputeId: `dispute-${place}`,
    disputeCode: `D-${place}`,
  }));
  const call = (async ({ id }: Operation) => ({
    output: id === contract.disputes.list.id ? rows : [],
    total: null,
  })) as unknown as InsightContext["call"];
  const context = contextOf(call);
  const { figures } = await readAccountDisputes(context, "C-1", toMoment(undefined, context));
  expect(figures).toMatchObject({ closed: { count: MANY } });
  const part = await readPrecedents(context, rows[0] as unknown as Dispute);
  expect(part).toMatchObject({
    value: { tenant: { cases: 999 } },
    notes: [expect.stringContaining("only the newest 1000")],
  });
});

it("walks the disputes of an account, and changes of documents, in turns", async () => {
  const dispute = { status: 1, closedDate: null, currencyCode: "USD" };
  const summed = await countPerTurn((done) => {
    const disputes = Array.from({ length: 5000 }, () =>
      Object.defineProperty({ ...dispute }, "amount", {
        get: () => {
          done();
          return 5;
        },
      }),
    );
    return summarizeDisputes(disputes as unknown as Dispute[], utcCalendar);
  });
  const entries = Array.from({ length: 5000 }, (_, at) => ({
    action: "document.closed",
    at,
    facts: { document_number: "INV-1" },
  }));
  const compared = await countPerTurn((done) => {
    const openOn = () => {
      done();
      return [];
    };
    return listDocumentEvents(entries, openOn, { from: 0, to: Infinity });
  });
  for (const most of [summed, compared]) {
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(1000);
  }
});

it("lists more changes than a call can have arguments", async () => {
  const entries = Array.from({ length: MANY }, (_, at) => ({
    action: "dispute.deleted",
    at,
    facts: { resourceId: `dispute-${at}` },
  }));
  const events = await listDeletions(entries);
  expect([events.length, events.at(-1)?.facts]).toEqual([
    MANY,
    { disputeId: `dispute-${MANY - 1}` },
  ]);
});

it("tells when a dispute was open that was closed and reopened many times", () => {
  const entries = Array.from({ length: 20_000 }, (_, place) => ({
    action: place % 2 === 0 ? "dispute.closed" : "dispute.reopened",
    at: 10_000 * (place + 1),
    facts: {},
  }));
  const createDate = "1970-01-01T00:00:01.000Z";
  const dispute = { status: 0, createDate, closedDate: null } as unknown as Dispute;
  const wasOpen = createOpenTest(dispute, entries);
  const times = [999, 5000, 15_000, 25_000, 199_985_000, 199_995_000, 200_005_000];
  expect(times.map(wasOpen)).toEqual([false, true, false, true, true, false, true]);
});

it("leaves out returns with the first rows that they undo, of many rows", () => {
  const returned = Array.from({ length: 40_000 }, (_, place) => ({
    id: place,
    documentNumber: `INV-${place % 100}`,
    currencyCode: "USD",
    appliedAmount: place % 2 === 0 ? 5 : -5,
    ...(place % 2 === 0 ? {} : { applicationStatus: "reversed" }),
  }));
  const further = { ...returned[0], id: -1, documentNumber: "INV-0" };
  const fits = { ...further, id: -2, appliedAmount: -5, applicationStatus: "reversed" };
  // The returns are of documents with odd numbers, and undo nothing; the last one undoes the first row.
  const standing = selectStanding([...returned, further, fits]);
  expect(standing.length).toBe(20_000);
  expect(standing[0]?.id).toBe(2);
  expect(standing.at(-1)?.id).toBe(-1);
});
