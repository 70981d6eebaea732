import type { Line } from "../lines.ts";
import { parseDigits, parseTransaction, readSummary, type Transaction } from "./bai2-fields.ts";
import { type Account, leaveOut, toItem, type TransactionContext } from "./bai2-entry.ts";
import { createDeposits } from "./bai2-deposits.ts";
import { Bai2Totals } from "./bai2-totals.ts";
import { createBai2Rules, type Bai2Rule } from "./bai2-types.ts";
import type { BankItem, Message } from "./entry.ts";
import {
  createMalformed,
  createPaymentIds,
  parseCompactDay,
  type PaymentIds,
  type ReadBankFile,
  readEntriesByLine,
  type Warn,
} from "./file.ts";

// Record layouts: Cash Management Balance Reporting Specifications, Version 2 (BAI, 2005).
// 01 file, 02 group, 03 account, 16 transaction, 88 continuation; 49, 98 and 99 end account, group and file.
const RECORD = /^(01|02|03|16|49|88|98|99),/;
// Some banks write several records on one line. The fields after the code tell a record from a text such as "/ 16,000".
const NEXT_RECORD =
  /\/\s+(?=01,[^,]{0,50},[^,]{0,50},\d{6},|02,[^,]{0,50},[^,]{0,50},\d?,\d{6},|03,[^,]{0,50},[A-Z]{0,3},|16,\d{3},[+-]?\d{0,40},|(?:49|98|99),[+-]?\d{1,40}[,/]|88,)/;

// A file on one line, in which nothing but the slash stands between records: the 02 record follows on the line of 01.
const ONE_LINE = /^01,[^/]{0,500}\/02,[^,]{0,50},[^,]{0,50},\d?,\d{6},/;
const NEXT_ON_LINE =
  /\/\s*(?=01,[^,]{0,50},[^,]{0,50},\d{6},|02,[^,]{0,50},[^,]{0,50},\d?,\d{6},|03,[^,]{0,50},[A-Z]{0,3},|16,\d{3},[+-]?\d{0,40},|(?:49|98|99),[+-]?\d{1,40}[,/]|88,)/;

const FIRST_CREDIT = 100;
const LAST_CREDIT = 399;

// BAI2 2005, 02 record, group status.
const UPDATE = "1";
const TEST = "4";
const STATUSES: ReadonlyMap<string, string> = new Map([
  ["2", "deletion"],
  ["3", "correction"],
  [TEST, "test"],
]);

type Group = {
  line: number;
  originator: string;
  day: string;
  currency: string;
  status: string;
  message: Message;
  /** Number of its transactions so far. */
  transactions: number;
};
type OpenRecord = { code: "03" | "16"; line: number; content: string };

const splitFields = (content: string): string[] => content.split(",").map((field) => field.trim());

/** Reads the records of a file, and checks their order and their control totals. */
class Bai2Reader {
  readonly #warn: Warn;
  readonly #ids: PaymentIds;
  readonly #findRule: (type: string) => Bai2Rule;
  readonly #totals: Bai2Totals;
  readonly #deposits: ReturnType<typeof createDeposits>;
  readonly #warnedTypes = new Set<string>();
  #isOpen = false;
  #ended = false;
  #file: readonly string[] = [];
  #group: Group | undefined;
  #account: Account | undefined;
  #waiting: OpenRecord | undefined;
  /** Whether the last record can be continued by an 88 record. */
  #continues = false;

  constructor(warn: Warn, ids: PaymentIds, findRule: (type: string) => Bai2Rule) {
    this.#warn = warn;
    this.#ids = ids;
    this.#findRule = findRule;
    const totals = new Bai2Totals(warn);
    this.#totals = totals;
    this.#deposits = createDeposits(warn, (digits) => totals.divide(digits));
  }

