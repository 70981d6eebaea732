import type { Case } from "../cases.ts";
import { contactMail } from "../ledger/accounts.ts";
import { decimal } from "../money.ts";
import { SELLER } from "./invoice.ts";

const LINE = "\r\n";

const nonAscii = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text)
    ? text
    : `=?utf-8?B?${Buffer.from(text, "utf8").toString("base64")}?=`;

// What its supplier calls unearned, a customer does not.
const SAID: Readonly<Record<string, string>> = { "UNEARNED-DISC": "that is our cash discount" };

const bodyOf = ({ invoice, cents, reason }: Case, sender: string, planted: string): string[] => [
  `Dear ${SELLER},`,
  "",
  `we have checked your invoice ${invoice.number}${invoice.poNumber === null ? "" : ` against our order ${invoice.poNumber}`}`,
  `and cannot accept ${decimal(cents)} ${invoice.account.currency} of it: ${SAID[reason.code] ?? reason.description.toLowerCase()}.`,
  "",
  "Please send a credit note, or tell us whom to call.",
  ...(planted === "" ? [] : ["", planted]),
  "",
  sender,
  invoice.account.name,
];

/** What the customer wrote, as a mail program saves it; `planted` is what it would have its reader do. */
export const claimMail = (at: number, one: Case, planted = ""): Uint8Array => {
  const { invoice } = one;
  const { account } = invoice;
  const [contact = { firstName: "Accounts", lastName: "Payable" }] = account.contacts;
  const sender = `${contact.firstName} ${contact.lastName}`;
  const head = [
    `From: ${nonAscii(sender)} <${contactMail(account, contact)}>`,
    `To: ${SELLER} <ar@demo-manufacturing.example>`,
    `Subject: ${nonAscii(`Invoice ${invoice.number}`)}`,
    `Date: ${new Date(at).toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${invoice.number}.${at}@${account.domain}>`,
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
  ];
  return Buffer.from([...head, "", ...bodyOf(one, sender, planted), ""].join(LINE), "utf8");
};
