import type { Dice } from "../support/dice.ts";
import { SOURCES, type Source } from "../../src/contract/payments/catalogue.ts";
import type { Kind } from "../../src/platform/import/kinds.ts";
import { writeBai2 } from "./bai2.ts";
import { type CamtForm, type CamtKind, writeCamt } from "./camt.ts";
import { writeEdi820 } from "./edi820.ts";
import { writeMt940 } from "./mt940.ts";
import type { Statement } from "./statement.ts";
import {
  encode,
  type Encoding,
  ENCODINGS,
  LOCALES,
  type TableFile,
  type Writing,
  writeLedger,
  writeRegister,
} from "./tables.ts";
import { packZip } from "../support/zip.ts";
import { amountOf, type BankAccount, type Booking, sum, type Truth } from "./truth.ts";

/** A sum of a file in one currency, in its smallest unit. */
export type Sums = { credits: number; debits: number; returned: number };

export type MoneyFile = {
  name: string;
  kind: Kind;
  source?: Source;
  bytes: Buffer;
  map?: object;
  /** The files of a ZIP. */
  members?: readonly MoneyFile[];
  /** The file's own sums by currency. */
  sums: ReadonlyMap<string, Sums>;
  leftOut: number;
  /** The bookings of which it has every transaction with its documents. */
  detailed: readonly Booking[];
  /** The range of places at which a cut leaves the file incomplete; absent if readers cannot see that. */
  cuts?: readonly [from: number, to: number];
};

const sumBookings = (bookings: readonly Booking[]): Map<string, Sums> => {
  const byCurrency = new Map<string, Sums>();
  for (const { account, amount, returned } of bookings) {
    const before = byCurrency.get(account.currency) ?? { credits: 0, debits: 0, returned: 0 };
    byCurrency.set(account.currency, {
      credits: before.credits + Math.max(amount, 0),
      debits: before.debits + Math.max(-amount, 0),
      returned: before.returned + (returned === undefined ? 0 : -amount),
    });
  }
  return byCurrency;
};

const OPENING = 500_000_000;

/** Lists the statements of an account, one for each day with bookings. */
export const listStatements = ({ days, bookings }: Truth, account: BankAccount): Statement[] => {
  let balance = OPENING;
  return days.flatMap((day, place): Statement[] => {
    const own = bookings.filter((one) => one.account === account && one.day === place);
    if (own.length === 0) return [];
    const opening = balance;
    balance += sum(own.map(({ amount }) => amount));
    const id = `S${account.number.slice(-4)}-${place + 1}`;
    return [{ id, account, day, opening, closing: balance, bookings: own }];
  });
};

/** Writes files from a truth, each day of an account in at least one full statement. */
class Writer {
  readonly #truth: Truth;
  readonly #dice: Dice;
  readonly files: MoneyFile[] = [];

  constructor(truth: Truth, dice: Dice) {
    this.#truth = truth;
    this.#dice = dice;
  }

