import { CATALOGUE, type Source } from "../../src/contract/payments/catalogue.ts";
import type { Field } from "../../src/contract/payments/field.ts";
import { importPayments } from "./importing.ts";
import type { TestPlatform } from "./platform.ts";

export const QUERY = "/api/v1/remittance-export/payments/query";
export const SUMMARY = "/api/v1/remittance-export/payments/summary";
export const SCHEMA = "/api/v1/remittance-export/schema";

export const NAMES: Record<Source, string> = {
  cashapp: "paymentId",
  iandp: "paymentId",
  bpn: "networkPaymentId",
};

const day = (number: number): string =>
  new Date(Date.UTC(2026, 0, 1 + (number % 300))).toISOString().slice(0, 10);

const WORDS = ["Acme", "ACME Ltd", "Zürich AG", "100% Pure", "a_b", "Ørsted", "x\\y", 'quo"te'];

/** A value that fits the field and differs from row to row; every seventh is missing. */
const valueOf = (field: Field, place: number, number: number): unknown => {
  const isRequired = ["paymentDate", "paymentAmount", "amountPaid"].includes(field.name);
  if (field.nullable && !isRequired && (number + place) % 7 === 0) return undefined;
  const values: Record<Field["type"], () => unknown> = {
    string: () => `${WORDS[(number + place) % WORDS.length]} ${number % 13}`,
    enum: () => field.values[(number + place) % field.values.length],
    money: () => (((number * 37 + place) % 4000) - 500) / 100,
    number: () => ((number + place) % 100) / 100,
    integer: () => (number + place) % 50,
    boolean: () => (number + place) % 2 === 0,
    date: () => day(number + place),
    datetime: () => `${day(number * 3 + place)}T0${number % 10}:00:00.000Z`,
  };
  return values[field.type]();
};

const SHORT = /Last4$/;

/** The n-th row of a source, as a file has it. */
export const paymentRow = (source: Source, number: number): Record<string, unknown> => {
  const own = CATALOGUE[source].fields.slice(2, -2);
  const row = Object.fromEntries(
    own.map((field, place) => {
      const value = valueOf(field, place, number);
      return [field.name, SHORT.test(field.name) && value !== undefined ? "1234" : value];
    }),
  );
  return { ...row, id: `${source}-${number}`, [NAMES[source]]: `P-${number}`, currencyCode: "EUR" };
};

export const paymentRows = (source: Source, count: number, from = 1) =>
  Array.from({ length: count }, (_, place) => paymentRow(source, from + place));

export const ndjson = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** Loads rows as an operator does; every one must be taken. */
export const load = async (
  at: TestPlatform,
  tenantId: string,
  source: Source,
  rows: readonly object[],
): Promise<void> => {
  const how = { format: "ndjson" as const };
  const { rejects } = await importPayments(at, { tenantId, source }, ndjson(rows), how);
  if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
};
