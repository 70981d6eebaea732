import Big from "big.js";
import { SOURCES, type Source } from "../../src/contract/payments/catalogue.ts";
import { expectEqual } from "./check-report.ts";
import { listStatements, type MoneyFile } from "./files.ts";
import type { StoredRow } from "./read-payments.ts";
import {
  amountOf,
  type BankAccount,
  type Booking,
  decimal,
  type Document,
  sum,
  type Truth,
} from "./truth.ts";

const read = (row: StoredRow | undefined, name: string): Big => {
  const value = row?.[name];
  return new Big(typeof value === "number" ? value : 0);
};

const addUp = (rows: readonly StoredRow[], name: string): Big =>
  rows.reduce((total, row) => total.plus(read(row, name)), new Big(0));

const groupByPayment = (rows: readonly StoredRow[]): Map<string, StoredRow[]> =>
  Map.groupBy(rows, (row) => String(row["paymentId"]));

const checkPayment = (id: string, rows: readonly StoredRow[]): void => {
  const [first] = rows;
  for (const name of ["paymentAmount", "currencyCode", "paymentDate", "unappliedAmount"]) {
    const values = rows.map((row) => row[name]);
    expectEqual(
      `${name} of the rows of ${id}`,
      values,
      values.map(() => first?.[name]),
    );
  }
  const applied = addUp(rows, "appliedAmount");
  expectEqual(
    `Applied and unapplied of ${id}`,
    applied.plus(read(first, "unappliedAmount")).toFixed(),
    read(first, "paymentAmount").toFixed(),
  );
};

const ofDocument = (rows: readonly StoredRow[], { number }: Document): StoredRow[] =>
  rows.filter((row) => row["documentNumber"] === number && row["matchMethod"] !== "suggested");

const checkDocument = (document: Document, rows: readonly StoredRow[]): void => {
  const own = ofDocument(rows, document);
  const all = addUp(own, "appliedAmount").plus(addUp(own, "discountTaken"));
  const taken = document.credit === undefined ? all : all.times(-1);
  const most = new Big(decimal(document.amount, document.decimals));
  if (taken.gt(most) || taken.lt(0))
    throw new Error(`${document.number} of ${most.toFixed()} has ${taken.toFixed()} applied.`);
};

/** Checks what holds after every file: sums of payments and of documents. */
export const checkState = ({ documents }: Truth, rows: readonly StoredRow[]): void => {
  for (const [id, own] of groupByPayment(rows)) checkPayment(id, own);
  for (const document of documents) checkDocument(document, rows);
};

/** Lists the amounts of payments that bookings are, one for each transaction that a file has. */
const listAmounts = (booking: Booking, files: readonly MoneyFile[]): number[] => {
  if (booking.other !== undefined) return [];
  const isDivided = files.some(({ detailed }) => detailed.includes(booking));
  return isDivided ? booking.transactions.map(({ amount }) => amount) : [booking.amount];
};

const sorted = (amounts: readonly string[]): string[] => amounts.toSorted();

const checkAccount = (
  truth: Truth,
  account: BankAccount,
  files: readonly MoneyFile[],
  rows: readonly StoredRow[],
): void => {
  const last4 = account.number.slice(-4);
  const stored = [...groupByPayment(rows).values()]
    .map(([first]) => first)
    .filter((row) => row?.["bankAccountLast4"] === last4);
  const own = truth.bookings.filter((one) => one.account === account);
  const amounts = own.flatMap((one) => listAmounts(one, files));
  expectEqual(
    `Payments of the account ${last4}`,
    sorted(stored.map((row) => read(row, "paymentAmount").toFixed())),
    sorted(amounts.map((amount) => new Big(decimal(amount, account.decimals)).toFixed())),
  );
  const statements = listStatements(truth, account);
  const moved = (statements.at(-1)?.closing ?? 0) - (statements[0]?.opening ?? 0);
  const others = sum(own.filter(({ other }) => other !== undefined).map(({ amount }) => amount));
  const paid = stored.reduce((total, row) => total.plus(read(row, "paymentAmount")), new Big(0));
  const expected = new Big(decimal(moved - others, account.decimals));
  expectEqual(`Movement of the account ${last4}`, paid.toFixed(), expected.toFixed());
};

/** The rows of a tenant by source. */
export type State = Readonly<Record<Source, readonly StoredRow[]>>;

const checkRegister = ({ registered }: Truth, state: State): void => {
  const idOf = (row: StoredRow) => String(row["paymentId"] ?? row["networkPaymentId"]);
  for (const source of SOURCES) {
    const byPayment = Map.groupBy(state[source], idOf);
    const listed = registered.filter((one) => one.source === source);
    if (source !== "cashapp") expectEqual(`Payments of ${source}`, byPayment.size, listed.length);
    for (const payment of listed) {
      const own = byPayment.get(payment.id) ?? [];
      expectEqual(`Rows of ${payment.id}`, own.length, payment.shares.length);
      const amount = source === "iandp" ? addUp(own, "amountPaid") : read(own[0], "paymentAmount");
      expectEqual(
        `Amount of ${payment.id}`,
        amount.toFixed(),
        new Big(decimal(amountOf(payment), payment.decimals)).toFixed(),
      );
    }
  }
};

/** Checks a document that one booking pays, of which a file names it. */
const checkPaidOnce = (
  truth: Truth,
  document: Document,
  files: readonly MoneyFile[],
  rows: readonly StoredRow[],
): void => {
  if (document.isShared) return;
  const { bookings } = truth;
  const booking = bookings.find(({ transactions, returned }) =>
    transactions.some(
      ({ shares }) => returned === undefined && shares.some((one) => one.document === document),
    ),
  );
  if (booking === undefined || !files.some(({ detailed }) => detailed.includes(booking))) return;
  const shares = booking.transactions
    .map((one) => one.shares)
    .find((all) => all.some((one) => one.document === document));
  const share = shares?.find((one) => one.document === document);
  // A credit note is used as far as the documents beside it are open.
  if (document.credit !== undefined && shares?.some((one) => one.document.isShared)) return;
  const back = bookings.find(({ returned }) => returned === booking);
  if (back !== undefined && back.amount !== -booking.amount) return;
  const own = ofDocument(rows, document);
  const write = (amount = 0): string => new Big(decimal(amount, document.decimals)).toFixed();
  const names = ["appliedAmount", "discountTaken", "deductionAmount"];
  expectEqual(
    `Applied, discount and deduction of ${document.number}`,
    names.map((name) => addUp(own, name).toFixed()),
    (back === undefined ? [share?.paid, share?.discount, share?.deduction] : [0, 0, 0]).map(write),
  );
};

/** Checks what is stored after all files: every payment of the truth is there once, and its documents are paid. */
export const checkEnd = (truth: Truth, files: readonly MoneyFile[], state: State): void => {
  const rows = state.cashapp;
  for (const account of truth.accounts) checkAccount(truth, account, files, rows);
  checkRegister(truth, state);
  for (const document of truth.documents) checkPaidOnce(truth, document, files, rows);
  const doubts = rows.flatMap((row) => (typeof row["doubt"] === "string" ? [row["doubt"]] : []));
  expectEqual("Doubts", doubts, []);
};
