import { AccountFields } from "../../../contract/operations/accounts.ts";
import type { Fault } from "../../../contract/errors.ts";
import type { Checked } from "../../../contract/faults.ts";
import { isRecord } from "../../../kit/json.ts";
import type { TenantRow } from "../../store/tables/schema.ts";
import {
  checkCode,
  checkValue,
  createNarrowing,
  type Fields,
  mergeBody,
  type Write,
} from "../ingest/body.ts";

/** Facts about an account that the rules need besides the body. */
export type KnownAccount = {
  accountNumber: string;
  write: Write;
  currencyModel: TenantRow["currency_model"];
  before: AccountFields | undefined;
};

const checkCurrency = (result: Fields, known: KnownAccount): Fault[] => {
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
  return checkCode("currency", "currency", currency);
};

const checkCountry = (result: Fields, field: string): Fault[] => {
  const address = result[field];
  return isRecord(address) ? checkCode("country", `${field}.country`, address["country"]) : [];
};

const checkParent = (result: Fields, { accountNumber }: KnownAccount): Fault[] => {
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

const accountFields = createNarrowing(AccountFields);

/** Validates an account. Returns it after the write, or the faults including those in `found`. */
export const checkAccount = (
  sent: unknown,
  known: KnownAccount,
  found: readonly Fault[] = [],
): Checked<AccountFields> => {
  const result = isRecord(sent) ? mergeBody(known.write, sent, known.before) : sent;
  const locked = known.before?.currency;
  if (known.write === "replace" && locked !== undefined && isRecord(result)) {
    result["currency"] ??= locked;
  }
  return checkValue(accountFields(result), result, (fields) => [
    ...checkCurrency(fields, known),
    ...checkCode("language", "language", fields["language"]),
    ...checkCountry(fields, "billing_address"),
    ...checkCountry(fields, "remit_to"),
    ...checkParent(fields, known),
    ...found,
  ]);
};
