import type { AnyField, FormField, FormSection, SecondaryField } from "./credit-form.ts";

/** Masks tax ids and bank accounts in credit applications: readers without permission to change applications see the last 4 characters. */

const VISIBLE_CHARACTERS = 4;
const MASK = "****";

const toSpacedWords = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N}#]+/gu, " ")
    .trim()
    .toLowerCase();

/** Splits a field name into words in any notation (taxId, TAX_ID, tax-ids, EINNumber), without invisible characters. */
const listReadings = (name: string): string[] => {
  const visible = name.normalize("NFKC").replace(/\p{Cf}/gu, "");
  const camel = visible.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2");
  // `EINNumber` is "EIN Number" and `SSNs` is "SSNs", so both ways to split capitals are tested.
  return [camel, camel.replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")].map(toSpacedWords);
};

type NameTest = (words: string) => boolean;

const matchesAny = (name: string, ...tests: readonly NameTest[]): boolean =>
  listReadings(name).some((words) => tests.some((matches) => matches(words)));

const NUMBER = "id|ids|identifier|identification|number|numbers|num|no|nr|#";
const buildWordPattern = (words: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${words})(?![\\p{L}\\p{N}])`, "u");

const createWordTest = (words: string): NameTest => {
  const pattern = buildWordPattern(words);
  return (name) => pattern.test(name);
};

/** Tests for one of the words followed by a word for "number". Two patterns keep the time linear for long names. */
const createNumberTest = (words: string): NameTest => {
  const [pattern, number] = [buildWordPattern(words), buildWordPattern(NUMBER)];
  return (name) => {
    const found = pattern.exec(name);
    return found !== null && number.test(name.slice(found.index + found[0].length));
  };
};

const TAX_TESTS: readonly NameTest[] = [
  createNumberTest("tax|taxpayer|vat|gst|hst|federal|employer|social insurance"),
  createWordTest(
    "tax ?id(?:number|no)?|tax(?:number|no)|ein|fein|tin|itin|ssn|abn|social security",
  ),
  createWordTest("steuernummer|steuer ?id|u ?st ?id(?: ?nr)?|nif|rfc|cnpj|cpf|partita iva"),
  (name) => name === "vat",
];
const ACCOUNT_TESTS: readonly NameTest[] = [
  createNumberTest("accounts?|acct|a c"),
  createWordTest("(?:bank|checking|savings|deposit) ?(?:accounts?|acct)|current account"),
  createWordTest("(?:bank)?account(?:number|no|id)|iban|bban|kontonummer"),
];
const isNumberName = createWordTest(NUMBER);
const isTaxSetName = createWordTest("tax ?ids?");
const isBankSetName = createWordTest("bank");

/** The answers below a question that are masked: all, or those whose name is a number. */
type Hidden = "all" | "numbers" | undefined;

const findHiddenBySet = ({ fieldType, fieldsSet, displayName }: AnyField): Hidden => {
  // A field with members is a set, so its own name is tested too.
  const own = fieldsSet.length > 0 ? displayName : "";
  const names = [fieldType?.displayName ?? "", fieldType?.fieldSetsId ?? "", own];
  if (names.some((name) => matchesAny(name, isTaxSetName))) return "all";
  return names.some((name) => matchesAny(name, isBankSetName)) ? "numbers" : undefined;
};

const isSensitive = (field: AnyField, hidden: Hidden): boolean => {
  // An answer of a whole set contains the answers of its members.
  if (hidden === "all" || findHiddenBySet(field) !== undefined) return true;
  const tests = [...TAX_TESTS, ...ACCOUNT_TESTS, ...(hidden === "numbers" ? [isNumberName] : [])];
  return matchesAny(field.displayName, ...tests) || matchesAny(field.name ?? "", ...tests);
};

/** Follow-up questions of a sensitive question usually ask for the number itself, so all their answers are masked. */
const findHiddenBelow = (field: AnyField, hidden: Hidden): Hidden =>
  findHiddenBySet(field) ?? (isSensitive(field, hidden) ? "all" : undefined);

const MASKED = /^\*{4}[\p{L}\p{N}]{0,4}$/u;
const YES_OR_NO = /^(?:yes|no|true|false|)$/i;

const maskValue = <T extends string | number | boolean | null>(value: T): T | string => {
  const text = String(value ?? "");
  if (YES_OR_NO.test(text) || MASKED.test(text)) return value;
  const characters = text.match(/[\p{L}\p{N}]/gu) ?? [];
  return characters.length > VISIBLE_CHARACTERS
    ? `${MASK}${characters.slice(-VISIBLE_CHARACTERS).join("")}`
    : MASK;
};

const maskField = <F extends AnyField>(field: F, hidden: Hidden): F =>
  isSensitive(field, hidden)
    ? {
        ...field,
        answerDetails: field.answerDetails.map((one) => ({
          ...one,
          answer: maskValue(one.answer),
        })),
        value: maskValue(field.value),
        values: field.values.map(maskValue),
      }
    : field;

const maskFieldWithSet = <F extends SecondaryField | FormField>(field: F, hidden?: Hidden): F => ({
  ...maskField(field, hidden),
  fieldsSet: field.fieldsSet.map((one) => maskField(one, findHiddenBelow(field, hidden))),
});

const maskFormField = (field: FormField): FormField => ({
  ...maskFieldWithSet(field),
  secondaryFields: field.secondaryFields.map((one) =>
    maskFieldWithSet(one, findHiddenBelow(field, undefined)),
  ),
});

const maskSection = (section: FormSection): FormSection => ({
  ...section,
  fieldsList: section.fieldsList.map(maskFormField),
});

type Part = { sectionList: FormSection[] };
type Application = {
  applicationForm: { formType: readonly Part[] } | null;
  tradeReferences: readonly Part[];
  bankReferences: readonly Part[];
};

/** Returns the application with its sensitive answers masked; masking twice has no further effect. */
export const maskSensitiveAnswers = <A extends Application>(application: A): A => {
  const { applicationForm: form, tradeReferences, bankReferences } = application;
  const maskPart = <P extends Part>(part: P): P => ({
    ...part,
    sectionList: part.sectionList.map(maskSection),
  });
  return {
    ...application,
    applicationForm: form && { ...form, formType: form.formType.map(maskPart) },
    tradeReferences: tradeReferences.map(maskPart),
    bankReferences: bankReferences.map(maskPart),
  };
};
