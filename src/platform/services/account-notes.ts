import type { Contract } from "../../contract/index.ts";
import { type AccountNote, AccountNoteFields } from "../../contract/operations/account-notes.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { Handlers } from "../handlers.ts";
import { findAccountNote, insertAccountNote } from "../store/account-notes.ts";
import { findAccount } from "../store/accounts.ts";
import type { AccountNoteRow } from "../store/tables.ts";
import { checked, dateText, isObject, resultOf } from "./ingest/body.ts";
import { type IngestCall, noAccount, ignoredIn } from "./ingest/call.ts";
import { shown } from "./records.ts";

const note = (row: AccountNoteRow): AccountNote => ({
  reference: row.reference,
  account_number: row.account_number,
  body: row.body,
  subject: row.subject,
  note_type: row.note_type,
  effective_date: row.effective_date,
  created_at: formatTimestamp(row.created_at),
});

const rowOf = (call: IngestCall, accountNumber: string, sent: unknown) => {
  const result = isObject(sent) ? resultOf("create", sent) : sent;
  const { value, faults = [] } = checked(AccountNoteFields, result);
  if (value === undefined) return call.invalid(faults);
  const effective = value.effective_date ?? formatTimestamp(call.now);
  const row: AccountNoteRow = {
    tenant_id: call.tenantId,
    reference: value.reference,
    account_number: accountNumber,
    body: value.body,
    subject: value.subject ?? null,
    note_type: value.note_type ?? null,
    effective_date: dateText(effective),
    effective_at: Date.parse(effective),
    created_by: call.caller.id,
    created_at: call.now,
  };
  return { row, ignored: ignoredIn(sent, value) };
};

/** Handlers of notes on accounts. */
export const account_notes = (): Handlers<Contract["account_notes"]> => ({
  async get({ params: { account_number, reference } }, call) {
    if ((await findAccount(call.db, call.tenantId, account_number)) === undefined) {
      noAccount(call, account_number);
    }
    const row =
      (await findAccountNote(call.db, call.tenantId, account_number, reference)) ??
      call.fail("note_not_found", `The account has no note ${shown(reference)}.`);
    return { body: note(row) };
  },

  create({ params: { account_number }, body }, call) {
    return call.change(async (tx) => {
      if ((await findAccount(tx, call.tenantId, account_number)) === undefined) {
        noAccount(call, account_number);
      }
      const { row, ignored } = rowOf(call, account_number, body);
      if (!(await insertAccountNote(tx, row))) {
        const message = `A note has the reference ${shown(row.reference)} already.`;
        const record = { reference: row.reference };
        call.fail("note_reference_already_exists", message, { record });
      }
      return { body: note(row), createdId: row.reference, ignored };
    });
  },
});
