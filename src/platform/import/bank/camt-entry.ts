import { divideEntry, explainCharges, type Share } from "./camt-amounts.ts";
import { parseMoney, readCharges } from "./camt-money.ts";
import type { Statement } from "./camt-statement.ts";
import type { Transaction } from "./camt-transaction.ts";
import { type Codes, describeCodes, judge, readCodes, type Verdict } from "./camt-types.ts";
import { Big, formatDecimal, sumOf } from "./decimal.ts";
import type { BankItem, EntryPayment, LeftOut } from "./entry.ts";
import {
  createMalformed,
  omitEmpty,
  parseAmount,
  takeLast4,
  UNAPPLIED,
  type Warn,
} from "./file.ts";
import { collectReferences, joinTexts } from "./text.ts";
import type { FindType } from "./types.ts";
import { type Element, findAll, readFlag, readText } from "./xml.ts";

/** Payment methods by ISO 20022 bank transaction family or sub-family code. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ["RCHQ", "check"],
  ["LBOX", "lockbox"],
  ["CCRD", "card"],
  ["MCRD", "card"],
  ["ESCT", "ach"],
  ["ACDT", "ach"],
  ["DMCT", "ach"],
  ["XBCT", "wire"],
]);

/** An entry of a statement, with its transactions, of which an entry without details is its own one. */
export type EntryContext = {
  element: Element;
  statement: Statement;
  place: number;
  total: Big;
  currency: string;
  isCredit: boolean;
  transactions: readonly Transaction[];
  find: FindType;
  warn: Warn;
};

/** Reads amount and direction, which every entry has. */
export const readEntryAmount = (element: Element): { total: Big; currency: string } => {
  const [amount] = findAll(element, "Amt");
  if (amount === undefined) throw createMalformed(`line ${element.line}`, "has no amount");
  const { value, currency } = parseMoney(amount);
  if (currency === "") throw createMalformed(`line ${amount.line}`, "has no currency");
  return { total: value, currency };
};

export const isBooked = (entry: Element): boolean => {
  const status = readText(entry, "Sts/Cd", "Sts");
  return status === "" || status === "BOOK";
};

const readMethod = (codes: readonly Codes[]): string => {
  const all = codes.flatMap(({ sub, family }) => [sub, family]);
  return METHODS.get(all.find((code) => METHODS.has(code)) ?? "") ?? "other";
};

/** A transaction with what it is and what it adds to its account. */
type Judged = Share & { verdict: Verdict };

const judgeTransaction = (context: EntryContext, transaction: Transaction): Verdict => {
  const { element, find, statement, isCredit } = context;
  return judge(
    {
      // RvslInd belongs to the entry, so that a transaction against it is none.
      isReversal: transaction.isCredit === isCredit && readFlag(element, "RvslInd") === true,
      isCredit: transaction.isCredit,
      codes: transaction.codes ?? readCodes(element),
      purpose: transaction.purpose,
      returnReason: transaction.returnReason,
      isOwn: transaction.payer !== "" && transaction.payer === statement.owner,
    },
    find,
  );
};

const readEntryTexts = (element: Element): string[] =>
  findAll(element, "AddtlNtryInf").map(({ text }) => text);

const readEntryReferences = (element: Element): string[] => [
  readText(element, "AcctSvcrRef"),
  readText(element, "NtryRef"),
];

/** References by which a returned payment is found, those of the bank first. */
const listReturned = (
  { bankReference, references }: Transaction,
  entryReference: string,
): string[] => collectReferences([bankReference, entryReference, ...references]);

