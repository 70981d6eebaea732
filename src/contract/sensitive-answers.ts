import type { AnyField, FormField, FormSection, SecondaryField } from "./credit-form.ts";
import type { CreditApplicationDetail } from "./operations/credit-applications.ts";

/** What a reader without the right to change applications sees of tax ids and bank accounts: their last 4 characters. */

const VISIBLE_CHARACTERS = 4;
const MASK = "****";

const toSpacedWords = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N}#]+/gu, " ")
    .trim()
    .toLowerCase();

/** A name as words, however it is written: taxId, TAX_ID, tax-ids, EINNumber; without what nobody sees. */
const listReadings = (name: string): string[] => {
  const seen = name.normalize("NFKC").replace(/\p{Cf}/gu, "");
  const camel = seen.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2");
  // An abbreviation before a word, or in the plural: both readings count.
  return [camel, camel.replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")].map(toSpacedWords);
};

type NameTest = (words: string) => boolean;

const matchesAny = (name: string, ...tells: readonly NameTest[]): boolean =>
  listReadings(name).some((words) => tells.some((tell) => tell(words)));

const NUMBER = "id|ids|identifier|identification|number|numbers|num|no|nr|#";
const buildWordPattern = (words: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${words})(?![\\p{L}\\p{N}])`, "u");

const createWordTest = (words: string): NameTest => {
  const pattern = buildWordPattern(words);
  return (name) => pattern.test(name);
};

/** One of these words, and further on a word for a number; in two steps, because a name may be long. */
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

/** What is hidden of the answers that belong to a question: every one, or those that are numbers by name. */
type Hidden = "all" | "numbers" | undefined;

const findHiddenBySet = ({ fieldType, fieldsSet, displayName }: AnyField): Hidden => {
  // A field with members is a set, whatever its type is called.
  const own = fieldsSet.length > 0 ? displayName : "";
  const names = [fieldType?.displayName ?? "", fieldType?.fieldSetsId ?? "", own];
  if (names.some((name) => matchesAny(name, isTaxSetName))) return "all";
  return names.some((name) => matchesAny(name, isBankSetName)) ? "numbers" : undefined;
};

const isSensitive = (field: AnyField, hidden: Hidden): boolean => {
  // What is answered for a whole set at once is answered for each of its members.
  if (hidden === "all" || findHiddenBySet(field) !== undefined) return true;
  const tells = [...TAX_TESTS, ...ACCOUNT_TESTS, ...(hidden === "numbers" ? [isNumberName] : [])];
  return matchesAny(field.displayName, ...tells) || matchesAny(field.name ?? "", ...tells);
};

/** What follows from a question about a number is that number more often than not. */
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

/** The application with its sensitive answers masked; what is masked already stays as it is. */
export const maskSensitiveAnswers = (
  application: CreditApplicationDetail,
): CreditApplicationDetail => {
  const { applicationForm: form, tradeReferences, bankReferences } = application;
  const inSections = <R extends { sectionList: FormSection[] }>(part: R): R => ({
    ...part,
    sectionList: part.sectionList.map(maskSection),
  });
  return {
    ...application,
    applicationForm: form && { ...form, formType: form.formType.map(inSections) },
    tradeReferences: tradeReferences.map(inSections),
    bankReferences: bankReferences.map(inSections),
  };
};
