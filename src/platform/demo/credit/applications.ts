import {
  STATUS_TITLES,
  type StatusType,
} from "../../../contract/operations/credit-applications.ts";
import { DAY, HOUR, iso, MINUTE } from "../../../kit/clock.ts";
import type { WholeApplication } from "../../services/credit-applications/record.ts";
import { authorOf, type Making } from "../configuration.ts";
import { type Account, contactMail } from "../ledger/accounts.ts";
import { officeTime } from "../moments.ts";
import { emailOf, MANAGER } from "../people.ts";
import { form, section } from "./form.ts";
import {
  type Answers,
  bankReferencePart,
  externalParts,
  internalParts,
  tradePart,
} from "./questions.ts";
import { buyerOf, decisionScore } from "./buyer.ts";

/** How many applications have come how far, and how many days ago they began. */
const PLAN: readonly (readonly [StatusType, number, readonly [number, number]])[] = [
  ["Not Started", 3, [1, 6]],
  ["Initiated", 6, [3, 14]],
  ["In Progress", 8, [5, 28]],
  ["Submitted", 6, [16, 30]],
  ["Under Review", 9, [20, 45]],
  ["Pending Information", 5, [28, 60]],
  ["Closed - Approved", 12, [45, 300]],
  ["Closed - Declined", 5, [45, 280]],
  ["Closed - Withdrawn", 3, [45, 200]],
  ["Closed - Expired", 3, [60, 240]],
];

const SUBMITTED: readonly StatusType[] = [
  "Submitted",
  "Under Review",
  "Pending Information",
  "Closed - Approved",
  "Closed - Declined",
];
const BEGUN: readonly StatusType[] = [...SUBMITTED, "In Progress", "Closed - Withdrawn"];
const REVIEWED = SUBMITTED.slice(1);
const DECIDED = REVIEWED.slice(2);

type Moments = {
  begun: number;
  opened: number | null;
  submitted: number | null;
  status: number;
  last: number;
};

/** Its steps in their order, none of them later than now. */
const momentsOf = ({ dice, now }: Making, type: StatusType, ageDays: number): Moments => {
  const end = now - 5 * MINUTE;
  let at = officeTime(dice, now - ageDays * DAY, end);
  const after = (days: number): number => {
    const next = officeTime(dice, at + days * DAY, end);
    at = Math.min(end, Math.max(next, at + 20 * MINUTE));
    return at;
  };
  const begun = at;
  const opened = after(dice.whole(0, 2));
  const submitted = after(dice.whole(1, 8));
  const reviewed = after(dice.whole(0, 3));
  const decided = after(dice.whole(2, 14));
  const last = (moment: number) => Math.min(end, moment + dice.whole(0, 40) * HOUR);
  const made = (status: number, isOpened = true, isSubmitted = false): Moments => ({
    begun,
    opened: isOpened ? opened : null,
    submitted: isSubmitted ? submitted : null,
    status,
    last: last(status),
  });
  if (type === "Not Started" || type === "Initiated") return made(begun, false);
  if (type === "In Progress") return made(opened);
  if (type === "Submitted") return made(submitted, true, true);
  if (type === "Under Review") return made(reviewed, true, true);
  return made(decided, type !== "Closed - Expired", SUBMITTED.includes(type));
};

const TRADE = [
  "Meridian Steel",
  "Corder Electric Wholesale",
  "Blue Anchor Tools",
  "Pace Abrasives",
];

const BANKS = {
  USD: ["First Prairie Bank", "Harbor Trust", "Stonebridge National Bank"],
  CAD: ["Banque du Fleuve", "Lakehead Savings"],
  EUR: ["Volksbank Nordhafen", "Banque du Fleuve"],
} as const;

const maybe = (at: number | null): string | null => (at === null ? null : iso(at));

