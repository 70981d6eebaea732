import { Big, formatDecimal, parseDecimal } from "./decimal.ts";
import type { BankItem, EntryPayment, Message, RemittanceLine } from "./entry.ts";
import {
  createMalformed,
  omitEmpty,
  parseAmount,
  parseCompactDay,
  takeLast4,
  UNAPPLIED,
} from "./file.ts";
import { listGvc, RETURNED_GVC } from "./gvc-types.ts";
import { type Narrative, readNarrative } from "./mt940-narrative.ts";
import { collectReferences, joinTexts } from "./text.ts";
import type { FindType, RecordType } from "./types.ts";

const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/;
const GERMAN_ACCOUNT = /^(\d{8})\/(\d{1,10})(?:[A-Z]{3})?$/;
const LETTERS_BASE = 36;

/** Returns the remainder of ISO 7064 (mod 97-10), which is 1 for an IBAN. */
const findRemainder = (iban: string): bigint => {
  const moved = iban.slice(4) + iban.slice(0, 4);
  return (
    BigInt(moved.replaceAll(/[A-Z]/g, (letter) => String(parseInt(letter, LETTERS_BASE)))) % 97n
  );
};

/**
 * Returns the account of field 25 as other messages name it. Banks write an IBAN after a BIC, or with the currency
 * behind it; German banks write bank code and account number, which ISO 13616 has as an IBAN.
 */
export const parseAccount = (text: string): string => {
  const plain = text.replaceAll(" ", "");
  const [, bank = "", number = ""] = GERMAN_ACCOUNT.exec(plain) ?? [];
  if (bank !== "") {
    const own = `${bank}${number.padStart(10, "0")}`;
    const check = 98n - findRemainder(`DE00${own}`);
    return `DE${String(check).padStart(2, "0")}${own}`;
  }
  const last = plain.slice(plain.lastIndexOf("/") + 1);
  const ibans = [last, last.replace(/[A-Z]{3}$/, "")];
  return ibans.find((one) => IBAN.test(one) && findRemainder(one) === 1n) ?? text;
};

export type Mark = "C" | "D" | "RC" | "RD" | "EC" | "ED";

/** A field :61: with the :86: that follows it. */
export type StatementLine = {
  line: number;
  day: string;
  mark: Mark;
  amount: Big;
  /** SWIFT transaction type, for instance `NTRF`. */
  type: string;
  customerReference: string;
  bankReference: string;
  details: string;
  narrative: string[];
};

/**
 * SWIFT MT940, field 61: value date YYMMDD, entry date MMDD, mark (RC and RD reverse a credit or a debit; EC and ED are
 * expected), funds code, amount, transaction type, reference of the account owner, `//` reference of the bank, and
 * further details on a second line.
 */
const FIELD_61 =
  /^(\d{6})(\d{4})?(RC|RD|EC|ED|C|D)([A-Z])?(\d{0,15}[,.]\d{0,5})([NSF][A-Z0-9]{3})(.{0,200})$/;

export const parseStatementLine = (line: number, lines: readonly string[]): StatementLine => {
  const [first = "", ...others] = lines;
  const [, date = "", , mark = "", , written = "", type = "", rest = ""] =
    FIELD_61.exec(first.trimEnd()) ?? [];
  const day = parseCompactDay(date);
  const amount = parseDecimal(written.replace(",", "."));
  if (day === undefined || amount === undefined)
    throw createMalformed(`line ${line}`, "is not a readable field :61:");
  const cut = rest.indexOf("//");
  return {
    line,
    day,
    amount,
    type,
    mark: mark as Mark,
    customerReference: (cut === -1 ? rest : rest.slice(0, cut)).trim(),
    bankReference: cut === -1 ? "" : rest.slice(cut + 2).trim(),
    details: others.join(" ").trim(),
    narrative: [],
  };
};

/** Returns what a line adds to its account; expected entries are not booked. */
export const findMovement = ({ mark, amount }: StatementLine): Big => {
  if (mark === "C" || mark === "RD") return amount;
  return mark === "D" || mark === "RC" ? amount.neg() : new Big(0);
};

export type LineContext = {
  entry: StatementLine;
  message: Message;
  place: number;
  account: string;
  currency: string;
  find: FindType;
};

const findMethod = (gvc: string, code: string): string => {
  if (code === "CHK" || ["111", "170", "183"].includes(gvc)) return "check";
  if (code === "LBX") return "lockbox";
  return code === "DDT" || gvc.startsWith("1") ? "ach" : "other";
};

