import { formatDecimal } from "./decimal.ts";
import { parseDigits, toDecimal, type Transaction } from "./bai2-fields.ts";
import type { Bai2Rule } from "./bai2-types.ts";
import type { BankItem, LeftOut, Message } from "./entry.ts";
import { createMalformed, omitEmpty, takeLast4, UNAPPLIED } from "./file.ts";
import { collectReferences, joinTexts } from "./text.ts";

/** Payment methods by type code. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ...["115", "116", "118", "415"].map((type) => [type, "lockbox"] as const),
  ...["121", "122", "142", "143", "155", "164", "165", "166", "169"].map(
    (type) => [type, "ach"] as const,
  ),
  ...["423", "468", "557", "558"].map((type) => [type, "ach"] as const),
  ...["191", "195", "208"].map((type) => [type, "wire"] as const),
  ...["175", "176", "187", "221", "222", "555"].map((type) => [type, "check"] as const),
  ["147", "card"],
]);

// Labels at the beginning of a continuation, as banks write the parts of ISO 20022 messages into BAI2.
const LABEL = /^\s*([A-Z]{4}):\s*(\S.*)$/;
const TRACE = /\bTRN\*\d\*([^*~\\\s]{1,50})/;
const LOCKBOX = /\bLOCK ?BOX\D{0,12}(\d{1,10})/i;

type Labels = ReadonlyMap<string, string>;

const readLabels = (text: string): Labels => {
  const labels = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, label = "", value = ""] = LABEL.exec(line) ?? [];
    if (label !== "" && !labels.has(label)) labels.set(label, value.trim());
  }
  return labels;
};

/** Returns the lines of the text without account numbers, of which only the last four characters are stored. */
const listTexts = (text: string): string[] =>
  text.split("\n").filter((line) => !/^\s*[CD]ACT:/.test(line));

export type Account = { number: string; currency: string };

export type TransactionContext = {
  transaction: Transaction;
  rule: Bai2Rule;
  account: Account;
  day: string;
  message: Message;
  place: number;
  formerIds: readonly string[];
};

const collectAll = ({ bank, customer, text }: Transaction, labels: Labels): string[] =>
  collectReferences([
    bank,
    customer,
    labels.get("EREF"),
    labels.get("CREF"),
    labels.get("CHKN"),
    TRACE.exec(text.slice(0, 2000))?.[1],
  ]);

const buildCells = (
  { transaction, rule, account }: TransactionContext,
  labels: Labels,
  returned: string | undefined,
): Record<string, unknown> => {
  const { type, bank, customer, text } = transaction;
  const isCredit = rule.direction === "credit";
  const method = METHODS.get(type) ?? "other";
  return omitEmpty({
    paymentMethod: method,
    paymentReference: customer || bank,
    payerName: isCredit ? labels.get("DBNM") : undefined,
    payerAccountLast4: isCredit ? takeLast4(labels.get("DACT") ?? "") : undefined,
    ...UNAPPLIED,
    ...(returned === undefined ? {} : { applicationStatus: "reversed", returnReason: returned }),
    remittanceSource: "bai2",
    lockboxNumber:
      method === "lockbox"
        ? LOCKBOX.exec(`${bank} ${customer} ${text.slice(0, 500)}`)?.[1]
        : undefined,
    bankAccountLast4: takeLast4(account.number),
    remittanceText: joinTexts(listTexts(text)),
  });
};

const describeType = ({ type, name, reason }: Bai2Rule): string =>
  name === type ? reason : `${name}: ${reason}`;

export const leaveOut = (
  { transaction: { line, type }, rule, account }: TransactionContext,
  reason = describeType(rule),
  amount?: string,
): LeftOut => ({
  line,
  leftOut: {
    type: `BAI2 ${type}`,
    reason,
    ...(amount === undefined ? {} : { amount, currency: account.currency }),
  },
});

/** Converts a transaction to a payment, to the return of one, or to a record that is left out. */
export const toItem = (context: TransactionContext): BankItem => {
  const { transaction, rule, account, message, place, day, formerIds } = context;
  const { line, digits, bank, text } = transaction;
  if (rule.direction === "none") return leaveOut(context);
  const parsed = parseDigits(digits);
  if (parsed === undefined) throw createMalformed(`line ${line}`, "has no amount");
  // BAI2 2005, 16 record: the amount is unsigned, its direction follows from the type code.
  if (parsed < 0n) throw createMalformed(`line ${line}`, `has the negative amount ${digits}`);
  const isCredit = rule.direction === "credit";
  const unsigned = formatDecimal(toDecimal(parsed, account.currency), account.currency);
  const amount = isCredit || parsed === 0n ? unsigned : `-${unsigned}`;
  if (!rule.take) return leaveOut(context, undefined, amount);
  if (parsed === 0n) return leaveOut(context, "the amount is zero", amount);
  const labels = readLabels(text);
  const references = collectAll(transaction, labels);
  const reason = joinTexts([`${transaction.type} ${rule.name}`, ...listTexts(text)]);
  const payment = {
    line,
    amount,
    cells: buildCells(context, labels, isCredit ? undefined : reason),
    references,
    remittances: [],
    ...(isCredit ? {} : { returned: { reason, references } }),
    formerIds,
  };
  return {
    line,
    message,
    place,
    account: account.number,
    amount,
    currency: account.currency,
    day,
    // The bank reference of a returned item is often that of the deposit, which is another entry.
    bankReferences: isCredit ? collectReferences([bank]) : [],
    payments: [payment],
  };
};
