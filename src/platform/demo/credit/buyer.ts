import type { CompanyScore } from "../../../contract/operations/company-scores.ts";
import type { CreditApplicationDetail } from "../../../contract/operations/credit-applications.ts";
import { DAY } from "../../../kit/clock.ts";
import type { WholeApplication } from "../../services/credit-applications/record.ts";
import type { CompanyScoreRow } from "../../store/tables.ts";
import type { Making } from "../configuration.ts";
import type { Dice } from "../dice.ts";
import { stateName } from "../fake.ts";
import type { Account } from "../ledger/accounts.ts";

const COUNTRIES: Readonly<Record<string, readonly [name: string, iso3: string]>> = {
  US: ["United States", "USA"],
  CA: ["Canada", "CAN"],
  DE: ["Germany", "DEU"],
  FR: ["France", "FRA"],
  NL: ["Netherlands", "NLD"],
  IT: ["Italy", "ITA"],
  ES: ["Spain", "ESP"],
  IE: ["Ireland", "IRL"],
  DK: ["Denmark", "DNK"],
};

const stateOf = ({ place, address: { state } }: Account) =>
  state === undefined ? null : { code: state, name: stateName(place, state) ?? null };

/** The account's reference in the ledger. */
export const companyId = ({ number }: Account): number => Number(number.replace("C-", ""));

const countryOf = (code: string | undefined) => {
  const [name, iso3] = COUNTRIES[code ?? ""] ?? [];
  return code === undefined || name === undefined || iso3 === undefined
    ? null
    : { name, isoCountryCode: code, iso3CountryCode: iso3 };
};

/** The customer as the company that applies. */
export const buyerOf = (account: Account): WholeApplication["company"] => {
  const { address, parent, phone, name } = account;
  return {
    companyId: companyId(account),
    name,
    dba: null,
    headCompanyId: parent === null ? null : companyId(parent),
    selectedCompanyId: String(companyId(account)),
    address: {
      type: "Billing",
      address1: address.address1 ?? null,
      address2: null,
      city: address.city ?? null,
      state: stateOf(account),
      postalCode: address.zip ?? null,
      country: countryOf(address.country),
    },
    phone: phone === undefined ? [] : [{ type: "Office", number: phone }],
  };
};

const within = (value: number): number => Math.round(Math.min(98, Math.max(4, value)));

const indexes = (dice: Dice, { daysLate }: Account) => ({
  fibs: within(78 - daysLate * 1.6 + dice.whole(-12, 12)),
  fibsConfidence: dice.whole(55, 96),
  dibs: within(70 - daysLate + dice.whole(-18, 18)),
  dibsConfidence: dice.whole(50, 94),
});

type Decision = { account: Account; wanted: number; approved: boolean };

/** What was known when an application was decided. */
export const decisionScore = (
  dice: Dice,
  { account, wanted, approved }: Decision,
): CreditApplicationDetail["companyScore"] => {
  const share = approved ? 0.6 + dice.share() * 0.4 : 0;
  return {
    ...indexes(dice, account),
    assignedCreditLine: Math.round((wanted * share) / 500) * 500,
    calculatedCreditLine: Math.round((wanted * (0.4 + dice.share() * 0.6)) / 100) * 100,
  };
};

const SCORED_EVERY = 90;

/** What was said of each company, once a quarter, and last some weeks ago. */
export const scoreRows = (
  { dice, now, tenantId }: Making,
  accounts: readonly Account[],
): CompanyScoreRow[] =>
  accounts.flatMap((account) => {
    const latest = dice.whole(5, 80);
    return Array.from({ length: dice.whole(1, 3) }, (_none, place) => {
      const { fibs, fibsConfidence, dibs, dibsConfidence } = indexes(dice, account);
      const score: CompanyScore = {
        fibs: { fibs_score: fibs, fibs_confidence: fibsConfidence },
        dibs: { dibs_score: dibs, dibs_confidence: dibsConfidence },
        creditLimit: Math.round((account.usualCents * fibs) / 100_000) * 100,
        bankruptcyFlag: fibs < 15 ? 1 : 0,
        outOfBusinessFlag: 0,
      };
      return {
        tenant_id: tenantId,
        company_id: String(companyId(account)),
        as_of: now - (latest + place * SCORED_EVERY) * DAY,
        fields: JSON.stringify(score),
      };
    });
  });
