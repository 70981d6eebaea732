import type { Line } from "../lines.ts";
import { Big, formatDecimal, parseDecimal } from "./decimal.ts";
import type { BankItem } from "./entry.ts";
import { createMalformed, parseCompactDay, type ReadBankFile, readEntriesByLine } from "./file.ts";
import {
  findMovement,
  parseAccount,
  parseStatementLine,
  type StatementLine,
  toItem,
} from "./mt940-entry.ts";
import { MT940_TYPES } from "./mt940-types.ts";
import { createTypeRules, type FindType } from "./types.ts";

// Field layouts: SWIFT MT940 Customer Statement Message.
const FIELD = /^:(\d{2}[A-Z]?):/;
// Block 2 of the envelope has the message type, block 4 the fields.
const MESSAGE_TYPE = /\{2:[IO](\d{3})/;
const TEXT_BLOCK = "{4:";
const HEADER_BLOCK = /\{[12]:/;
// The beginning of a field's tag, as a file has it at its end that was cut.
const PART_OF_TAG = /^:(\d{0,2}[A-Z]?)$/;
const MAX_FIELD = 100_000;

const BALANCE = /^([CD])(\d{6})([A-Z]{3})(\d{0,15}[,.]\d{0,5})$/;

type Balance = { value: Big; currency: string };

type Field = { tag: string; line: number; lines: string[]; length: number };

/** A statement, or a page of one, from its :20:. */
type Open = {
  line: number;
  reference: string;
  related: string;
  account: string;
  number: string;
  opening: (Balance & { text: string }) | undefined;
  movements: Big;
  places: number;
  entry: StatementLine | undefined;
  isClosed: boolean;
};

const parseBalance = (line: number, text: string): Balance => {
  const [, mark = "", date = "", currency = "", written = ""] = BALANCE.exec(text.trim()) ?? [];
  const value = parseDecimal(written.replace(",", "."));
  if (value === undefined || parseCompactDay(date) === undefined)
    throw createMalformed(`line ${line}`, "is not a readable balance");
  return { value: mark === "D" ? value.neg() : value, currency };
};

/** Names the statement of a page: its number without that of the page. */
const nameStatement = ({ account, number }: Open): string =>
  JSON.stringify([account, number.split("/")[0]]);

/** Reads the fields of messages, with or without an envelope, and checks balances. */
class Mt940Reader {
  readonly #find: FindType;
  #field: Field | undefined;
  #open: Open | undefined;
  #isFound = false;
  /** The line of an envelope whose message has not begun. */
  #announced: number | undefined;
  #last = "";
  /** The closing balance of the last page that another one follows, and its statement. */
  #page: (Balance & { of: string }) | undefined;

  constructor(find: FindType) {
    this.#find = find;
  }

  line({ number, text }: Line): BankItem[] {
    if (text.trim() !== "") this.#last = text.trim();
    const envelope = text.indexOf(TEXT_BLOCK);
    if (text.startsWith("{1:") || text.startsWith("-}") || text.startsWith("{2:"))
      return this.#readEnvelope(number, text, envelope);
    const own = text.replace(/\r$/, "");
    const tag = FIELD.exec(own)?.[1];
    if (tag !== undefined) {
      const items = this.#flush();
      const content = own.slice(tag.length + 2);
      this.#field = { tag, line: number, lines: [content], length: content.length };
      return items;
    }
    // A dash ends a message; banks write some between its fields, too.
    if (own.trim() === "-") {
      const items = this.#flush();
      return this.#open?.isClosed === false ? items : [...items, ...this.#endMessage(number)];
    }
    this.#continue(own);
    return [];
  }

  end(line: number): BankItem[] {
    const items = this.#endMessage(line);
    if (PART_OF_TAG.test(this.#last))
      throw createMalformed(`line ${line}`, `ends the file within a tag: ${this.#last}`);
    if (this.#announced !== undefined && this.#isFound)
      throw createMalformed(`line ${this.#announced}`, "begins a message that has no text block");
    if (!this.#isFound)
      throw createMalformed(`line ${Math.max(line, 1)}`, "ends a file without an MT940 message");
    return items;
  }

  #readEnvelope(line: number, text: string, block: number): BankItem[] {
    const items = this.#endMessage(line);
    if (HEADER_BLOCK.test(text)) this.#announced = line;
    const type = MESSAGE_TYPE.exec(text.slice(0, 500))?.[1];
    if (type !== undefined && type !== "940")
      throw createMalformed(`line ${line}`, `begins a message MT${type}, not an MT940`);
    const rest = block === -1 ? "" : text.slice(block + TEXT_BLOCK.length).trim();
    return rest === "" ? items : [...items, ...this.line({ number: line, text: rest })];
  }

  #continue(text: string): void {
    const field = this.#field;
    // Banks write lines of their own before the first field.
    if (field === undefined) return;
    field.length += text.length;
    if (field.length > MAX_FIELD)
      throw createMalformed(`line ${field.line}`, "begins a field that is too long");
    field.lines.push(text);
  }

  #endMessage(line: number): BankItem[] {
    const items = this.#flush();
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined && !open.isClosed) {
      throw createMalformed(
        `line ${line}`,
        `ends the statement of line ${open.line}, which has no closing balance (:62F:)`,
      );
    }
    return items;
  }

  /** Completes the field that is now followed by another one. */
  #flush(): BankItem[] {
    const field = this.#field;
    this.#field = undefined;
    if (field === undefined) return [];
    const { tag, line, lines } = field;
    const [first = ""] = lines;
    if (tag === "20") {
      const items = this.#endMessage(line);
      this.#isFound = true;
      this.#announced = undefined;
      this.#open = {
        line,
        reference: first.trim(),
        related: "",
        account: "",
        number: "",
        places: 0,
        opening: undefined,
        movements: new Big(0),
        entry: undefined,
        isClosed: false,
      };
      return items;
    }
    if (this.#open === undefined)
      throw createMalformed(`line ${line}`, `is the field :${tag}:, but no :20: begins a message`);
    return this.#read(field, first.trim(), this.#open);
  }

  #read({ tag, line, lines }: Field, text: string, open: Open): BankItem[] {
    // SWIFT MT942 has a floor limit (34F), the time of the report (13D) and sums (90C, 90D), and no balances.
    if (["34F", "13D", "90C", "90D"].includes(tag))
      throw createMalformed(`line ${line}`, `is the field :${tag}: of an MT942, not of an MT940`);
    if (tag === "86") {
      // An :86: after the closing balance is about the statement.
      if (open.entry !== undefined) for (const one of lines) open.entry.narrative.push(one);
      return [];
    }
    const items = this.#flushEntry(open);
    if (tag === "21") open.related = text;
    if (tag === "25" || tag === "25P") open.account = parseAccount(text);
    if (tag === "28" || tag === "28C") open.number = text;
    if (tag === "60F" || tag === "60M")
      open.opening = { ...parseBalance(line, text), text: `${tag} ${text}` };
    if (tag === "60M") this.#checkPage(open, line);
    if (tag === "61") this.#begin(open, parseStatementLine(line, lines));
    if (tag === "62F" || tag === "62M") this.#close(open, line, parseBalance(line, text));
    if (tag === "62M") this.#page = { ...parseBalance(line, text), of: nameStatement(open) };
    return items;
  }

  /** The intermediate balances of a statement's pages (:62M:, :60M:) follow each other; a page between them is missing. */
  #checkPage(open: Open, line: number): void {
    const [page, { opening }] = [this.#page, open];
    if (page === undefined || opening === undefined || page.of !== nameStatement(open)) return;
    if (page.currency === opening.currency && page.value.eq(opening.value)) return;
    const [one, other] = [page, opening].map(
      ({ value, currency }) => `${formatDecimal(value, currency)} ${currency}`,
    );
    throw createMalformed(
      `line ${line}`,
      `opens a page with ${other}, but the page before it closed with ${one}; a page is missing`,
    );
  }

  #begin(open: Open, entry: StatementLine): void {
    if (open.opening === undefined)
      throw createMalformed(`line ${entry.line}`, "is :61: before an opening balance (:60F:)");
    if (open.isClosed)
      throw createMalformed(`line ${entry.line}`, "is :61: after the closing balance (:62F:)");
    open.entry = entry;
    open.movements = open.movements.plus(findMovement(entry));
  }

  /** Opening balance, movements and closing balance of a statement or page belong together. */
  #close(open: Open, line: number, closing: Balance): void {
    open.isClosed = true;
    const { opening, movements } = open;
    if (opening === undefined)
      throw createMalformed(`line ${line}`, "is :62F: without an opening balance (:60F:)");
    const { currency } = closing;
    if (opening.currency !== currency)
      throw createMalformed(
        `line ${line}`,
        `is a balance in ${currency}, but the opening one is in ${opening.currency}`,
      );
    const expected = opening.value.plus(movements);
    if (expected.eq(closing.value)) return;
    throw createMalformed(
      `line ${line}`,
      `names the closing balance ${formatDecimal(closing.value, currency)}, but opening balance and movements make ${formatDecimal(expected, currency)}`,
    );
  }

  #flushEntry(open: Open): BankItem[] {
    const { entry, opening } = open;
    open.entry = undefined;
    if (entry === undefined || opening === undefined) return [];
    open.places += 1;
    const { reference, related, account, number, places: place } = open;
    const identity = [reference, related, account, number, opening.text];
    const message = { kind: "mt940" as const, identity };
    const { currency } = opening;
    return [toItem({ entry, message, place, account, currency, find: this.#find })];
  }
}

/** Reads the entries of MT940 statements. */
export const readMt940: ReadBankFile = (bytes, warn, options) =>
  readEntriesByLine(bytes, warn, new Mt940Reader(createTypeRules(MT940_TYPES, options)));
