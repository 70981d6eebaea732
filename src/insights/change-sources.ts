import Big from "big.js";
import pMap from "p-map";
import { contract } from "../contract/index.ts";
import { type Calendar, formatDayNumber, parseDay } from "../contract/insights/calendar.ts";
import type { CreditApplication } from "../contract/operations/credit-applications.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { ExportRun } from "../contract/operations/export-runs.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import type { ChangeEvent } from "./change-events.ts";
import type { Span } from "./change-records.ts";
import { isDecided } from "./credit-queue.ts";
import { addToList } from "./groups.ts";
import type { InsightContext } from "./insight.ts";
import { attemptPart, type Part } from "./read-part.ts";
import { type PaymentQuery, readPayments } from "./read-payments.ts";
import { isReversal, type Reversible } from "./standing-payments.ts";

const { credit_applications, export_runs, payments, schedules } = contract;

/** Events of one source, with sentences about what limits them. */
export type Found = { events: ChangeEvent[]; notes: string[] };

type PaymentRow = Reversible & {
  paymentId?: string | null;
  paymentDate?: string | null;
  accountName?: string | null;
  deductionAmount?: number | null;
};

const PAYMENT_FIELDS = [
  "paymentId",
  "paymentDate",
  "accountName",
  "documentNumber",
  "currencyCode",
  "appliedAmount",
  "deductionAmount",
  "applicationStatus",
  "matchMethod",
] as const satisfies readonly (keyof PaymentRow)[];

const DAYS_ONLY = "Payments have a day and no time: those of the first and the last day all count.";

const sumOf = (rows: readonly PaymentRow[], field: "appliedAmount" | "deductionAmount"): Big =>
  rows.reduce((sum, row) => sum.plus(Number(row[field] ?? 0)), new Big(0));

/** Whether a row counts: neither a suggestion, nor a payment that is itself marked as reversed. */
const isBooked = (row: PaymentRow): boolean =>
  row.matchMethod !== "suggested" && !(isReversal(row) && Number(row.appliedAmount ?? 0) >= 0);

/** Makes one event of the rows of a payment, or of its return, on one document; none where they cancel out. */
const toPayment = (
  { calendar }: InsightContext,
  rows: readonly PaymentRow[],
  disputes: readonly Dispute[],
): ChangeEvent[] => {
  const [first] = rows;
  if (typeof first?.paymentDate !== "string") return [];
  const day = calendar.toDay(first.paymentDate);
  const deduction = sumOf(rows, "deductionAmount");
  const amount = sumOf(rows, "appliedAmount");
  if (amount.eq(0) && rows.some(isReversal)) return [];
  return [
    {
      kind: "payment",
      at: calendar.startOf(day),
      day,
      disputes,
      documentNumber: String(first.documentNumber),
      facts: {
        paymentId: first.paymentId,
        amount: amount.toNumber(),
        currencyCode: first.currencyCode,
        ...(amount.lt(0) ? { done: "came back" } : {}),
        deduction: deduction.lte(0) ? null : deduction.toNumber(),
      },
    },
  ];
};

/** Reads the payments of the days of a span on documents with disputes. */
export const readPaymentEvents = (
  context: InsightContext,
  { from, to }: Span,
  disputesOn: (documentNumber: string) => readonly Dispute[],
): Promise<Part<Found & { isCut: boolean }>> =>
  attemptPart(context, payments.query, async () => {
    const { calendar } = context;
    const groups = new Map<string, PaymentRow[]>();
    const query: PaymentQuery = {
      source: "cashapp",
      fields: [...PAYMENT_FIELDS],
      filters: {
        paymentDate: { gte: calendar.formatDay(from), lte: calendar.formatDay(to) },
      },
    };
    const { stopped } = await readPayments(context, query, (page) =>
      forEachInTurns(page as unknown as readonly PaymentRow[], (row) => {
        if (disputesOn(String(row.documentNumber ?? "")).length === 0) return;
        addToList(groups, JSON.stringify([row.paymentId, row.documentNumber]), row);
      }),
    );
    const events: ChangeEvent[] = [];
    await forEachInTurns(groups.values(), (rows) => {
      const own = disputesOn(String(rows[0]?.documentNumber));
      events.push(...toPayment(context, rows.filter(isBooked), own));
    });
    const notes = events.length === 0 ? [] : [DAYS_ONLY];
    return {
      events,
      notes: stopped === undefined ? notes : [...notes, stopped],
      isCut: stopped !== undefined,
    };
  });

