import { sql } from "kysely";
import type { DOCUMENT_SORT } from "../../../contract/operations/documents.ts";
import type { Db } from "../port.ts";
import { findText } from "../engine/search.ts";
import type { DocumentRow } from "../tables/schema.ts";

export type DocumentFilter = {
  accountNumber?: string | undefined;
  status?: DocumentRow["status"] | undefined;
  type?: DocumentRow["document_type"] | undefined;
  /** Days in UTC, inclusive. */
  dueFrom?: string | undefined;
  dueTo?: string | undefined;
  invoiceFrom?: string | undefined;
  invoiceTo?: string | undefined;
  search?: string | undefined;
};

export type DocumentSort = (typeof DOCUMENT_SORT)[number];

const SORT_COLUMNS = {
  document_number: "document_number",
  due_date: "due_on",
  invoice_date: "invoice_on",
} as const;

const parseSort = (sort: DocumentSort) => {
  const descending = sort.startsWith("-");
  const column = SORT_COLUMNS[sort.replace("-", "") as keyof typeof SORT_COLUMNS];
  return { column, direction: descending ? ("desc" as const) : ("asc" as const) };
};

/** A document in a list: its number, and the value by which the list is sorted. */
export type DocumentPlace = { key: string; value: string };

const SEARCH = { table: "documents", key: "document_number" } as const;

const selectMatching = async (db: Db, tenantId: string, filter: DocumentFilter) => {
  const { accountNumber, status, type, dueFrom, dueTo, invoiceFrom, invoiceTo, search } = filter;
  let query = db.selectFrom("documents").where("tenant_id", "=", tenantId);
  if (accountNumber !== undefined) query = query.where("account_number", "=", accountNumber);
  if (status !== undefined) query = query.where("status", "=", status);
  if (type !== undefined) query = query.where("document_type", "=", type);
  if (dueFrom !== undefined) query = query.where("due_on", ">=", dueFrom);
  if (dueTo !== undefined) query = query.where("due_on", "<=", dueTo);
  if (invoiceFrom !== undefined) query = query.where("invoice_on", ">=", invoiceFrom);
  if (invoiceTo !== undefined) query = query.where("invoice_on", "<=", invoiceTo);
  return search === undefined ? query : query.where(await findText(db, SEARCH, tenantId, search));
};

/** Finds the first `most` documents that match a filter and follow a place, in the order of the sort. */
export const findDocumentPlaces = async (
  db: Db,
  tenantId: string,
  { filter, sort }: { filter: DocumentFilter; sort: DocumentSort },
  { after, most }: { after: DocumentPlace | undefined; most: number },
): Promise<DocumentPlace[]> => {
  const { column, direction } = parseSort(sort);
  let query = (await selectMatching(db, tenantId, filter))
    .select(["document_number as key", `${column} as value`])
    .orderBy(column, direction)
    .limit(most);
  if (column !== "document_number") query = query.orderBy("document_number", direction);
  if (after !== undefined) {
    const follows = sql.raw(direction === "asc" ? ">" : "<");
    query = query.where(
      sql<boolean>`(${sql.ref(column)}, document_number) ${follows} (${after.value}, ${after.key})`,
    );
  }
  return query.execute();
};
