import { z } from "zod";
import { Timestamp } from "./fields.ts";

const text = z.string().nullable();
const unitIds = z.array(z.string()).meta({ description: "businessUnitsValuesIds" });

const Value = z.union([z.string(), z.number(), z.boolean()], {
  error: "must be text, a number, true or false",
});

/** Whether a part of a form is in use. */
export const PartStatus = z.string().meta({ description: "Active or Disabled" });

export const AnswerDetail = z.object({
  answer: Value.nullable(),
  index: z.int(),
  updated: z.union([z.boolean(), z.string()]).nullable(),
});

export const FieldType = z.object({
  fieldTypesId: z.string(),
  displayName: z.string(),
  fieldSetsId: z.string().optional(),
});

const fieldShape = {
  fieldsId: z.string(),
  position: z.int().meta({ description: "display order" }),
  displayName: z.string(),
  name: z.string().optional(),
  fieldType: FieldType.nullable(),
  required: z.boolean(),
  allowAdditionalAnswers: z.boolean(),
  answerDetails: z.array(AnswerDetail),
  value: Value.nullable(),
  values: z.array(Value),
  hasSecondaryQuestions: z.boolean(),
};

const statusAndUnits = { status: PartStatus, businessUnitIdList: unitIds };

// Secondary questions and members of a set have no secondary questions.
const emptyList = z.array(z.unknown()).max(0);

/** A member of a system-defined group of fields, such as an address. */
export const SetField = z.object({
  ...fieldShape,
  secondaryFields: emptyList,
  fieldsSet: emptyList,
  ...statusAndUnits,
});

/** A follow-up question that depends on the answer to another one. */
export const SecondaryField = z.object({
  ...fieldShape,
  secondaryFields: emptyList,
  fieldsSet: z.array(SetField),
  ...statusAndUnits,
});

export type SecondaryField = z.infer<typeof SecondaryField>;

export const FormField = z.object({
  ...fieldShape,
  secondaryFields: z.array(SecondaryField),
  fieldsSet: z.array(SetField),
  ...statusAndUnits,
});
export type FormField = z.infer<typeof FormField>;

/** A field at any level of a form. */
export type AnyField = z.infer<typeof SetField>;

export const FormSection = z.object({
  sectionId: z.string(),
  position: z.int().meta({ description: "display order" }),
  displayName: z.string(),
  status: PartStatus,
  businessUnitIdList: unitIds,
  fieldsList: z.array(FormField),
});
export type FormSection = z.infer<typeof FormSection>;

export const FormType = z.object({
  formTypesId: z.string(),
  displayName: z.string().meta({ description: "Internal Form or External Form" }),
  sectionList: z.array(FormSection),
  status: PartStatus,
});
export type FormType = z.infer<typeof FormType>;

export const ApplicationForm = z.object({
  formId: z.string(),
  formName: text,
  formType: z.array(FormType),
  businessUnitIdList: unitIds,
});

const referenceShape = {
  createdDate: Timestamp.nullable(),
  referenceName: text,
  referenceEmailAddress: text,
  sectionList: z.array(FormSection),
  submitted: z.boolean(),
  submitDate: Timestamp.nullable().meta({ description: "null until submitted" }),
};

export const TradeReference = z.object({ tradeReferenceId: z.string(), ...referenceShape });
export const BankReference = z.object({ bankReferenceId: z.string(), ...referenceShape });
