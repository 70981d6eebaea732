import Big from "big.js";
import type { ExactNumber, GroupKey } from "../../contract/insights/result.ts";
import { findAccounts } from "../store/queries/accounts.ts";
import type { Db } from "../store/port.ts";

type Item = { key: GroupKey; currencyCode: string | null; amount: ExactNumber };

type Row = Readonly<Record<string, unknown>>;

/** Finds the names of the accounts in the rows of a summary, by number; none if its groups are not accounts. */
export const readAccountNames = async (
  db: Db,
  tenantId: string,
  groupBy: readonly string[],
  rows: readonly Row[],
): Promise<ReadonlyMap<unknown, string>> => {
  const place = groupBy.indexOf("account");
  if (place === -1) return new Map();
  const numbers = new Set(rows.map((row) => String(row[`k${place}`])));
  const accounts = await findAccounts(db, tenantId, [...numbers]);
  return new Map(accounts.map(({ account_number, name }) => [account_number, name]));
};

/** Returns the name of an item's account in the form of a part of the item. */
export const toAccountName = (name: string | null | undefined): { accountName?: string } =>
  name === null || name === undefined ? {} : { accountName: name };

type Order = { orderBy: string | undefined; order: "asc" | "desc" | undefined };

/** Adds the buckets in which nothing fell, for each currency, and sorts the items. */
export const completeBuckets = <I extends Item>(
  found: readonly I[],
  grouping: string,
  buckets: readonly string[],
  { orderBy, order }: Order,
  empty: Omit<I, "key" | "currencyCode">,
): I[] => {
  const currencies = [...new Set(found.map(({ currencyCode }) => currencyCode))];
  const place = ({ key }: Item): number => buckets.indexOf(String(key[grouping]));
  const all = buckets.flatMap((bucket) =>
    currencies.map(
      (currencyCode) =>
        found.find((item) => item.key[grouping] === bucket && item.currencyCode === currencyCode) ??
        ({ key: { [grouping]: bucket }, currencyCode, ...empty } as unknown as I),
    ),
  );
  const byFigure = orderBy !== undefined && orderBy !== grouping;
  const sign = (order ?? (byFigure ? "desc" : "asc")) === "asc" ? 1 : -1;
  const figure = (item: I): ExactNumber | null | undefined =>
    (item as Record<string, unknown>)[orderBy ?? ""] as ExactNumber | null | undefined;
  const compareFigures = (a: I, b: I): number => {
    const [one, other] = [figure(a) ?? null, figure(b) ?? null];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return sign * new Big(one).cmp(other);
  };
  const comparePlaces = (a: I, b: I): number => (byFigure ? 1 : sign) * (place(a) - place(b));
  const compareCurrencies = (a: I, b: I): number =>
    (a.currencyCode ?? "") < (b.currencyCode ?? "") ? -1 : 1;
  const compareAmounts = (a: I, b: I): number =>
    orderBy === undefined ? new Big(b.amount).cmp(a.amount) : 0;
  return all.toSorted(
    (a, b) =>
      (byFigure ? compareFigures(a, b) : 0) ||
      comparePlaces(a, b) ||
      compareAmounts(a, b) ||
      compareCurrencies(a, b),
  );
};
