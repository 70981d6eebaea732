import { type Fault } from "../../../contract/errors.ts";
import type { Item } from "../rows.ts";
import {
  parseAmount,
  omitEmpty,
  takeLast4,
  createMalformed,
  createPaymentIds,
  type PaymentIds,
  type ReadBankFile,
  UNAPPLIED,
} from "./file.ts";
import {
  findAll,
  createXmlReader,
  type Decoder,
  createDecoder,
  type Element,
  detach,
  readText,
} from "./xml.ts";

// Message layouts: ISO 20022 camt.052, camt.053 and camt.054, versions 2 to 12.
const MESSAGES = ["BkToCstmrAcctRpt", "BkToCstmrStmt", "BkToCstmrDbtCdtNtfctn"];
const STATEMENTS: ReadonlySet<string> = new Set(["Rpt", "Stmt", "Ntfctn"]);

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

type Money = { amount: unknown; currency: string };

const readMoney = (element: Element, ...paths: readonly string[]): Money | undefined => {
  for (const path of paths) {
    const [found] = findAll(element, ...path.split("/"));
    if (found === undefined) continue;
    return { amount: parseAmount(found.text.trim()), currency: found.attributes["Ccy"] ?? "" };
  }
  return undefined;
};

const isBooked = (entry: Element): boolean => {
  const status = readText(entry, "Sts/Cd", "Sts");
  return status === "" || status === "BOOK";
};

const readDay = (entry: Element): string =>
  readText(entry, "ValDt/Dt", "ValDt/DtTm", "BookgDt/Dt", "BookgDt/DtTm").slice(0, 10);

const readMethod = (transaction: Element, entry: Element): string => {
  const codes = [transaction, entry].flatMap((one) => [
    readText(one, "BkTxCd/Domn/Fmly/SubFmlyCd"),
    readText(one, "BkTxCd/Domn/Fmly/Cd"),
  ]);
  return METHODS.get(codes.find((code) => METHODS.has(code)) ?? "") ?? "other";
};

const NOT_PROVIDED = "NOTPROVIDED";

const readReference = (transaction: Element, entry: Element): string => {
  const named = [
    readText(transaction, "Refs/EndToEndId"),
    readText(transaction, "Refs/TxId", "Refs/InstrId", "Refs/AcctSvcrRef"),
    readText(entry, "AcctSvcrRef", "NtryRef"),
  ];
  return named.find((text) => text !== "" && text !== NOT_PROVIDED) ?? "";
};

const readAccount = (statement: Element | undefined): string =>
  statement === undefined ? "" : readText(statement, "Acct/Id/IBAN", "Acct/Id/Othr/Id");

type Referred = { number: string; remitted: unknown };

/** Reads the documents that a payment refers to, with the remitted amount of each where it is given. */
const readReferredDocuments = (transaction: Element): Referred[] =>
  findAll(transaction, "RmtInf", "Strd").flatMap((part) => {
    const numbers = findAll(part, "RfrdDocInf", "Nb").map(({ text }) => text.trim());
    const share = readMoney(part, "RfrdDocAmt/RmtdAmt")?.amount;
    const remitted = numbers.length === 1 ? share : undefined;
    return numbers.filter((number) => number !== "").map((number) => ({ number, remitted }));
  });

type Parts = { entry: Element; transaction: Element; money: Money; ids: PaymentIds };

const collectIdentity = (
  { entry, transaction, money }: Omit<Parts, "ids">,
  account: string,
): string[] => [
  account,
  readDay(entry),
  String(money.amount),
  money.currency,
  readText(entry, "AcctSvcrRef"),
  readText(entry, "NtryRef"),
  ...findAll(transaction, "Refs").flatMap(({ children }) =>
    children.map(
      (one) => `${one.name}=${one.text.trim()}${one.children.map(({ text }) => text).join("/")}`,
    ),
  ),
  readText(transaction, "RmtInf/Strd/CdtrRefInf/Ref"),
];

const buildSharedCells = (parts: Parts): Record<string, unknown> => {
  const { entry, transaction, money, ids } = parts;
  const account = readAccount(entry.parent);
  const isReversal = readText(entry, "RvslInd") === "true";
  return {
    paymentId: ids.derive(...collectIdentity(parts, account)),
    paymentDate: readDay(entry),
    paymentMethod: readMethod(transaction, entry),
    paymentReference: readReference(transaction, entry),
    payerName: readText(
      transaction,
      "RltdPties/Dbtr/Nm",
      "RltdPties/Dbtr/Pty/Nm",
      "RltdPties/UltmtDbtr/Nm",
      "RltdPties/UltmtDbtr/Pty/Nm",
    ),
    payerAccountLast4: takeLast4(
      readText(transaction, "RltdPties/DbtrAcct/Id/IBAN", "RltdPties/DbtrAcct/Id/Othr/Id"),
    ),
    currencyCode: money.currency,
    paymentAmount: money.amount,
    ...UNAPPLIED,
    ...(isReversal ? { applicationStatus: "reversed" } : {}),
    remittanceSource: "camt054",
    remittanceId: readText(transaction, "RmtInf/Strd/CdtrRefInf/Ref"),
    bankAccountLast4: takeLast4(account),
  };
};

