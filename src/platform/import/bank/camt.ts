import { type Fault } from "../../../contract/errors.ts";
import type { Item } from "../rows.ts";
import {
  amountOf,
  given,
  last4,
  malformed,
  paymentIdOf,
  type ReadBankFile,
  UNAPPLIED,
} from "./file.ts";
import {
  all,
  createXmlReader,
  type Decoder,
  decoderOf,
  type Element,
  forget,
  textAt,
} from "./xml.ts";

// Message layouts: ISO 20022 camt.052, camt.053 and camt.054, versions 2 to 12.
const MESSAGES = ["BkToCstmrAcctRpt", "BkToCstmrStmt", "BkToCstmrDbtCdtNtfctn"];
const STATEMENTS: ReadonlySet<string> = new Set(["Rpt", "Stmt", "Ntfctn"]);

/** ISO 20022 bank transaction codes: families and, for credit transfers, what is beneath them. */
const METHODS: Record<string, string> = {
  RCHQ: "check",
  LBOX: "lockbox",
  CCRD: "card",
  MCRD: "card",
  ESCT: "ach",
  ACDT: "ach",
  DMCT: "ach",
  XBCT: "wire",
};

type Money = { amount: unknown; currency: string };

const moneyAt = (element: Element, ...paths: readonly string[]): Money | undefined => {
  for (const path of paths) {
    const [found] = all(element, ...path.split("/"));
    if (found === undefined) continue;
    return { amount: amountOf(found.text.trim()), currency: found.attributes["Ccy"] ?? "" };
  }
  return undefined;
};

const isBooked = (entry: Element): boolean => {
  const status = textAt(entry, "Sts/Cd", "Sts");
  return status === "" || status === "BOOK";
};

const dayAt = (entry: Element): string =>
  textAt(entry, "ValDt/Dt", "ValDt/DtTm", "BookgDt/Dt", "BookgDt/DtTm").slice(0, 10);

const methodOf = (transaction: Element, entry: Element): string => {
  const codes = [transaction, entry].flatMap((one) => [
    textAt(one, "BkTxCd/Domn/Fmly/SubFmlyCd"),
    textAt(one, "BkTxCd/Domn/Fmly/Cd"),
  ]);
  return METHODS[codes.find((code) => code in METHODS) ?? ""] ?? "other";
};

const NOT_PROVIDED = "NOTPROVIDED";

const referenceOf = (transaction: Element, entry: Element): string => {
  const named = [
    textAt(transaction, "Refs/EndToEndId"),
    textAt(transaction, "Refs/TxId", "Refs/InstrId", "Refs/AcctSvcrRef"),
    textAt(entry, "AcctSvcrRef", "NtryRef"),
  ];
  return named.find((text) => text !== "" && text !== NOT_PROVIDED) ?? "";
};

const accountOf = (statement: Element | undefined): string =>
  statement === undefined ? "" : textAt(statement, "Acct/Id/IBAN", "Acct/Id/Othr/Id");

type Referred = { number: string; remitted: unknown };

/** The documents that a payment says it is for, each with its share where that is told. */
const referredBy = (transaction: Element): Referred[] =>
  all(transaction, "RmtInf", "Strd").flatMap((part) => {
    const numbers = all(part, "RfrdDocInf", "Nb").map(({ text }) => text.trim());
    const share = moneyAt(part, "RfrdDocAmt/RmtdAmt")?.amount;
    const remitted = numbers.length === 1 ? share : undefined;
    return numbers.filter((number) => number !== "").map((number) => ({ number, remitted }));
  });

type Parts = { entry: Element; transaction: Element; money: Money };

const factsOf = ({ entry, transaction, money }: Parts, account: string): string[] => [
  account,
  dayAt(entry),
  String(money.amount),
  money.currency,
  textAt(entry, "AcctSvcrRef"),
  textAt(entry, "NtryRef"),
  ...all(transaction, "Refs").flatMap(({ children }) =>
    children.map(
      (one) => `${one.name}=${one.text.trim()}${one.children.map(({ text }) => text).join("/")}`,
    ),
  ),
  textAt(transaction, "RmtInf/Strd/CdtrRefInf/Ref"),
];