  #add(
    name: string,
    text: string,
    facts: Pick<MoneyFile, "detailed"> & {
      bookings: readonly Booking[];
      /** Places in the text. */
      cuts: readonly [from: number, to: number];
      encoding?: Encoding;
    },
  ): void {
    const { bookings, detailed, cuts, encoding = this.#encoding() } = facts;
    const countBytes = (place: number): number => encode(text.slice(0, place), encoding).length;
    this.files.push({
      name,
      kind: "payments",
      bytes: encode(text, encoding),
      sums: sumBookings(bookings),
      leftOut: bookings.filter(({ other }) => other !== undefined).length,
      detailed,
      cuts: [countBytes(cuts[0]), countBytes(cuts[1])],
    });
  }

  #encoding(): Encoding {
    return this.#dice.chance(0.6) ? "utf-8" : this.#dice.pick(ENCODINGS);
  }

  #camt(kind: CamtKind, statement: Statement, hasDetails: boolean): void {
    const dice = this.#dice;
    const { bookings, id } = statement;
    const encoding = this.#encoding();
    const envelope = dice.chance(0.7) ? "none" : dice.pick(["header", "soap"] as const);
    const form: CamtForm = {
      hasDetails,
      // A statement has balances besides.
      hasSums: kind !== "camt.053" || dice.chance(0.6),
      envelope,
      encoding: encoding === "utf-16le" ? "UTF-16" : encoding.replace(" with mark", ""),
    };
    const text = writeCamt(kind, statement, form);
    const cuts = [text.indexOf("<GrpHdr>"), text.lastIndexOf("</Document>") + 5] as const;
    const detailed = hasDetails ? bookings : [];
    this.#add(`${kind}-${id}.xml`, text, { bookings, detailed, cuts, encoding });
  }

  #mt940(statements: readonly Statement[]): void {
    const text = writeMt940(statements, this.#dice.chance(0.3));
    const cuts = [text.lastIndexOf(":20:") + 1, text.lastIndexOf(":62F:") + 10] as const;
    const bookings = statements.flatMap((one) => one.bookings);
    this.#add(`mt940-${statements[0]?.id}.sta`, text, { bookings, detailed: [], cuts });
  }

  #bai2(statements: readonly Statement[]): void {
    const name = `bai2-${statements[0]?.id}.bai`;
    const text = writeBai2(String(this.files.length + 1), statements);
    const cuts = [30, text.lastIndexOf("99,") - 1] as const;
    const bookings = statements.flatMap((one) => one.bookings);
    this.#add(name, text, { bookings, detailed: [], cuts });
  }

  /** Writes full statements of an account, by day or of all days in one file. */
  #statements(statements: readonly Statement[], account: BankAccount): void {
    const dice = this.#dice;
    const full = account.isAmerican ? ["bai2", "camt.053"] : ["camt.053", "mt940"];
    const kinds = dice.chance(0.4) ? full : [dice.pick(full)];
    const groups = dice.chance(0.5) ? [statements] : statements.map((one) => [one]);
    const hasDetails = dice.chance(0.5);
    for (const kind of kinds) {
      if (kind === "bai2") for (const group of groups) this.#bai2(group);
      else if (kind === "mt940") for (const group of groups) this.#mt940(group);
      else for (const one of statements) this.#camt("camt.053", one, hasDetails);
    }
  }

  /** Writes reports and notifications of a part of the bookings. */
  #others(statements: readonly Statement[]): void {
    const dice = this.#dice;
    for (const [kind, likely] of [
      ["camt.052", 0.3],
      ["camt.054", 0.5],
    ] as const) {
      if (!dice.chance(likely)) continue;
      const hasDetails = kind === "camt.054" || dice.chance(0.3);
      for (const statement of statements) {
        const bookings = statement.bookings.filter(() => dice.chance(0.8));
        if (bookings.length > 0) this.#camt(kind, { ...statement, bookings }, hasDetails);
      }
    }
  }

  #advices(): void {
    const dice = this.#dice;
    const { bookings, days } = this.#truth;
    const advised = bookings.filter(({ account, transactions: [first, ...others], returned }) => {
      if (!account.isAmerican || first === undefined || others.length > 0) return false;
      const isWhole = sum(first.shares.map(({ paid }) => paid)) === first.amount;
      return returned === undefined && first.trace !== "" && isWhole && dice.chance(0.7);
    });
    const groups = dice.chance(0.5) ? [advised] : advised.map((one) => [one]);
    for (const [place, group] of groups.entries()) {
      if (group.length === 0) continue;
      const written = group.map((booking) => ({ booking, day: days[booking.day] ?? "" }));
      const text = writeEdi820(written, place + 1);
      const facts = { bookings: group, detailed: group, cuts: [110, text.length - 2] as const };
      this.#add(`edi820-${place + 1}.edi`, text, facts);
    }
  }

  #writing(): Writing {
    const form = this.#dice.pick([...LOCALES, "workbook"] as const);
    return { form, encoding: this.#encoding() };
  }

  #table(name: string, kind: Kind, table: TableFile, facts: Partial<MoneyFile> = {}): void {
    const { bytes, map } = table;
    const cuts = name.endsWith("xlsx") ? { cuts: [100, bytes.length - 30] as const } : {};
    const nothing = { sums: new Map(), leftOut: 0, detailed: [] };
    this.files.push({ name, kind, bytes, map, ...nothing, ...cuts, ...facts });
  }

  async #registers(source: Source): Promise<void> {
    const dice = this.#dice;
    const registered = this.#truth.registered.filter((one) => one.source === source);
    if (registered.length === 0) return;
    const sums = new Map<string, Sums>();
    for (const one of registered) {
      const { credits = 0 } = sums.get(one.currency) ?? {};
      sums.set(one.currency, { credits: credits + amountOf(one), debits: 0, returned: 0 });
    }
    // The same register in several forms writes its payments once.
    const forms = [...LOCALES, "workbook"] as const;
    const chosen = forms.filter(() => dice.chance(0.4));
    for (const locale of chosen.length > 0 ? chosen : [dice.pick(forms)]) {
      const hasTotals = dice.chance(0.3);
      const writing = { form: locale, encoding: this.#encoding() };
      const table = await writeRegister(source, registered, writing, hasTotals);
      const name = locale === "workbook" ? "register.xlsx" : `register-${locale.name}.csv`;
      const facts = { source, sums, leftOut: hasTotals ? 1 : 0 };
      this.#table(`${source}-${name}`, "payments", table, facts);
    }
  }

  async #ledgers(): Promise<void> {
    const dice = this.#dice;
    const { documents } = this.#truth;
    const cut = dice.chance(0.5) ? documents.length : dice.whole(0, documents.length);
    for (const [place, part] of [documents.slice(0, cut), documents.slice(cut)].entries()) {
      if (part.length === 0) continue;
      const writing = this.#writing();
      const { form } = writing;
      const name = `ledger-${place + 1}.${form === "workbook" ? "xlsx" : `${form.name}.csv`}`;
      this.#table(name, "documents", await writeLedger(part, writing));
    }
  }

  /** Packs some files of banks into a ZIP, which comes beside them or in their place. */
  async #archive(): Promise<void> {
    const dice = this.#dice;
    const members = this.files.filter(({ map }) => map === undefined && dice.chance(0.4));
    if (members.length === 0 || !dice.chance(0.4)) return;
    const isInPlace = dice.chance(0.5);
    const rest = isInPlace ? this.files.filter((file) => !members.includes(file)) : this.files;
    const bytes = await packZip(Object.fromEntries(members.map((one) => [one.name, one.bytes])));
    const archive: MoneyFile = {
      name: "bank.zip",
      kind: "payments",
      bytes,
      members,
      sums: new Map(),
      leftOut: sum(members.map(({ leftOut }) => leftOut)),
      detailed: members.flatMap(({ detailed }) => detailed),
      cuts: [100, bytes.length - 30],
    };
    this.files.splice(0, this.files.length, ...rest, archive);
  }

  async write(): Promise<MoneyFile[]> {
    for (const account of this.#truth.accounts) {
      const statements = listStatements(this.#truth, account);
      if (statements.length === 0) continue;
      this.#statements(statements, account);
      this.#others(statements);
    }
    this.#advices();
    await this.#archive();
    for (const source of SOURCES) await this.#registers(source);
    await this.#ledgers();
    return this.files;
  }
}

/** Writes the files of a truth, in the order of their writing. */
export const writeFiles = (truth: Truth, dice: Dice): Promise<MoneyFile[]> =>
  new Writer(truth, dice).write();
