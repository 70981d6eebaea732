import type Big from "big.js";
import { agree } from "./choose.ts";
import { type Ledger, openOf, type Paper } from "./ledger.ts";
import type { Choice, Line, Payment } from "./lines.ts";
import { listMentions } from "./mentions.ts";
import { ZERO } from "./values.ts";

/** Confidence of a suggestion by what agrees beside the number. */
const CONFIDENCE = { accountAndAmount: 0.9, amount: 0.7, account: 0.5, nearly: 0.4 };

const judge = (paper: Paper, amount: Big, known: ReadonlySet<string>): number => {
  const open = openOf(paper) ?? ZERO;
  const isOwn = known.has(paper.account);
  if (open.lte(0) || paper.isCredit || (known.size > 0 && !isOwn)) return 0;
  if (open.eq(amount)) return isOwn ? CONFIDENCE.accountAndAmount : CONFIDENCE.amount;
  if (isOwn) return CONFIDENCE.account;
  return agree(amount, open) ? CONFIDENCE.nearly : 0;
};

/** Finds the document that a payment mentions and most likely pays. It is never applied by itself. */
const findMentioned = (
  ledger: Ledger,
  { amount, currency, lines }: Payment,
  known: ReadonlySet<string>,
): Choice | undefined => {
  let best: Choice | undefined;
  for (const mention of listMentions(lines[0]?.values ?? {})) {
    const papers = ledger.find(mention).filter((paper) => paper.currency === currency);
    const own = papers.length === 1 ? papers : papers.filter(({ account }) => known.has(account));
    const [paper] = own;
    if (paper === undefined || own.length > 1) continue;
    const confidence = judge(paper, amount, known);
    if (confidence > (best?.confidence ?? 0)) best = { paper, confidence, isSuggested: true };
  }
  return best;
};

const isOpenToSuggestions = ({ name, share, choice }: Line): boolean =>
  name === undefined && choice === undefined && (share === undefined || share.eq(0));

/** Adds a suggestion to the first row of a payment that names no document. */
export const suggestDocument = (
  ledger: Ledger,
  payment: Payment,
  known: ReadonlySet<string>,
): void => {
  if (payment.lines.some(({ name }) => name !== undefined)) return;
  const line = payment.lines.find(isOpenToSuggestions);
  const choice = findMentioned(ledger, payment, known);
  if (line !== undefined && choice !== undefined) line.choice = choice;
};