const referencesOf = (answers: Answers, { submitted }: Moments) => {
  const { dice } = answers;
  const common = (name: string, part: typeof tradePart) => {
    const answered = submitted !== null && dice.chance(0.75);
    return {
      createdDate: maybe(submitted),
      referenceName: name,
      referenceEmailAddress: `credit@${name.toLowerCase().replaceAll(" ", "-")}.example`,
      sectionList: [section(dice, part(answers, answered), 0)],
      submitted: answered,
      submitDate: answered ? iso((submitted ?? 0) + HOUR) : null,
    };
  };
  if (submitted === null) return { tradeReferences: [], bankReferences: [] };
  return {
    tradeReferences: dice
      .shuffle(TRADE)
      .slice(0, dice.whole(2, 3))
      .map((name) => ({ tradeReferenceId: dice.id(), ...common(name, tradePart) })),
    bankReferences: [{ bankReferenceId: dice.id(), ...common(answers.bank, bankReferencePart) }],
  };
};

const SALES = { firstName: "Tom", lastName: "Brandt" };
const CREDIT = { firstName: "Ellen", lastName: "Park" };

const usersOf = (
  making: Making,
  type: StatusType,
  autoDecisioned: boolean,
): WholeApplication["applicationUsers"] => {
  const user = (userType: string, email: string, { firstName, lastName }: typeof SALES) => ({
    userType,
    userId: authorOf(making, email),
    userEmailAddress: email,
    userName: `${firstName} ${lastName}`,
    allowReassign: userType !== "INITIATOR",
  });
  return [
    user("INITIATOR", emailOf(SALES), SALES),
    ...(REVIEWED.includes(type) ? [user("REVIEWER", MANAGER, CREDIT)] : []),
    ...(DECIDED.includes(type) && !autoDecisioned ? [user("APPROVER", MANAGER, CREDIT)] : []),
  ];
};

const WAITS = 7 * DAY;

const application = (
  making: Making,
  account: Account,
  unitIds: string[],
  [type, , ages]: (typeof PLAN)[number],
): WholeApplication => {
  const { dice } = making;
  const moments = momentsOf(making, type, dice.whole(...ages));
  const wanted =
    Math.max(1, Math.round(((account.usualCents / 100) * dice.whole(2, 5)) / 1000)) * 1000;
  const submittedAt = maybe(moments.submitted);
  const bank = dice.pick(BANKS[account.currency]);
  const begun = BEGUN.includes(type);
  const answers: Answers = { dice, account, begun, submittedAt, wanted, bank };
  const [contact] = account.contacts;
  const autoDecisioned = DECIDED.includes(type) && dice.chance(0.35);
  const waiting = moments.submitted === null && making.now - moments.begun > WAITS;
  return {
    applicationId: dice.id(),
    applicationDate: iso(moments.begun),
    applicationStatus: { type, statusDate: iso(moments.status), title: STATUS_TITLES[type] },
    applicationForm: form(dice, {
      external: externalParts(answers),
      internal: internalParts(answers),
      unitIds,
    }),
    businessUnitsIds: unitIds,
    company: buyerOf(account),
    companyScore: DECIDED.includes(type)
      ? decisionScore(dice, { account, wanted, approved: type === "Closed - Approved" })
      : null,
    contact: contact === undefined ? null : { ...contact, email: contactMail(account, contact) },
    applicantAccessDate: maybe(moments.opened),
    ...referencesOf(answers, moments),
    applicationUsers: usersOf(making, type, autoDecisioned),
    applicantSubmitDate: submittedAt,
    lastReminderDate: waiting ? iso(moments.begun + WAITS) : null,
    lastActivityDate: iso(Math.max(moments.last, waiting ? moments.begun + WAITS : 0)),
    autoDecisioned,
    references: null,
  };
};

/** Applications of every status, each by another of the customers. */
export const applications = (
  making: Making,
  accounts: readonly Account[],
  unitIdsOf: (account: Account) => string[],
): WholeApplication[] => {
  const buyers = making.dice.shuffle(accounts);
  return PLAN.flatMap((plan) => Array.from({ length: plan[1] }, () => plan)).flatMap(
    (plan, place) => {
      const account = buyers[place];
      return account === undefined ? [] : [application(making, account, unitIdsOf(account), plan)];
    },
  );
};
