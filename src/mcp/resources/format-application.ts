import type {
  AnyField,
  FormField,
  FormSection,
  SecondaryField,
} from "../../contract/credit-form.ts";
import type { CreditApplicationDetail } from "../../contract/operations/credit-applications.ts";
import type { Fields } from "../results/budget.ts";

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
export const formatApplication = (application: CreditApplicationDetail): Fields => {
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
