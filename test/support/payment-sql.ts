import { DatabaseSync } from "node:sqlite";
import { CATALOGUE, type Source } from "../../src/contract/payments/catalogue.ts";
import { createDice, type Dice } from "./dice.ts";

type Row = Record<string, unknown>;

/** Six decimals, as whole numbers, so that SQL adds exactly. */
const SCALE = 1_000_000;

const PAYMENT_ID: Record<Source, string> = {
  cashapp: "paymentId",
  iandp: "paymentId",
  bpn: "networkPaymentId",
};

const day = (dice: Dice): string =>
  new Date(Date.UTC(2022, 11, 25) + dice.whole(0, 800) * 86_400_000).toISOString().slice(0, 10);

const MOMENTS = ["T00:00:00.000Z", "T23:59:59.999Z", "T00:30:00.000+02:00", "T23:30:00.000-05:00"];

/**
 * Payments of one to four rows each, in several currencies, with nulls and negative amounts, times at the ends of days in
 * several time zones. A share of `odd` rows does not agree with the others about their payment.
 */
export const randomPayments = (source: Source, payments: number, seed: number, odd = 0): Row[] => {
  const dice = createDice(seed);
  const rows: Row[] = [];
  const maybe = <T>(value: T): T | undefined => (dice.chance(0.1) ? undefined : value);
  const money = (): number | undefined => maybe(dice.whole(-900_000, 4_000_000) / 100);
  for (let number = 0; number < payments; number += 1) {
    const paymentDate = maybe(day(dice));
    const payer = maybe(dice.whole(1, 7));
    const shared = {
      [PAYMENT_ID[source]]: `P-${number}`,
      currencyCode: maybe(dice.pick(["USD", "EUR", "JPY"])),
      paymentDate,
      ...(payer === undefined ? {} : { payerName: `Payer ${payer}`, payerId: `PID-${payer}` }),
      paymentAmount: money(),
      unappliedAmount: money(),
      feeAmount: money(),
      netAmount: money(),
    };
    const method = dice.pick(["ach", "wire", "check"]);
    for (let line = 0; line < dice.whole(1, 4); line += 1) {
      const other = { currencyCode: "USD", paymentAmount: money(), unappliedAmount: money() };
      rows.push({
        ...shared,
        ...(dice.chance(odd) ? other : {}),
        postedAt: maybe(`${day(dice)}${dice.pick(MOMENTS)}`),
        id: `${source}-${number}-${line}`,
        paymentMethod: method,
        accountNumber: maybe(`A-${dice.whole(1, 5)}`),
        invoiceNumber: `I-${number}-${line}`,
        documentNumber: `D-${dice.whole(1, 40)}`,
        remittanceId: `R-${number}-${line}`,
        remittanceLine: line,
        appliedAmount: money(),
        amountPaid: money(),
        invoiceAmount: money(),
        deductionAmount: maybe(dice.whole(0, 99_999) / 1000),
        shortPay: dice.chance(0.5),
      });
    }
  }
  const names = new Set(CATALOGUE[source].fields.map(({ name }) => name));
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => names.has(name))),
  );
};

/** The rows in a database of their own, amounts as millionths. */
export const toDatabase = (source: Source, rows: readonly Row[]): DatabaseSync => {
  const { fields } = CATALOGUE[source];
  const database = new DatabaseSync(":memory:");
  database.exec(`create table t (${fields.map(({ name }) => `"${name}"`).join(", ")}, payment)`);
  const marks = fields.map(() => "?").join(", ");
  const insert = database.prepare(`insert into t values (${marks}, ?)`);
  for (const row of rows) {
    const values = fields.map(({ name, type }) => {
      const value = row[name];
      if (value === undefined || value === null) return null;
      if (typeof value === "boolean") return Number(value);
      return type === "money" ? Math.round(Number(value) * SCALE) : (value as string | number);
    });
    insert.run(...values, (row[PAYMENT_ID[source]] ?? row["id"]) as string);
  }
  return database;
};

const SPANS: Record<string, (column: string) => string> = {
  day: (column) => `strftime('%Y-%m-%d', ${column})`,
  week: (column) => `strftime('%G-W%V', ${column})`,
  month: (column) => `strftime('%Y-%m', ${column})`,
  quarter: (column) => `strftime('%Y', ${column}) || '-Q' || ((strftime('%m', ${column}) + 2) / 3)`,
  year: (column) => `strftime('%Y', ${column})`,
};

const expressionOf = (grouping: string): string => {
  const [field = "", unit] = grouping.split(":");
  return unit === undefined ? `"${field}"` : (SPANS[unit]?.(`"${field}"`) ?? "null");
};

const PAYMENT_AMOUNTS = ["paymentAmount", "unappliedAmount", "feeAmount", "netAmount"];

type Measure = { op: string; field: string };

const measureSql = ({ op, field }: Measure, table: string): string => {
  if (op === "countDistinct") return `count(distinct ${table}."${field}")`;
  return `${op}(${table}."${field}")`;
};

const unscaled = (value: unknown): unknown => (typeof value === "number" ? value / SCALE : value);

/** One group as SQL has it: the figures by operator and field. */
export type SqlGroup = Record<string, unknown>;

/** Groups the rows by SQL; amounts of a payment are added up once per payment and group. */
export const groupBySql = (
  database: DatabaseSync,
  { groupBy, measures, where = "1" }: { groupBy: string[]; measures: Measure[]; where?: string },
): SqlGroup[] => {
  const keys = [...groupBy.map(expressionOf), `"currencyCode"`];
  const named = keys.map((key, place) => `${key} as k${place}`).join(", ");
  const places = keys.map((_, place) => `k${place}`).join(", ");
  const once = PAYMENT_AMOUNTS.filter((name) => measures.some(({ field }) => field === name));
  const largest = once.map((name) => `, max("${name}") as "${name}"`).join("");
  const isOnce = ({ op, field }: Measure): boolean =>
    once.includes(field) && (op === "sum" || op === "avg");
  const select = (all: Measure[], table: string): string =>
    all.map((one) => `, ${measureSql(one, table)} as "${one.op}(${one.field})"`).join("");
  const byRow = measures.filter((one) => !isOnce(one));
  const byPayment = measures.filter(isOnce);
  return database
    .prepare(
      `with r as (select ${named}, t.* from t where ${where}),
        p as (select ${places}, payment${largest} from r group by ${places}, payment),
        a as (select ${places}, count(*) as "rows", count(distinct payment) as payments${select(byRow, "r")} from r group by ${places}),
        b as (select ${places}${select(byPayment, "p")} from p group by ${places})
       select * from a join b on ${keys.map((_, place) => `a.k${place} is b.k${place}`).join(" and ")}`,
    )
    .all()
    .map((row) => ({ ...row }));
};

/** A figure in the form of a result: amounts as decimals, nothing added up as 0, averages to 6 decimals. */
export const toFigure = ({ op, field }: Measure, source: Source, value: unknown): unknown => {
  const isMoney = CATALOGUE[source].fields.some(
    ({ name, type }) => name === field && type === "money",
  );
  if (op === "sum") return isMoney ? unscaled(value ?? 0) : (value ?? 0);
  if (op === "avg") return value === null ? null : Math.round(Number(value)) / SCALE;
  return isMoney && op !== "countDistinct" && op !== "count" ? unscaled(value) : value;
};
