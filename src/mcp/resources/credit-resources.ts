import { contract } from "../../contract/index.ts";
import {
  type CreditApplication,
  type CreditApplicationDetail,
} from "../../contract/operations/credit-applications.ts";
import { maskSensitiveAnswers } from "../../contract/sensitive-answers.ts";
import { DAY, formatTimestamp } from "../../kit/clock.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { type Fields, truncateToBudget } from "../results/budget.ts";
import { formatApplication } from "./format-application.ts";
import type { CallerContext } from "../caller.ts";
import { readList } from "../results/pages.ts";
import { MARGIN_TOKENS } from "./part.ts";

type Asked = { tool: string; signal: AbortSignal };

const { credit_applications: operations } = contract;
const RECENT_DAYS = 90;

/** The days whose applications are recent. */
const recent = (now: number) => ({
  activityType: "LASTMODIFIED",
  startDate: formatTimestamp(now - RECENT_DAYS * DAY).slice(0, 10),
  endDate: formatTimestamp(now).slice(0, 10),
});

/** Recent credit applications, and one as a person reads it. */
export const createReadCredit = ({
  broker,
  settings,
  now,
}: Pick<CallerContext, "broker" | "settings" | "now">) => {
  const budget = settings.answerTokens - 2 * MARGIN_TOKENS;

  const list = async (asked: Asked): Promise<Fields> => {
    const days = recent(now());
    const ask = (page: Fields) => broker.call(operations.list, page, asked);
    const { items, beside, truncated } = await readList(operations.list, days, ask, {
      from: null,
      budget,
      now,
    });
    return { ...days, applications: items, ...beside, truncated };
  };

  const one = async (applicationId: string, asked: Asked): Promise<Fields> => {
    const { output } = await broker.call(operations.get, { applicationId }, asked);
    const masked = maskSensitiveAnswers(output as CreditApplicationDetail);
    const { record, cut } = truncateToBudget(formatApplication(masked), budget);
    return { ...record, truncated: cut };
  };

  return { list, one };
};

const LOOKED_AT = 100;

/** Ids of recent applications, last touched first, that begin with what was typed, or whose buyer's name does. */
export const completeApplication = async (
  { broker, now }: Pick<CallerContext, "broker" | "now">,
  typed: string,
  asked: Asked,
): Promise<string[]> => {
  const args = { ...recent(now()), page: 1, pageSize: LOOKED_AT };
  const { output } = await broker.call(operations.list, args, asked);
  const found = operations.list.output.pick({ applications: true }).safeParse(output);
  const start = typed.toLowerCase();
  return (found.data?.applications ?? [])
    .map(({ applicationId, company }: CreditApplication) => ({
      id: sanitizeText(applicationId),
      name: company.name,
    }))
    .filter(({ id, name }) => [id, name].some((text) => text.toLowerCase().startsWith(start)))
    .map(({ id }) => id);
};
