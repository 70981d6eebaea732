import { hash } from "node:crypto";
import type { Fault } from "../../../contract/errors.ts";
import { isMoney, MONEY_RANGE } from "../../../contract/fields.ts";
import { CATALOGUE, type Source } from "../../../contract/payments/catalogue.ts";
import type { Field } from "../../../contract/payments/field.ts";
import { checkValue } from "../../../contract/payments/value.ts";
import type { Checked } from "../../../contract/faults.ts";
import { checkDecimals, isCurrency } from "../currencies.ts";
import { parseDay } from "../dates.ts";
import type { Fields, FieldSpec } from "../fields.ts";

export type Values = Record<string, unknown>;

/** The fields that identify a row without an id, per source. The first one is required. */
const KEYS: Record<Source, readonly string[]> = {
  cashapp: ["paymentId", "documentNumber", "invoiceNumber"],
  iandp: ["paymentId", "invoiceNumber"],
  bpn: ["networkPaymentId", "remittanceId", "remittanceLine"],
};

/** Fields that the service sets; in an exported file that is imported again they are ignored. */
const OWN: ReadonlySet<string> = new Set(["tenantId", "createdAt", "updatedAt"]);

const CURRENCY = "currencyCode";

/** The fields of which each row needs one, per source: the amount and the day of its payment. */
const NEEDS: Record<Source, { amount: string; days: readonly string[] }> = {
  cashapp: { amount: "paymentAmount", days: ["paymentDate"] },
  // A payment that has been scheduled has no day of payment yet.
  iandp: { amount: "amountPaid", days: ["paymentDate", "scheduledDate"] },
  bpn: { amount: "paymentAmount", days: ["paymentDate"] },
};

const KINDS: Partial<Record<Field["type"], FieldSpec>> = {
  money: { kind: "number", currency: CURRENCY, negativeMark: "DR" },
  number: { kind: "number" },
  integer: { kind: "number" },
  boolean: { kind: "boolean" },
  date: { kind: "text", role: "day" },
};

const importableFields = (source: Source): Field[] =>
  CATALOGUE[source].fields.filter(({ name }) => !OWN.has(name));

const describeRole = (source: Source, name: string): Partial<FieldSpec> => {
  const [key] = KEYS[source];
  const { amount, days } = NEEDS[source];
  if (name === key) return { role: "key", required: name };
  if (name === amount) return { role: "amount", required: name };
  if (name === CURRENCY) return { role: "currency", required: name };
  return days.includes(name) ? { required: "day" } : {};
};

/** Returns the fields that a file of a source can have. */
export const collectSourceFields = (source: Source): Fields =>
  new Map(
    importableFields(source).map(({ name, type }) => [
      name,
      { ...(KINDS[type] ?? { kind: "text" }), ...describeRole(source, name) },
    ]),
  );

type ValueCheck = (value: unknown) => string | undefined;

const RULES: readonly [applies: (field: Field) => boolean, judge: ValueCheck][] = [
  [
    ({ type }) => type === "money",
    (value) => (isMoney(Number(value)) ? undefined : MONEY_RANGE.message),
  ],
  [
    ({ name }) => name === "matchConfidence",
    (value) =>
      Number(value) < 0 || Number(value) > 1 ? "must be at least 0 and at most 1" : undefined,
  ],
  [
    ({ name }) => name === CURRENCY,
    (value) =>
      isCurrency(String(value)) ? undefined : "must be a code of ISO 4217 in capitals, such as USD",
  ],
  [
    // Full account and card numbers are refused.
    ({ name }) => name.endsWith("Last4"),
    (value) => (String(value).length > 4 ? "must be the last 4 characters alone" : undefined),
  ],
];

const createValueCheck = (field: Field): ValueCheck => {
  const judges = RULES.filter(([applies]) => applies(field)).map(([, judge]) => judge);
  return (value) => judges.map((judge) => judge(value)).find((found) => found !== undefined);
};

const prepareValue = (field: Field, value: unknown): unknown =>
  field.type === "date" && typeof value === "string" ? (parseDay(value.trim()) ?? value) : value;

const checkTenant = ({ tenantId: owner }: Values, tenantId: string): Fault[] =>
  owner === undefined || owner === tenantId
    ? []
    : [{ field: "tenantId", code: "format", message: "names another tenant" }];

/** Names the required fields that a row lacks: key, amount, currency, and a day. */
const checkRequired = (record: Values, source: Source): Fault[] => {
  const { amount, days } = NEEDS[source];
  const groups = [[KEYS[source][0] ?? "id"], [amount], [CURRENCY], days];
  return groups
    .filter((names) => names.every((name) => (record[name] ?? null) === null))
    .map(([name = "", ...others]) => ({
      field: name,
      code: "required",
      message: others.length === 0 ? "is required" : `is required, or ${others.join(" or ")}`,
    }));
};

const checkAmounts = (amounts: readonly string[], values: Values): Fault[] => {
  const { [CURRENCY]: currency } = values;
  return typeof currency === "string" && isCurrency(currency)
    ? amounts.flatMap((name) => checkDecimals(name, values[name], currency))
    : [];
};

/** A value as it was sent, and as it is stored. */
type Sent = { sent: unknown; value: unknown };

const NOT_SENT: Sent = { sent: undefined, value: undefined };

/** Creates the check of a source's rows, which converts them to stored values. */
export const createRowCheck = (source: Source, tenantId: string) => {
  const fields = importableFields(source).map((field) => ({
    field,
    judge: createValueCheck(field),
    // Rows that follow each other have many values in common.
    last: { ...NOT_SENT },
  }));
  const amounts = fields.flatMap(({ field }) => (field.type === "money" ? [field.name] : []));
  return (record: Values): Checked<Values> => {
    const faults = [...checkRequired(record, source), ...checkTenant(record, tenantId)];
    const values: Values = {};
    for (const { field, judge, last } of fields) {
      const sent = record[field.name];
      if (sent === undefined || sent === null) continue;
      if (sent === last.sent) {
        values[field.name] = last.value;
        continue;
      }
      const checked = checkValue(field, prepareValue(field, sent));
      if (!("value" in checked)) {
        faults.push({ field: field.name, ...checked });
        continue;
      }
      const wrong = judge(checked.value);
      if (wrong === undefined) Object.assign(last, { sent, value: checked.value });
      else faults.push({ field: field.name, code: "format", message: wrong });
      values[field.name] = checked.value;
    }
    faults.push(...checkAmounts(amounts, values));
    return faults.length > 0 ? { faults } : { value: values };
  };
};

/** Returns the key of a row without an id. */
export const buildRowKey = (source: Source, values: Values): string =>
  JSON.stringify(KEYS[source].map((name) => values[name] ?? null));

const BYTES = 16;
const VERSION = 0x80;
const VARIANT = 0x80;

/** Derives a UUID version 8 (RFC 9562) from names: equal names give equal ids. */
export const deriveId = (...names: readonly (string | number)[]): string => {
  const bytes = hash("sha256", JSON.stringify(names), "buffer").subarray(0, BYTES);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | VERSION;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | VARIANT;
  const hex = bytes.toString("hex");
  const [a, b, c, d] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${a}-${b}-${c}-${d}-${hex.slice(20, 32)}`;
};

export const hashValues = (values: Values): string =>
  hash("sha256", JSON.stringify(values), "base64url").slice(0, 22);
