import { findCurrencyDecimals } from "../../money.ts";
import { type Line, readLines } from "../lines.ts";
import type { Item, Row } from "../rows.ts";
import {
  parseAmount,
  parseCompactDay,
  omitEmpty,
  takeLast4,
  createMalformed,
  createPaymentIds,
  type PaymentIds,
  type ReadBankFile,
  UNAPPLIED,
  type Warn,
} from "./file.ts";

// Record layouts: Cash Management Balance Reporting Specifications, Version 2 (BAI, 2005).
// 01 file, 02 group, 03 account, 16 transaction, 88 continuation; 49, 98 and 99 end account, group and file.
const RECORD = /^(01|02|03|16|49|88|98|99),/;
// Some banks write several records on one line.
const NEXT_RECORD = /\/\s+(?=(?:01|02|03|16|49|88|98|99),)/;

const FIRST_CREDIT = 100;
const LAST_CREDIT = 399;

const METHODS: Record<string, string> = { 115: "lockbox", 142: "ach", 165: "ach", 195: "wire" };

type Group = { originator: string; day: string; currency: string };
type Account = { number: string; currency: string };
type Transaction = { line: number; content: string };

/** Counts the fields that follow a funds type; undefined for an unknown type. */
const countFundsFields = (kind: string, next: string): number | undefined => {
  if (kind === "S") return 3;
  if (kind === "V") return 2;
  if (kind === "D") return /^\d+$/.test(next) ? 1 + 2 * Number(next) : undefined;
  return ["", "Z", "0", "1", "2"].includes(kind) ? 0 : undefined;
};

/** Converts BAI2 digits, which have no decimal point, by the currency's number of decimals. */
const toDecimal = (digits: string, currency: string): unknown => {
  const [, sign = "", number = ""] = /^([+-]?)(\d+)$/.exec(digits) ?? [];
  if (number === "") return undefined;
  const decimals = findCurrencyDecimals(currency);
  const padded = number.padStart(decimals + 1, "0");
  const cut = padded.length - decimals;
  return parseAmount(`${sign}${padded.slice(0, cut)}.${padded.slice(cut)}`);
};

/** Reads the records of a file and checks their order. */
class Bai2Reader {
  readonly #warn: Warn;
  readonly #ids: PaymentIds;
  #isOpen = false;
  #ended = false;
  #group: Group | undefined;
  #account: Account | undefined;
  #waiting: Transaction | undefined;
  /** Whether the last record can be continued by an 88 record. */
  #continues = false;

  constructor(warn: Warn, ids: PaymentIds) {
    this.#warn = warn;
    this.#ids = ids;
  }

  line({ number, text }: Line): Row[] {
    return text
      .split(NEXT_RECORD)
      .map((record) => record.trim())
      .filter((record) => record !== "")
      .flatMap((record) => this.#record(number, record));
  }

  end(line: number): Row[] {
    const rows = this.#flush();
    if (!this.#ended)
      throw createMalformed(
        `line ${line}`,
        "is the last line, but the file has no closing 99 record",
      );
    return rows;
  }

  #record(line: number, record: string): Row[] {
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
    if (code === "88") return this.#continue(line, content);
    const rows = this.#flush();
    this.#open(code, line, content);
    return rows;
  }

  #continue(line: number, content: string): Row[] {
    if (!this.#continues) throw createMalformed(`line ${line}`, "continues nothing");
    if (this.#waiting !== undefined) this.#waiting.content += content.slice(2);
    return [];
  }

  #open(code: string, line: number, content: string): void {
    const fields = content.split(",").map((field) => field.trim());
    this.#continues = code === "03" || code === "16" || code === "01" || code === "02";
    if (code === "01") this.#isOpen = true;
    this.#ended = code === "99";
    if (code === "99") this.#isOpen = false;
    if (code === "02") this.#group = this.#groupOf(line, fields);
    if (code === "98") this.#group = undefined;
    if (code === "03") this.#account = this.#accountOf(line, fields);
    if (code === "49") this.#account = undefined;
    if (code === "16") {
      if (this.#account === undefined)
        throw createMalformed(`line ${line}`, "is outside an account");
      this.#waiting = { line, content };
    }
  }

  #groupOf(line: number, fields: string[]): Group {
    const [, , originator = "", , date = "", , currency = ""] = fields;
    const day = parseCompactDay(date);
    if (day === undefined) throw createMalformed(`line ${line}`, "has no valid group date");
    return { originator, day, currency };
  }

  #accountOf(line: number, fields: string[]): Account {
    if (this.#group === undefined) throw createMalformed(`line ${line}`, "is outside a group");
    const [, number = "", own = ""] = fields;
    const { currency } = this.#group;
    return { number, currency: own || currency || "USD" };
  }

  #flush(): Row[] {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    const [group, account] = [this.#group, this.#account];
    if (waiting === undefined || group === undefined || account === undefined) return [];
    const row = toRow(waiting, { group, account, ids: this.#ids });
    return row === undefined ? [] : [row];
  }
}

const toRow = (
  { line, content }: Transaction,
  { group, account, ids }: { group: Group; account: Account; ids: PaymentIds },
): Row | undefined => {
  const fields = content.split(",");
  const [, type = "", digits = "", kind = "", next = ""] = fields.map((field) => field.trim());
  const skipped = countFundsFields(kind, next);
  if (!/^\d{3}$/.test(type) || skipped === undefined) {
    throw createMalformed(`line ${line}`, "is not a readable transaction");
  }
  if (Number(type) < FIRST_CREDIT || Number(type) > LAST_CREDIT) return undefined;
  const amount = toDecimal(digits.trim(), account.currency);
  if (amount === undefined) throw createMalformed(`line ${line}`, "has no amount");
  const [bank = "", customer = "", ...text] = fields
    .slice(4 + skipped)
    .map((field) => field.trim());
  const { originator, day } = group;
  const facts = [originator, day, account.number, type, digits, bank, customer, text.join(",")];
  return {
    line,
    cells: omitEmpty({
      paymentId: ids.derive(...facts),
      paymentDate: day,
      paymentMethod: METHODS[type] ?? "other",
      paymentReference: customer || bank,
      currencyCode: account.currency,
      paymentAmount: amount,
      ...UNAPPLIED,
      remittanceSource: "bai2",
      bankAccountLast4: takeLast4(account.number),
    }),
  };
};

/** Reads the credits of a BAI2 file, one row each. */
export const readBai2: ReadBankFile = async function* readBai2(bytes, warn) {
  const ids = createPaymentIds("bai2");
  const reader = new Bai2Reader(warn, ids);
  let last = 0;
  try {
    for await (const lines of readLines(bytes)) {
      const items: Item[] = [];
      for (const line of lines) {
        if (line.fault?.code === "too_long")
          throw createMalformed(`line ${line.number}`, line.fault.message);
        items.push(...reader.line(line));
        last = line.number;
      }
      yield items;
    }
    yield reader.end(last);
  } finally {
    ids.close();
  }
};