const toRows = (parts: Parts): Item[] => {
  const { transaction, money } = parts;
  const { line } = transaction;
  if (money.amount === undefined || money.currency === "") {
    throw createMalformed(`line ${line}`, "has no amount with a currency");
  }
  const shared = buildSharedCells(parts);
  const referred = readReferredDocuments(transaction);
  if (referred.length === 0) return [{ line, cells: omitEmpty(shared) }];
  return referred.map(({ number, remitted }, place) => ({
    line,
    cells: omitEmpty({ ...shared, invoiceNumber: number, appliedAmount: remitted }),
    continues: place > 0,
  }));
};

const AMOUNTLESS: Fault = {
  field: "paymentAmount",
  code: "required",
  message: "is missing, and the entry has several transactions",
};

/** Reads a message and releases each entry after its end, so that memory stays bounded. */
class CamtReader {
  readonly #ids: PaymentIds;
  #items: Item[] = [];
  /** Number of transactions of the open entry, and those without an amount of their own. */
  #transactions = 0;
  #amountless: Element[] = [];
  #isMessage = false;

  constructor(ids: PaymentIds) {
    this.#ids = ids;
  }

  readonly closed = (element: Element): void => {
    if (element.parent?.parent === undefined && element.name !== "Document") this.#message(element);
    if (element.name === "TxDtls") this.#transaction(element);
    if (element.name === "Ntry" && STATEMENTS.has(element.parent?.name ?? "")) this.#entry(element);
    if (STATEMENTS.has(element.name)) detach(element);
  };

  taken(): Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  end(): void {
    if (this.#isMessage) return;
    throw createMalformed("line 1", `does not begin one of the messages ${MESSAGES.join(", ")}`);
  }

  #message({ name }: Element): void {
    this.#isMessage ||= MESSAGES.includes(name);
  }

  #transaction(transaction: Element): void {
    const entry = transaction.parent?.parent;
    if (entry?.name !== "Ntry") return;
    this.#transactions += 1;
    const money = readMoney(transaction, "Amt", "AmtDtls/TxAmt/Amt");
    const sign = readText(transaction, "CdtDbtInd") || readText(entry, "CdtDbtInd");
    if (sign === "CRDT" && isBooked(entry)) {
      if (money === undefined) this.#amountless.push(transaction);
      else this.#items.push(...toRows({ entry, transaction, money, ids: this.#ids }));
    }
    detach(transaction);
  }

  #entry(entry: Element): void {
    const alone = this.#transactions === 0 ? entry : this.#amountless[0];
    const isCredit = this.#transactions > 0 || readText(entry, "CdtDbtInd") === "CRDT";
    if (alone !== undefined && isCredit && isBooked(entry)) {
      if (this.#transactions > 1) this.#refuseAmountless();
      else {
        const money = readMoney(entry, "Amt") ?? { amount: undefined, currency: "" };
        this.#items.push(...toRows({ entry, transaction: alone, money, ids: this.#ids }));
      }
    }
    this.#transactions = 0;
    this.#amountless = [];
    detach(entry);
  }

  #refuseAmountless(): void {
    for (const { line } of this.#amountless) {
      this.#items.push({ line, fault: AMOUNTLESS, text: "TxDtls" });
    }
  }
}

const decodeChunk = (decoder: Decoder, chunk: Uint8Array): string => {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch {
    throw createMalformed("the text", `is not in the encoding ${decoder.encoding}`);
  }
};

/** Reads the credits of a camt message, one row per document that they refer to. */
export const readCamt: ReadBankFile = async function* readCamt(bytes) {
  const ids = createPaymentIds("camt");
  const reader = new CamtReader(ids);
  const xml = createXmlReader(reader.closed);
  let decoder: Decoder | undefined;
  try {
    for await (const chunk of bytes) {
      decoder ??= createDecoder(chunk);
      xml.write(decodeChunk(decoder, chunk));
      yield reader.taken();
    }
    xml.end();
    reader.end();
    yield reader.taken();
  } finally {
    ids.close();
  }
};
