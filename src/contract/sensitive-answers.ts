import type { AnyField, FormField, FormSection, SecondaryField } from "./credit-form.ts";
import type { CreditApplicationDetail } from "./operations/credit-applications.ts";

/** What a reader without the right to change applications sees of tax ids and bank accounts: their last 4 characters. */

const SHOWN = 4;
const MASK = "****";

// Words apart, however a name is written: taxId, TAX_ID, tax-id.
const wordsOf = (name: string): string =>
  name
    .normalize("NFKC")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/[^\p{L}\p{N}#]+/gu, " ")
    .toLowerCase();

const NUMBER = "(?:id|ids|identifier|identification|number|numbers|num|no|nr|#)";
const numbered = (words: string): string =>
  `\\b(?:${words})\\b.*(?<![\\p{L}\\p{N}])${NUMBER}(?![\\p{L}\\p{N}])`;
const TAX = new RegExp(
  [
    numbered("tax|taxpayer|vat|gst|hst|federal|employer|social insurance"),
    String.raw`\b(?:taxid|ein|fein|tin|itin|ssn|abn|social security)\b`,
    String.raw`^vat$`,
  ].join("|"),
  "u",
);
const ACCOUNT = new RegExp(
  [numbered("accounts?|acct"), String.raw`\b(?:bank accounts?|iban|bban)\b`].join("|"),
  "u",
);
const ANY_NUMBER = new RegExp(`(?<![\\p{L}\\p{N}])${NUMBER}(?![\\p{L}\\p{N}])`, "u");
const TAX_SET = /\btax ?ids?\b/u;
const BANK_SET = /\bbank\b/u;

type Set = "tax" | "bank" | undefined;

/** What names a set; a field with members is one, whatever its type is called. */
const setName = ({ fieldType, fieldsSet, displayName }: AnyField): string =>
  wordsOf(
    [
      fieldType?.displayName ?? "",
      fieldType?.fieldSetsId ?? "",
      fieldsSet.length > 0 ? displayName : "",
    ].join(" "),
  );

/** Which of the sets with sensitive members a field is. */
const setOf = (field: AnyField): Set => {
  const name = setName(field);
  if (TAX_SET.test(name)) return "tax";
  return BANK_SET.test(name) ? "bank" : undefined;
};

const isSensitive = (field: AnyField, within: Set): boolean => {
  // What is answered for a whole set at once is answered for each of its members.
  if (within === "tax" || setOf(field) !== undefined) return true;
  const names = [field.displayName, field.name ?? ""].map(wordsOf).map((name) => name.trim());
  const patterns = within === "bank" ? [TAX, ACCOUNT, ANY_NUMBER] : [TAX, ACCOUNT];
  return names.some((name) => patterns.some((pattern) => pattern.test(name)));
};

const MASKED = /^\*{4}[\p{L}\p{N}]{0,4}$/u;

const masked = <T extends string | number | boolean | null>(value: T): T | string => {
  if (value === null || typeof value === "boolean" || MASKED.test(String(value))) return value;
  const characters = String(value).match(/[\p{L}\p{N}]/gu) ?? [];
  return characters.length > SHOWN ? `${MASK}${characters.slice(-SHOWN).join("")}` : MASK;
};

const hiding = <F extends AnyField>(field: F, within?: Set): F =>
  isSensitive(field, within)
    ? {
        ...field,
        answerDetails: field.answerDetails.map((one) => ({ ...one, answer: masked(one.answer) })),
        value: masked(field.value),
        values: field.values.map(masked),
      }
    : field;

const withSet = <F extends SecondaryField | FormField>(field: F): F => ({
  ...hiding(field),
  fieldsSet: field.fieldsSet.map((one) => hiding(one, setOf(field))),
});

const inField = (field: FormField): FormField => ({
  ...withSet(field),
  secondaryFields: field.secondaryFields.map(withSet),
});

const inSection = (section: FormSection): FormSection => ({
  ...section,
  fieldsList: section.fieldsList.map(inField),
});

/** The application with its sensitive answers masked; what is masked already stays as it is. */
export const withoutSensitiveAnswers = (
  application: CreditApplicationDetail,
): CreditApplicationDetail => {
  const { applicationForm: form, tradeReferences, bankReferences } = application;
  const inSections = <R extends { sectionList: FormSection[] }>(part: R): R => ({
    ...part,
    sectionList: part.sectionList.map(inSection),
  });
  return {
    ...application,
    applicationForm: form && { ...form, formType: form.formType.map(inSections) },
    tradeReferences: tradeReferences.map(inSections),
    bankReferences: bankReferences.map(inSections),
  };
};
