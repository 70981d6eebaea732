import { AccountFields } from "../../../contract/operations/accounts.ts";
import type { Fault } from "../../../contract/errors.ts";
import type { TenantRow } from "../../store/tables.ts";
import {
  checked,
  type Checked,
  type Fields,
  isObject,
  resultOf,
  type Write,
} from "../ingest/body.ts";
import { codeFaults } from "../ingest/iso-codes.ts";

/** What the rules need to know of an account beside the body. */
export type KnownAccount = {
  accountNumber: string;
  write: Write;
  currencyModel: TenantRow["currency_model"];
  before: AccountFields | undefined;
};

const currencyFaults = (result: Fields, known: KnownAccount): Fault[] => {
  const { currency } = result;
  const locked = known.before?.currency;
  if (locked !== undefined) {
    const message = `is ${locked} since it was first set, and stays`;
    return currency === locked ? [] : [{ field: "currency", code: "locked", message }];
  }
  if (currency === undefined && known.currencyModel === "basic") {
    const message = "is required in the tenant's basic currency model";
    return [{ field: "currency", code: "conditional_required", message }];
  }
  return codeFaults("currency", "currency", currency);
};

const countryFaults = (result: Fields, field: string): Fault[] => {
  const address = result[field];
  return isObject(address) ? codeFaults("country", `${field}.country`, address["country"]) : [];
};

const parentFaults = (result: Fields, { accountNumber }: KnownAccount): Fault[] => {
  const field = "parent_account_number";
  const parent = result[field];
  if (parent === undefined) return [];
  const needed = { field: "is_parent_account", code: "conditional_required" };
  return [
    ...(parent === accountNumber
      ? [{ field, code: "cycle", message: "must not be the account itself" }]
      : []),
    ...(result["is_parent_account"] === undefined
      ? [{ ...needed, message: `is required with ${field}` }]
      : []),
  ];
};

/** The account that a body leaves behind, or all that is wrong with it; a cycle of parents beyond itself is not seen here. */
export const checkAccount = (sent: unknown, known: KnownAccount): Checked<AccountFields> => {
  if (!isObject(sent)) return checked(AccountFields, sent);
  const result = resultOf(known.write, sent, known.before);
  const locked = known.before?.currency;
  if (known.write === "replace" && locked !== undefined) result["currency"] ??= locked;
  return checked(AccountFields, result, () => [
    ...currencyFaults(result, known),
    ...codeFaults("language", "language", result["language"]),
    ...countryFaults(result, "billing_address"),
    ...countryFaults(result, "remit_to"),
    ...parentFaults(result, known),
  ]);
};

const MOST_GENERATIONS = 10_000;

/** Whether an account would be among its own ancestors. */
export const isOwnAncestor = async (
  accountNumber: string,
  parent: string | undefined,
  parentOf: (number: string) => Promise<string | null | undefined>,
): Promise<boolean> => {
  let ancestor: string | null | undefined = parent;
  for (let generation = 0; ancestor != null && generation < MOST_GENERATIONS; generation += 1) {
    if (ancestor === accountNumber) return true;
    ancestor = await parentOf(ancestor);
  }
  return false;
};
