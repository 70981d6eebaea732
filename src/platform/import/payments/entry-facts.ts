import { hash } from "node:crypto";
import Big from "big.js";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { Entry } from "../bank/entry.ts";
import type { Values } from "./row.ts";

const MOST_WORDS = 400;
const MOST_REFERENCES = 50;
const PAYER_END = "|";

const digest = (...facts: readonly unknown[]): string =>
  hash("sha256", JSON.stringify(facts), "hex").slice(0, 32);

/** Removes what banks write differently in messages about the same money: spaces, signs, letter case. */
export const normalizeText = (text: string): string =>
  text
    .normalize("NFKC")
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");

/** The columns of an entry that come from its message alone. */
export type EntryFacts = Omit<
  PaymentEntryRow,
  "import_id" | "payment_ids" | "joined_to" | "doubt_of" | "doubt_payment_id" | "doubt" | "waits"
>;

const collectReferences = ({ bankReferences, payments }: Entry): string[] => {
  const documents = payments.flatMap(({ remittances }) =>
    remittances.map(({ cells }) => cells["invoiceNumber"]),
  );
  const named = [
    ...bankReferences,
    ...payments.flatMap(({ references }) => references),
    ...documents,
  ];
  const texts = named.filter((text) => typeof text === "string").map(normalizeText);
  return [...new Set(texts.filter((text) => text !== ""))].slice(0, MOST_REFERENCES);
};

const collectTexts = ({ payments }: Entry, field: string): string =>
  payments.map(({ cells }) => normalizeText(String(cells[field] ?? ""))).join("");

/** Returns the payer's name as {@link EntryFacts.words} begin with it. */
export const getPayer = ({ words }: Pick<EntryFacts, "words">): string =>
  words.slice(0, words.indexOf(PAYER_END));

/** Returns the text of an entry without its payer. */
export const getText = ({ words }: Pick<EntryFacts, "words">): string =>
  words.slice(words.indexOf(PAYER_END) + 1);

const hashAccount = (tenantId: string, account: string): string | null => {
  const normal = normalizeText(account).replace(/^0+/, "");
  return normal === "" ? null : digest(tenantId, normal);
};

/** Returns how an entry's own reference at the bank is stored; null if it has none. */
export const toBankReference = (account: string | null, reference: string): string | null => {
  const normal = normalizeText(reference);
  return normal === "" ? null : `${account ?? ""}:${normal}`;
};

/**
 * Collects the facts of an entry. `occurrence` returns the place of the entry among the equal ones of its message, so
 * that a statement that is sent again with further entries is recognized.
 */
export const describeEntry = (
  tenantId: string,
  entry: Entry,
  occurrence: (facts: string) => number,
): EntryFacts => {
  const { message, currency, day } = entry;
  const account = hashAccount(tenantId, entry.account);
  const amount = new Big(entry.amount).toFixed();
  const references = collectReferences(entry);
  const payers = collectTexts(entry, "payerName");
  const texts = collectTexts(entry, "remittanceText");
  const messageHash = digest(message.kind, ...message.identity);
  const facts = digest(messageHash, account, amount, currency, day, references, payers, texts);
  const lines = entry.payments.reduce((sum, { remittances }) => sum + remittances.length, 0);
  return {
    tenant_id: tenantId,
    id: digest(facts, occurrence(facts)),
    kind: message.kind,
    message: messageHash,
    account,
    amount,
    currency,
    day,
    bank_reference: toBankReference(account, entry.bankReferences[0] ?? ""),
    reference_list: JSON.stringify(references),
    words: `${payers.slice(0, MOST_WORDS / 2)}${PAYER_END}${texts.slice(0, MOST_WORDS / 2)}`,
    detail: entry.payments.length * 1000 + lines,
  };
};

const parsed = new WeakMap<object, string[]>();

/** Returns the references of an entry; each one is compared with many others. */
export const parseReferences = (row: Pick<EntryFacts, "reference_list">): string[] => {
  const known = parsed.get(row) ?? (JSON.parse(row.reference_list) as string[]);
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
