import { insertAll } from "../../store/engine/bulk-writes.ts";
import type { Value } from "../../store/engine/dialect.ts";
import type { Db } from "../../store/port.ts";
import { listBalancesOf, removeBalances } from "../../store/queries/document-balances.ts";
import { putDocuments, removeDocument } from "../../store/queries/documents.ts";
import { toDocumentColumns } from "../../store/queries/listed-columns.ts";
import type { DocumentRow } from "../../store/tables/schema.ts";
import { parseDocument } from "../ingest/stored.ts";
import { getRecorded, listBalances, NO_FORMER, type Recorded, toRecorded } from "./balances.ts";

/**
 * Restores the history of a document, and returns the columns that tell of it. A closing
 * that is taken back was none; other balances were owed until then.
 */
const restoreBalances = async (
  tx: Db,
  {
    before,
    restored,
    current,
  }: { before: Partial<DocumentRow> } & Record<"restored" | "current", DocumentRow>,
  now: number,
): Promise<Recorded> => {
  if (current.status === "closed" && restored.status === "open") {
    await removeBalances(tx, current, { version: current.version });
    // A journal of an earlier version lacks columns.
    const known = { balance_known_from: null, balance_recorded_at: null, ...NO_FORMER, ...before };
    if (known.balance_recorded_at !== null) return getRecorded(known);
    // The history of a document of an earlier version began with the balance before the import.
    const { tenant_id: tenantId, document_number: number } = current;
    const since = (await listBalancesOf(tx, tenantId, [number])).at(-1)?.recorded_at ?? null;
    return { balance_known_from: since, balance_recorded_at: since, ...NO_FORMER };
  }
  const event = { at: now, isImport: false };
  await insertAll(tx, "document_balances", listBalances(current, restored, event));
  return toRecorded(current, restored, event);
};

/** Puts a document back as it was before an import, or removes it where the import created it, with its history. */
export const restoreDocument = async (
  tx: Db,
  before: Record<string, Value> | undefined,
  current: DocumentRow,
  now: number,
): Promise<void> => {
  const { tenant_id: tenantId, document_number: number } = current;
  if (before === undefined) {
    await removeBalances(tx, current);
    await removeDocument(tx, tenantId, number);
    return;
  }
  const former = { ...current, ...before } as DocumentRow;
  // A row of an earlier version of the program lacks columns that follow from its fields.
  const restored = { ...former, ...toDocumentColumns(number, parseDocument(former)) };
  const recorded = await restoreBalances(tx, { before, restored, current }, now);
  await putDocuments(tx, [{ ...restored, ...recorded }]);
};
