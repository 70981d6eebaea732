import { createHash } from "node:crypto";
import type { Fault } from "../../../contract/errors.ts";
import { isMoney } from "../../../contract/fields.ts";
import { CATALOGUE, type Source } from "../../../contract/payments/catalogue.ts";
import type { Field } from "../../../contract/payments/field.ts";
import { checkValue } from "../../../contract/payments/value.ts";
import { decimalsOf } from "../../money.ts";
import type { Checked } from "../../services/ingest/body.ts";
import { readDay } from "../dates.ts";
import type { Fields } from "../fields.ts";

export type Values = Record<string, unknown>;

const MOST_DECIMALS = 6;

/** What names a row of each source where it has no id of its own; the first one must be there. */
const KEYS: Record<Source, readonly string[]> = {
  cashapp: ["paymentId", "documentNumber", "invoiceNumber"],
  iandp: ["paymentId", "invoiceNumber"],
  bpn: ["networkPaymentId", "remittanceId", "remittanceLine"],
};

/** The service's own; a file that was exported has them, and they say nothing new. */
const OWN: ReadonlySet<string> = new Set(["tenantId", "createdAt", "updatedAt"]);

const KINDS = { money: "number", number: "number", integer: "number", boolean: "boolean" } as const;

const loadable = (source: Source): Field[] =>
  CATALOGUE[source].fields.filter(({ name }) => !OWN.has(name));

/** The fields that a file may name. */
export const fieldsOfSource = (source: Source): Fields =>
  new Map(
    loadable(source).map(({ name, type }) => [
      name,
      type in KINDS ? KINDS[type as keyof typeof KINDS] : "text",
    ]),
  );

type Judge = (value: unknown) => string | undefined;

const RULES: readonly [applies: (field: Field) => boolean, judge: Judge][] = [
  [
    ({ type }) => type === "money",
    (value) =>
      decimalsOf(Number(value)) > MOST_DECIMALS || !isMoney(Number(value))
        ? `must have at most ${MOST_DECIMALS} decimals and 15 digits`
        : undefined,
  ],
  [
    ({ name }) => name === "matchConfidence",
    (value) =>
      Number(value) < 0 || Number(value) > 1 ? "must be at least 0 and at most 1" : undefined,
  ],
  [
    ({ name }) => name === "currencyCode",
    (value) =>
      /^[A-Z]{3}$/.test(String(value)) ? undefined : "must be an ISO 4217 code such as USD",
  ],
  [
    // Nothing here may hold the whole number of an account or a card.
    ({ name }) => name.endsWith("Last4"),
    (value) => (String(value).length > 4 ? "must be the last 4 characters alone" : undefined),
  ],
];

const judgeOf = (field: Field): Judge => {
  const judges = RULES.filter(([applies]) => applies(field)).map(([, judge]) => judge);
  return (value) => judges.map((judge) => judge(value)).find((found) => found !== undefined);
};

const prepared = (field: Field, value: unknown): unknown =>
  field.type === "date" && typeof value === "string" ? (readDay(value.trim()) ?? value) : value;

const faultsOfNames = (record: Values, source: Source, tenantId: string): Fault[] => {
  const [first = ""] = KEYS[source];
  const { [first]: named, tenantId: owner } = record;
  return [
    ...(named === undefined ? [{ field: first, code: "required", message: "is required" }] : []),
    ...(owner === undefined || owner === tenantId
      ? []
      : [{ field: "tenantId", code: "format", message: "names another tenant" }]),
  ];
};

/** Checks rows of one source, and gives them as they are kept. */
export const createRowCheck = (source: Source, tenantId: string) => {
  const fields = loadable(source).map((field) => ({ field, judge: judgeOf(field) }));
  return (record: Values): Checked<Values> => {
    const faults = faultsOfNames(record, source, tenantId);
    const values: Values = {};
    for (const { field, judge } of fields) {
      const sent = record[field.name];
      if (sent === undefined || sent === null) continue;
      const checked = checkValue(field, prepared(field, sent));
      if (!("value" in checked)) {
        faults.push({ field: field.name, ...checked });
        continue;
      }
      const wrong = judge(checked.value);
      if (wrong !== undefined) faults.push({ field: field.name, code: "format", message: wrong });
      values[field.name] = checked.value;
    }
    return faults.length > 0 ? { faults } : { value: values };
  };
};

/** What names a row that has no id. */
export const keyOf = (source: Source, values: Values): string =>
  JSON.stringify(KEYS[source].map((name) => values[name] ?? null));

const BYTES = 16;
const VERSION = 0x80;
const VARIANT = 0x80;

/** An id that the same name always gives: a UUID of the version for such (RFC 9562). */
export const idFrom = (...names: readonly (string | number)[]): string => {
  const bytes = createHash("sha256").update(JSON.stringify(names)).digest().subarray(0, BYTES);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | VERSION;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | VARIANT;
  const hex = bytes.toString("hex");
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((to, place) => hex.slice(cuts[place], to))
    .join("-");
};

export const hashOf = (values: Values): string =>
  createHash("sha256").update(JSON.stringify(values)).digest("base64url").slice(0, 22);