const buildPayment = (
  context: EntryContext,
  { transaction, verdict, value, fee }: Judged,
): EntryPayment => {
  const { element, statement, currency } = context;
  const codes = transaction.codes ?? readCodes(element);
  const [entryReference = "", position = ""] = readEntryReferences(element);
  const references = collectReferences([...transaction.references, entryReference]);
  const text = joinTexts([...transaction.texts, ...readEntryTexts(element)]);
  const isReturn = verdict.as === "return";
  const reason = isReturn ? verdict.reason : "";
  const cells = omitEmpty({
    paymentMethod: readMethod([codes, readCodes(element)]),
    paymentReference: transaction.reference || entryReference || position,
    payerName: transaction.payer,
    payerAccountLast4: transaction.payerAccount,
    ...UNAPPLIED,
    ...(isReturn ? { applicationStatus: "reversed", returnReason: reason } : {}),
    remittanceSource: "camt054",
    remittanceId: transaction.remittanceId,
    bankAccountLast4: takeLast4(statement.account),
    feeAmount: fee.eq(0) ? undefined : parseAmount(fee.toFixed()),
    remittanceText: text,
  });
  return {
    line: transaction.line,
    amount: formatDecimal(value, currency),
    cells,
    references,
    remittances: transaction.remittances.map(({ line, cells: own }) => {
      const texts = [String(own["remittanceText"] ?? ""), ...transaction.texts];
      const remittanceText = joinTexts([...texts, ...readEntryTexts(element)]);
      return { line, cells: omitEmpty({ ...own, remittanceText }) };
    }),
    ...(isReturn
      ? { returned: { reason, references: listReturned(transaction, entryReference) } }
      : {}),
    formerIds: transaction.formerIds,
  };
};

/** Merges transactions whose amounts are unknown; their texts, references and documents stay. */
const mergeTransactions = (
  { element }: EntryContext,
  transactions: readonly Transaction[],
): Transaction | undefined => {
  const [first] = transactions;
  if (first === undefined) return undefined;
  const only = (values: readonly string[]): string =>
    new Set(values).size === 1 ? (values[0] ?? "") : "";
  const reasons = transactions.map(({ returnReason }) => returnReason);
  return {
    ...first,
    line: element.line,
    returnReason: reasons.every((reason) => reason !== undefined)
      ? [...new Set(reasons)].join(", ")
      : undefined,
    payer: only(transactions.map(({ payer }) => payer)),
    payerAccount: only(transactions.map(({ payerAccount }) => payerAccount)),
    endToEndId: only(transactions.map(({ endToEndId }) => endToEndId)),
    reference: only(transactions.map(({ reference }) => reference)),
    bankReference: only(transactions.map(({ bankReference }) => bankReference)),
    remittanceId: only(transactions.map(({ remittanceId }) => remittanceId)),
    references: transactions.flatMap(({ references }) => references),
    remittances: transactions.flatMap(({ remittances }) => remittances),
    texts: transactions.flatMap(({ payer, texts }) => [payer, ...texts]),
    formerIds: transactions.flatMap(({ formerIds }) => formerIds),
  };
};

/** Takes an entry as one payment, with a warning if the amounts of its transactions say something else. */
const takeWhole = (context: EntryContext): Judged[] => {
  const { element, transactions, total, currency, isCredit, warn } = context;
  const [single] = transactions;
  const charges = readCharges(element, currency);
  const value = isCredit ? total : total.neg();
  const transaction = transactions.length > 1 ? mergeTransactions(context, transactions) : single;
  if (transaction === undefined || single === undefined) return [];
  const all = [single.charges, charges, single.charges.plus(charges)];
  const explained = transactions.length > 1 ? undefined : explainCharges(total, single, all);
  const own = { ...transaction, isCredit };
  const verdict = judgeTransaction(context, own);
  if (explained === undefined && verdict.as !== "out") {
    const amount = `${formatDecimal(total, currency)} ${currency}`;
    const message =
      transactions.length > 1
        ? `has ${transactions.length} transactions whose amounts do not add up to ${amount}, and is taken as one payment`
        : `has details with other amounts; the ${amount} of the entry count`;
    warn(`line ${element.line}`, message);
  }
  return [{ transaction: own, verdict, value, fee: explained ?? new Big(0) }];
};

const judgeAll = (context: EntryContext): Judged[] => {
  const { transactions, total, isCredit } = context;
  if (transactions.length < 2) return takeWhole(context);
  const shares = divideEntry(total, isCredit, transactions);
  if (shares === undefined) return takeWhole(context);
  const judged = shares.map((share) => ({
    ...share,
    verdict: judgeTransaction(context, share.transaction),
  }));
  // A debit inside a credit, for instance of charges, cannot be left out without changing what arrived.
  const isMixed = judged.some(
    ({ transaction, verdict }) => transaction.isCredit !== isCredit && verdict.as === "out",
  );
  return isMixed ? takeWhole(context) : judged;
};

