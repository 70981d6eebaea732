import type { AnyField, FormField, FormSection, SecondaryField } from "./credit-form.ts";
import type { CreditApplicationDetail } from "./operations/credit-applications.ts";

/** What a reader without the right to change applications sees of tax ids and bank accounts: their last 4 characters. */

const SHOWN = 4;
const MASK = "****";

const spaced = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N}#]+/gu, " ")
    .trim()
    .toLowerCase();

/** A name as words, however it is written: taxId, TAX_ID, tax-ids, EINNumber; without what nobody sees. */
const readingsOf = (name: string): string[] => {
  const seen = name.normalize("NFKC").replace(/\p{Cf}/gu, "");
  const camel = seen.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2");
  // An abbreviation before a word, or in the plural: both readings count.
  return [camel, camel.replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")].map(spaced);
};

type Tells = (words: string) => boolean;

const reads = (name: string, ...tells: readonly Tells[]): boolean =>
  readingsOf(name).some((words) => tells.some((tell) => tell(words)));

const NUMBER = "id|ids|identifier|identification|number|numbers|num|no|nr|#";
const alone = (words: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${words})(?![\\p{L}\\p{N}])`, "u");

const has = (words: string): Tells => {
  const pattern = alone(words);
  return (name) => pattern.test(name);
};

/** One of these words, and further on a word for a number; in two steps, because a name may be long. */
const numbered = (words: string): Tells => {
  const [pattern, number] = [alone(words), alone(NUMBER)];
  return (name) => {
    const found = pattern.exec(name);
    return found !== null && number.test(name.slice(found.index + found[0].length));
  };
};

const TAX: readonly Tells[] = [
  numbered("tax|taxpayer|vat|gst|hst|federal|employer|social insurance"),
  has("tax ?id(?:number|no)?|tax(?:number|no)|ein|fein|tin|itin|ssn|abn|social security"),
  has("steuernummer|steuer ?id|u ?st ?id(?: ?nr)?|nif|rfc|cnpj|cpf|partita iva"),
  (name) => name === "vat",
];
const ACCOUNT: readonly Tells[] = [
  numbered("accounts?|acct|a c"),
  has("(?:bank|checking|savings|deposit) ?(?:accounts?|acct)|current account"),
  has("(?:bank)?account(?:number|no|id)|iban|bban|kontonummer"),
];
const ANY_NUMBER = has(NUMBER);
const TAX_SET = has("tax ?ids?");
const BANK_SET = has("bank");

/** What is hidden of the answers that belong to a question: every one, or those that are numbers by name. */
type Hidden = "all" | "numbers" | undefined;

const inSet = ({ fieldType, fieldsSet, displayName }: AnyField): Hidden => {
  // A field with members is a set, whatever its type is called.
  const own = fieldsSet.length > 0 ? displayName : "";
  const names = [fieldType?.displayName ?? "", fieldType?.fieldSetsId ?? "", own];
  if (names.some((name) => reads(name, TAX_SET))) return "all";
  return names.some((name) => reads(name, BANK_SET)) ? "numbers" : undefined;
};

const isSensitive = (field: AnyField, hidden: Hidden): boolean => {
  // What is answered for a whole set at once is answered for each of its members.
  if (hidden === "all" || inSet(field) !== undefined) return true;
  const tells = [...TAX, ...ACCOUNT, ...(hidden === "numbers" ? [ANY_NUMBER] : [])];
  return reads(field.displayName, ...tells) || reads(field.name ?? "", ...tells);
};

/** What follows from a question about a number is that number more often than not. */
const below = (field: AnyField, hidden: Hidden): Hidden =>
  inSet(field) ?? (isSensitive(field, hidden) ? "all" : undefined);

const MASKED = /^\*{4}[\p{L}\p{N}]{0,4}$/u;
const YES_OR_NO = /^(?:yes|no|true|false|)$/i;

const masked = <T extends string | number | boolean | null>(value: T): T | string => {
  const text = String(value ?? "");
  if (YES_OR_NO.test(text) || MASKED.test(text)) return value;
  const characters = text.match(/[\p{L}\p{N}]/gu) ?? [];
  return characters.length > SHOWN ? `${MASK}${characters.slice(-SHOWN).join("")}` : MASK;
};

const hiding = <F extends AnyField>(field: F, hidden: Hidden): F =>
  isSensitive(field, hidden)
    ? {
        ...field,
        answerDetails: field.answerDetails.map((one) => ({ ...one, answer: masked(one.answer) })),
        value: masked(field.value),
        values: field.values.map(masked),
      }
    : field;

const withSet = <F extends SecondaryField | FormField>(field: F, hidden?: Hidden): F => ({
  ...hiding(field, hidden),
  fieldsSet: field.fieldsSet.map((one) => hiding(one, below(field, hidden))),
});

const inField = (field: FormField): FormField => ({
  ...withSet(field),
  secondaryFields: field.secondaryFields.map((one) => withSet(one, below(field, undefined))),
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
