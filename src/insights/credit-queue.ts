import { z } from "zod";
import { Day } from "../contract/insights/arguments.ts";
import { type Calendar, formatDayNumber, parseDay } from "../contract/insights/calendar.ts";
import { contract } from "../contract/index.ts";
import type { CreditApplication } from "../contract/operations/credit-applications.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { UTC } from "../kit/time-zone.ts";
import { defineInsight, type Fields, type InsightContext, mostItems } from "./insight.ts";
import { type Moment, toMoment } from "./standing.ts";

const { credit_applications } = contract;

const DEFAULT_DAYS = 365;
const LIMIT = 20;

const day = (words: string) =>
  Day.optional().meta({ description: `status date, YYYY-MM-DD; ${words}` });

/** Types of a decided or ended application begin so. */
export const isDecided = ({ applicationStatus }: CreditApplication): boolean =>
  applicationStatus.type.startsWith("Closed");

const lacking = (kind: string, submitted: string, requested: string): string[] => {
  const [received, requestedCount] = [Number(submitted), Number(requested)];
  return received < requestedCount
    ? [`${requestedCount - received} of ${requestedCount} ${kind} references`]
    : [];
};

/** Lists the gaps that prevent a decision on an application. */
const missingIn = ({
  applicantSubmitDate,
  applicationStatus: { type },
  references,
}: CreditApplication): string[] => [
  ...(applicantSubmitDate === null ? ["submission by the applicant"] : []),
  ...(type === "Pending Information" ? ["information that the reviewer asked for"] : []),
  ...lacking(
    "trade",
    references.tradeReferenceSubmitCount,
    references.tradeRefReferenceRequestedCount,
  ),
  ...lacking("bank", references.bankReferenceSubmitCount, references.bankReferenceRequestedCount),
];

const toItem = (application: CreditApplication, { at, calendar }: Moment): Fields => {
  const { applicationId, company, applicationStatus, lastActivityDate } = application;
  const { title, statusDate } = applicationStatus;
  const missing = missingIn(application);
  return {
    applicationId,
    companyName: company.name,
    status: title,
    statusDate: calendar.toDay(statusDate),
    waitingDays: calendar.countElapsedDays(Date.parse(statusDate), at),
    lastActivityDate: calendar.toDay(lastActivityDate),
    missing: missing.length === 0 ? ["a decision"] : missing,
  };
};

const byAge = (a: CreditApplication, b: CreditApplication): number =>
  Date.parse(a.applicationStatus.statusDate) - Date.parse(b.applicationStatus.statusDate) ||
  (a.applicationId < b.applicationId ? -1 : 1);

type Period = { startDate: string; endDate: string };

const addDays = (day: string, days: number): string => formatDayNumber(parseDay(day) + days);

const toPeriod = (
  { at, calendar }: Moment,
  from: string | undefined,
  to: string | undefined,
): Period => {
  const endDate = to ?? calendar.formatDay(at);
  return { startDate: from ?? addDays(calendar.toDay(endDate), -DEFAULT_DAYS), endDate };
};

/** The operation counts the days of UTC: those around the tenant's days have every application of these. */
const widen = ({ zone, toDay }: Calendar, { startDate, endDate }: Period): Period => {
  const [first, last] = [toDay(startDate), toDay(endDate)];
  const isExact = zone === UTC && first === startDate && last === endDate;
  return isExact
    ? { startDate, endDate }
    : { startDate: addDays(first, -1), endDate: addDays(last, 1) };
};

const countByStatus = (applications: readonly CreditApplication[]): Record<string, number> => {
  const counts = new Map<string, number>();
  for (const { applicationStatus } of applications) {
    const { title } = applicationStatus;
    counts.set(title, (counts.get(title) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
};

/** Reads the applications whose status is from the period. */
const readApplications = async (
  { call, calendar }: InsightContext,
  period: Period,
): Promise<CreditApplication[]> => {
  const reply = await call(credit_applications.list, {
    activityType: "APPLICATIONSTATUSDATE",
    ...widen(calendar, period),
  });
  const { applications } = reply.output;
  const [first, last] = [calendar.startOf(period.startDate), calendar.endOf(period.endDate)];
  return applications.filter(({ applicationStatus: { statusDate } }) => {
    const at = Date.parse(statusDate);
    return at >= first && at <= last;
  });
};

const describeDefault = (startDate: string): string =>
  `Applications with a status from before ${startDate} are left out unless startDate is earlier.`;

/** Credit applications that are not decided yet. */
export const creditQueue = defineInsight({
  name: "credit_queue",
  title: "Credit applications that wait",
  input: z.strictObject({
    startDate: day("default 365 days before endDate"),
    endDate: day("default today"),
    limit: z.int().min(1).max(200).default(LIMIT).meta({ description: "default 20" }),
  }),
  item: z.object({
    applicationId: z.string(),
    companyName: z.string(),
    status: z.string(),
    statusDate: z.string(),
    waitingDays: z.int(),
    lastActivityDate: z.string(),
    missing: z.array(z.string()),
  }),
  figures: z.object({ byStatus: z.record(z.string(), z.int()) }),
  needs: [credit_applications.list],
  async run(context, { startDate, endDate, limit }) {
    const evaluatedAt = toMoment(undefined, context);
    const filter = toPeriod(evaluatedAt, startDate, endDate);
    const { skip } = context;
    const applications = await readApplications(context, filter);
    const waiting = applications.filter((one) => !isDecided(one)).toSorted(byAge);
    return {
      asOf: formatTimestamp(evaluatedAt.at),
      filter,
      rowCount: waiting.length,
      truncated: false,
      currencyTotals: [],
      byStatus: countByStatus(applications),
      items: waiting
        .slice(skip, skip + mostItems(context, limit))
        .map((one) => toItem(one, evaluatedAt)),
      itemsTotal: waiting.length,
      notes: startDate === undefined ? [describeDefault(filter.startDate)] : [],
    };
  },
});
