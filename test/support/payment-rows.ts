import { CATALOGUE, type Source } from "../../src/contract/payments/catalogue.ts";
import type { Field } from "../../src/contract/payments/field.ts";
import { formatTimestamp } from "../../src/kit/clock.ts";
import { createRowCheck } from "../../src/platform/import/payments/row.ts";
import { findKnown, replacePayments } from "../../src/platform/store/queries/payments.ts";
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
  if (field.nullable && (number + place) % 7 === 0) return undefined;
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

type SentRow = Readonly<Record<string, unknown>>;

/** Replaces the values of a row that imports refuse: none where one is required, and more decimals than a currency has. */
const toImportable = (source: Source, row: SentRow): SentRow => {
  const needed = { paymentDate: "2026-01-01", currencyCode: "EUR" };
  const amount = source === "iandp" ? "amountPaid" : "paymentAmount";
  const result: Record<string, unknown> = { ...row };
  for (const { name, type } of CATALOGUE[source].fields) {
    const value = row[name];
    if (type === "money" && typeof value === "number") result[name] = Math.round(value);
  }
  for (const [name, value] of Object.entries({ ...needed, [amount]: 1 })) result[name] ??= value;
  return result;
};

/** Gives stored rows values that imports refuse since the second version, as stores may still have them. */
const storeFormerValues = async (
  { store, clock }: TestPlatform,
  tenantId: string,
  source: Source,
  rows: readonly SentRow[],
): Promise<void> => {
  const byId = new Map(rows.map((row) => [String(row["id"]), row]));
  await store.transaction(async (tx) => {
    const known = await findKnown(tx, tenantId, source, {
      ids: [...byId.keys()],
      by: "row",
      fields: [],
    });
    const now = formatTimestamp(clock());
    const stored = known.map(({ id, seq, sent_hash: sentHash, created_at: createdAt }) => ({
      tenantId,
      seq,
      sentHash,
      values: { ...byId.get(id), id, tenantId, createdAt, updatedAt: now },
    }));
    await replacePayments(tx, source, stored);
  }, tenantId);
};

/** Loads rows as an operator does; every one must be taken. Rows with values of former versions get these afterwards. */
export const load = async (
  at: TestPlatform,
  tenantId: string,
  source: Source,
  rows: readonly object[],
): Promise<void> => {
  const check = createRowCheck(source, tenantId);
  const isFormer = (row: SentRow): boolean => check(row).faults !== undefined;
  const former = (rows as SentRow[]).filter(isFormer);
  const sent = (rows as SentRow[]).map((row) => (isFormer(row) ? toImportable(source, row) : row));
  const how = { format: "ndjson" as const };
  const { rejects } = await importPayments(at, { tenantId, source }, ndjson(sent), how);
  if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
  if (former.length > 0) await storeFormerValues(at, tenantId, source, former);
};
