import type { z } from "zod";
import type { Contract } from "../../contract/index.ts";
import { type AccountNote, AccountNoteFields } from "../../contract/operations/account-notes.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { isRecord } from "../../kit/json.ts";
import type { Handlers } from "../handlers.ts";
import { findAccountNote, insertAccountNote } from "../store/queries/account-notes.ts";
import type { AccountNoteRow } from "../store/tables/schema.ts";
import { checkValue, toDateText, mergeBody } from "./ingest/body.ts";
import { type IngestCall, readAccount, listIgnored } from "./ingest/call.ts";
import { shorten } from "./records.ts";

const toNote = (row: AccountNoteRow): AccountNote => ({
  reference: row.reference,
  account_number: row.account_number,
  body: row.body,
  subject: row.subject,
  note_type: row.note_type,
  effective_date: row.effective_date,
  created_at: formatTimestamp(row.created_at),
});

/** Builds the row of a note; its effective date is that of its creation unless it has its own. */
export const toAccountNoteRow = (
  { tenantId, accountNumber }: { tenantId: string; accountNumber: string },
  { reference, body, subject, note_type, effective_date }: z.output<typeof AccountNoteFields>,
  created: { by: string; at: number },
): AccountNoteRow => {
  const effective = effective_date ?? formatTimestamp(created.at);
  return {
    tenant_id: tenantId,
    reference,
    account_number: accountNumber,
    body,
    subject: subject ?? null,
    note_type: note_type ?? null,
    effective_date: toDateText(effective),
    effective_at: Date.parse(effective),
    created_by: created.by,
    created_at: created.at,
  };
};

const toRow = (call: IngestCall, accountNumber: string, sent: unknown) => {
  const result = isRecord(sent) ? mergeBody("create", sent) : sent;
  const { value, faults = [] } = checkValue(AccountNoteFields, result);
  if (value === undefined) return call.invalid(faults);
  const created = { by: call.caller.id, at: call.now };
  const row = toAccountNoteRow({ tenantId: call.tenantId, accountNumber }, value, created);
  return { row, ignored: listIgnored(sent, value) };
};

/** Handlers of notes on accounts. */
export const account_notes = (): Handlers<Contract["account_notes"]> => ({
  async get({ params: { account_number, reference }, query: { author } }, call) {
    await readAccount(call.db, call, account_number);
    const row =
      (await findAccountNote(call.db, call.tenantId, account_number, reference)) ??
      call.fail("note_not_found", `The account has no note ${shorten(reference)}.`);
    const by = author === true ? { created_by: row.created_by } : {};
    return { body: { ...toNote(row), ...by } };
  },

  create({ params: { account_number }, body }, call) {
    return call.change(async (tx) => {
      await readAccount(tx, call, account_number);
      const { row, ignored } = toRow(call, account_number, body);
      if (!(await insertAccountNote(tx, row))) {
        const message = `A note has the reference ${shorten(row.reference)} already.`;
        const record = { reference: row.reference };
        call.fail("note_reference_already_exists", message, { record });
      }
      return { body: toNote(row), createdId: row.reference, ignored };
    });
  },
});
