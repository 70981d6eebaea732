import type { Fault } from "../../contract/errors.ts";
import { AccountFields } from "../../contract/operations/accounts.ts";
import { parentChainFaults } from "../services/accounts/lineage.ts";
import { checkAccount } from "../services/accounts/rules.ts";
import { parseAccount } from "../services/ingest/stored.ts";
import { changeFields, creationFields } from "../services/records.ts";
import {
  findAccounts,
  findChildNumbers,
  findParentNumber,
  findParentsAmong,
  putAccounts,
} from "../store/queries/accounts.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { takeCsrIds } from "../store/queries/csr-sequences.ts";
import { toAccountColumns } from "../store/queries/listed-columns.ts";
import type { Db } from "../store/port.ts";
import type { AccountRow, TenantRow } from "../store/tables/schema.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { IMPORTER } from "./importer.ts";
import { type NumberedRecord, describeNumbered } from "./numbered-record.ts";
import type { Journal, Needs, Outcome, Target } from "./target.ts";

/** One batch of rows to write in one transaction. */
type Batch = {
  tx: Db;
  tenantId: string;
  currencyModel: TenantRow["currency_model"];
  now: number;
  known: Map<string, AccountRow>;
  /** The children of accounts among the known rows. */
  children: Map<string, Set<string>>;
  /** The accounts of the batch without stored children. */
  childless: ReadonlySet<string>;
  /** Numbers of the accounts that the batch creates, and of those that it changes. */
  fresh: Set<string>;
  touched: Set<string>;
  /** The stored rows before the batch. */
  before: ReadonlyMap<string, AccountRow>;
};

const openBatch = async (
  { tenantId, clock }: Needs,
  tx: Db,
  numbers: readonly string[],
): Promise<Batch> => {
  const { currency_model: currencyModel } = await readTenant(tx, tenantId);
  const found = await findAccounts(tx, tenantId, numbers);
  const parents = await findParentsAmong(tx, tenantId, numbers);
  const batch: Batch = {
    tx,
    tenantId,
    currencyModel,
    now: clock(),
    known: new Map(),
    children: new Map(),
    childless: new Set(numbers.filter((number) => !parents.has(number))),
    fresh: new Set(),
    touched: new Set(),
    before: new Map(found.map((row) => [row.account_number, row])),
  };
  for (const row of found) setKnown(batch, row);
  return batch;
};

const setKnown = ({ known, children }: Batch, row: AccountRow): void => {
  const { account_number: number, parent_account_number: parent } = row;
  children.get(known.get(number)?.parent_account_number ?? "")?.delete(number);
  known.set(number, row);
  if (parent === null) return;
  const siblings = children.get(parent) ?? new Set();
  children.set(parent, siblings.add(number));
};

/** Finds children as the batch leaves them: those of its own rows, and of stored rows that it does not write. */
const findChildren = async (
  { tx, tenantId, known, children, childless }: Batch,
  numbers: readonly string[],
  limit: number,
): Promise<string[]> => {
  const own = numbers.flatMap((number) => [...(children.get(number) ?? [])]);
  const others = numbers.filter((number) => !childless.has(number));
  if (others.length === 0) return own;
  const stored = await findChildNumbers(tx, tenantId, others, limit + known.size);
  return [...own, ...stored.filter((number) => !known.has(number))];
};

const checkParent = (batch: Batch, { number, sent }: NumberedRecord): Promise<Fault[]> =>
  parentChainFaults(sent, number, {
    current: batch.known.get(number)?.parent_account_number,
    async parentOf(ancestor) {
      const row = batch.known.get(ancestor);
      if (row !== undefined) return row.parent_account_number;
      return findParentNumber(batch.tx, batch.tenantId, ancestor);
    },
    childrenOf: (numbers, limit) => findChildren(batch, numbers, limit),
  });

const writeRow = async (batch: Batch, row: NumberedRecord): Promise<Outcome> => {
  const { number, sent } = row;
  const { known, fresh, touched, tenantId, currencyModel, now } = batch;
  const before = known.get(number);
  const request = { accountNumber: number, write: "replace" as const, currencyModel };
  const { value, faults } = checkAccount(
    sent,
    { ...request, before: before && parseAccount(before) },
    await checkParent(batch, row),
  );
  if (value === undefined) return faults;
  const fields = JSON.stringify(value);
  if (before?.fields === fields) return "unchanged";
  const columns = {
    name: value.name,
    currency: value.currency ?? null,
    parent_account_number: value.parent_account_number ?? null,
    ...toAccountColumns(number, value),
    fields,
  };
  const by = { caller: IMPORTER, now };
  const blank = { tenant_id: tenantId, account_number: number, csr_id: 0, ...creationFields(by) };
  if (before === undefined) fresh.add(number);
  else if (!fresh.has(number)) touched.add(number);
  const tracked = before === undefined || fresh.has(number) ? {} : changeFields(before, by);
  setKnown(batch, { ...(before ?? blank), ...columns, ...tracked });
  return "written";
};

const saveBatch = async (
  { tx, tenantId, known, fresh, touched, before }: Batch,
  journal: Journal,
): Promise<void> => {
  if (fresh.size > 0) {
    let next = await takeCsrIds(tx, tenantId, "account", fresh.size);
    for (const number of fresh) {
      const row = known.get(number);
      if (row !== undefined) row.csr_id = next++;
    }
  }
  const rowsOf = (numbers: Set<string>) =>
    [...numbers].flatMap((number) => known.get(number) ?? []);
  await insertAll(tx, "accounts", rowsOf(fresh));
  await putAccounts(tx, rowsOf(touched));
  journal.created("accounts", rowsOf(fresh));
  for (const row of rowsOf(touched)) {
    const old = before.get(row.account_number);
    if (old !== undefined) journal.changed("accounts", old, row);
  }
};

/** Creates the import target of accounts: a row creates or replaces the account with its number. */
export const createAccountTarget = (needs: Needs): Target<NumberedRecord> => ({
  kind: "accounts",
  ...describeNumbered("account_number", AccountFields, {
    roles: {
      currency: { role: "currency" },
      credit_limit: { currency: "currency", negativeMark: "CR" },
    },
  }),
  async write(tx, rows, journal) {
    const numbers = new Set(rows.map(({ values }) => values.number));
    const batch = await openBatch(needs, tx, [...numbers]);
    const outcomes: Outcome[] = [];
    for (const { values } of rows) outcomes.push(await writeRow(batch, values));
    await saveBatch(batch, journal);
    return outcomes;
  },
});
