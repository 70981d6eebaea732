/** Checks claims against the records that they name, before a person is asked to confirm them. */
import Big from "big.js";
import type { Fault } from "../../../contract/errors.ts";
import { isSameNumber } from "../../../contract/number-key.ts";
import type { Dispute } from "../../../contract/operations/disputes.ts";
import type { Document } from "../../../contract/operations/documents.ts";
import type { Claim } from "../../../../tools/dispute-operations.ts";
import { formatMoney, formatName } from "../../../../tools/formatting.ts";
import { describeEnded, listEnded } from "../../../insights/ended-disputes.ts";
import { balanceOf, originalAmountOf } from "../../../insights/documents.ts";
import { type Facts, toAccountNumber } from "./facts.ts";
import { hasReference, REFERENCES, type ReferenceName } from "./references.ts";
import { findReasonFaults } from "./reasons.ts";

/** The records of one claim. */
export type Known = {
  claim: Claim;
  document: Document | undefined;
  /** Numbers as the platform has them. */
  accountNumber: string;
  documentNumber: string;
  accountName: string | null;
  currencyCode: string | null;
  /** The amount that was billed, without its sign; null if it is not known. */
  billed: number | null;
  /** The open disputes of the account. */
  open: readonly Dispute[];
  /** Names the checks that were not possible. */
  unchecked: readonly string[];
};

const describeUnread = (what: string, reason: string): string =>
  `${what} not read (${reason.replace(/\.$/, "")})`;

/** Returns the largest of the amounts that tell what was billed, where the document does not. */
const findBilled = (document: Document, { payments }: Facts): number | null => {
  const original = originalAmountOf(document);
  if (original !== null) return Math.abs(original);
  const rows = payments.refused === undefined ? payments.value.get(document.documentNumber) : [];
  const invoiced = (rows ?? []).flatMap(({ invoiceAmount }) => invoiceAmount ?? []);
  const { amount } = balanceOf(document);
  const amounts = [...invoiced, ...(amount === null ? [] : [amount])].map(Math.abs);
  const most = Math.max(0, ...amounts);
  return most === 0 ? null : most;
};

/** Collects what is known of the records of a claim. */
export const findKnown = (claim: Claim, facts: Facts): Known => {
  const found = facts.documents.get(claim.documentNumber);
  const document = found?.refused === undefined ? found?.value.value : undefined;
  const accountNumber = toAccountNumber(claim, found);
  const account = facts.accounts.get(accountNumber);
  const own = account?.refused === undefined ? account?.value.value : undefined;
  const disputes = facts.disputes.get(accountNumber);
  const isUnread = (part: { refused?: { isAbsent: boolean } | undefined } | undefined): boolean =>
    part?.refused !== undefined && !part.refused.isAbsent;
  const billed = document === undefined ? null : findBilled(document, facts);
  return {
    claim,
    document,
    accountNumber: own?.accountNumber ?? accountNumber,
    documentNumber: document?.documentNumber ?? claim.documentNumber,
    accountName: own?.name ?? null,
    currencyCode:
      (document === undefined ? null : balanceOf(document).currencyCode) ?? own?.currency ?? null,
    billed,
    open: disputes?.refused === undefined ? (disputes?.value.open ?? []) : [],
    unchecked: [
      ...(isUnread(found) ? [describeUnread("document", found?.refused?.reason ?? "")] : []),
      ...(isUnread(account) ? [describeUnread("account", account?.refused?.reason ?? "")] : []),
      ...(disputes?.refused === undefined
        ? []
        : [describeUnread("open disputes", disputes.refused.reason)]),
      ...(disputes?.refused === undefined && disputes?.value.isPartial === true
        ? ["not all open disputes of the account were compared"]
        : []),
      ...(document !== undefined && billed === null ? ["what was billed is not known"] : []),
    ],
  };
};

const SIMILAR = "Similar: ";

