import { convertEntry, isBooked, readEntryAmount } from "./camt-entry.ts";
import { createPairs } from "./camt-pairs.ts";
import {
  checkBatch,
  checkTotals,
  countEntry,
  createTotals,
  MESSAGES,
  readStatement,
  type Statement,
  type StatementTotals,
} from "./camt-statement.ts";
import { readTransaction, type Transaction } from "./camt-transaction.ts";
import { CAMT_TYPES } from "./camt-types.ts";
import type { BankItem } from "./entry.ts";
import {
  createMalformed,
  createPaymentIds,
  parseAmount,
  type PaymentIds,
  type ReadBankFile,
  type Warn,
} from "./file.ts";
import { createTypeRules, type FindType } from "./types.ts";
import { createXmlReader, detach, type Element, findAll, findElement, readText } from "./xml.ts";

// Message layouts: ISO 20022 camt.052, camt.053 and camt.054, versions 2 to 13.
const STATEMENTS: ReadonlySet<string> = new Set(["Rpt", "Stmt", "Ntfctn"]);

const isStatement = (element: Element | undefined): element is Element =>
  element !== undefined &&
  STATEMENTS.has(element.name) &&
  MESSAGES.includes(element.parent?.name ?? "");

/**
 * Finds the header of a message, or the statement, to which an element belongs: their children are needed after their
 * end. `last` is the one that was found before.
 */
const findNeeded = (
  element: Element | undefined,
  last: Element | undefined,
): Element | undefined => {
  let at = element;
  while (at !== undefined && at !== last) {
    const { name, parent } = at;
    if (name === "GrpHdr" || isStatement(at)) return at;
    at = parent;
  }
  return at;
};

type FormerMoney = { amount: unknown; currency: string };

/** Derives the payment ids of version 0.1.0, which took each credited transaction as a payment. */
class FormerIds {
  readonly #ids: PaymentIds;
  /** Number of transactions of the open entry, and the first without an amount of its own. */
  #transactions = 0;
  #amountless: Element | undefined;

  constructor(ids: PaymentIds) {
    this.#ids = ids;
  }

  transaction(entry: Element, transaction: Element): string[] {
    this.#transactions += 1;
    const money = this.#readMoney(transaction, "Amt", "AmtDtls/TxAmt/Amt");
    const sign = readText(transaction, "CdtDbtInd") || readText(entry, "CdtDbtInd");
    if (sign !== "CRDT" || !isBooked(entry)) return [];
    if (money === undefined) {
      this.#amountless ??= transaction;
      return [];
    }
    return [this.#derive(entry, transaction, money)];
  }

  /** Returns the id of an entry that was one payment, with no transaction or one without an amount. */
  entry(entry: Element): string[] {
    const isAlone = this.#transactions === 0;
    const transaction = isAlone ? entry : this.#amountless;
    const isCredit = !isAlone || readText(entry, "CdtDbtInd") === "CRDT";
    const isPayment = isCredit && isBooked(entry) && this.#transactions <= 1;
    this.#transactions = 0;
    this.#amountless = undefined;
    if (transaction === undefined || !isPayment) return [];
    const money = this.#readMoney(entry, "Amt") ?? { amount: undefined, currency: "" };
    return [this.#derive(entry, transaction, money)];
  }

  #readMoney(element: Element, ...paths: readonly string[]): FormerMoney | undefined {
    for (const path of paths) {
      const found = findElement(element, path);
      if (found === undefined) continue;
      return { amount: parseAmount(found.text.trim()), currency: found.attributes["Ccy"] ?? "" };
    }
    return undefined;
  }

  #derive(entry: Element, transaction: Element, { amount, currency }: FormerMoney): string {
    const days = ["ValDt/Dt", "ValDt/DtTm", "BookgDt/Dt", "BookgDt/DtTm"];
    const statement = entry.parent;
    return this.#ids.derive(
      statement === undefined ? "" : readText(statement, "Acct/Id/IBAN", "Acct/Id/Othr/Id"),
      readText(entry, ...days).slice(0, 10),
      String(amount),
      currency,
      readText(entry, "AcctSvcrRef"),
      readText(entry, "NtryRef"),
      ...findAll(transaction, "Refs").flatMap(({ children }) =>
        children.map(
          (one) =>
            `${one.name}=${one.text.trim()}${one.children.map(({ text }) => text).join("/")}`,
        ),
      ),
      readText(transaction, "RmtInf/Strd/CdtrRefInf/Ref"),
    );
  }
}