const toCredit = (one: CreditApplication): ChangeEvent[] => {
  const { applicationId, company, applicantSubmitDate, applicationStatus } = one;
  const facts = { applicationId, company: company.name };
  const events: ChangeEvent[] = [];
  if (applicantSubmitDate !== null) {
    const at = Date.parse(applicantSubmitDate);
    events.push({ kind: "creditSubmitted", at, disputes: [], facts });
  }
  if (isDecided(one)) {
    const { title: status, statusDate } = applicationStatus;
    const at = Date.parse(statusDate);
    events.push({ kind: "creditDecided", at, disputes: [], facts: { ...facts, status } });
  }
  return events;
};

/** The operation counts the days of UTC: those around the tenant's days have every application of these. */
const widen = ({ formatDay }: Calendar, from: number, to: number) => ({
  startDate: formatDayNumber(parseDay(formatDay(from)) - 1),
  endDate: formatDayNumber(parseDay(formatDay(to)) + 1),
});

/** Reads the credit applications that were submitted or decided within a span. */
export const readCreditEvents = (
  context: InsightContext,
  { from, to }: Span,
): Promise<Part<Found>> =>
  attemptPart(context, credit_applications.list, async () => {
    const { call, calendar, now } = context;
    // A time that has not come has none.
    if (from > Math.max(to, now())) return { events: [], notes: [] };
    const days = widen(calendar, from, Math.max(to, now()));
    const found = new Map<string, CreditApplication>();
    for (const activityType of ["LASTMODIFIED", "APPLICATIONSTATUSDATE"] as const) {
      const { output } = await call(credit_applications.list, { activityType, ...days });
      await forEachInTurns(output.applications, (one) => void found.set(one.applicationId, one));
    }
    const events: ChangeEvent[] = [];
    await forEachInTurns(found.values(), (one) => {
      for (const event of toCredit(one)) if (event.at >= from && event.at <= to) events.push(event);
    });
    return { events, notes: [] };
  });

const AT_ONCE = 4;
const MOST_SCHEDULES = 50;
/** Pages of a hundred runs of one schedule. */
const MOST_RUN_PAGES = 30;

const endOf = ({ completedAt, startedAt }: ExportRun): number =>
  Date.parse(completedAt ?? startedAt ?? "");

const toFailure = (scheduleName: string, run: ExportRun): ChangeEvent => ({
  kind: "exportFailed",
  at: endOf(run),
  disputes: [],
  facts: { scheduleName, scheduleId: run.scheduleId, error: run.errorDetail ?? run.errorStage },
});

/** Reads the runs of a schedule back to a time, the newest first, as far as the pages reach. */
const readRuns = async ({ call }: InsightContext, scheduleId: string, from: number) => {
  const runs: ExportRun[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_RUN_PAGES; page += 1) {
    const more: { cursor?: string } = cursor === null ? {} : { cursor };
    const { data, pagination } = (await call(export_runs.status, { scheduleId, ...more })).output;
    runs.push(...data);
    cursor = pagination.cursor;
    if (cursor === null || data.some((run) => endOf(run) < from)) return { runs, isCut: false };
  }
  return { runs, isCut: true };
};

/** Reads the export runs of a span that failed, of the first schedules. */
export const readExportEvents = (
  context: InsightContext,
  { from, to }: Span,
): Promise<Part<Found>> =>
  attemptPart(context, schedules.list, async () => {
    const { data } = (await context.call(schedules.list, {})).output;
    const read = async ({ id, scheduleName }: (typeof data)[number]) => {
      const { runs, isCut } = await readRuns(context, id, from);
      const events = runs
        .filter(({ status }) => status === "failed")
        .map((run) => toFailure(scheduleName ?? id, run))
        .filter(({ at }) => at >= from && at <= to);
      return { events, isCut };
    };
    const some = data.slice(0, MOST_SCHEDULES);
    const found = await pMap(some, read, { concurrency: AT_ONCE });
    const cut = found.filter(({ isCut }) => isCut).length;
    return {
      events: found.flatMap(({ events }) => events),
      notes: [
        ...(cut === 0 ? [] : [`Of ${cut} schedules only the newest runs were read.`]),
        ...(some.length < data.length
          ? [`The runs of ${data.length - some.length} schedules were not read.`]
          : []),
      ],
    };
  });
