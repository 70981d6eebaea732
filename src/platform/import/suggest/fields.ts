import { isBlank, toText } from "../cells.ts";
import { isCurrency } from "../currencies.ts";
import { parseDayPattern } from "../dates.ts";
import type { Fields } from "../fields.ts";
import type { NumberForm } from "../numbers.ts";
import { AMOUNTS, type Concept, DAYS, findCodes, findConcept } from "./headings.ts";
import type { Plan } from "./plans.ts";
import { listRecords, type Sample } from "./sample.ts";
import {
  choosePattern,
  collectUsed,
  type DayForms,
  findDayForms,
  findDocumentTypes,
  findNumberForms,
  findOrder,
  findSignMarks,
  findStatuses,
  hasDigits,
  hasOneTotal,
  isSigned,
  isSorted,
  type NumberForms,
  type Values,
} from "./values.ts";

type Column = {
  name: string;
  concept: Concept | undefined;
  values: Values;
  /** Whether every record has a value. */
  isFilled: boolean;
  days: DayForms | undefined;
  numbers: NumberForms | undefined;
};

export type Proposal = {
  map: Record<string, unknown>;
  used: ReadonlySet<string>;
  notes: string[];
};

type ProposeNeeds = {
  sample: Sample;
  plan: Plan;
  fields: Fields;
  kind: string;
  currency: string | undefined;
};

/** Corrects what the heading says by what the values are. */
const adjustConcept = (column: Column): Concept | undefined => {
  const { concept, values, days, numbers } = column;
  if (values.length === 0) return concept;
  const codes = values.map((value) => (typeof value === "string" ? value.trim() : ""));
  if (codes.every(isCurrency)) return "currency";
  if (concept === "currency")
    return codes.every((code) => isCurrency(code.toUpperCase())) ? concept : undefined;
  const canBeSign = ["sign", "documentType", "debit", "credit", undefined].includes(concept);
  if (canBeSign && findSignMarks(values) !== undefined) return "sign";
  if (concept === "sign") return undefined;
  if (DAYS.has(concept) && days === undefined) return undefined;
  if (AMOUNTS.has(concept) && numbers === undefined) return undefined;
  return concept;
};

const readColumns = (sample: Sample, kind: string): Column[] => {
  const records = listRecords(sample);
  return sample.names.flatMap((name, place): Column[] => {
    const isOnly = sample.names.indexOf(name) === sample.names.lastIndexOf(name);
    if (name === "" || !isOnly) return [];
    const values = records.map((cells) => cells[place]).filter((value) => !isBlank(value));
    const found = {
      name,
      concept: findConcept(name),
      values,
      isFilled: values.length === records.length,
      days: findDayForms(values),
      numbers: findNumberForms(values),
    };
    const concept = adjustConcept(found);
    // In a list of payments, customers without digits are names.
    const isName = kind === "payments" && concept === "accountNumber" && !values.some(hasDigits);
    return [{ ...found, concept: isName && values.length > 0 ? "customerName" : concept }];
  });
};

const find = (columns: readonly Column[], concept: Concept): Column | undefined =>
  columns.find((column) => column.concept === concept);

/** Chooses how the file writes numbers, if not plainly; ambiguous files get a note. */
const chooseForm = (
  columns: readonly Column[],
  { delimiter }: Sample,
  notes: string[],
): NumberForm | undefined => {
  const written = columns
    .filter(({ concept }) => AMOUNTS.has(concept))
    .flatMap(({ numbers }) => numbers ?? []);
  if (written.every(({ isPlain }) => isPlain)) return undefined;
  const shared = ([".", ","] as const).filter((decimal) =>
    written.every(({ forms, isPlain }) =>
      isPlain ? decimal === "." : forms.some((form) => form.decimal === decimal),
    ),
  );
  const likely = delimiter === ";" ? "," : ".";
  const decimal = shared.length === 2 ? likely : (shared[0] ?? likely);
  if (shared.length === 2) {
    notes.push(
      `The numbers can be read with "." or with "," before decimals; "${decimal}" is proposed. Check the preview.`,
    );
  }
  const forms = written.flatMap((one) => one.forms.filter((form) => form.decimal === decimal));
  const thousands = forms.map((form) => form.thousands).find((sign) => sign !== undefined);
  const negative = forms.map((form) => form.negative).find((sign) => sign !== undefined);
  return {
    decimal,
    ...(thousands === undefined ? {} : { thousands }),
    ...(negative === undefined ? {} : { negative }),
  };
};

