import type Big from "big.js";
import { openOf, type Paper, pay } from "./ledger.ts";
import { freeOf, type Line, type Payment } from "./lines.ts";
import { atLeastZero, smallest, sum, ZERO } from "./values.ts";

const paperOf = ({ choice }: Line): Paper | undefined =>
  choice === undefined || choice.isSuggested ? undefined : choice.paper;

const isPaying = (line: Line): boolean => {
  const paper = paperOf(line);
  return paper !== undefined && !paper.isCredit && (line.share === undefined || line.share.gt(0));
};

/** Returns the amount that a line takes away: a credit that is used, an adjustment of no document, a deduction from a paid invoice. */
const findTaken = (line: Line): Big => {
  const { share, name } = line;
  const paper = paperOf(line);
  if (paper === undefined) return name === undefined && share?.lt(0) === true ? share.abs() : ZERO;
  if (paper.isCredit) {
    const left = openOf(paper) ?? share?.abs() ?? ZERO;
    return share === undefined ? left : smallest(left, share.abs());
  }
  return share?.lt(0) === true ? smallest(share.abs(), atLeastZero(paper.paid)) : ZERO;
};

/** Counts what a line takes on its document: a credit is used by it, an invoice is paid less. */
const takeOn = (line: Line, taken: Big): void => {
  const paper = paperOf(line);
  if (paper !== undefined) pay(paper, paper.isCredit ? taken : taken.times(-1));
};

/** Takes what lines take away, before anything is paid: it adds to the money. */
const takeAll = (lines: readonly Line[]): Big => {
  for (const line of lines) {
    const taken = findTaken(line);
    if (taken.eq(0)) continue;
    line.applied = taken.times(-1);
    takeOn(line, taken);
  }
  return sum(lines.map(({ applied }) => applied)).times(-1);
};

/** Gives back what exceeds the documents that were paid, the last first: a payment is never less than nothing. */
const giveBack = (lines: readonly Line[]): void => {
  let excess = atLeastZero(sum(lines.map(({ applied }) => applied)).times(-1));
  for (const line of lines.toReversed()) {
    if (excess.lte(0)) return;
    if (line.applied.gte(0)) continue;
    const back = smallest(excess, line.applied.abs());
    line.applied = line.applied.plus(back);
    takeOn(line, back.times(-1));
    excess = excess.minus(back);
  }
};

const payLine = (line: Line, paper: Paper, most: Big): Big => {
  const { share, discount, deduction } = line;
  const open = openOf(paper);
  const due = open ?? share ?? most;
  const requested = share ?? atLeastZero(due.minus(discount).minus(deduction));
  const applied = smallest(requested, due, most);
  line.applied = applied;
  // A discount counts with the payment that takes it, as far as the document is open.
  line.discount = applied.gt(0) ? smallest(discount, due.minus(applied)) : ZERO;
  pay(paper, applied.plus(line.discount));
  return applied;
};

const isUnpaid = ({ share }: Line): boolean => share?.eq(0) === true;

/** Grants discounts of lines that pay nothing themselves, unless other lines should have paid the document. */
const grantDiscounts = (lines: readonly Line[]): void => {
  for (const line of lines) {
    const paper = paperOf(line);
    if (paper === undefined || paper.isCredit || !isUnpaid(line)) continue;
    const same = lines.filter((one) => paperOf(one) === paper);
    const isPaid = same.some(({ applied }) => !applied.eq(0));
    const open = isPaid || same.every(isUnpaid) ? openOf(paper) : ZERO;
    line.discount = smallest(line.discount, open);
    pay(paper, line.discount);
  }
};

/** Applies a payment to the documents that were chosen: never more than is open of each, or than the payment has. */
export const allocate = (payment: Payment): void => {
  const { lines, amount } = payment;
  let money = amount.plus(takeAll(lines));
  let free = freeOf(payment);
  const paying = lines.filter(isPaying);
  const named = paying.filter(({ share }) => share !== undefined);
  for (const line of [...named, ...paying.filter(({ share }) => share === undefined)]) {
    const paper = paperOf(line);
    if (paper === undefined) continue;
    const applied = payLine(line, paper, line.share === undefined ? smallest(free, money) : money);
    money = money.minus(applied);
    if (line.share === undefined) free = free.minus(applied);
  }
  grantDiscounts(lines);
  giveBack(lines);
};
