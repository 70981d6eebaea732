import type { Dice } from "../dice.ts";
import { type Account, contactMail } from "../ledger/accounts.ts";
import type { Part, Question } from "./form.ts";

/** What an applicant says of itself, as far as it has come. */
export type Answers = {
  dice: Dice;
  account: Account;
  /** The buyer has begun, and has sent the form off. */
  begun: boolean;
  submittedAt: string | null;
  /** In whole units of the account's currency. */
  wanted: number;
  /** Where it has its account, and who is asked about it. */
  bank: string;
};

const BUSINESSES = ["Corporation", "Limited liability company", "Partnership", "Cooperative"];
const PRODUCTS = ["Fasteners", "Bearings", "Motors and drives", "Pumps", "Safety", "Welding"];

type Write = (question: Question) => Question;

/** Only what is answered already has its answer. */
const writer =
  (known: boolean): Write =>
  ({ answers, secondary, set, ...question }) => ({
    ...question,
    ...(known && answers !== undefined ? { answers } : {}),
    ...(secondary === undefined ? {} : { secondary: secondary.map(writer(known)) }),
    ...(set === undefined ? {} : { set: { ...set, members: set.members.map(writer(known)) } }),
  });

const yesOrNo = (yes: boolean): string[] => [yes ? "Yes" : "No"];

const companyPart = ({ dice, account }: Answers): Question[] => {
  const { address } = account;
  const exempt = dice.chance(0.3);
  const certificate = String(dice.whole(100_000, 999_999));
  return [
    { name: "Legal name", type: "Text", required: true, answers: [account.name] },
    { name: "Doing business as", type: "Text" },
    {
      name: "Address",
      type: "Field Set",
      set: {
        id: "Address",
        members: [
          { name: "Street", type: "Text", required: true, answers: [address.address1 ?? ""] },
          { name: "City", type: "Text", required: true, answers: [address.city ?? ""] },
          { name: "Postal code", type: "Text", answers: [address.zip ?? ""] },
          { name: "Country", type: "Text", required: true, answers: [address.country ?? ""] },
        ],
      },
    },
    { name: "Type of business", type: "Select Single", answers: [dice.pick(BUSINESSES)] },
    { name: "Year founded", type: "Number", answers: [dice.whole(1931, 2019)] },
    {
      name: "Federal tax ID",
      type: "Text",
      required: true,
      answers: [`00-${dice.whole(1_000_000, 9_999_999)}`],
    },
    {
      name: "Exempt from sales tax?",
      type: "Select Single",
      answers: yesOrNo(exempt),
      secondary: [
        {
          name: "Number of the certificate",
          type: "Text",
          ...(exempt ? { answers: [certificate] } : {}),
        },
      ],
    },
    { name: "Fax number", type: "Phone", disabled: true },
  ];
};

const requestPart = ({ dice, wanted }: Answers): Question[] => {
  const bankrupt = dice.chance(0.06);
  return [
    { name: "Requested credit limit", type: "Currency", required: true, answers: [wanted] },
    {
      name: "Requested terms",
      type: "Select Single",
      required: true,
      answers: [dice.pick(["Net 30", "Net 45", "Net 60"])],
    },
    {
      name: "What will you buy?",
      type: "Select Multi",
      many: true,
      answers: dice.shuffle(PRODUCTS).slice(0, dice.whole(1, 3)),
    },
    {
      name: "Has the company filed for bankruptcy in the last seven years?",
      type: "Select Single",
      required: true,
      answers: yesOrNo(bankrupt),
      secondary: [
        {
          name: "When, and how did it end?",
          type: "Long Text",
          ...(bankrupt
            ? { answers: ["Reorganized four years ago, all suppliers were paid."] }
            : {}),
        },
      ],
    },
  ];
};

const bankPart = ({ dice, bank }: Answers): Question[] => [
  { name: "Bank", type: "Text", required: true, answers: [bank] },
  {
    name: "Account number",
    type: "Text",
    required: true,
    answers: [`0000${dice.whole(10_000_000, 99_999_999)}`],
  },
];

const peoplePart = ({ account }: Answers): Question[] => [
  {
    name: "Invoices go to",
    type: "Email",
    required: true,
    many: true,
    answers: account.contacts.map((contact) => contactMail(account, contact)),
  },
  ...(account.phone === undefined
    ? []
    : [{ name: "Telephone", type: "Phone", answers: [account.phone] }]),
];

const signaturePart = ({ account, submittedAt }: Answers): Question[] => {
  const [signer] = account.contacts;
  const signed = submittedAt !== null && signer !== undefined;
  return [
    {
      name: "Signature",
      type: "Signature",
      required: true,
      ...(signed ? { answers: [`${signer.firstName} ${signer.lastName}`] } : {}),
    },
    {
      name: "Date",
      type: "Date",
      required: true,
      ...(signed ? { answers: [submittedAt.slice(0, 10)] } : {}),
    },
  ];
};

/** What the buyer fills in. */
export const externalParts = (answers: Answers): Part[] => {
  const written = writer(answers.begun);
  const later = writer(answers.submittedAt !== null);
  return [
    { name: "Your company", questions: companyPart(answers).map(written) },
    { name: "What you ask for", questions: requestPart(answers).map(written) },
    { name: "Your bank", questions: bankPart(answers).map(later) },
    { name: "People", questions: peoplePart(answers).map(later) },
    {
      name: "Leasing",
      disabled: true,
      questions: [{ name: "Do you lease your equipment?", type: "Checkbox" }],
    },
    { name: "Declaration", questions: signaturePart(answers).map(later) },
  ];
};

const OPINIONS = [
  "Known to us for years, pays by the calendar. Wants room for a new plant.",
  "New branch of a customer in good standing.",
  "Seasonal business: orders peak in spring. Recommend a review after the first season.",
  "Small, but the owner guarantees. I would start with half of what they ask.",
  "They have changed suppliers twice in two years. Ask the trade references why.",
];

/** What the seller's own people fill in. */
export const internalParts = ({ dice, submittedAt, wanted }: Answers): Part[] => {
  const written = writer(submittedAt !== null);
  const questions: Question[] = [
    { name: "Assessment", type: "Long Text", required: true, answers: [dice.pick(OPINIONS)] },
    { name: "Expected yearly sales", type: "Currency", answers: [wanted * dice.whole(3, 7)] },
    {
      name: "Recommended limit",
      type: "Currency",
      required: true,
      answers: [Math.round((wanted * (0.5 + dice.share() / 2)) / 500) * 500],
    },
  ];
  return [{ name: "Sales", questions: questions.map(written) }];
};

const PAYS = ["In time", "Mostly in time", "Late"];

/** What somebody who supplies the buyer says of it. */
export const tradePart = ({ dice }: Answers, submitted: boolean): Part => ({
  name: "Trade reference",
  questions: [
    { name: "Customer since", type: "Number", required: true, answers: [dice.whole(1998, 2023)] },
    { name: "Highest balance", type: "Currency", answers: [dice.whole(2, 90) * 1000] },
    { name: "Pays", type: "Select Single", required: true, answers: [dice.pick(PAYS)] },
  ].map((question) => writer(submitted)(question as Question)),
});

export const bankReferencePart = ({ dice }: Answers, submitted: boolean): Part => ({
  name: "Bank reference",
  questions: [
    { name: "Relation since", type: "Number", required: true, answers: [dice.whole(1995, 2022)] },
    { name: "Checks returned in the last year", type: "Number", answers: [dice.whole(0, 2)] },
  ].map((question) => writer(submitted)(question as Question)),
});