const describeAbsent = (noun: string, reason: string): string => {
  const at = reason.indexOf(SIMILAR);
  const hint = at < 0 ? "" : `; s${reason.slice(at + 1).replace(/\.$/, "")}`;
  return `names no ${noun}${hint}`;
};

const findRecordFaults = ({ claim, document, accountNumber }: Known, facts: Facts): Fault[] => {
  const found = facts.documents.get(claim.documentNumber);
  const account = facts.accounts.get(toAccountNumber(claim, found));
  const faults: Fault[] = [];
  const refuse = (field: string, message: string, code = "unknown_reference"): void => {
    faults.push({ field, code, message });
  };
  if (account?.refused?.isAbsent === true) {
    refuse("accountNumber", describeAbsent("account", account.refused.reason));
  }
  if (found?.refused?.isAbsent === true) {
    refuse("documentNumber", describeAbsent("document", found.refused.reason));
  }
  if (document !== undefined && document.account_number !== accountNumber) {
    const message = `is a document of the account ${document.account_number}`;
    refuse("documentNumber", message, "mismatch");
  }
  return faults;
};

const findAmountFaults = ({ claim: { amount }, billed, currencyCode }: Known): Fault[] => {
  const field = "amount";
  if (amount <= 0) return [{ field, code: "range", message: "must be greater than 0" }];
  if (billed === null || amount <= billed) return [];
  const message = `must not be above the ${formatMoney(billed, currencyCode ?? undefined)} that was billed`;
  return [{ field, code: "range", message }];
};

const findCurrencyFaults = ({ claim, currencyCode }: Known): Fault[] => {
  const { currencyCode: sent } = claim;
  if (sent === undefined || currencyCode === null || sent === currencyCode) return [];
  const message = `is not the currency of the document, which is ${currencyCode}`;
  return [{ field: "currencyCode", code: "mismatch", message }];
};

/** Whether a payment has rows of both documents, so that it left out an amount of each. */
const paysBoth = (
  { payments }: Facts,
  paymentId: string,
  numbers: readonly [string, string],
): boolean =>
  payments.refused === undefined &&
  numbers[0] !== numbers[1] &&
  numbers.every((number) =>
    (payments.value.get(number) ?? []).some((row) => row.paymentId === paymentId),
  );

/** A dispute or claim that a claim is compared with. */
type Other = {
  name: string;
  documentNumber: string;
  poNumber: string | null | undefined;
  hasReference: (name: ReferenceName, value: string) => boolean;
};

/** Finds the references by which another dispute or claim of the same amount is the same deduction. */
const findSame = ({ claim, documentNumber }: Known, other: Other, facts: Facts): Fault[] => {
  const message = (what: string): string => `is the ${what} of ${other.name} of the same amount`;
  const po = isSameNumber(claim.poNumber ?? "", other.poNumber ?? "")
    ? [{ field: "poNumber", code: "duplicate", message: message("PO number") }]
    : [];
  const references = REFERENCES.flatMap((field): Fault[] => {
    const value = claim[field];
    if (value === undefined || !other.hasReference(field, value)) return [];
    const isPayment = field === "paymentId";
    if (isPayment && paysBoth(facts, value, [documentNumber, other.documentNumber])) return [];
    return [{ field, code: "duplicate", message: message(isPayment ? "payment" : "debit memo") }];
  });
  return [...po, ...references];
};

const isSameMoney = (
  one: Pick<Known, "claim" | "currencyCode">,
  amount: number,
  currencyCode: string | null,
): boolean =>
  one.claim.amount === amount &&
  (one.currencyCode === null || currencyCode === null || one.currencyCode === currencyCode);

/** The open disputes of a claim's account over the same amount. */
export const listEqualDisputes = (known: Known): readonly Dispute[] =>
  known.open.filter(({ amount, currencyCode }) => isSameMoney(known, amount, currencyCode));

const toOtherClaim = ({ claim, documentNumber }: Known, place: number): Other => ({
  name: `claims[${place}]`,
  documentNumber,
  poNumber: claim.poNumber,
  hasReference: (name, value) => claim[name]?.trim().toLowerCase() === value.trim().toLowerCase(),
});

