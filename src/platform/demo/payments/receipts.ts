import type { DisputeRow } from "../../store/tables.ts";
import type { Source } from "../../../contract/payments/catalogue.ts";
import type { Case } from "../cases.ts";
import type { Dice } from "../dice.ts";
import type { Dispute } from "../disputes.ts";
import type { Account } from "../ledger/accounts.ts";
import type { Invoice } from "../ledger/invoices.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Entry, Settlement } from "../ledger/settlements.ts";

/** A part of an invoice that its payer did not pay; nobody disputes it yet where there is no dispute. */
export type HeldBack = { cents: number; dispute: DisputeRow | null; reasonCode: string | null };

/** Money that came for an invoice, so many days before now. */
export type Receipt = {
  invoice: Invoice;
  ageDays: number;
  cents: number;
  /** Open on the invoice once it is applied. */
  leftCents: number;
  heldBack: readonly HeldBack[];
  /** The dispute that the payment ends. */
  ends: DisputeRow | null;
};

/** All receipts by the way they came, and the invoices of which nothing was paid, credited or disputed. */
export type Received = {
  receipts: Readonly<Record<Source, readonly Receipt[]>>;
  untouched: Readonly<Record<Source, readonly Invoice[]>>;
};

const UNCLAIMED = "SHORT";

const heldBackOf = (
  leftCents: number,
  claims: readonly Case[],
  disputeOf: (one: Case) => DisputeRow | null,
): HeldBack[] => {
  if (leftCents === 0) return [];
  if (claims.length === 0) return [{ cents: leftCents, dispute: null, reasonCode: UNCLAIMED }];
  return claims.map((one) => ({
    cents: one.cents,
    dispute: disputeOf(one),
    reasonCode: (one.external ?? one.reason).code,
  }));
};

const receiptsOf = (
  { invoice, entries }: Settlement,
  claims: readonly Case[],
  disputeOf: (one: Case) => DisputeRow | null,
): Receipt[] => {
  let left = invoice.cents;
  return entries.flatMap(({ kind, cents, ageDays, claim }: Entry): Receipt[] => {
    if (kind === "write_off") return [];
    left -= cents;
    if (kind === "credit") return [];
    // What ends a claim pays what was held back before.
    const heldBack = claim === null ? heldBackOf(left, claims, disputeOf) : [];
    const ends = claim === null ? null : disputeOf(claim);
    return [{ invoice, ageDays, cents, leftCents: left, heldBack, ends }];
  });
};

const WAYS: readonly (readonly [Source, number])[] = [
  ["cashapp", 66],
  ["iandp", 17],
  ["bpn", 17],
];

const bySource = <T>(all: readonly T[], sourceOf: (one: T) => Source | undefined) => {
  const groups = Map.groupBy(all, sourceOf);
  const of = (source: Source): readonly T[] => groups.get(source) ?? [];
  return { cashapp: of("cashapp"), iandp: of("iandp"), bpn: of("bpn") };
};

/** What a ledger's customers paid; each pays in one way. */
export const received = (dice: Dice, ledger: Ledger, disputes: readonly Dispute[]): Received => {
  const ways = new Map<Account, Source>(
    ledger.accounts.map((account) => [account, dice.weigh(WAYS)]),
  );
  const rows = new Map(disputes.map(({ case: one, row }) => [one, row]));
  const claimsOn = Map.groupBy(
    ledger.cases.filter(({ again }) => !again),
    ({ invoice }) => invoice,
  );
  const receipts = ledger.settlements.flatMap((settlement) =>
    receiptsOf(settlement, claimsOn.get(settlement.invoice) ?? [], (one) => rows.get(one) ?? null),
  );
  const untouched = ledger.settlements
    .filter(({ invoice, entries }) => entries.length === 0 && !claimsOn.has(invoice))
    .map(({ invoice }) => invoice);
  const wayOf = ({ account }: Invoice) => ways.get(account);
  return {
    receipts: bySource(receipts, ({ invoice }) => wayOf(invoice)),
    untouched: bySource(untouched, wayOf),
  };
};
