import type Big from "big.js";
import { type Ledger, openOf, type Paper } from "./ledger.ts";
import { type Choice, freeOf, type Line, listSame, type Payment } from "./lines.ts";
import { amountOf, sum, ZERO } from "./values.ts";

/** Confidence of a match whose customer is known, of one that rests on the document itself, and of a suggestion. */
const CONFIDENCE = { known: 1, alone: 0.9, contradicted: 0.3 };

/** Amounts agree if no more than half of what is paid, or was due, is missing or too much. */
export const agree = (claimed: Big, open: Big): boolean => {
  const missing = open.minus(claimed);
  return missing.lt(0) ? missing.times(-2).lte(open) : missing.times(2).lte(claimed);
};

/** Whether a document is of the kind that a line can pay or use. */
const fits = (paper: Paper, { share }: Line, isOnly: boolean): boolean => {
  if (share === undefined) return true;
  // A deduction from a paid invoice is negative, too.
  return share.lt(0) ? paper.isCredit || isOnly : !paper.isCredit;
};

const listCandidates = (ledger: Ledger, payment: Payment, line: Line): Paper[] => {
  if (line.name === undefined) return [];
  const found = ledger.find(line.name).filter(({ currency }) => currency === payment.currency);
  return found.filter((paper) =>
    fits(
      paper,
      line,
      found.every(({ isCredit }) => !isCredit),
    ),
  );
};

const claimOf = (payment: Payment, line: Line): Big | undefined => {
  const same = listSame(payment, line);
  if (same.some(({ share }) => share === undefined)) return undefined;
  return sum(
    same.flatMap(({ share, discount, deduction }) => [share ?? ZERO, discount, deduction]),
  );
};

/** Whether what a line says of a document is true of it: the total, or about what is open. */
const isTrueOf = (paper: Paper, payment: Payment, line: Line): boolean => {
  const open = openOf(paper);
  const claimed = claimOf(payment, line);
  if (open === undefined) return true;
  const total = amountOf(line.stated, "invoiceAmount");
  if (paper.original !== undefined && total.gt(0) && total.eq(paper.original)) return true;
  return claimed !== undefined && agree(claimed, open);
};

type Candidate = { line: Line; papers: Paper[] };

/** The documents of an account whose shares are unknown are judged together by the money that is free. */
const areTrueTogether = (payment: Payment, account: string, candidates: readonly Candidate[]) => {
  const papers = candidates.flatMap(({ line, papers: [paper, other] }) =>
    paper?.account === account && other === undefined && claimOf(payment, line) === undefined
      ? [paper]
      : [],
  );
  const open = sum([...new Set(papers)].map((paper) => openOf(paper) ?? ZERO));
  return papers.length > 0 && agree(freeOf(payment), open);
};

const isUnknownShare = (payment: Payment, line: Line) => claimOf(payment, line) === undefined;

/** Finds the customer of a payment by the documents that it names, if what it says of them is true. */
const findCustomer = (payment: Payment, candidates: readonly Candidate[]): string | undefined => {
  const claims = new Map<string, Big>();
  for (const { line, papers } of candidates) {
    const [paper, other] = papers;
    if (paper === undefined || other !== undefined || paper.isCredit) continue;
    const { account } = paper;
    const holds = isUnknownShare(payment, line)
      ? areTrueTogether(payment, account, candidates)
      : isTrueOf(paper, payment, line);
    if (!holds) continue;
    const claim = line.share ?? openOf(paper) ?? ZERO;
    claims.set(account, (claims.get(account) ?? ZERO).plus(claim));
  }
  let best: string | undefined;
  for (const [account, claim] of claims) {
    if (best === undefined || claim.gt(claims.get(best) ?? ZERO)) best = account;
  }
  return best;
};

const choose = (
  papers: readonly Paper[],
  accounts: ReadonlySet<string>,
  confidence: number,
): Choice | undefined => {
  const own = papers.filter(({ account }) => accounts.has(account));
  const [paper] = own;
  if (paper !== undefined) {
    return own.length === 1 ? { paper, confidence, isSuggested: false } : undefined;
  }
  const [other] = papers;
  return other !== undefined && papers.length === 1
    ? { paper: other, confidence: CONFIDENCE.contradicted, isSuggested: true }
    : undefined;
};

/**
 * Chooses the documents of the lines that name one: those of the payment's customer; where the customer is unknown, of
 * the one whose documents are named truly. Returns the customer's account.
 */
export const chooseDocuments = (
  ledger: Ledger,
  payment: Payment,
  known: ReadonlySet<string>,
): string | undefined => {
  const candidates = payment.lines.map((line) => ({
    line,
    papers: listCandidates(ledger, payment, line),
  }));
  const found = known.size > 0 ? undefined : findCustomer(payment, candidates);
  const accounts = found === undefined ? known : new Set([found]);
  const confidence = found === undefined ? CONFIDENCE.known : CONFIDENCE.alone;
  for (const { line, papers } of candidates) {
    const choice = choose(papers, accounts, confidence);
    if (choice !== undefined) line.choice = choice;
  }
  const matched = payment.lines.flatMap(({ choice }) =>
    choice === undefined || choice.isSuggested ? [] : [choice.paper.account],
  );
  return matched[0];
};
