import type { StoredDocument } from "../../../contract/operations/documents.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import { insertAll } from "../../store/engine/bulk-writes.ts";
import { closeDisputesOn } from "../../store/queries/disputes-of-documents.ts";
import { addClosures, type NewClosure, putDocuments } from "../../store/queries/documents.ts";
import { takeCsrIds } from "../../store/queries/csr-sequences.ts";
import { toDocumentColumns, toDocumentKeys } from "../../store/queries/listed-columns.ts";
import type { Db } from "../../store/port.ts";
import type { DocumentClosureRow, DocumentRow } from "../../store/tables/schema.ts";
import { changeFields, creationFields } from "../records.ts";
import { getRecorded, listBalances, toRecorded } from "./balances.ts";
import { type Amounts, move } from "./status.ts";

/** Author, time and origin of a write. */
export type Writer = {
  tenantId: string;
  caller: { id: string };
  now: number;
  source: Exclude<DocumentClosureRow["source"], "auto">;
};

/** A validated document to be written. */
export type Writing = {
  documentNumber: string;
  before: DocumentRow | undefined;
  fields: StoredDocument;
  /** The amounts that the body itself contains. */
  sent: Amounts;
};

type Planned = { row: DocumentRow; before: DocumentRow | undefined; closes: boolean };

const NO_CSR_ID = 0;

const toEvent = ({ now, source }: Writer, at = now) => ({ at, isImport: source === "import" });

const plan = (writer: Writer, { documentNumber, before, fields, sent }: Writing): Planned => {
  const moved = move(before?.status, { sent, result: fields });
  const isStated = Object.keys(sent).length > 0;
  const columns = {
    account_number: fields.account_number,
    invoice_num: fields.invoice_num ?? null,
    currency: fields.currency ?? fields.original_currency ?? null,
    status: moved.status,
    ...toDocumentColumns(documentNumber, fields),
    ...toDocumentKeys(documentNumber, fields),
    balance_at: before === undefined || isStated ? formatTimestamp(writer.now) : before.balance_at,
    fields: JSON.stringify(fields),
  };
  const base = before ?? {
    tenant_id: writer.tenantId,
    document_number: documentNumber,
    csr_id: NO_CSR_ID,
    ...creationFields(writer),
  };
  const same = before?.fields === columns.fields && before.status === columns.status;
  const audit = before === undefined || same ? {} : changeFields(before, writer);
  // A row that is written as it was keeps all of its columns.
  const recorded =
    before !== undefined && same ? before : toRecorded(before, columns, toEvent(writer));
  return {
    row: { ...base, ...columns, ...getRecorded(recorded), ...audit },
    before,
    closes: moved.closes,
  };
};

/** Stores closures and closes the disputes on their documents. Every closure uses this function. */
const recordClosures = async (tx: Db, writer: Writer, closures: readonly NewClosure[]) => {
  if (closures.length === 0) return;
  await addClosures(tx, writer, closures);
  await closeDisputesOn(
    tx,
    writer,
    closures.map(({ document_number }) => document_number),
  );
};

/** Writes validated documents with distinct numbers, and closes or reopens them by their amounts. */
export const saveDocuments = async (
  tx: Db,
  writer: Writer,
  writings: readonly Writing[],
): Promise<DocumentRow[]> => {
  const planned = writings.map((writing) => plan(writer, writing));
  const added = planned.filter(({ before }) => before === undefined);
  if (added.length > 0) {
    const first = await takeCsrIds(tx, writer.tenantId, "document", added.length);
    for (const [index, { row }] of added.entries()) row.csr_id = first + index;
  }
  await insertAll(
    tx,
    "documents",
    added.map(({ row }) => row),
  );
  const differing = planned.filter(
    ({ row, before }) => before !== undefined && row.version !== before.version,
  );
  await putDocuments(
    tx,
    differing.map(({ row }) => row),
  );
  await insertAll(
    tx,
    "document_balances",
    planned.flatMap(({ row, before }) => listBalances(before, row, toEvent(writer))),
  );
  const closing = planned.filter(({ closes }) => closes);
  await recordClosures(
    tx,
    writer,
    closing.map(({ row }) => ({
      document_number: row.document_number,
      closure_reason: null,
      source: "auto",
      closed_at: writer.now,
      notes: null,
    })),
  );
  return planned.map(({ row }) => row);
};

type Closing = {
  row: DocumentRow;
  closure: Pick<NewClosure, "closure_reason" | "closed_at" | "notes">;
};

const closeRow = (writer: Writer, { row, closure }: Closing): DocumentRow[] => {
  const moved = move(row.status, "closure");
  if (moved === undefined) return [];
  const closed = { ...row, status: moved.status };
  const recorded = toRecorded(row, closed, toEvent(writer, closure.closed_at));
  return [{ ...closed, ...recorded, ...changeFields(row, writer) }];
};

/** Closes documents. Returns those that were open before. */
export const closeDocuments = async (
  tx: Db,
  writer: Writer,
  closings: readonly Closing[],
): Promise<DocumentRow[]> => {
  const done = closings.flatMap((closing) =>
    closeRow(writer, closing).map((after) => ({ after, ...closing })),
  );
  await putDocuments(
    tx,
    done.map(({ after }) => after),
  );
  await insertAll(
    tx,
    "document_balances",
    done.flatMap(({ row, after, closure }) =>
      listBalances(row, after, toEvent(writer, closure.closed_at)),
    ),
  );
  await recordClosures(
    tx,
    writer,
    done.map(({ after, closure }) => ({
      ...closure,
      document_number: after.document_number,
      source: writer.source,
    })),
  );
  return done.map(({ after }) => after);
};
