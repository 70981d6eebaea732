import { MINUTE } from "../../../kit/clock.ts";
import type { DocumentAttachmentRow } from "../../store/tables.ts";
import type { Making } from "../configuration.ts";
import { BILLING, evening } from "../ledger/document-rows.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Kept, Paper } from "./paper.ts";
import { invoicePdf } from "./invoice.ts";

const FILES = 40;
const FILED_AFTER = 2 * MINUTE;

/** The files of the invoices that most is disputed of. */
export const documentFiles = (
  { dice, now, tenantId }: Making,
  { cases }: Ledger,
): Paper<Kept<DocumentAttachmentRow>>[] => {
  const claims = cases
    .filter(({ status }) => status === 0)
    .toSorted((one, other) => other.cents - one.cents);
  const disputed = [...new Set(claims.map(({ invoice }) => invoice))].slice(0, FILES);
  return disputed.map((invoice) => ({
    row: {
      tenant_id: tenantId,
      id: dice.id(),
      document_number: invoice.number,
      uploaded_by: BILLING,
      uploaded_at: Math.min(evening(now, invoice.ageDays) + FILED_AFTER, now),
    },
    render: () => invoicePdf(now, invoice),
  }));
};