/** The claims before one that are about the same account and amount. */
const listEqualClaims = (all: readonly Known[], place: number): Other[] => {
  const own = all[place];
  return all.flatMap((other, at) =>
    at < place &&
    other.accountNumber === own?.accountNumber &&
    isSameMoney(own, other.claim.amount, other.currencyCode)
      ? [toOtherClaim(other, at)]
      : [],
  );
};

export type Doubts = { faults: Fault[]; doubts: string[] };

type Notes = ReadonlyMap<string, readonly string[]>;

/** Names the disputes of a claim's document that have ended. */
const describeEarlier = (
  { claim, documentNumber, currencyCode }: Known,
  { ended, calendar }: Facts,
): string[] => {
  const part = ended.get(documentNumber);
  if (part?.refused !== undefined) {
    return part.refused.isAbsent ? [] : [describeUnread("ended disputes", part.refused.reason)];
  }
  const earlier = listEnded(part?.value ?? [], claim.amount).map((one) =>
    describeEnded(one, calendar),
  );
  return earlier.map(({ disputeCode, status, amount, endedOn }) =>
    `disputed before as ${disputeCode}, ${formatMoney(amount, currencyCode ?? undefined)}, ${status.toLowerCase()} ${endedOn ?? ""}`.trimEnd(),
  );
};

/** Says what else is doubtful about the document and the amount of a claim. */
const listDoubts = (known: Known, all: readonly Known[], facts: Facts): string[] => {
  const { claim, document, documentNumber, billed, open, currencyCode } = known;
  const rows = facts.payments.refused === undefined ? facts.payments.value : undefined;
  const isPaying = rows?.get(documentNumber)?.some((row) => row.paymentId === claim.paymentId);
  const own = open.filter(
    (one) =>
      one.documentNumber === documentNumber &&
      (currencyCode === null || one.currencyCode === currencyCode),
  );
  const claims = all.filter((one) => one.documentNumber === documentNumber);
  const total = [...own, ...claims.map((one) => one.claim)].reduce(
    (sum, { amount }) => sum.plus(amount),
    new Big(0),
  );
  const isAbove = own.length + claims.length > 1 && billed !== null && total.gt(billed);
  return [
    ...(document?.status === "closed" ? ["the document is closed"] : []),
    ...(claim.paymentId !== undefined && rows !== undefined && isPaying !== true
      ? [`payment ${formatName(claim.paymentId)} has no row of the document`]
      : []),
    ...(isAbove
      ? [
          `with other claims and open disputes ${formatMoney(total.toNumber(), currencyCode ?? undefined)} of ${formatMoney(billed, currencyCode ?? undefined)} billed`,
        ]
      : []),
  ];
};

/** Compares a claim with open disputes and with the claims before it, and returns faults and doubts. */
export const compareClaim = (
  all: readonly Known[],
  place: number,
  { facts, notes }: { facts: Facts; notes: Notes },
): Doubts => {
  const known = all[place];
  if (known === undefined) return { faults: [], doubts: [] };
  const disputes = listEqualDisputes(known).map((one): Other => ({
    name: one.disputeCode,
    documentNumber: one.documentNumber,
    poNumber: one.poNumber,
    hasReference: (name, value) => hasReference(notes.get(one.disputeId) ?? [], name, value),
  }));
  const others = [...disputes, ...listEqualClaims(all, place)];
  const equal = others.filter(({ documentNumber }) => documentNumber === known.documentNumber);
  return {
    faults: [
      ...findRecordFaults(known, facts),
      ...findAmountFaults(known),
      ...findCurrencyFaults(known),
      ...findReasonFaults(known.claim, facts.reasons),
      ...others.flatMap((other) => findSame(known, other, facts)),
    ],
    doubts: [
      ...equal.map(({ name }) => `same document and amount as ${name}`),
      ...describeEarlier(known, facts),
      ...listDoubts(known, all, facts),
      ...known.unchecked,
    ],
  };
};
