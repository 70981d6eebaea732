import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import type { CallArguments, Operation } from "../../contract/operation.ts";
import type { CreditApplicationDetail } from "../../contract/operations/credit-applications.ts";
import { maskSensitiveAnswers } from "../../contract/sensitive-answers.ts";
import { DAY, formatDay } from "../../kit/clock.ts";
import type { CallerContext } from "../caller.ts";
import { type Fields, truncateToBudget } from "../results/budget.ts";
import { type Paging, readList } from "../results/pages.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { listBudget } from "../results/answer.ts";
import { describeRest, MARGIN_TOKENS, otherList, partOfRecord, readWhole } from "./part.ts";
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

const formatSections = (sections: readonly FormSection[]) =>
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
const formatApplication = (application: CreditApplicationDetail) => {
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

const LISTED = "applications";

export const readRecentApplications = async (
  context: CallerContext,
  options: CallOptions,
  paging: Paging,
): Promise<Fields> => {
  const { broker, now, settings } = context;
  if (paging.from !== null && paging.from.part !== LISTED) throw otherList();
  const query = buildRecentQuery(now());
  const readPage = (page: CallArguments) => broker.call<Operation>(operations.list, page, options);
  const from = paging.from?.position ?? null;
  const limits = { from, budget: listBudget(settings.answerTokens), now };
  const { items, beside, position } = await readList(operations.list, query, readPage, limits);
  return { ...query, [LISTED]: items, ...beside, ...describeRest(paging, LISTED, position) };
};

/** Returns each question of an application's forms with the form and section that it belongs to. */
const listQuestions = (forms: ReturnType<typeof formatApplication>["forms"]): Fields[] =>
  forms.flatMap(({ form, sections }) =>
    sections.flatMap(({ section, questions }) =>
      questions.map((question) => ({ form, section, ...question })),
    ),
  );

/**
 * Reads an application as a person does. Where it is too large for an answer, its questions become one list, and its
 * references others.
 */
export const readApplication = async (
  context: CallerContext,
  applicationId: string,
  options: CallOptions,
  paging: Paging,
): Promise<Fields> => {
  const { output } = await context.broker.call(operations.get, { applicationId }, options);
  const masked = maskSensitiveAnswers(output);
  const whole = formatApplication(masked);
  const { record, cut } = truncateToBudget(whole, context.settings.answerTokens - MARGIN_TOKENS);
  if (!cut && paging.from === null) return { ...record, truncated: false };
  const { application, formName, forms, tradeReferences, bankReferences } = whole;
  const pages = await readWhole(context, paging, {
    record: { name: "application", read: async () => ({ ...application, formName }) },
    lists: {
      questions: partOfRecord(async () => listQuestions(forms)),
      tradeReferences: partOfRecord(async () => tradeReferences),
      bankReferences: partOfRecord(async () => bankReferences),
    },
  });
  return { ...pages, truncated: true };
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