  line({ number, text }: Line): BankItem[] {
    return text
      .split(ONE_LINE.test(text) ? NEXT_ON_LINE : NEXT_RECORD)
      .map((record) => record.trim())
      .filter((record) => record !== "")
      .flatMap((record) => this.#record(number, record));
  }

  end(line: number): BankItem[] {
    if (!this.#ended)
      throw createMalformed(
        `line ${line}`,
        "is the last line, but the file has no closing 99 record",
      );
    return [...this.#flush(), ...this.#deposits.release()];
  }

  #record(line: number, record: string): BankItem[] {
    const code = RECORD.exec(record)?.[1];
    const content = record.replace(/\/$/, "");
    if (!this.#isOpen && code !== "01") {
      throw createMalformed(
        `line ${line}`,
        "is not a 01 record, which a BAI2 file must begin with",
      );
    }
    if (code === undefined) {
      if (!this.#continues) throw createMalformed(`line ${line}`, "is not a BAI2 record");
      this.#warn(`line ${line}`, "is not a record and is ignored as an unreadable continuation");
      return [];
    }
    if (code === "88") {
      if (!this.#continues) throw createMalformed(`line ${line}`, "continues nothing");
      this.#totals.record();
      if (this.#waiting !== undefined) this.#waiting.content += `\n${content.slice(3)}`;
      return [];
    }
    const items = this.#flush();
    if (code !== "16") for (const item of this.#deposits.release()) items.push(item);
    this.#open(code, line, content);
    return items;
  }

  #open(code: string, line: number, content: string): void {
    const fields = splitFields(content);
    this.#continues = code === "03" || code === "16" || code === "01" || code === "02";
    this.#ended = code === "99";
    if (code === "01") this.#openFile(line, fields);
    if (code === "02") {
      this.#totals.openGroup(line);
      this.#group = this.#groupOf(line, fields);
    }
    if (code === "03") {
      this.#totals.openAccount(line);
      this.#account = this.#accountOf(line, fields);
      this.#waiting = { code, line, content };
    }
    if (code === "16") {
      if (this.#account === undefined)
        throw createMalformed(`line ${line}`, "is outside an account");
      this.#waiting = { code, line, content };
    }
    this.#totals.record();
    this.#close(code, line, fields);
  }

  #openFile(line: number, fields: readonly string[]): void {
    if (this.#isOpen)
      throw createMalformed(`line ${line}`, "begins a file, but the one before has no 99 record");
    this.#isOpen = true;
    // BAI2 2005, 01 record: sender, receiver, creation date and time, file identification number.
    this.#file = fields.slice(1, 6);
    this.#totals.openFile();
  }

  #close(code: string, line: number, fields: readonly string[]): void {
    if (code === "49") {
      this.#totals.closeAccount(line, fields, this.#account?.currency ?? "");
      this.#account = undefined;
    }
    if (code === "98") {
      this.#totals.closeGroup(line, fields, this.#group?.currency ?? "");
      this.#group = undefined;
      this.#account = undefined;
    }
    if (code === "99") {
      this.#totals.closeFile(line, fields);
      this.#isOpen = false;
      this.#group = undefined;
      this.#account = undefined;
    }
  }

  #groupOf(line: number, fields: readonly string[]): Group {
    const [, receiver = "", originator = "", status = "", date = "", time = "", currency = ""] =
      fields;
    const day = parseCompactDay(date);
    if (day === undefined) throw createMalformed(`line ${line}`, "has no valid group date");
    const meaning = STATUSES.get(status);
    if (meaning !== undefined) {
      this.#warn(
        `line ${line}`,
        `begins a group of status ${status} (${meaning}), which is not loaded`,
      );
    } else if (status !== UPDATE && status !== "") {
      throw createMalformed(`line ${line}`, `begins a group of the unknown status ${status}`);
    }
    const identity = [...this.#file, receiver, originator, status, date, time, fields[7] ?? ""];
    const message: Message = { kind: "bai2", identity };
    return { line, originator, day, currency, status, message, transactions: 0 };
  }

  #accountOf(line: number, fields: readonly string[]): Account {
    if (this.#group === undefined) throw createMalformed(`line ${line}`, "is outside a group");
    const [, number = "", own = ""] = fields;
    const { currency } = this.#group;
    return { number, currency: own || currency || "USD" };
  }

  /** Completes the record that is now followed by another one. */
  #flush(): BankItem[] {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    const [group, account] = [this.#group, this.#account];
    if (waiting === undefined || group === undefined || account === undefined) return [];
    const { code, line, content } = waiting;
    if (code === "03") {
      this.#totals.summary(readSummary(content));
      return [];
    }
    const transaction = parseTransaction(line, content);
    const { type, digits } = transaction;
    if (digits !== "") this.#totals.transaction(type, parseDigits(digits));
    return this.#toItems(transaction, group, account);
  }

  #toItems(transaction: Transaction, group: Group, account: Account): BankItem[] {
    const { line, type } = transaction;
    const { status, day, message } = group;
    group.transactions += 1;
    const rule = this.#findRule(type);
    const formerIds = this.#deriveFormerIds(transaction, group, account);
    const place = group.transactions;
    const context: TransactionContext = {
      transaction,
      rule,
      account,
      day,
      message,
      place,
      formerIds,
    };
    if (status === TEST) return [leaveOut(context, "its group has the status 4 and is a test")];
    const meaning = STATUSES.get(status);
    if (meaning !== undefined) {
      throw createMalformed(
        `line ${line}`,
        `is in a group of status ${status} (${meaning}, line ${group.line}), which changes what an earlier file said; ask the bank for the complete data`,
      );
    }
    if (rule.take && !rule.isListed && !this.#warnedTypes.has(type)) {
      this.#warnedTypes.add(type);
      this.#warn(`line ${line}`, `has the type ${type} (${rule.name}), which counts as a payment`);
    }
    const item = toItem(context);
    const amount = "leftOut" in item ? undefined : item.amount;
    const divided = leaveOut(context, "is divided into its items, which follow it", amount);
    return this.#deposits.add({
      type,
      digits: parseDigits(transaction.digits) ?? 0n,
      item,
      divided,
    });
  }

  /** Version 0.1.0 counted every credit of the types 100 to 399, so that these ids depend on the earlier ones. */
  #deriveFormerIds(
    { type, digits, bank, customer, joined }: Transaction,
    { originator, day }: Group,
    account: Account,
  ): string[] {
    const code = Number(type);
    if (code < FIRST_CREDIT || code > LAST_CREDIT) return [];
    return [
      this.#ids.derive(originator, day, account.number, type, digits, bank, customer, joined),
    ];
  }
}

/** Reads the transactions of a BAI2 file: payments, returns of payments, and records that are left out. */
export const readBai2: ReadBankFile = async function* readBai2(bytes, warn, options) {
  const ids = createPaymentIds("bai2");
  try {
    yield* readEntriesByLine(bytes, warn, new Bai2Reader(warn, ids, createBai2Rules(options)));
  } finally {
    ids.close();
  }
};