const parse = (pattern: string | undefined) =>
  pattern === undefined ? undefined : parseDayPattern(pattern);

/** Finds the order of day and month in which the rows are sorted, if it is one order only. */
const findSortedOrder = (columns: readonly Column[]): "day" | "month" | undefined => {
  const sorted = (["day", "month"] as const).filter((order) =>
    columns.every(({ days, values }) => {
      const pattern = days && parse(choosePattern(days, order));
      return pattern === undefined || isSorted(values, pattern);
    }),
  );
  return sorted.length === 1 ? sorted[0] : undefined;
};

/** Chooses the order of day and month; an ambiguous one gets a note. */
const chooseOrder = (
  columns: readonly Column[],
  { form, currency }: { form: NumberForm | undefined; currency: unknown },
  notes: string[],
): "day" | "month" => {
  const dated = columns.filter(({ concept, days }) => DAYS.has(concept) && days?.isIso === false);
  const orders = dated.flatMap(({ days }) => (days === undefined ? [] : (findOrder(days) ?? [])));
  const [firstOrder] = orders;
  if (firstOrder !== undefined) return firstOrder;
  if (dated.length === 0) return "day";
  const isPointed = dated.every(({ values }) =>
    values.every((value) => /^\d+\./.test(String(value))),
  );
  if (isPointed || form?.decimal === ",") return "day";
  const sorted = findSortedOrder(dated);
  const order = sorted ?? (currency === "USD" ? "month" : "day");
  notes.push(
    `The dates can be read with the day or the month first; the ${order} first is proposed` +
      `${sorted === undefined ? "" : ", because the rows are in order so"}. Check the preview.`,
  );
  return order;
};

const SIGNS: readonly [sign: RegExp, currency: string][] = [
  [/€/, "EUR"],
  [/£/, "GBP"],
  [/₹/, "INR"],
  [/\bCHF\b|\bFr\./, "CHF"],
  [/US\$/, "USD"],
];

/** Finds the currency of a file without a column of it: in headings, in lines above the header, or beside amounts. */
const findCurrency = (
  columns: readonly Column[],
  { names, above }: Sample,
  given: string | undefined,
  notes: string[],
): string | undefined => {
  const amounts = columns.filter(({ concept }) => AMOUNTS.has(concept));
  const values = amounts.flatMap((column) => column.values.slice(0, 20).map(String));
  const places = [names.join(" "), above.join(" "), values.join(" ")];
  for (const place of places) {
    const codes = [...new Set(findCodes(place).filter(isCurrency))];
    const signs = SIGNS.filter(([sign]) => sign.test(place)).map(([, currency]) => currency);
    const [code, ...others] = codes.length > 0 ? codes : [...new Set(signs)];
    if (code === undefined || others.length > 0) continue;
    notes.push(`The currency ${code} is taken from the file's texts, not from a column.`);
    return code;
  }
  if (given !== undefined) notes.push(`The file names no currency; ${given} is proposed.`);
  return given;
};

/** Creates the entry of a field for a column. */
const createEntry = (
  column: Column,
  columns: readonly Column[],
  spec: { isAmount: boolean; isMain: boolean; negativeMark: "DR" | "CR" },
  order: "day" | "month",
): unknown => {
  const { name, days } = column;
  if (DAYS.has(column.concept) && days !== undefined && !days.isIso) {
    return { column: name, date: choosePattern(days, order) };
  }
  const sign = find(columns, "sign");
  const marks = sign && findSignMarks(sign.values);
  if (!spec.isAmount || !spec.isMain || sign === undefined || marks === undefined) return name;
  const [negative, positive] =
    spec.negativeMark === "DR" ? [marks.debit, marks.credit] : [marks.credit, marks.debit];
  if (negative.length === 0) return name;
  return { column: name, signFrom: { column: sign.name, negative, positive } };
};

