import { hash } from "node:crypto";
import Big from "big.js";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { Entry } from "../bank/entry.ts";
import type { Place } from "./repeats.ts";
import type { Values } from "./row.ts";

const MOST_WORDS = 400;
export const MOST_REFERENCES = 50;
const PAYER_END = "|";
/** Stands before the number of a document among references, in which no signs are. */
const DOCUMENT = "#";

/** The {@link EntryFacts.detail} of one payment without documents. */
export const LEAST_DETAIL = 1000;

const digest = (...facts: readonly unknown[]): string =>
  hash("sha256", JSON.stringify(facts), "hex").slice(0, 32);

/** Removes what banks write differently in messages about the same money: spaces, signs, letter case. */
export const normalizeText = (text: string): string =>
  // Most texts are ASCII, of which patterns for Unicode take several times as long.
  /^[\x20-\x7e]*$/.test(text)
    ? text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "")
    : text
        .normalize("NFKC")
        .toUpperCase()
        .replaceAll(/[^\p{L}\p{N}]/gu, "");

/** The columns of an entry that come from its message alone. */
export type EntryFacts = Omit<
  PaymentEntryRow,
  | "import_id"
  | "payment_ids"
  | "joined_to"
  | "part_of"
  | "doubt_of"
  | "doubt_payment_id"
  | "doubt"
  | "waits"
>;

const ADVICES: ReadonlySet<string> = new Set(["edi820"]);

/** Whether an entry is of a remittance advice, not of a message of the bank about its account. */
export const isAdvice = ({ kind }: Pick<EntryFacts, "kind">): boolean => ADVICES.has(kind);

const normalizeAll = (texts: readonly unknown[]): string[] => {
  const named = texts.filter((text) => typeof text === "string").map(normalizeText);
  return [...new Set(named.filter((text) => text !== ""))];
};

/** Collects the references of an entry, and the numbers of documents that are none of them. */
const collectReferences = ({ bankReferences, payments }: Entry) => {
  const own = normalizeAll([
    ...bankReferences,
    ...payments.flatMap(({ references }) => references),
  ]).slice(0, MOST_REFERENCES);
  const documents = normalizeAll(
    payments.flatMap(({ remittances }) => remittances.map(({ cells }) => cells["invoiceNumber"])),
  );
  const others = documents.filter((text) => !own.includes(text));
  return { own, documents: others.slice(0, MOST_REFERENCES - own.length) };
};

const collectTexts = ({ payments }: Entry, field: string): string =>
  payments.map(({ cells }) => normalizeText(String(cells[field] ?? ""))).join("");

/** Returns the payer's name as {@link EntryFacts.words} begin with it. */
export const getPayer = ({ words }: Pick<EntryFacts, "words">): string =>
  words.slice(0, words.indexOf(PAYER_END));

/** Returns the text of an entry without its payer. */
export const getText = ({ words }: Pick<EntryFacts, "words">): string =>
  words.slice(words.indexOf(PAYER_END) + 1);

const joinWords = (payers: string, texts: string): string =>
  `${payers.slice(0, MOST_WORDS / 2)}${PAYER_END}${texts.slice(0, MOST_WORDS / 2)}`;

const hashAccount = (tenantId: string, account: string): string | null => {
  const normal = normalizeText(account).replace(/^0+/, "");
  return normal === "" ? null : digest(tenantId, normal);
};

/** Returns the hashes of account and message; the entries of a statement, which follow each other, share them. */
const createSharedHashes = () => {
  let last: { tenantId: string; account: string; message: Entry["message"] } | undefined;
  let hashes: { account: string | null; message: string } = { account: null, message: "" };
  return (tenantId: string, { account, message }: Entry) => {
    const isSame =
      last !== undefined &&
      last.tenantId === tenantId &&
      last.account === account &&
      last.message.kind === message.kind &&
      last.message.identity.length === message.identity.length &&
      last.message.identity.every((text, place) => text === message.identity[place]);
    if (isSame) return hashes;
    last = { tenantId, account, message };
    hashes = {
      account: hashAccount(tenantId, account),
      message: digest(message.kind, ...message.identity),
    };
    return hashes;
  };
};

const hashShared = createSharedHashes();

/** Returns how an entry's own reference at the bank is stored; null if it has none. */
export const toBankReference = (account: string | null, reference: string): string | null => {
  const normal = normalizeText(reference);
  return normal === "" ? null : `${account ?? ""}:${normal}`;
};

