import { writeXlsx } from "hucre/xlsx";
import type { Case } from "../cases.ts";
import { dateOnly, workday } from "../moments.ts";

const AMOUNT = "#,##0.00";

type Position = { code: string; description: string; quantity: number; cents: number };

/** What the claim is about: the charge that is contested, or else the goods. */
const positionsOf = ({ invoice, reason: { claim } }: Case): Position[] => {
  const { lines, freightCents, taxCents } = invoice;
  const charged = { code: "", quantity: 1 };
  if (claim.kind === "freight") {
    return [{ ...charged, description: "Freight", cents: freightCents }];
  }
  if (claim.kind === "tax") return [{ ...charged, description: "Tax", cents: taxCents }];
  return lines.map(({ code, description, quantity, cents }) => ({
    code,
    description,
    quantity,
    cents,
  }));
};

/** A part of the claim for each position by what it came to; together they are all of it. */
const sharesOf = (cents: number, positions: readonly Position[]): number[] => {
  const totals = positions.map((one) => one.quantity * one.cents);
  const all = totals.reduce((sum, total) => sum + total, 0);
  let before = 0;
  let given = 0;
  return totals.map((total) => {
    before += total;
    const until = Math.round((cents * before) / all);
    const share = until - given;
    given = until;
    return share;
  });
};

/** The customer's working of what it has taken: its lines, and the claim beneath. */
export const claimSheet = (now: number, one: Case): Promise<Uint8Array> => {
  const { invoice, cents, ageDays, reason } = one;
  const at = new Date(workday(now, ageDays));
  const positions = positionsOf(one);
  const shares = sharesOf(cents, positions);
  const lines = positions.map(({ code, description, quantity, cents: price }, place) => {
    const share = shares[place] ?? 0;
    const agreed = price - share / quantity;
    return [invoice.number, code, description, quantity, price / 100, agreed / 100, share / 100];
  });
  return writeXlsx({
    properties: { title: `Claim on invoice ${invoice.number}`, created: at, modified: at },
    sheets: [
      {
        name: "Claim",
        columns: [
          { width: 12 },
          { width: 12 },
          { width: 42 },
          { width: 10 },
          { width: 12, numFmt: AMOUNT },
          { width: 12, numFmt: AMOUNT },
          { width: 14, numFmt: AMOUNT },
        ],
        rows: [
          ["Invoice", "Item", "Description", "Quantity", "Billed", "Agreed", "Difference"],
          ...lines,
          [],
          ["Claimed", invoice.account.currency, reason.description, null, null, null, cents / 100],
          ["Date", dateOnly(at.getTime())],
        ],
      },
    ],
  });
};