/** A record that is left out, with the key under which another booking of the same statement cancels it. */
export type Left = { item: LeftOut; key: string | undefined; isGivenBack: boolean };
export type Converted = { items: BankItem[]; left: Left[] };

const leaveOut = (
  { currency }: EntryContext,
  { line, reason, type, value }: { line: number; reason: string; type: string; value: Big },
): LeftOut => ({
  line,
  leftOut: {
    type: `camt ${type}`,
    reason,
    amount: formatDecimal(value, currency),
    currency,
  },
});

/** Leaves out transactions that are no payments: one by one, or the entry if the reason is the same for all. */
const leaveOutAll = (context: EntryContext, judged: readonly Judged[]): Left[] => {
  const { element, total, isCredit, currency } = context;
  const out = judged.flatMap(({ transaction, verdict, value }) =>
    verdict.as === "out" ? [{ transaction, verdict, value }] : [],
  );
  const [first] = out;
  if (first === undefined) return [];
  const isSame = out.every(
    ({ verdict: { type, reason } }) =>
      type === first.verdict.type && reason === first.verdict.reason,
  );
  if (out.length === judged.length && isSame) {
    const value = isCredit ? total : total.neg();
    const { endToEndId } = first.transaction;
    const { type, reason, isGivenBack } = first.verdict;
    const isSingle = out.length === 1 && endToEndId !== "";
    return [
      {
        item: leaveOut(context, { line: element.line, reason, type, value }),
        key: isSingle ? `${endToEndId} ${total.toFixed()} ${currency}` : undefined,
        isGivenBack,
      },
    ];
  }
  return out.map(({ transaction, verdict, value }) => ({
    item: leaveOut(context, {
      line: transaction.line,
      reason: verdict.reason,
      type: verdict.type,
      value,
    }),
    key: undefined,
    isGivenBack: false,
  }));
};

/** Reads the batch that an entry is, or is of. A message of the payer can have one payment, so it counts for reports. */
const readBatch = ({ element, statement, transactions }: EntryContext) => {
  const [collection = "", message = ""] = transactions[0]?.orderedWith ?? [];
  const isReport = statement.message.kind !== "camt.053";
  const ids = ["NtryDtls/Btch/PmtInfId", "NtryDtls/Btch/MsgId"];
  const reference = readText(element, ...ids) || collection || (isReport ? message : "");
  const text = readText(element, "NtryDtls/Btch/NbOfTxs");
  const named = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  const count = Math.max(named, transactions.length);
  return count > 1 || reference !== "" ? { batch: { reference, count } } : {};
};

/** Converts a booked entry to payments, returns of payments, and records that are left out. */
export const convertEntry = (context: EntryContext): Converted => {
  const { element, statement, place, total, currency, isCredit } = context;
  if (!isBooked(element) || total.eq(0)) {
    const status = readText(element, "Sts/Cd", "Sts");
    const isZero = isBooked(element);
    const reason = isZero ? "the amount is zero" : `not booked (status ${status})`;
    const type = isZero ? describeCodes(readCodes(element)) : status;
    const value = isCredit ? total : total.neg();
    const item = leaveOut(context, { line: element.line, reason, type, value });
    return { items: [], left: [{ item, key: undefined, isGivenBack: false }] };
  }
  const judged = judgeAll(context);
  const taken = judged.filter(({ verdict, value }) => verdict.as !== "out" && !value.eq(0));
  const left = leaveOutAll(context, judged);
  if (taken.length === 0) return { items: [], left };
  const [bankReference] = readEntryReferences(element);
  const only = context.transactions.length === 1 ? context.transactions[0]?.bankReference : "";
  const entry = {
    line: element.line,
    message: statement.message,
    place,
    account: statement.account,
    amount: formatDecimal(sumOf(taken.map(({ value }) => value)), currency),
    currency,
    day: statement.findDay(element),
    bankReferences: collectReferences([bankReference, only]),
    ...readBatch(context),
    payments: taken.map((one) => buildPayment(context, one)),
  };
  return { items: [entry], left };
};