/** Reads messages and releases each transaction and entry after its end, so that memory stays bounded. */
class CamtReader {
  readonly #warn: Warn;
  readonly #find: FindType;
  readonly #former: FormerIds | undefined;
  readonly #pairs = createPairs();
  #items: BankItem[] = [];
  #isMessage = false;
  #foreign = "";
  /** The open statement, from its first entry. */
  #statement: Statement | undefined;
  #totals: StatementTotals = createTotals();
  #place = 0;
  #transactions: Transaction[] = [];
  /** The header or statement of which the last elements were. */
  #needed: Element | undefined;

  constructor(warn: Warn, former: FormerIds | undefined, find: FindType) {
    this.#warn = warn;
    this.#find = find;
    this.#former = former;
  }

  readonly closed = (element: Element): void => {
    const { name, parent } = element;
    if (name === "TxDtls") this.#transaction(element);
    else if (name === "Ntry" && isStatement(parent)) this.#entry(element, parent);
    const needed = findNeeded(parent, this.#needed);
    if (needed !== undefined) {
      this.#needed = needed;
      return;
    }
    if (MESSAGES.includes(name)) this.#isMessage = true;
    else if (parent?.name === "Document") this.#foreign ||= name;
    if (isStatement(element)) this.#endStatement(element);
    if (name !== "GrpHdr") detach(element);
  };

  taken(): BankItem[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  end(): void {
    if (this.#isMessage) return;
    const found = this.#foreign === "" ? "" : `; it is a message ${this.#foreign}`;
    throw createMalformed(
      "line 1",
      `does not begin one of the messages ${MESSAGES.join(", ")}${found}`,
    );
  }

  #transaction(transaction: Element): void {
    const entry = transaction.parent?.parent;
    if (entry?.name !== "Ntry" || !isStatement(entry.parent)) return;
    const formerIds = this.#former?.transaction(entry, transaction) ?? [];
    const { currency } = readEntryAmount(entry);
    const isCredit = this.#isCredit(entry);
    this.#transactions.push(
      readTransaction(transaction, { element: entry, currency, isCredit }, formerIds),
    );
    detach(transaction);
  }

  #isCredit(entry: Element): boolean {
    const sign = readText(entry, "CdtDbtInd");
    if (sign === "CRDT" || sign === "DBIT") return sign === "CRDT";
    throw createMalformed(`line ${entry.line}`, "does not say whether it is a credit or a debit");
  }

  #entry(element: Element, parent: Element): void {
    this.#statement ??= readStatement(parent);
    this.#place += 1;
    const { total, currency } = readEntryAmount(element);
    const isCredit = this.#isCredit(element);
    const formerIds = this.#former?.entry(element) ?? [];
    const count = this.#transactions.length;
    checkBatch(element, count, this.#warn);
    countEntry(this.#totals, { total, currency, isCredit, isBooked: isBooked(element) });
    if (count === 0) {
      const own = readTransaction(element, { element, currency, isCredit }, formerIds);
      this.#transactions.push(own);
    } else this.#transactions[0]?.formerIds.push(...formerIds);
    const { items, left } = convertEntry({
      element,
      statement: this.#statement,
      place: this.#place,
      total,
      currency,
      isCredit,
      transactions: this.#transactions,
      find: this.#find,
      warn: this.#warn,
    });
    for (const item of items) this.#items.push(item);
    for (const one of left) this.#items.push(...this.#pairs.add(one));
    this.#transactions = [];
    detach(element);
  }

  #endStatement(element: Element): void {
    for (const item of this.#pairs.end()) this.#items.push(item);
    checkTotals(element, this.#totals, this.#warn);
    this.#statement = undefined;
    this.#totals = createTotals();
    this.#place = 0;
    detach(element);
  }
}

const decodeChunk = (decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string => {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw createMalformed("the text", "is not in the encoding that it declares");
  }
};

/** Reads the entries of camt messages, which can follow each other or be in an envelope. */
export const readCamt: ReadBankFile = async function* readCamt(bytes, warn, options) {
  const ids = createPaymentIds("camt");
  const former = options?.hasFormer === false ? undefined : new FormerIds(ids);
  const reader = new CamtReader(warn, former, createTypeRules(CAMT_TYPES, options));
  const xml = createXmlReader(reader.closed);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const chunk of bytes) {
      xml.write(decodeChunk(decoder, chunk));
      yield reader.taken();
    }
    xml.write(decodeChunk(decoder));
    xml.end();
    reader.end();
    yield reader.taken();
  } finally {
    ids.close();
  }
};
