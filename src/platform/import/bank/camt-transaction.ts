import { type Codes, hasCodes, readCodes } from "./camt-types.ts";
import { type Money, readCharges, readMoney } from "./camt-money.ts";
import { readRemittance } from "./camt-remittance.ts";
import type { Big } from "./decimal.ts";
import type { RemittanceLine } from "./entry.ts";
import { takeLast4 } from "./file.ts";
import { type Element, findAll, findPath, readText } from "./xml.ts";

/** A transaction of an entry, without the XML that it was read from. */
export type Transaction = {
  line: number;
  isCredit: boolean;
  codes: Codes | undefined;
  purpose: string;
  returnReason: string | undefined;
  /** Amounts in the entry's currency by the element that has them. */
  amounts: {
    own?: Big | undefined;
    booked?: Big | undefined;
    instructed?: Big | undefined;
    countervalue?: Big | undefined;
  };
  hasAmount: boolean;
  charges: Big;
  payer: string;
  payerAccount: string;
  endToEndId: string;
  reference: string;
  bankReference: string;
  /** The ids of the collection and of the message that the payment was ordered with. */
  orderedWith: readonly [collection: string, message: string];
  references: string[];
  remittanceId: string;
  remittances: readonly RemittanceLine[];
  texts: string[];
  formerIds: string[];
};

const NOT_PROVIDED = "NOTPROVIDED";

const readReason = (transaction: Element): string | undefined => {
  const [info] = findAll(transaction, "RtrInf");
  if (info === undefined) return undefined;
  const parts = [
    readText(info, "Rsn/Cd", "Rsn/Prtry"),
    ...findAll(info, "AddtlInf").map(({ text }) => text.trim()),
  ];
  return parts.filter((part) => part !== "").join(" ");
};

/** Reads the references of a transaction; ids of messages and mandates come last, because many payments share them. */
const readReferences = (transaction: Element): string[] => {
  const [refs] = findAll(transaction, "Refs");
  if (refs === undefined) return [];
  const names = ["AcctSvcrRef", "EndToEndId", "TxId", "InstrId", "UETR", "ClrSysRef", "ChqNb"];
  const others = ["AcctSvcrTxId", "AcctOwnrTxId", "Prtry/Ref", "PmtInfId", "MsgId", "MndtId"];
  return [...names, ...others].flatMap((path) =>
    findPath(refs, path).map(({ text }) => text.trim()),
  );
};

const describeMoney = ({ value, currency }: Money): string => `${currency} ${value.toFixed()}`;

/** Describes amounts in other currencies, which never change the amount of a payment. */
const describeOriginal = (element: Element, currency: string): string[] => {
  const [details] = findAll(element, "AmtDtls");
  const named: [string, Money | undefined][] = [["Amount", readMoney(element, "Amt")]];
  if (details !== undefined) {
    named.push(
      ["Instructed amount", readMoney(details, "InstdAmt/Amt")],
      ["Transaction amount", readMoney(details, "TxAmt/Amt")],
      ["Countervalue", readMoney(details, "CntrValAmt/Amt")],
    );
  }
  const texts = named.flatMap(([name, money]) =>
    money === undefined || money.currency === currency || money.currency === ""
      ? []
      : [`${name} ${describeMoney(money)}`],
  );
  const rate =
    details === undefined
      ? ""
      : readText(
          details,
          "TxAmt/CcyXchg/XchgRate",
          "InstdAmt/CcyXchg/XchgRate",
          "CntrValAmt/CcyXchg/XchgRate",
        );
  return rate === "" ? texts : [...texts, `Exchange rate ${rate}`];
};

const PAYER = [
  "RltdPties/Dbtr/Nm",
  "RltdPties/Dbtr/Pty/Nm",
  "RltdPties/UltmtDbtr/Nm",
  "RltdPties/UltmtDbtr/Pty/Nm",
];
const PAYER_ACCOUNT = ["RltdPties/DbtrAcct/Id/IBAN", "RltdPties/DbtrAcct/Id/Othr/Id"];

/** Returns the name of the party for which the payer paid, if that is another one. */
const listOthers = (transaction: Element): string[] => {
  const [payer, other] = [PAYER, PAYER.slice(2)].map((paths) => readText(transaction, ...paths));
  return other === undefined || other === payer ? [] : [other];
};

export type EntryFacts = {
  element: Element;
  currency: string;
  isCredit: boolean;
};

const readAmounts = (
  transaction: Element,
  currency: string,
): { amounts: Transaction["amounts"]; hasAmount: boolean } => {
  const found = [
    readMoney(transaction, "Amt"),
    readMoney(transaction, "AmtDtls/TxAmt/Amt"),
    readMoney(transaction, "AmtDtls/InstdAmt/Amt"),
    readMoney(transaction, "AmtDtls/CntrValAmt/Amt"),
  ];
  const [own, booked, instructed, countervalue] = found.map((money) =>
    money?.currency === currency ? money.value : undefined,
  );
  return {
    amounts: { own, booked, instructed, countervalue },
    hasAmount: found.some((money) => money !== undefined),
  };
};

/** Reads a transaction, or an entry without transactions as its own one. */
export const readTransaction = (
  transaction: Element,
  entry: EntryFacts,
  formerIds: string[],
): Transaction => {
  const { currency } = entry;
  const isEntry = transaction === entry.element;
  const sign = readText(transaction, "CdtDbtInd");
  const codes = readCodes(transaction);
  const remittance = readRemittance(transaction, currency);
  const references = isEntry ? [] : readReferences(transaction);
  const named = [
    readText(transaction, "Refs/EndToEndId"),
    readText(transaction, "Refs/TxId", "Refs/InstrId", "Refs/AcctSvcrRef"),
  ];
  return {
    line: transaction.line,
    isCredit: sign === "" ? entry.isCredit : sign === "CRDT",
    codes: hasCodes(codes) ? codes : undefined,
    purpose: readText(transaction, "Purp/Cd"),
    returnReason: readReason(transaction),
    ...(isEntry ? { amounts: {}, hasAmount: false } : readAmounts(transaction, currency)),
    charges: readCharges(transaction, currency),
    payer: readText(transaction, ...PAYER),
    payerAccount: takeLast4(readText(transaction, ...PAYER_ACCOUNT)) ?? "",
    endToEndId: named[0] === NOT_PROVIDED ? "" : (named[0] ?? ""),
    reference: named.find((text) => text !== "" && text !== NOT_PROVIDED) ?? "",
    bankReference: readText(transaction, "Refs/AcctSvcrRef"),
    orderedWith: isEntry
      ? ["", ""]
      : [readText(transaction, "Refs/PmtInfId"), readText(transaction, "Refs/MsgId")],
    references: [...references, ...remittance.references],
    remittanceId: remittance.creditorReference,
    remittances: remittance.lines,
    texts: [
      ...listOthers(transaction),
      ...remittance.texts,
      ...findAll(transaction, "AddtlTxInf").map(({ text }) => text),
      ...describeOriginal(transaction, currency),
    ],
    formerIds,
  };
};
