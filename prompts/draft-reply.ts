import { FOREIGN_TEXT, type Prompt } from "./prompt.ts";

/** The kinds of replies, with what each says. */
const KINDS: Readonly<Record<string, string>> = {
  accept:
    "Accept: the amount that is credited, the document, the resolution, and when it is to be expected. Nothing is promised that the records do not show.",
  deny: "Deny: the reason, with the evidence that the customer knows or may see (document, delivery, payment), and how to object with which proof.",
  "ask-for-proof":
    "Ask for proof: exactly what is missing, for which document and line, and until when. Ask for nothing that a note or file has already.",
  partial:
    "Accept in part: the part that is credited and the part that is owed, each with its reason; both add up to the claim.",
};

const describeKinds = (kind: string): string =>
  `The kind is ${JSON.stringify(kind)}, one of these.\n${Object.entries(KINDS)
    .map(([name, text]) => `- ${name}: ${text}`)
    .join("\n")}`;

export const draftReply: Prompt = {
  name: "draft-reply",
  title: "Draft a reply to a customer",
  description: "Draft the reply to a customer's claim; nothing is sent or changed.",
  arguments: [
    { name: "disputeId", description: "id or code of the dispute", of: "dispute" },
    {
      name: "kind",
      description: "accept, deny, ask-for-proof or partial",
      values: Object.keys(KINDS),
    },
  ],
  toolsets: ["insights", "disputes"],
  insight: ({ disputeId = "" }) => ({ name: "dispute_packet", args: { disputeId } }),
  text: ({
    disputeId = "",
    kind = "",
  }) => `Draft the reply to the customer of dispute ${JSON.stringify(disputeId)}. The answer of dispute_packet is attached.

${KINDS[kind] ?? describeKinds(kind)}

1. Rest each statement on the packet: claim, amount with currency, document, payment, notes, files, resolutions. precedents say
   how such claims ended; they are for us, and not for the letter. If the evidence contradicts this kind of reply, say so first.
2. Write in the language of the account where the packet or accounts_get {"account_number": "ACCOUNT"} names one, else in that
   of the customer's own words, else in English. Short and polite, our record numbers and the customer's, no internal note,
   no name of a colleague, no cause that nobody has confirmed.
3. Below the draft list, for me alone: the field or note behind each statement, what I must decide or add, and what was left out.
4. It is a draft only: send nothing, write no note, change no dispute. If I want it kept, offer one Internal note.

${FOREIGN_TEXT}`,
};