/** Creates the entry of a text: of several columns, for instance a kind of booking and a purpose, all are kept. */
const createText = (first: Column, columns: readonly Column[]): unknown => {
  const names = columns.flatMap(({ name, concept }) => (concept === "text" ? [name] : []));
  return first.concept === "text" && names.length > 1 ? { join: names, with: " " } : first.name;
};

/** In a list of an account, amounts below zero are debits; in a register with numbers of payments, they are returns. */
const fillSigned = ({ columns, fields, map, notes }: State): void => {
  const name = [...fields].find(([, { role }]) => role === "amount")?.[0] ?? "";
  const column = columns.find((one) => one.name === map[name]);
  if (column?.numbers === undefined || !isSigned(column.values)) return;
  const numbers: readonly (Concept | undefined)[] = ["paymentId", "documentNumber"];
  const [debits, returns] = [{ credit: column.name }, column.name].map((one) =>
    JSON.stringify({ [name]: one }),
  );
  const isList = !columns.some(({ concept, isFilled }) => isFilled && numbers.includes(concept));
  if (isList) map[name] = { credit: column.name };
  notes.push(
    isList
      ? `Amounts below zero are debits of the account, and left out; if they are returns of payments: ${returns}.`
      : `Amounts below zero are returns of payments; if they are debits of the account: ${debits}.`,
  );
};

const isIdRepeated = (id: Column | undefined): boolean =>
  id !== undefined && new Set(id.values.map(toText)).size < id.values.length;

/**
 * A repeated reference, or a column in which payments have blank cells, names no payment, unless the rows are about
 * documents.
 */
const isNoKey = (column: Column, columns: readonly Column[], kind: string): boolean => {
  if (find(columns, "documentNumber") !== undefined) return false;
  const isWeak = column.concept === "reference" || column.concept === "id";
  return (kind === "payments" && !column.isFilled) || (isWeak && isIdRepeated(column));
};

type State = {
  columns: readonly Column[];
  fields: Fields;
  map: Record<string, unknown>;
  notes: string[];
};

/** Fills the amount from columns for debits and credits. */
const fillDebitCredit = ({ columns, fields, map }: State, plan: Plan): void => {
  const [debit, credit] = [find(columns, "debit")?.name, find(columns, "credit")?.name];
  if (debit === undefined && credit === undefined) return;
  for (const [name] of plan) {
    const isMain = fields.get(name)?.role === "amount";
    if (!isMain || Object.hasOwn(map, name)) continue;
    map[name] = { ...(debit && { debit }), ...(credit && { credit }) };
  }
};

const valuesOf = (columns: readonly Column[], columnName: unknown): Values =>
  columns.find(({ name }) => name === columnName)?.values ?? [];

const LONGEST_PART = 140;

const isShort = (value: unknown): boolean => toText(value).length <= LONGEST_PART;

const fillPayment = ({ columns, fields, map, notes }: State): void => {
  const key = [...fields].find(([, { role }]) => role === "key")?.[0] ?? "paymentId";
  const concepts: Concept[] = [
    "paymentDate",
    "amount",
    "debit",
    "credit",
    "customerName",
    "reference",
    "text",
  ];
  if (!Object.hasOwn(map, key)) {
    const join = concepts.flatMap((concept) => {
      const column = find(columns, concept);
      const found = concept === "text" ? columns.filter((one) => one.concept === "text") : [column];
      return found.flatMap((one) => (one?.values.every(isShort) === true ? [one.name] : []));
    });
    if (join.length < 2) return;
    map[key] = { join };
    notes.push(
      `No column holds a number of the payment; ${key} is joined of ${join.length} columns.`,
    );
    return;
  }
  const { [key]: id, paymentAmount: amount } = map;
  const isPerLine =
    typeof amount === "string" &&
    typeof map["documentNumber"] === "string" &&
    isIdRepeated(columns.find(({ name }) => name === id));
  if (!isPerLine || hasOneTotal(valuesOf(columns, id), valuesOf(columns, amount))) return;
  map["paymentAmount"] = { sum: amount };
  map["appliedAmount"] ??= amount;
  notes.push(
    "The amounts of a payment's rows differ; they are added up to the amount of the payment.",
  );
};

