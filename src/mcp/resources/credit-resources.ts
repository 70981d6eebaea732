import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import type { CallArguments, Operation } from "../../contract/operation.ts";
import type { CreditApplicationDetail } from "../../contract/operations/credit-applications.ts";
import { maskSensitiveAnswers } from "../../contract/sensitive-answers.ts";
import { DAY, formatDay } from "../../kit/clock.ts";
import type { CallerContext } from "../caller.ts";
import { type Fields, truncateToBudget } from "../results/budget.ts";
import { readList } from "../results/pages.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { budgetOf } from "./part.ts";
import type {
  AnyField,
  FormField,
  FormSection,
  SecondaryField,
} from "../../contract/credit-form.ts";

/** Returns the enabled parts of a form in their order. */
const listEnabled = <P extends { status: string; position?: number }>(parts: readonly P[]): P[] =>
  parts
    .filter(({ status }) => status !== "Disabled")
    .toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));

const formatAnswers = ({ answerDetails }: AnyField): Fields => {
  const answers = answerDetails.toSorted((a, b) => a.index - b.index).map(({ answer }) => answer);
  return answers.length > 1 ? { answers } : { answer: answers[0] ?? null };
};

const optionalList = (name: string, parts: readonly Fields[]): Fields =>
  parts.length === 0 ? {} : { [name]: parts };

const formatQuestion = (field: AnyField): Fields => ({
  question: field.displayName,
  ...formatAnswers(field),
});

const formatWithSet = (field: SecondaryField | FormField): Fields => ({
  ...formatQuestion(field),
  ...optionalList("parts", listEnabled(field.fieldsSet).map(formatQuestion)),
});

const formatField = (field: FormField): Fields => {
  const secondary = field.hasSecondaryQuestions ? field.secondaryFields : [];
  return {
    ...formatWithSet(field),
    ...optionalList("secondary", listEnabled(secondary).map(formatWithSet)),
  };
};

const formatSections = (sections: readonly FormSection[]): Fields[] =>
  listEnabled(sections).map(({ displayName, fieldsList }) => ({
    section: displayName,
    questions: listEnabled(fieldsList).map(formatField),
  }));

type Reference = CreditApplicationDetail["tradeReferences" | "bankReferences"][number];

const formatReference = ({ sectionList, ...about }: Reference): Fields => ({
  ...about,
  sections: formatSections(sectionList),
});

/**
 * Formats a credit application for reading: its fields; the enabled parts of its forms in order, each question with its
 * answer and secondary questions; then the references.
 */
const formatApplication = (application: CreditApplicationDetail): Fields => {
  const { applicationForm: form, tradeReferences, bankReferences, ...about } = application;
  return {
    application: about,
    formName: form?.formName ?? null,
    forms: listEnabled(form?.formType ?? []).map(({ displayName, sectionList }) => ({
      form: displayName,
      sections: formatSections(sectionList),
    })),
    tradeReferences: tradeReferences.map(formatReference),
    bankReferences: bankReferences.map(formatReference),
  };
};

const { credit_applications: operations } = contract;
const RECENT_DAYS = 90;

/** The query for the applications that were modified in the last 90 days. */
const buildRecentQuery = (now: number) => ({
  activityType: "LASTMODIFIED" as const,
  startDate: formatDay(now - RECENT_DAYS * DAY),
  endDate: formatDay(now),
});

export const readRecentApplications = async (
  context: CallerContext,
  options: CallOptions,
): Promise<Fields> => {
  const { broker, now } = context;
  const query = buildRecentQuery(now());
  const readPage = (page: CallArguments) => broker.call<Operation>(operations.list, page, options);
  const limits = { from: null, budget: budgetOf(context), now };
  const { items, beside, position } = await readList(operations.list, query, readPage, limits);
  return { ...query, applications: items, ...beside, truncated: position !== null };
};

export const readApplication = async (
  context: CallerContext,
  applicationId: string,
  options: CallOptions,
): Promise<Fields> => {
  const { output } = await context.broker.call(operations.get, { applicationId }, options);
  const masked = maskSensitiveAnswers(output);
  const { record, cut } = truncateToBudget(formatApplication(masked), budgetOf(context));
  return { ...record, truncated: cut };
};

const MAX_SEARCHED = 100;

/** Returns ids of recent applications, last modified first, whose id or buyer's name begins with the typed text. */
export const completeApplication = async (
  { broker, now }: CallerContext,
  typed: string,
  options: CallOptions,
): Promise<string[]> => {
  const args = { ...buildRecentQuery(now()), page: 1, pageSize: MAX_SEARCHED };
  const { output } = await broker.call(operations.list, args, options);
  const start = typed.toLowerCase();
  return output.applications
    .map(({ applicationId, company }) => ({
      id: sanitizeText(applicationId, "stored"),
      name: company.name,
    }))
    .filter(({ id, name }) => [id, name].some((text) => text.toLowerCase().startsWith(start)))
    .map(({ id }) => id);
};