const countParts = ({ batch, payments }: Entry): number | null => {
  const count = Math.max(batch?.count ?? 0, payments.length);
  return count > 1 ? count : null;
};

/** The facts of an entry, and the id of the one that it repeats, if its file has its message twice. */
export type Described = { facts: EntryFacts; repeats: string | undefined };

/**
 * Collects the facts of an entry. `findPlace` numbers the entry among the equal ones of its message, so that a
 * statement that is sent again with further entries is recognized.
 */
export const describeEntry = (
  tenantId: string,
  entry: Entry,
  findPlace: (facts: string, place: number) => Place,
): Described => {
  const { message, currency, day } = entry;
  const { account, message: messageHash } = hashShared(tenantId, entry);
  const amount = new Big(entry.amount).toFixed();
  const { own, documents } = collectReferences(entry);
  const payers = collectTexts(entry, "payerName");
  const texts = collectTexts(entry, "remittanceText");
  const facts = digest(
    messageHash,
    account,
    amount,
    currency,
    day,
    [...own, ...documents],
    payers,
    texts,
  );
  const lines = entry.payments.reduce((sum, { remittances }) => sum + remittances.length, 0);
  const { number, repeats } = findPlace(facts, entry.place);
  const described: EntryFacts = {
    tenant_id: tenantId,
    id: digest(facts, number),
    kind: message.kind,
    message: messageHash,
    account,
    amount,
    currency,
    day,
    bank_reference: toBankReference(account, entry.bankReferences[0] ?? ""),
    batch_reference: isAdvice(message)
      ? toBankReference(null, entry.payments[0]?.references[0] ?? "")
      : toBankReference(account, entry.batch?.reference ?? ""),
    part_count: countParts(entry),
    reference_list: JSON.stringify([...own, ...documents.map((text) => DOCUMENT + text)]),
    words: joinWords(payers, texts),
    detail: entry.payments.length * LEAST_DETAIL + lines,
  };
  return {
    facts: described,
    repeats: repeats === undefined ? undefined : digest(facts, repeats),
  };
};

/** What tells a payment within an entry of several from the others. */
type PartTexts = {
  amount: string;
  /** As {@link normalizeText} writes them. */
  references: readonly string[];
  documents: readonly unknown[];
  payer: string;
  text: string;
  detail: number;
};

/** Describes a payment within an entry of several as an entry of its own, of no account. */
export const describePart = (batch: EntryFacts, part: PartTexts): EntryFacts => {
  const { amount, references, detail } = part;
  const documents = normalizeAll(part.documents).filter((text) => !references.includes(text));
  return {
    ...batch,
    account: null,
    amount: new Big(amount).toFixed(),
    bank_reference: null,
    batch_reference: null,
    part_count: null,
    reference_list: JSON.stringify([...references, ...documents.map((text) => DOCUMENT + text)]),
    words: joinWords(normalizeText(part.payer), normalizeText(part.text)),
    detail,
  };
};

type Listed = Pick<EntryFacts, "reference_list">;
type References = {
  /** The references of the payment. */
  own: readonly string[];
  /** Those, and the numbers of the documents that it is for, which other payments can be for, too. */
  all: readonly string[];
};

const parsed = new WeakMap<Listed, References>();

const parse = (row: Listed): References => {
  const listed = JSON.parse(row.reference_list) as string[];
  const own = listed.filter((text) => !text.startsWith(DOCUMENT));
  const documents = listed.slice(own.length).map((text) => text.slice(DOCUMENT.length));
  return { own, all: [...own, ...documents] };
};

/** Returns the references of an entry; each one is compared with many others. */
export const parseReferences = (row: Listed): References => {
  const known = parsed.get(row) ?? parse(row);
  parsed.set(row, known);
  return known;
};

export const parsePaymentIds = ({ payment_ids: ids }: Pick<PaymentEntryRow, "payment_ids">) =>
  JSON.parse(ids) as string[];

/** Derives the id of an entry's n-th payment, from 0. */
export const derivePaymentIdOf = (entryId: string, place: number): string =>
  `pay-${digest(entryId, place).slice(0, 20)}`;

/** Derives the id of a payment of a table whose own id another payment has already. */
export const deriveVariantId = (paymentId: string, facts: Values): string =>
  `${paymentId}~${digest(facts).slice(0, 8)}`;