/** The status marks payments that failed or were given back. */
const fillStatus = ({ columns, fields, map, notes }: State): void => {
  const status = find(columns, "status");
  if (status === undefined) return;
  const values = fields.has("paymentStatus") ? findStatuses(status.values) : undefined;
  if (values !== undefined) map["paymentStatus"] = { column: status.name, values };
  else if (!Object.hasOwn(map, "paymentStatus"))
    notes.push(`Rows count as paid, whatever ${status.name} says; "where" selects rows.`);
};

const fillDocument = ({ columns, map, notes }: State, order: "day" | "month"): void => {
  const type = find(columns, "documentType");
  const values = type && findDocumentTypes(type.values);
  if (type !== undefined && values !== undefined)
    map["document_type"] = { column: type.name, values };
  else delete map["document_type"];
  const spec = { isAmount: false, isMain: false, negativeMark: "CR" as const };
  for (const [name, other] of [
    ["due_date", "documentDate"],
    ["invoice_date", "dueDate"],
  ] as const) {
    const column = find(columns, other);
    if (Object.hasOwn(map, name) || column === undefined) continue;
    map[name] = createEntry(column, columns, spec, order);
    notes.push(`No column was found for ${name}; ${column.name} is proposed for it.`);
  }
};

const fillConstants = ({ map, notes }: State, kind: string): void => {
  if (kind === "closures") {
    map["closure_reason"] = { value: "paid" };
    notes.push(
      'The closure reason "paid" is proposed; others are write_off, contra, adjustment, other.',
    );
  }
  const hasReason = ["reasonCode", "categoryCode"].some((name) => Object.hasOwn(map, name));
  if (kind !== "disputes") return;
  if (!hasReason) map["reasonCode"] = { value: "IMPORTED" };
  if (!Object.hasOwn(map, "categoryCode")) map["categoryCode"] = { value: "IMPORTED" };
  notes.push("Reasons and categories that do not exist yet need --create-configuration.");
};

/** Proposes the fields of a map for a sample. */
export const proposeFields = (needs: ProposeNeeds): Proposal => {
  const { sample, plan, fields, kind } = needs;
  const notes: string[] = [];
  const columns = readColumns(sample, kind);
  const form = chooseForm(columns, sample, notes);
  const hasCurrency = find(columns, "currency") !== undefined;
  const currency = hasCurrency ? undefined : findCurrency(columns, sample, needs.currency, notes);
  const order = chooseOrder(columns, { form, currency }, notes);
  const map: Record<string, unknown> = {};
  const state = { columns, fields, map, notes };
  for (const [name, ...concepts] of plan) {
    const spec = fields.get(name);
    const isFit = (one: Column | undefined): one is Column =>
      one !== undefined && !(spec?.role === "key" && isNoKey(one, columns, kind));
    const column =
      columns.find((one) => one.name === name) ??
      concepts.map((one) => find(columns, one)).find(isFit);
    if (spec === undefined || column === undefined) continue;
    const { negativeMark = "DR", role, currency: money } = spec;
    const how = { isAmount: money !== undefined, isMain: role === "amount", negativeMark };
    map[name] =
      name === "remittanceText"
        ? createText(column, columns)
        : createEntry(column, columns, how, order);
  }
  fillDebitCredit(state, plan);
  const field = ["currencyCode", "currency"].find((name) => fields.has(name));
  if (field !== undefined && currency !== undefined) map[field] = { value: currency };
  if (kind === "payments") {
    fillStatus(state);
    fillSigned(state);
    fillPayment(state);
  }
  if (kind === "documents") fillDocument(state, order);
  fillConstants(state, kind);
  const used = new Set(collectUsed(map));
  return { map: { ...(form === undefined ? {} : { number: form }), ...map }, used, notes };
};
