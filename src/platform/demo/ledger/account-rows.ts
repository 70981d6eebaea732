import type { AccountFields } from "../../../contract/operations/accounts.ts";
import { DAY } from "../../../kit/clock.ts";
import type { AccountRow } from "../../store/tables.ts";
import { authorOf, type Making, tracked } from "../configuration.ts";
import { languageOf } from "../fake.ts";
import { dateOnly } from "../moments.ts";
import { MANAGER } from "../people.ts";
import type { Account } from "./accounts.ts";
import { groupOf } from "./customers.ts";

const OPENED = 690 * DAY;
const REVIEWED = 150;
const MONTHS_OF_CREDIT = 4;
const STEP = 500_000;

const limitOf = ({ usualCents }: Account): number =>
  (Math.ceil((usualCents * MONTHS_OF_CREDIT) / STEP) * STEP) / 100;

const familyOf = ({ parent, hasBranches }: Account): Partial<AccountFields> => {
  if (parent !== null) return { parent_account_number: parent.number, is_parent_account: false };
  return hasBranches ? { is_parent_account: true, description: "Buys for its branches too" } : {};
};

const fieldsOf = (account: Account, reviewedAt: number, risk: string): AccountFields => ({
  name: account.name,
  display_reference: account.number.replace("C-", ""),
  currency: account.currency,
  language: languageOf(account.place),
  billing_address: account.address,
  ...(account.phone === undefined ? {} : { phone: account.phone }),
  email: `ap@${account.domain}`,
  payment_terms: account.terms.name,
  credit_limit: limitOf(account),
  account_group: groupOf(account.name),
  ...familyOf(account),
  custom_fields: {
    collections: {
      risk: { type: "text", value: risk },
      last_review: { type: "date", value: dateOnly(reviewedAt) },
    },
  },
});

const riskOf = ({ daysLate }: Account): string => {
  if (daysLate > 20) return "high";
  return daysLate > 7 ? "medium" : "low";
};

export const accountRows = (making: Making, all: readonly Account[]): AccountRow[] =>
  all.map((account, place) => {
    const { dice, now, tenantId } = making;
    const fields = fieldsOf(account, now - dice.whole(10, REVIEWED) * DAY, riskOf(account));
    return {
      tenant_id: tenantId,
      account_number: account.number,
      csr_id: place + 1,
      name: account.name,
      currency: account.currency,
      parent_account_number: account.parent?.number ?? null,
      fields: JSON.stringify(fields),
      ...tracked(authorOf(making, MANAGER), now - OPENED),
    };
  });
