import { findAccounts, findAccountsNamed } from "../../../store/queries/accounts.ts";
import { fold } from "../../../store/engine/fold.ts";
import { findPayerAccounts } from "../../../store/queries/payment-matching.ts";
import { toPayerKey } from "../../../store/queries/payments/payer-key.ts";
import type { Db } from "../../../store/port.ts";
import { listAccountMentions } from "./mentions.ts";
import { textOf, type Values } from "./values.ts";

/** The payments of a batch by what tells their customers. */
type Known = {
  accounts: ReadonlyMap<string, string>;
  named: ReadonlyMap<string, readonly string[]>;
  /** Accounts that a payer paid before; null for a payer of several customers. */
  paid: Map<string, string | null>;
};

export type Payers = {
  /** Returns the accounts that a payment can be of; none if the payer is unknown. */
  accountsOf(first: Values): ReadonlySet<string>;
  /** Remembers to which account a payment was applied. */
  learn(first: Values, account: string): void;
  nameOf(account: string): string | undefined;
};

const keyOf = (values: Values) => toPayerKey(values["payerName"], values["payerAccountLast4"]);

const nameKeyOf = (values: Values): string | undefined => {
  const name = textOf(values, "payerName");
  return name === undefined ? undefined : fold(name.trim());
};

const defined = (texts: readonly (string | undefined)[]): string[] => [
  ...new Set(texts.filter((text) => text !== undefined)),
];

/** Returns what a payment mentions as it is written, and in capitals. */
const listSpellings = (first: Values): string[] =>
  listAccountMentions(first).flatMap((word) => [word, word.toUpperCase()]);

type Spellings = ReadonlyMap<Values, readonly string[]>;

const readKnown = async (
  db: Db,
  tenantId: string,
  firsts: readonly Values[],
  mentioned: Spellings,
): Promise<Known> => {
  const spellings = defined([...mentioned.values()].flat());
  const accounts = await findAccounts(db, tenantId, spellings);
  const named = await findAccountsNamed(db, tenantId, defined(firsts.map(nameKeyOf)));
  const paid = await findPayerAccounts(db, tenantId, defined(firsts.map(keyOf)));
  const byName = Map.groupBy(named, (row) => row.name_folded);
  return {
    accounts: new Map(accounts.map(({ account_number, name }) => [account_number, name])),
    named: new Map(
      [...byName].map(([name, rows]) => [name, rows.map((row) => row.account_number)]),
    ),
    paid: new Map(paid.map(({ payer, first, last }) => [payer, first === last ? first : null])),
  };
};

/** Reads what is known of the customers of payments, each given by the values of its first row. */
export const readPayers = async (
  db: Db,
  tenantId: string,
  firsts: readonly Values[],
): Promise<Payers> => {
  const spellings: Spellings = new Map(firsts.map((first) => [first, listSpellings(first)]));
  const { accounts, named, paid } = await readKnown(db, tenantId, firsts, spellings);
  return {
    accountsOf(first) {
      const own = textOf(first, "accountNumber");
      if (own !== undefined) return new Set([own]);
      const mentioned = (spellings.get(first) ?? listSpellings(first)).filter((word) =>
        accounts.has(word),
      );
      const before = paid.get(keyOf(first) ?? "");
      const alike = named.get(nameKeyOf(first) ?? "") ?? [];
      return new Set([...mentioned, ...(typeof before === "string" ? [before] : []), ...alike]);
    },
    learn(first, account) {
      const key = keyOf(first);
      if (key === undefined) return;
      const before = paid.get(key);
      paid.set(key, before === undefined || before === account ? account : null);
    },
    nameOf: (account) => accounts.get(account),
  };
};
