import type { z } from "zod";
import type { Fault } from "../../contract/errors.ts";
import { IngestNumber } from "../../contract/ingest-fields.ts";
import { AccountNoteFields } from "../../contract/operations/account-notes.ts";
import { checkValue } from "../services/ingest/body.ts";
import { toAccountNoteRow } from "../services/account-notes.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { findAccountNotes } from "../store/queries/account-notes.ts";
import { findAccounts } from "../store/queries/accounts.ts";
import type { AccountNoteRow } from "../store/tables/schema.ts";
import { readAuthors } from "./authors.ts";
import { collectFields } from "./fields.ts";
import { findTimeFaults, SourceAuthor, SourceTimestamp } from "./source-values.ts";
import type { Form, Needs, Outcome, Target } from "./target.ts";

/** A note on an account in an import file. */
const AccountNoteValues = AccountNoteFields.extend({
  account_number: IngestNumber,
  created_by: SourceAuthor.optional(),
  created_at: SourceTimestamp.optional(),
});
type AccountNoteValues = z.output<typeof AccountNoteValues>;

/** The form of an account note's row. */
export const ACCOUNT_NOTE_FORM: Form<AccountNoteValues> = {
  fields: collectFields(AccountNoteValues, {
    reference: { role: "key", required: "reference" },
    effective_date: { role: "day" },
    created_at: { role: "day" },
  }),
  parse: (record) => checkValue(AccountNoteValues, record),
};

const refuse = (field: string, code: string, message: string): Fault[] => [
  { field, code, message },
];

/** Notes on accounts never change, so that the stored one has the same facts, or the row is another note. */
const compareStored = (stored: AccountNoteRow, row: AccountNoteRow): Outcome => {
  const isSame = stored.account_number === row.account_number && stored.body === row.body;
  if (isSame) return "unchanged";
  const message =
    "exists for another note, and notes on accounts cannot be changed; give this one another reference";
  return refuse("reference", "note_reference_already_exists", message);
};

/** Creates the import target of notes on accounts: a row creates the note with its reference. */
export const createAccountNoteTarget = ({ tenantId, clock }: Needs): Target<AccountNoteValues> => ({
  kind: "account-notes",
  ...ACCOUNT_NOTE_FORM,
  batchRows: 500,
  identify: ({ values }) => ({
    field: "reference",
    key: values.reference,
    facts: [JSON.stringify(values)],
  }),
  async write(tx, rows, journal) {
    const now = clock();
    const list = (name: "account_number" | "reference") => [
      ...new Set(rows.map(({ values }) => values[name])),
    ];
    const found = await findAccounts(tx, tenantId, list("account_number"));
    const accounts = new Set(found.map((row) => row.account_number));
    const stored = await findAccountNotes(tx, tenantId, list("reference"));
    const known = new Map(stored.map((row) => [row.reference, row]));
    const findAuthor = await readAuthors(tx, tenantId);
    const made: AccountNoteRow[] = [];
    const outcomes = rows.map(({ values }): Outcome => {
      const { account_number: accountNumber, created_by: author, created_at: time } = values;
      const late = findTimeFaults(values, ["created_at"], now);
      if (late.length > 0) return late;
      if (!accounts.has(accountNumber)) {
        return refuse("account_number", "unknown_reference", "names no account");
      }
      const created = { by: findAuthor(author), at: time === undefined ? now : Date.parse(time) };
      const row = toAccountNoteRow({ tenantId, accountNumber }, values, created);
      const before = known.get(row.reference);
      if (before !== undefined) return compareStored(before, row);
      known.set(row.reference, row);
      made.push(row);
      return "written";
    });
    await insertAll(tx, "account_notes", made);
    journal.created("account_notes", made);
    return outcomes;
  },
});
