import { AccountFields } from "../../../contract/operations/accounts.ts";
import { IngestNumber } from "../../../contract/ingest-fields.ts";
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
import { narrowing } from "../ingest/narrow.ts";

/** Facts about an account that the rules need besides the body. */
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

const accountFields = narrowing(AccountFields);

/** Validates an account. Returns it after the write, or the faults including those in `found`. */
export const checkAccount = (
  sent: unknown,
  known: KnownAccount,
  found: readonly Fault[] = [],
): Checked<AccountFields> => {
  const result = isObject(sent) ? resultOf(known.write, sent, known.before) : sent;
  const locked = known.before?.currency;
  if (known.write === "replace" && locked !== undefined && isObject(result)) {
    result["currency"] ??= locked;
  }
  return checked(accountFields(result), result, (fields) => [
    ...currencyFaults(fields, known),
    ...codeFaults("language", "language", fields["language"]),
    ...countryFaults(fields, "billing_address"),
    ...countryFaults(fields, "remit_to"),
    ...parentFaults(fields, known),
    ...found,
  ]);
};

/** Maximum number of ancestors of an account. */
export const MAX_PARENT_DEPTH = 32;

const PARENT_FAULTS = {
  cycle: {
    field: "parent_account_number",
    code: "cycle",
    message: "must not lead back to the account",
  },
  depth: {
    field: "parent_account_number",
    code: "depth",
    message: `must have fewer than ${MAX_PARENT_DEPTH} accounts above it`,
  },
} satisfies Record<string, Fault>;

type ParentOf = (accountNumber: string) => Promise<string | null | undefined>;

/**
 * Checks the parent of an unchecked body by walking up from it. Refuses a parent that leads back to the account, or is
 * too deep: the walk reads at most {@link MAX_PARENT_DEPTH} accounts.
 */
export const ancestorFaults = async (
  sent: unknown,
  accountNumber: string,
  parentOf: ParentOf,
): Promise<Fault[]> => {
  const named = IngestNumber.safeParse(isObject(sent) ? sent["parent_account_number"] : undefined);
  let ancestor: string | null | undefined = named.data;
  for (let depth = 1; depth <= MAX_PARENT_DEPTH; depth += 1) {
    if (ancestor === accountNumber) return [PARENT_FAULTS.cycle];
    if (ancestor == null) return [];
    // oxlint-disable-next-line no-await-in-loop -- each account names the next one
    ancestor = await parentOf(ancestor);
  }
  if (ancestor === accountNumber) return [PARENT_FAULTS.cycle];
  return ancestor == null ? [] : [PARENT_FAULTS.depth];
};
