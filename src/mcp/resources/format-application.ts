import type {
  AnyField,
  FormField,
  FormSection,
  SecondaryField,
} from "../../contract/credit-form.ts";
import type { CreditApplicationDetail } from "../../contract/operations/credit-applications.ts";
import type { Fields } from "../results/budget.ts";

/** What is in use, in the order in which it is shown. */
const shown = <P extends { status: string; position?: number }>(parts: readonly P[]): P[] =>
  parts
    .filter(({ status }) => status !== "Disabled")
    .toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));

const answersOf = ({ answerDetails }: AnyField): Fields => {
  const answers = answerDetails.toSorted((a, b) => a.index - b.index).map(({ answer }) => answer);
  return answers.length > 1 ? { answers } : { answer: answers[0] ?? null };
};

const under = (name: string, parts: readonly Fields[]): Fields =>
  parts.length === 0 ? {} : { [name]: parts };

const question = (field: AnyField): Fields => ({
  question: field.displayName,
  ...answersOf(field),
});

const withSet = (field: SecondaryField | FormField): Fields => ({
  ...question(field),
  ...under("parts", shown(field.fieldsSet).map(question)),
});

const withSecondary = (field: FormField): Fields => {
  const secondary = field.hasSecondaryQuestions ? field.secondaryFields : [];
  return { ...withSet(field), ...under("secondary", shown(secondary).map(withSet)) };
};

const sectionsOf = (sections: readonly FormSection[]): Fields[] =>
  shown(sections).map(({ displayName, fieldsList }) => ({
    section: displayName,
    questions: shown(fieldsList).map(withSecondary),
  }));

type Reference = CreditApplicationDetail["tradeReferences" | "bankReferences"][number];

const reference = ({ sectionList, ...about }: Reference): Fields => ({
  ...about,
  sections: sectionsOf(sectionList),
});

/**
 * A credit application as a person reads it: who applies and how it stands; of its forms what is in use, in order,
 * each question with its answer and whatever follows from it; then the references.
 */
export const formatApplication = (application: CreditApplicationDetail): Fields => {
  const { applicationForm: form, tradeReferences, bankReferences, ...about } = application;
  return {
    application: about,
    formName: form?.formName ?? null,
    forms: shown(form?.formType ?? []).map(({ displayName, sectionList }) => ({
      form: displayName,
      sections: sectionsOf(sectionList),
    })),
    tradeReferences: tradeReferences.map(reference),
    bankReferences: bankReferences.map(reference),
  };
};
