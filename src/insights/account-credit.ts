import { contract } from "../contract/index.ts";
import { DAY, formatDay } from "../kit/clock.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { readPart, showPart, toUnavailable, type Unavailable } from "./read-part.ts";

const { company_scores, credit_applications } = contract;

const DAYS = 730;

/** Scores belong to the buyer company of a credit application, which has the account's name. */
export const readCredit = async (
  context: InsightContext,
  name: string,
): Promise<Fields | Unavailable> => {
  const now = context.now();
  const period = { startDate: formatDay(now - DAYS * DAY), endDate: formatDay(now) };
  const part = await readPart(context, credit_applications.list, {
    activityType: "LASTMODIFIED",
    ...period,
  });
  if (part.refused !== undefined) return toUnavailable(part.refused);
  const wanted = name.trim().toLowerCase();
  const application = part.value.applications.find(
    ({ company }) => company.name.trim().toLowerCase() === wanted,
  );
  if (application === undefined) {
    return {
      available: false,
      reason: `No credit application of a company with this name since ${period.startDate}.`,
    };
  }
  const { applicationId, applicationStatus, company } = application;
  const score = await readPart(context, company_scores.get, { companyId: company.companyId });
  return {
    applicationId,
    applicationStatus: applicationStatus.title,
    scores: showPart(score, (value) => value),
  };
};