const sharedCells = (parts: Parts): Record<string, unknown> => {
  const { entry, transaction, money } = parts;
  const account = accountOf(entry.parent);
  const isReversal = textAt(entry, "RvslInd") === "true";
  return {
    paymentId: paymentIdOf("camt", ...factsOf(parts, account)),
    paymentDate: dayAt(entry),
    paymentMethod: methodOf(transaction, entry),
    paymentReference: referenceOf(transaction, entry),
    payerName: textAt(
      transaction,
      "RltdPties/Dbtr/Nm",
      "RltdPties/Dbtr/Pty/Nm",
      "RltdPties/UltmtDbtr/Nm",
      "RltdPties/UltmtDbtr/Pty/Nm",
    ),
    payerAccountLast4: last4(
      textAt(transaction, "RltdPties/DbtrAcct/Id/IBAN", "RltdPties/DbtrAcct/Id/Othr/Id"),
    ),
    currencyCode: money.currency,
    paymentAmount: money.amount,
    ...UNAPPLIED,
    ...(isReversal ? { applicationStatus: "reversed" } : {}),
    remittanceSource: "camt054",
    remittanceId: textAt(transaction, "RmtInf/Strd/CdtrRefInf/Ref"),
    bankAccountLast4: last4(account),
  };
};

const rowsOf = (parts: Parts): Item[] => {
  const { transaction, money } = parts;
  const { line } = transaction;
  if (money.amount === undefined || money.currency === "") {
    throw malformed(`line ${line}`, "has no amount with a currency");
  }
  const shared = sharedCells(parts);
  const referred = referredBy(transaction);
  if (referred.length === 0) {
    return [{ line, cells: given({ ...shared, unappliedAmount: money.amount }) }];
  }
  return referred.map(({ number, remitted }, place) => ({
    line,
    // What is not told of each document is told of the payment once.
    cells: given({
      ...shared,
      invoiceNumber: number,
      unappliedAmount: remitted ?? (place === 0 ? money.amount : 0),
    }),
  }));
};

const AMOUNTLESS: Fault = {
  field: "paymentAmount",
  code: "required",
  message: "is not told, and the entry has several transactions",
};

/** Follows a message, statement by statement, and forgets each entry as it ends. */
class CamtReader {
  #items: Item[] = [];
  /** Transactions of the entry that is open, and those of them that leave their amount to it. */
  #transactions = 0;
  #amountless: Element[] = [];
  #isMessage = false;

  readonly closed = (element: Element): void => {
    if (element.parent?.parent === undefined && element.name !== "Document") this.#message(element);
    if (element.name === "TxDtls") this.#transaction(element);
    if (element.name === "Ntry" && STATEMENTS.has(element.parent?.name ?? "")) this.#entry(element);
    if (STATEMENTS.has(element.name)) forget(element);
  };

  taken(): Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  end(): void {
    if (this.#isMessage) return;
    throw malformed("line 1", `begins no message of a bank's credits: ${MESSAGES.join(", ")}`);
  }

  #message({ name }: Element): void {
    this.#isMessage ||= MESSAGES.includes(name);
  }

  #transaction(transaction: Element): void {
    const entry = transaction.parent?.parent;
    if (entry?.name !== "Ntry") return;
    this.#transactions += 1;
    const money = moneyAt(transaction, "Amt", "AmtDtls/TxAmt/Amt");
    const sign = textAt(transaction, "CdtDbtInd") || textAt(entry, "CdtDbtInd");
    if (sign === "CRDT" && isBooked(entry)) {
      if (money === undefined) this.#amountless.push(transaction);
      else this.#items.push(...rowsOf({ entry, transaction, money }));
    }
    forget(transaction);
  }

  #entry(entry: Element): void {
    const alone = this.#transactions === 0 ? entry : this.#amountless[0];
    const isCredit = this.#transactions > 0 || textAt(entry, "CdtDbtInd") === "CRDT";
    if (alone !== undefined && isCredit && isBooked(entry)) {
      if (this.#transactions > 1) this.#refuseAmountless();
      else {
        const money = moneyAt(entry, "Amt") ?? { amount: undefined, currency: "" };
        this.#items.push(...rowsOf({ entry, transaction: alone, money }));
      }
    }
    this.#transactions = 0;
    this.#amountless = [];
    forget(entry);
  }

  #refuseAmountless(): void {
    for (const { line } of this.#amountless) {
      this.#items.push({ line, fault: AMOUNTLESS, text: "TxDtls" });
    }
  }
}

/** The credits of a camt message, a row for each document that they say they are for. */
export const readCamt: ReadBankFile = async function* readCamt(bytes) {
  const reader = new CamtReader();
  const xml = createXmlReader(reader.closed);
  let decoder: Decoder | undefined;
  for await (const chunk of bytes) {
    decoder ??= decoderOf(chunk);
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw malformed("the text", `is not in the encoding ${decoder.encoding}`);
    }
    xml.write(text);
    yield reader.taken();
  }
  xml.end();
  reader.end();
  yield reader.taken();
};
