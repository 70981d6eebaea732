import type { DocumentHistory } from "../../../contract/operations/documents.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import { listBalancesOf, listUnrecordedOf } from "../../store/queries/document-balances.ts";
import { listClosuresOf } from "../../store/queries/documents.ts";
import type { Db } from "../../store/port.ts";
import type { DocumentBalanceRow, DocumentClosureRow } from "../../store/tables/schema.ts";

type Reason = DocumentHistory["closures"][number]["closure_reason"];

const toClosure = ({ closed_at, closure_reason }: DocumentClosureRow) => ({
  closedAt: formatTimestamp(closed_at),
  closure_reason: closure_reason as Reason,
});

const toBalance = ({ recorded_at, status, balance, currency, cause }: DocumentBalanceRow) => ({
  recordedAt: formatTimestamp(recorded_at),
  status,
  balance,
  currency,
  cause,
});

/** Reads what is known of the past of documents, by their numbers. */
export const readHistories = async (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
): Promise<(number: string) => DocumentHistory> => {
  const byNumber = (row: { document_number: string }) => row.document_number;
  const closures = Map.groupBy(await listClosuresOf(db, tenantId, numbers), byNumber);
  const recorded = await listBalancesOf(db, tenantId, numbers);
  const unrecorded = await listUnrecordedOf(db, tenantId, numbers);
  const balances = Map.groupBy([...recorded, ...unrecorded], byNumber);
  return (number) => ({
    closures: (closures.get(number) ?? []).map(toClosure),
    balances: (balances.get(number) ?? []).map(toBalance),
  });
};
