import { writeXlsx } from "hucre/xlsx";
import type { Case } from "../cases.ts";
import { dateOnly, workday } from "../moments.ts";

const AMOUNT = "#,##0.00";

/** The customer's working of what it has taken: its lines, and the claim beneath. */
export const claimSheet = (
  now: number,
  { invoice, cents, ageDays, reason }: Case,
): Promise<Uint8Array> => {
  const at = new Date(workday(now, ageDays));
  const share = cents / invoice.cents;
  const lines = invoice.lines.map((line) => [
    invoice.number,
    line.code,
    line.description,
    line.quantity,
    line.cents / 100,
    Math.round(line.cents * (1 - share)) / 100,
    line.lineCents / 100,
  ]);
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
          ["Invoice", "Item", "Description", "Quantity", "Billed", "Agreed", "Amount"],
          ...lines,
          [],
          ["Claimed", invoice.account.currency, reason.description, null, null, null, cents / 100],
          ["Date", dateOnly(at.getTime())],
        ],
      },
    ],
  });
};
