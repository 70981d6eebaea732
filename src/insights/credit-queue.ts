import { z } from "zod";
import { countElapsedDays } from "../contract/insights/calendar.ts";
import { contract } from "../contract/index.ts";
import type {
  CreditApplication,
  CreditApplications,
} from "../contract/operations/credit-applications.ts";
import { type Clock, DAY, formatDay, formatTimestamp } from "../kit/clock.ts";
import { defineInsight, type Fields } from "./insight.ts";

const { credit_applications } = contract;

const DEFAULT_DAYS = 365;
const LIMIT = 20;

const day = (words: string) =>
  z.iso
    .date()
    .optional()
    .meta({ description: `status date, YYYY-MM-DD; ${words}` });

/** Types of a decided or ended application begin so. */
const isClosed = ({ applicationStatus }: CreditApplication): boolean =>
  applicationStatus.type.startsWith("Closed");

const lacking = (kind: string, submitted: string, requested: string): string[] => {
  const [got, asked] = [Number(submitted), Number(requested)];
  return got < asked ? [`${asked - got} of ${asked} ${kind} references`] : [];
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

const toItem = (application: CreditApplication, now: number): Fields => {
  const { applicationId, company, applicationStatus, lastActivityDate } = application;
  const { title, statusDate } = applicationStatus;
  const missing = missingIn(application);
  return {
    applicationId,
    companyName: company.name,
    status: title,
    statusDate: statusDate.slice(0, 10),
    waitingDays: countElapsedDays(Date.parse(statusDate), now),
    lastActivityDate: lastActivityDate.slice(0, 10),
    missing: missing.length === 0 ? ["a decision"] : missing,
  };
};

const byAge = (a: CreditApplication, b: CreditApplication): number =>
  Date.parse(a.applicationStatus.statusDate) - Date.parse(b.applicationStatus.statusDate) ||
  (a.applicationId < b.applicationId ? -1 : 1);

const period = (now: Clock, from: string | undefined, to: string | undefined) => {
  const endDate = to ?? formatDay(now());
  const startDate = from ?? formatDay(Date.parse(endDate) - DEFAULT_DAYS * DAY);
  return { startDate, endDate };
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
  async run({ call, now, skip }, { startDate, endDate, limit }) {
    const filter = period(now, startDate, endDate);
    const reply = await call(credit_applications.list, {
      activityType: "APPLICATIONSTATUSDATE",
      ...filter,
    });
    const { applications, applicationStatusSummary } = reply.output as CreditApplications;
    const waiting = applications.filter((one) => !isClosed(one)).toSorted(byAge);
    return {
      asOf: formatTimestamp(now()),
      filter,
      rowCount: waiting.length,
      truncated: false,
      currencyTotals: [],
      byStatus: Object.fromEntries(
        applicationStatusSummary.map(({ title, noOfApplications }) => [title, noOfApplications]),
      ),
      items: waiting.slice(skip, skip + limit).map((one) => toItem(one, now())),
      itemsTotal: waiting.length,
      notes: startDate === undefined ? [describeDefault(filter.startDate)] : [],
    };
  },
});
