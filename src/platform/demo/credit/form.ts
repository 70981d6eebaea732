import type {
  AnyField,
  ApplicationForm,
  FormField,
  FormSection,
  FormType,
} from "../../../contract/credit-form.ts";
import type { z } from "zod";
import type { Dice } from "../dice.ts";

type Answer = string | number | boolean;

/** A question, and what was answered; nothing where nobody has come to it yet. */
export type Question = {
  name: string;
  type: string;
  answers?: readonly Answer[];
  required?: true;
  many?: true;
  /** Not asked any more. */
  disabled?: true;
  /** The questions that follow from the answer. */
  secondary?: readonly Question[];
  /** The members of a set such as an address. */
  set?: { id: string; members: readonly Question[] };
};

export type Part = { name: string; questions: readonly Question[]; disabled?: true };

// Answers of a form are filled in at once.
const UPDATED = true;

const statusOf = ({ disabled }: { disabled?: true }): string =>
  disabled === true ? "Disabled" : "Active";

const answersOf = ({ answers = [], required }: Question): AnyField["answerDetails"] => {
  if (answers.length === 0 && required === true) {
    return [{ answer: null, index: 0, updated: null }];
  }
  return answers.map((answer, index) => ({ answer, index, updated: UPDATED }));
};

const leaf = (dice: Dice, question: Question, place: number): AnyField & { fieldsSet: never[] } => {
  const { name, type, answers = [], many = false, required = false, set } = question;
  return {
    fieldsId: dice.id(),
    position: place + 1,
    displayName: name,
    fieldType: {
      fieldTypesId: type.toLowerCase().replaceAll(" ", "-"),
      displayName: type,
      ...(set === undefined ? {} : { fieldSetsId: set.id }),
    },
    required,
    allowAdditionalAnswers: many,
    answerDetails: answersOf(question),
    value: many ? null : (answers[0] ?? null),
    values: many ? [...answers] : [],
    hasSecondaryQuestions: false,
    secondaryFields: [],
    fieldsSet: [],
    status: statusOf(question),
    businessUnitIdList: [],
  };
};

const field = (dice: Dice, question: Question, place: number): FormField => {
  const { secondary = [], set } = question;
  return {
    ...leaf(dice, question, place),
    hasSecondaryQuestions: secondary.length > 0,
    secondaryFields: secondary.map((next, index) => leaf(dice, next, index)),
    fieldsSet: (set?.members ?? []).map((member, index) => leaf(dice, member, index)),
  };
};

export const section = (dice: Dice, part: Part, place: number): FormSection => ({
  sectionId: dice.id(),
  position: place + 1,
  displayName: part.name,
  status: statusOf(part),
  businessUnitIdList: [],
  fieldsList: part.questions.map((question, index) => field(dice, question, index)),
});

const formType = (dice: Dice, displayName: string, parts: readonly Part[]): FormType => ({
  formTypesId: dice.id(),
  displayName,
  sectionList: parts.map((part, place) => section(dice, part, place)),
  status: "Active",
});

/** The form as the buyer and the seller have filled it. */
export const form = (
  dice: Dice,
  { external, internal, unitIds }: { external: Part[]; internal: Part[]; unitIds: string[] },
): z.infer<typeof ApplicationForm> => ({
  formId: dice.id(),
  formName: "Credit Application",
  formType: [formType(dice, "External Form", external), formType(dice, "Internal Form", internal)],
  businessUnitIdList: unitIds,
});
