import { DAY } from "../../../kit/clock.ts";
import type { AccountNoteRow } from "../../store/tables.ts";
import { authorOf, type Making } from "../configuration.ts";
import { officeTime } from "../moments.ts";
import { CLERK, MANAGER } from "../people.ts";
import type { Account } from "./accounts.ts";

const CALLS = [
  "Spoke with {contact}. Statement received, two invoices were not in their system; sent copies.",
  "{contact} pays on Thursdays only. Next run covers what is due.",
  "Left a message for {contact} about what is past due.",
  "{contact} asks to send invoices to the shared mailbox instead of by name.",
  "New AP contact: {contact}. The old address bounces.",
];

const REVIEWS = [
  "Yearly credit review: limit unchanged.",
  "Limit looked at after two late payments; keep, look again next quarter.",
  "Reference from their bank is good. Terms stay at {terms}.",
  "Sales asks for longer terms. Declined while anything is over 30 days late.",
];

const WARNINGS = [
  "Third month in a row with a balance over 30 days past due. Orders above the limit need Ellen's approval.",
  "Broken promise to pay. Called {contact}; the check is said to be in the mail.",
  `Call with {contact} and their controller. They are waiting for a large customer themselves and propose to pay in three parts.
Agreed, if the first part comes this week. Otherwise credit hold.`,
];

const KINDS = [
  { subject: "Collection call", type: "call", texts: CALLS, late: -99 },
  { subject: "Credit review", type: "review", texts: REVIEWS, late: -99 },
  { subject: "Late payer", type: "warning", texts: WARNINGS, late: 8 },
];

const NOTED = 0.45;
const OLDEST = 300;

const noteOn = (making: Making, account: Account): Omit<AccountNoteRow, "reference"> => {
  const { dice, now, tenantId } = making;
  const kind = dice.pick(KINDS.filter(({ late }) => account.daysLate > late));
  const at = officeTime(dice, now - dice.whole(1, OLDEST) * DAY, now);
  const contact = dice.pick(account.contacts).firstName;
  return {
    tenant_id: tenantId,
    account_number: account.number,
    body: dice
      .pick(kind.texts)
      .replaceAll("{contact}", contact)
      .replaceAll("{terms}", account.terms.name),
    subject: kind.subject,
    note_type: kind.type,
    effective_date: new Date(at).toISOString(),
    effective_at: at,
    created_by: authorOf(making, kind.type === "call" ? CLERK : MANAGER),
    created_at: at,
  };
};

/** What collectors have written down about some of the customers. */
export const accountNotes = (making: Making, accounts: readonly Account[]): AccountNoteRow[] =>
  accounts
    .flatMap((account) => {
      const count = making.dice.chance(NOTED) ? making.dice.whole(1, 3) : 0;
      return Array.from({ length: count }, () => noteOn(making, account));
    })
    .toSorted((one, other) => one.effective_at - other.effective_at)
    .map((note, place) => ({ ...note, reference: `AN-${String(place + 1).padStart(4, "0")}` }));