type Verdict = { as: "payment" | "return" | "out"; reason: string };

const NAMED = "named by the import map";

const judge = ({ entry, find }: LineContext, { gvc, returned }: Narrative): Verdict => {
  const { mark, type } = entry;
  const code = type.slice(1);
  if (mark === "EC" || mark === "ED") return { as: "out", reason: "expected, not booked" };
  const rule: RecordType | undefined = find(...listGvc(gvc), type, code);
  const isNamed = rule?.reason === NAMED;
  if (mark === "D" || mark === "RC") {
    // SWIFT: RTI is a returned item; a debit of that type returns a credit.
    const isReturn =
      mark === "RC" || code === "RTI" || returned !== undefined || RETURNED_GVC.has(gvc);
    if (isNamed ? rule.take : isReturn)
      return {
        as: "return",
        reason: returned ?? (mark === "RC" ? "reversal" : (rule?.name ?? type)),
      };
    return { as: "out", reason: "a debit, not the return of a customer's payment" };
  }
  const own = "gives back a payment of the company's own";
  if (mark === "RD") return { as: "out", reason: `${own} (reversal of a debit)` };
  if (returned !== undefined) return { as: "out", reason: `${own} (${returned})` };
  if (rule !== undefined && !rule.take)
    return { as: "out", reason: `${rule.name}: ${rule.reason}` };
  return { as: "payment", reason: "" };
};

const MONEY = /([A-Z]{3})? ?(\d{1,15}[,.]\d{0,5})/;

/** Reads charges in the account's currency. */
const readFee = (text: string, currency: string): unknown => {
  const [, named = currency, digits = ""] = MONEY.exec(text.slice(0, 40)) ?? [];
  const value = parseDecimal(digits.replace(",", "."));
  if (value === undefined || named !== currency || value.eq(0)) return undefined;
  return parseAmount(value.toFixed());
};

const CHARGES = /\/CHGS\/([A-Z]{3}\d{1,15}[,.]\d{0,5})/;

const buildPayment = (
  { entry, account, currency }: LineContext,
  narrative: Narrative,
  verdict: Verdict,
  amount: string,
): EntryPayment => {
  const { line, customerReference, bankReference, details, type } = entry;
  const { references: codes, creditorReference, texts } = narrative;
  const named = collectReferences([codes.get("EREF"), customerReference, bankReference]);
  const references = collectReferences([...named, ...codes.values(), creditorReference]);
  const isReturn = verdict.as === "return";
  const remittances: RemittanceLine[] =
    creditorReference === "" ? [] : [{ line, cells: { invoiceNumber: creditorReference } }];
  const charges = narrative.charges || (CHARGES.exec(details.slice(0, 200))?.[1] ?? "");
  return {
    line,
    amount,
    cells: omitEmpty({
      paymentMethod: findMethod(narrative.gvc, type.slice(1)),
      paymentReference: named[0],
      payerName: narrative.name,
      payerAccountLast4: takeLast4(narrative.account),
      ...UNAPPLIED,
      ...(isReturn ? { applicationStatus: "reversed", returnReason: verdict.reason } : {}),
      remittanceId: creditorReference,
      bankAccountLast4: takeLast4(account),
      feeAmount: readFee(charges, currency),
      remittanceText: joinTexts([...texts, details]),
    }),
    references,
    remittances,
    ...(isReturn
      ? {
          returned: {
            reason: verdict.reason,
            references: collectReferences([bankReference, ...references]),
          },
        }
      : {}),
    // Version 0.1.0 did not read MT940.
    formerIds: [],
  };
};

/** Converts a line with its :86: to a payment, to the return of one, or to a record that is left out. */
export const toItem = (context: LineContext): BankItem => {
  const { entry, message, place, account, currency } = context;
  const { line, type, day, bankReference } = entry;
  const narrative = readNarrative(entry.narrative);
  const verdict = judge(context, narrative);
  const movement = findMovement(entry);
  const amount = formatDecimal(movement, currency);
  const gvc = narrative.gvc === "" ? "" : ` GVC ${narrative.gvc}`;
  if (verdict.as === "out" || movement.eq(0)) {
    const reason = verdict.as === "out" ? verdict.reason : "the amount is zero";
    return { line, leftOut: { type: `MT940 ${type}${gvc}`, reason, amount, currency } };
  }
  return {
    line,
    message,
    place,
    account,
    amount,
    currency,
    day,
    bankReferences: collectReferences([bankReference]),
    payments: [buildPayment(context, narrative, verdict, amount)],
  };
};
