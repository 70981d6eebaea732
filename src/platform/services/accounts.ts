import type { Contract } from "../../contract/index.ts";
import type { Account } from "../../contract/operations/accounts.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { Seal } from "../../kit/seal.ts";
import type { Handlers } from "../handlers.ts";
import { checkIfMatch, checkUpsert } from "../preconditions.ts";
import { listAccountNotes } from "../store/queries/account-notes.ts";
import {
  findAccount,
  findAccountNumbers,
  findAccounts,
  findChildNumbers,
  findParentNumber,
  putAccounts,
} from "../store/queries/accounts.ts";
import { takeCsrIds } from "../store/queries/csr-sequences.ts";
import { toAccountColumns } from "../store/queries/listed-columns.ts";
import type { Db } from "../store/port.ts";
import type { AccountNoteRow, AccountRow } from "../store/tables/schema.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { parentChainFaults } from "./accounts/lineage.ts";
import { checkAccount } from "./accounts/rules.ts";
import { type IngestCall, readAccount, listIgnored, toVersion } from "./ingest/call.ts";
import type { Write } from "./ingest/body.ts";
import { measureFields } from "../store/queries/field-sizes.ts";
import { listRecords } from "./ingest/page.ts";
import { parseAccount } from "./ingest/stored.ts";
import { changeFields, creationFields, shorten } from "./records.ts";

const toAccount = (row: AccountRow): Account => ({
  csrId: row.csr_id,
  accountNumber: row.account_number,
  ...parseAccount(row),
  createdAt: formatTimestamp(row.created_at),
  updatedAt: formatTimestamp(row.updated_at),
});

const answer = (row: AccountRow) => ({ body: toAccount(row), version: toVersion(row) });

const toEmbeddedNote = (row: AccountNoteRow, hasAuthor: boolean) => ({
  reference: row.reference,
  accountNumber: row.account_number,
  body: row.body,
  effective_date: row.effective_date,
  createdAt: formatTimestamp(row.created_at),
  ...(hasAuthor ? { createdBy: row.created_by } : {}),
});

type Target = { accountNumber: string; sent: unknown; before: AccountRow | undefined };

/** Validates a body. Returns the columns to write and the fields that were ignored. */
const checkBody = async (
  tx: Db,
  call: IngestCall,
  write: Write,
  { accountNumber, sent, before }: Target,
) => {
  const { currency_model } = await readTenant(tx, call.tenantId);
  const known = {
    accountNumber,
    write,
    currencyModel: currency_model,
    before: before && parseAccount(before),
  };
  const found = await parentChainFaults(sent, accountNumber, {
    current: before?.parent_account_number,
    parentOf: (number) => findParentNumber(tx, call.tenantId, number),
    childrenOf: (numbers, limit) => findChildNumbers(tx, call.tenantId, numbers, limit),
  });
  const { value, faults = [] } = checkAccount(sent, known, found);
  if (value === undefined) return call.invalid(faults);
  const columns = {
    name: value.name,
    currency: value.currency ?? null,
    parent_account_number: value.parent_account_number ?? null,
    ...toAccountColumns(accountNumber, value),
    fields: JSON.stringify(value),
  };
  return { columns, ignored: listIgnored(sent, value) };
};

type Columns = Awaited<ReturnType<typeof checkBody>>["columns"];

const insert = async (tx: Db, call: IngestCall, accountNumber: string, columns: Columns) => {
  const row: AccountRow = {
    tenant_id: call.tenantId,
    account_number: accountNumber,
    csr_id: await takeCsrIds(tx, call.tenantId, "account"),
    ...columns,
    ...creationFields(call),
  };
  await putAccounts(tx, [row]);
  return row;
};

/** Updates the account. An update without a difference keeps the version. */
const update = async (
  tx: Db,
  call: IngestCall,
  before: AccountRow,
  columns: Columns,
): Promise<AccountRow> => {
  if (columns.fields === before.fields) return before;
  const row = { ...before, ...columns, ...changeFields(before, call) };
  await putAccounts(tx, [row]);
  return row;
};

const list =
  (seal: Seal): Handlers<Contract["accounts"]>["list"] =>
  async ({ query }, call) => {
    const { tenantId } = call;
    const { search, account_group: group, parent_account_number: parentNumber } = query;
    const { family_of: familyOf } = query;
    const page = await listRecords(call, seal, {
      query,
      async find(db, { after, most }) {
        const range = { after: after?.key, most };
        const filter = { search, group, parentNumber, familyOf };
        const numbers = await findAccountNumbers(db, tenantId, filter, range);
        return numbers.map((number) => ({ key: number, value: number }));
      },
      read: (db, keys) => findAccounts(db, tenantId, keys),
      measure: (db, keys) => measureFields(db, "accounts", tenantId, keys),
      keyOf: (row) => row.account_number,
      toItem: toAccount,
    });
    return { body: page };
  };

/** Handlers of accounts: the tenant's customers. */
export const accounts = ({ seal }: { seal: Seal }): Handlers<Contract["accounts"]> => ({
  list: list(seal),

  async get({ params: { account_number }, query: { author } }, call) {
    const row = await readAccount(call.db, call, account_number);
    const notes = await listAccountNotes(call.db, call.tenantId, account_number);
    const shown = notes.map((note) => toEmbeddedNote(note, author === true));
    const body = { ...toAccount(row), notes: shown };
    return { body, version: toVersion(row) };
  },

  create({ params: { account_number }, body }, call) {
    return call.change(async (tx) => {
      const target = { accountNumber: account_number, sent: body, before: undefined };
      const { columns, ignored } = await checkBody(tx, call, "create", target);
      if ((await findAccount(tx, call.tenantId, account_number)) !== undefined) {
        call.fail(
          "account_already_exists",
          `The account ${shorten(account_number)} exists. Replace it with PUT or update it with PATCH.`,
          { record: { account_number } },
        );
      }
      const row = await insert(tx, call, account_number, columns);
      return { ...answer(row), createdId: String(row.csr_id), ignored };
    });
  },

  async replace({ params: { account_number }, body }, call) {
    return call.change(async (tx) => {
      const before = await findAccount(tx, call.tenantId, account_number);
      checkUpsert(call, before && toVersion(before));
      const target = { accountNumber: account_number, sent: body, before };
      const { columns, ignored } = await checkBody(tx, call, "replace", target);
      if (before === undefined) {
        const row = await insert(tx, call, account_number, columns);
        return { ...answer(row), createdId: String(row.csr_id), ignored };
      }
      return { ...answer(await update(tx, call, before, columns)), ignored };
    });
  },

  async update({ params: { account_number }, body }, call) {
    return call.change(async (tx) => {
      const before = await readAccount(tx, call, account_number);
      checkIfMatch(call, toVersion(before));
      const target = { accountNumber: account_number, sent: body, before };
      const { columns, ignored } = await checkBody(tx, call, "update", target);
      return { ...answer(await update(tx, call, before, columns)), ignored };
    });
  },
});
