import type { Contract } from "../../contract/index.ts";
import {
  type CreditApplication,
  type CreditApplicationDetail,
  STATUS_TITLES,
  STATUS_TYPES,
} from "../../contract/operations/credit-applications.ts";
import { maskSensitiveAnswers } from "../../contract/sensitive-answers.ts";
import { DAY } from "../../kit/clock.ts";
import type { Handlers } from "../handlers.ts";
import {
  type ApplicationSpan,
  countApplications,
  findApplication,
  selectApplications,
} from "../store/queries/credit-applications.ts";
import { readListing, parsePage } from "./listing.ts";
import { describeMissing } from "./records.ts";

const DATES = { APPLICATIONSTATUSDATE: "status_at", LASTMODIFIED: "activity_at" } as const;

/** Whole days in UTC, the last one included. */
const toSpan = (body: {
  activityType: keyof typeof DATES;
  startDate: string;
  endDate: string;
}): ApplicationSpan => ({
  by: DATES[body.activityType],
  from: Date.parse(body.startDate),
  before: Date.parse(body.endDate) + DAY,
});

const buildSummary = (counts: Map<string, number>) =>
  STATUS_TYPES.flatMap((type) => {
    const noOfApplications = counts.get(type) ?? 0;
    return noOfApplications === 0 ? [] : [{ type, title: STATUS_TITLES[type], noOfApplications }];
  });

const sumCounts = (counts: Map<string, number>, types: readonly string[]): number => {
  const included = types.length === 0 ? [...counts.keys()] : new Set(types);
  return [...included].reduce((total, type) => total + (counts.get(type) ?? 0), 0);
};

export const credit_applications = (): Handlers<Contract["credit_applications"]> => ({
  async list({ body }, call) {
    const { applicationStatusType: types = [], page, pageSize } = body;
    const span = toSpan(body);
    // Read from the same snapshot as the applications.
    let counts = new Map<string, number>();
    const applications = await readListing(call, {
      async count(db) {
        counts = await countApplications(db, call.tenantId, span);
        return sumCounts(counts, types);
      },
      select: (db) => selectApplications(db, call.tenantId, span, types),
      // Its counts are of all applications of the span.
      cost: "scanned",
      shape: ({ summary }) => JSON.parse(summary) as CreditApplication,
      page: parsePage({ Page: page, PageSize: pageSize }),
    });
    return {
      body: {
        fields: { applicationStatusSummary: buildSummary(counts) },
        list: "applications",
        listing: applications,
      },
    };
  },

  async get({ params: { applicationId } }, call) {
    const row = await findApplication(call.db, call.tenantId, applicationId);
    if (row === undefined) {
      return call.fail("not_found", describeMissing("credit application", "id", applicationId));
    }
    const application = JSON.parse(row.detail) as CreditApplicationDetail;
    const mayChange = call.caller.may.has("Credit Applications : UPDATE");
    return { body: mayChange ? application : maskSensitiveAnswers(application) };
  },
});
