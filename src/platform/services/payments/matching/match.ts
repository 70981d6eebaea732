import { findAccounts } from "../../../store/queries/accounts.ts";
import type { NewPayment } from "../../../store/queries/payments.ts";
import { readPaymentRows, readReturnsOf } from "../../../store/queries/payment-matching.ts";
import type { Db } from "../../../store/port.ts";
import { readTenant } from "../../../store/queries/tenants.ts";
import { allocate } from "./allocate.ts";
import { chooseDocuments } from "./choose.ts";
import { type Ledger, readLedger } from "./ledger.ts";
import { findDoubt, isReturn, type Line, type Payment, toLine } from "./lines.ts";
import { listMentions } from "./mentions.ts";
import { type Payers, readPayers } from "./payers.ts";
import { keepTime, renderPayment, renderReturn } from "./render.ts";
import { suggestDocument } from "./suggest.ts";
import { amountOf, readSaid, restore, textOf } from "./values.ts";

const toLines = (rows: readonly NewPayment[], isStored: boolean): Line[] =>
  rows.map((row) => {
    const stated = readSaid(row, isStored);
    return toLine(row, stated, restore(row.values, stated));
  });

const toPayment = (id: string, lines: Line[]): Payment => {
  const values = lines[0]?.values ?? {};
  return {
    id,
    amount: amountOf(values, "paymentAmount"),
    fee: amountOf(values, "feeAmount"),
    currency: textOf(values, "currencyCode") ?? "",
    lines,
  };
};

/** The documents of a remittance that does not add up are suggested. */
const DOUBTED = { isSuggested: true, confidence: 0.3 };

const matchPayment = (payment: Payment, ledger: Ledger, payers: Payers): void => {
  const [first] = payment.lines;
  if (first === undefined) return;
  const known = payers.accountsOf(first.values);
  const doubt = findDoubt(payment);
  if (doubt !== undefined) payment.doubt = doubt;
  const account = chooseDocuments(ledger, payment, known);
  if (doubt !== undefined) {
    for (const { choice } of payment.lines) {
      if (choice !== undefined) Object.assign(choice, DOUBTED);
    }
    return;
  }
  suggestDocument(ledger, payment, known);
  allocate(payment);
  if (account !== undefined && payment.lines.some(({ applied }) => applied.gt(0))) {
    payers.learn(first.values, account);
  }
};

const addAccountNames = async (tx: Db, tenantId: string, rows: readonly NewPayment[]) => {
  const numbers = rows.flatMap(({ values }) => textOf(values, "accountNumber") ?? []);
  const accounts = await findAccounts(tx, tenantId, [...new Set(numbers)]);
  const names = new Map(accounts.map(({ account_number, name }) => [account_number, name]));
  return rows.map((row) => {
    const name = names.get(textOf(row.values, "accountNumber") ?? "");
    return name === undefined || row.values["accountName"] !== undefined
      ? row
      : { ...row, values: { ...row.values, accountName: name } };
  });
};

/** Rows that are imported again and applied as before keep the time of it. */
const keepTimes = async (
  tx: Db,
  tenantId: string,
  { payments }: Pick<Groups, "payments">,
  rows: readonly NewPayment[],
): Promise<readonly NewPayment[]> => {
  if (rows.every(({ seq }) => seq === 0)) return rows;
  const former = await readPaymentRows(
    tx,
    tenantId,
    payments.map(({ id }) => id),
  );
  const byId = new Map(former.map((row) => [row.values["id"], row]));
  return rows.map((row) => {
    const before = byId.get(row.values["id"]);
    return before === undefined ? row : keepTime(before, row);
  });
};

type Groups = { payments: Payment[]; returns: Line[]; lines: Line[] };

const group = (rows: readonly NewPayment[], isStored: boolean): Groups => {
  const lines = toLines(rows, isStored);
  const returns = lines.filter(({ values }) => isReturn(values));
  const byId = Map.groupBy(
    lines.filter(({ values }) => !isReturn(values)),
    ({ values }) => textOf(values, "paymentId") ?? "",
  );
  const payments = [...byId].map(([id, own]) => toPayment(id, own));
  return { payments, returns, lines };
};

/**
 * Matches the rows of payments with the documents that they name. The rows of a payment must be complete and in order;
 * `isStored` tells that they were read from the store.
 */
export const matchRows = async (
  tx: Db,
  tenantId: string,
  rows: readonly NewPayment[],
  { isStored }: { isStored: boolean },
): Promise<NewPayment[]> => {
  const { payments, returns, lines } = group(rows, isStored);
  const ids = payments.map(({ id }) => id);
  const ownReturns = await readReturnsOf(tx, tenantId, ids);
  const { currency } = await readTenant(tx, tenantId);
  const firsts = payments.flatMap(({ lines: [first] }) => (first === undefined ? [] : [first]));
  const numbers = payments.flatMap(({ lines: all }) => [
    ...all.flatMap(({ name }) => name ?? []),
    ...(all.some(({ name }) => name !== undefined) ? [] : listMentions(all[0]?.values ?? {})),
  ]);
  const exceptPaymentIds = [
    ...ids,
    ...ownReturns.flatMap(({ values }) => textOf(values, "paymentId") ?? []),
  ];
  const ledger = await readLedger(tx, { tenantId, currency, exceptPaymentIds }, numbers);
  const payers = await readPayers(
    tx,
    tenantId,
    firsts.map(({ values }) => values),
  );
  const rendered = new Map<Line, Pick<NewPayment, "values" | "matching">>();
  for (const payment of payments) {
    matchPayment(payment, ledger, payers);
    const done = renderPayment(payment);
    for (const [place, line] of payment.lines.entries()) {
      const one = done[place];
      if (one !== undefined) rendered.set(line, one);
    }
  }
  for (const line of returns) rendered.set(line, renderReturn(line));
  const matched = lines.map((line) => ({ ...line.row, ...rendered.get(line) }));
  return addAccountNames(tx, tenantId, await keepTimes(tx, tenantId, { payments }, matched));
};
