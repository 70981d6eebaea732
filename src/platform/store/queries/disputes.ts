import { type SelectQueryBuilder, sql } from "kysely";
import type { DISPUTE_SORT } from "../../../contract/operations/disputes.ts";
import type { SortKey } from "../../../contract/fields.ts";
import { insertAll } from "../engine/bulk-writes.ts";
import { addToTotal, moveTotal } from "./dispute-totals.ts";
import { among, contains, hasAccountName, type NamePart } from "./disputes-by-name.ts";
import type { ListCost } from "./list-cost.ts";
import type { Db } from "../port.ts";
import { prepareFind } from "../engine/prepared.ts";
import { type Condition, given } from "./summaries/sql.ts";
import type { DisputeRow } from "../tables/schema.ts";
import { changeRows, countOf, ofTenant } from "../engine/rows.ts";

type SortField = (typeof DISPUTE_SORT)[number];
/**
 * Selects disputes with the names of the records they refer to. Every dispute has a reason, and every reason a category;
 * PostgreSQL has no statistics of small tables and would expect inner joins to drop most disputes, and sort all of them.
 * It keeps the order of the joins after the first five tables, which filters refer to.
 */
const selectJoined = (db: Db, tenantId: string) =>
  db
    .selectFrom("disputes as d")
    .leftJoin("reasons as r", (on) =>
      on.onRef("r.tenant_id", "=", "d.tenant_id").onRef("r.id", "=", "d.reason_id"),
    )
    .leftJoin("categories as c", (on) =>
      on.onRef("c.tenant_id", "=", "d.tenant_id").onRef("c.id", "=", "r.category_id"),
    )
    .leftJoin("assignees as a", (on) =>
      on.onRef("a.tenant_id", "=", "d.tenant_id").onRef("a.id", "=", "d.assignee_id"),
    )
    .leftJoin("departments as p", (on) =>
      on.onRef("p.tenant_id", "=", "d.tenant_id").onRef("p.id", "=", "a.department_id"),
    )
    .leftJoin("reasons as xr", (on) =>
      on.onRef("xr.tenant_id", "=", "d.tenant_id").onRef("xr.id", "=", "d.external_reason_id"),
    )
    .leftJoin("categories as xc", (on) =>
      on.onRef("xc.tenant_id", "=", "d.tenant_id").onRef("xc.id", "=", "xr.category_id"),
    )
    .leftJoin("resolutions as s", (on) =>
      on.onRef("s.tenant_id", "=", "d.tenant_id").onRef("s.id", "=", "d.resolution_id"),
    )
    .where("d.tenant_id", "=", tenantId);

type Joined = ReturnType<typeof selectJoined>;

const withNames = (query: Joined) =>
  query
    .leftJoin("accounts as n", (on) =>
      on
        .onRef("n.tenant_id", "=", "d.tenant_id")
        .onRef("n.account_number", "=", "d.account_number"),
    )
    .selectAll("d")
    .select((eb) => [
      eb.ref("c.id").$notNull().as("category_id"),
      eb.ref("c.description").$notNull().as("category_name"),
      eb.ref("r.description").$notNull().as("reason_name"),
    ])
    .select([
      "n.name as known_account_name",
      "xc.id as external_category_id",
      "xc.description as external_category_name",
      "xr.description as external_reason_name",
      "a.first_name as assignee_first_name",
      "a.last_name as assignee_last_name",
      "a.user_id as assignee_user_id",
      "p.id as department_id",
      "p.description as department_name",
      "s.code as resolution_code",
    ]);

type Rows<Q> = Q extends SelectQueryBuilder<infer _D, infer _T, infer Row> ? Row : never;
export type NamedDispute = Rows<ReturnType<typeof withNames>>;

export const findDispute = prepareFind((db: Db, tenantId: string, id: string) =>
  withNames(selectJoined(db, tenantId)).where("d.id", "=", id),
);

/** The condition that a dispute exists. */
export const hasDispute = (tenantId: string, id: string): Condition =>
  sql`exists (select 1 from disputes where disputes.tenant_id = ${tenantId} and disputes.id = ${id})`;

export type DisputeFilter = {
  reasonName?: string | undefined;
  departmentName?: string | undefined;
  categoryName?: string | undefined;
  statuses?: readonly (0 | 1 | 2)[] | undefined;
  assigneeId?: string | undefined;
  departmentId?: string | undefined;
  documentNumbers?: readonly string[] | undefined;
  accountNumber?: string | undefined;
  ids?: readonly string[] | undefined;
  accountName?: NamePart | undefined;
  code?: string | undefined;
  currencyCode?: string | undefined;
  amountMin?: number | undefined;
  amountMax?: number | undefined;
  /** Epoch milliseconds, inclusive. */
  createdFrom?: number | undefined;
  createdTo?: number | undefined;
  closedFrom?: number | undefined;
  closedTo?: number | undefined;
  unassigned?: boolean | undefined;
};

const is = (column: string, value: string): Condition => sql`${sql.ref(column)} = ${value}`;
const isAtLeast = (column: string, value: number): Condition => sql`${sql.ref(column)} >= ${value}`;
const isAtMost = (column: string, value: number): Condition => sql`${sql.ref(column)} <= ${value}`;

const isAssigned = (unassigned: boolean): Condition =>
  unassigned ? sql`d.assignee_id is null` : sql`d.assignee_id is not null`;

/** The filters that no index answers in the order of a list. */
const rangeConditions = (filter: DisputeFilter): Condition[] => [
  ...given(filter.accountName, hasAccountName),
  ...given(filter.currencyCode, (code) => is("d.currency_code", code)),
  ...given(filter.amountMin, (amount) => isAtLeast("d.amount_order", amount)),
  ...given(filter.amountMax, (amount) => isAtMost("d.amount_order", amount)),
  ...given(filter.createdFrom, (timestamp) => isAtLeast("d.created_at", timestamp)),
  ...given(filter.createdTo, (timestamp) => isAtMost("d.created_at", timestamp)),
  ...given(filter.closedFrom, (timestamp) => isAtLeast("d.closed_at", timestamp)),
  ...given(filter.closedTo, (timestamp) => isAtMost("d.closed_at", timestamp)),
  ...given(filter.unassigned, isAssigned),
];

/** Returns the filters on names of related records. */
const nameConditions = (filter: DisputeFilter): Condition[] => [
  ...given(filter.reasonName, (text) => contains("r.description_folded", text)),
  ...given(filter.departmentName, (text) => contains("p.description_folded", text)),
  ...given(filter.categoryName, (text) => contains("c.description_folded", text)),
  ...given(filter.departmentId, (id) => is("p.id", id)),
];

/** Returns the filters on a dispute's own columns except its status. */
const ownConditions = (filter: DisputeFilter): Condition[] => [
  ...given(filter.assigneeId, (id) => is("d.assignee_id", id)),
  ...given(filter.accountNumber, (number) => is("d.account_number", number)),
  ...given(filter.documentNumbers, (numbers) => among("d.document_number", numbers)),
  ...given(filter.ids, (ids) => among("d.id", ids)),
  ...given(filter.code, (code) => is("d.code", code)),
];

const statusConditions = ({ statuses }: DisputeFilter): Condition[] =>
  given(statuses, (list) => among("d.status", list));

const allOf = (conditions: Condition[]): Condition =>
  conditions.length === 0 ? sql`1 = 1` : sql`${sql.join(conditions, sql` and `)}`;

const COLUMNS = {
  CreateDate: "d.created_at",
  UpdateDate: "d.updated_at",
  ClosedDate: "d.closed_at",
  Amount: "d.amount_order",
  DisputeCode: "d.code",
  DocumentNumber: "d.document_number",
  AccountNumber: "d.account_number",
  Status: "d.status",
  ReasonName: "r.description_folded",
  CategoryName: "c.description_folded",
  DepartmentName: "p.description_folded",
  AssigneeName: "a.name_folded",
} as const satisfies Record<SortField, string>;

// The databases sort null differently.
const CAN_BE_NULL: ReadonlySet<SortField> = new Set<SortField>([
  "ClosedDate",
  "DepartmentName",
  "AssigneeName",
]);

export const NEWEST_FIRST: readonly SortKey<SortField>[] = [
  { field: "CreateDate", descending: true },
];

// Sorting by an expression makes the database search by the filter instead of traversing an index of the order.
const asIs = (column: string) => sql`coalesce(${sql.ref(column)}, null)`;

/** Selects the disputes that match a filter, sorted by the keys and then by id. */
export const selectDisputes = (
  db: Db,
  tenantId: string,
  filter: DisputeFilter,
  sort: readonly SortKey<SortField>[] = NEWEST_FIRST,
) => {
  const conditions = [
    ...nameConditions(filter),
    ...ownConditions(filter),
    ...rangeConditions(filter),
    ...statusConditions(filter),
  ];
  const isLookup = (filter.ids ?? filter.documentNumbers ?? []).length > 1;
  let query = withNames(selectJoined(db, tenantId)).where(allOf(conditions));
  for (const { field, descending } of sort) {
    const direction = descending ? "desc" : "asc";
    if (CAN_BE_NULL.has(field)) {
      query = query.orderBy(sql`${sql.ref(COLUMNS[field])} is null`, "asc");
    }
    query = query.orderBy(isLookup ? asIs(COLUMNS[field]) : COLUMNS[field], direction);
  }
  const last = sort.at(-1)?.descending === true ? "desc" : "asc";
  return query.orderBy("d.id", last);
};

// Fields whose index has no other column before them.
const ORDERED: ReadonlySet<SortField> = new Set<SortField>(["CreateDate", "UpdateDate", "Amount"]);

/** Returns the cost of {@link selectDisputes}, which depends on the indexes. */
export const estimateDisputesCost = (
  filter: DisputeFilter,
  sort: readonly SortKey<SortField>[] = NEWEST_FIRST,
): ListCost => {
  if (nameConditions(filter).length + rangeConditions(filter).length > 0) return "scanned";
  const [first] = sort;
  const keys = ownConditions(filter).length;
  const isOne = sort.length === 1 && first !== undefined;
  if (keys === 0 && filter.statuses === undefined) {
    return isOne && ORDERED.has(first.field) ? "indexed" : "sorted";
  }
  // Each of the indexes on a filter gives the rows by their creation.
  const isOneKey = keys + (filter.statuses?.length ?? 0) === 1;
  const isListed = (filter.ids ?? filter.documentNumbers ?? []).length > 1;
  return isOneKey && !isListed && isOne && first.field === "CreateDate" ? "indexed" : "sorted";
};

const sumTotals = async (db: Db, tenantId: string, filter: DisputeFilter): Promise<number> => {
  let query = ofTenant(db, "dispute_totals", tenantId).select((eb) =>
    eb.fn.sum<number | null>("total").as("total"),
  );
  if (filter.statuses !== undefined) query = query.where("status", "in", filter.statuses);
  const { total } = await query.executeTakeFirstOrThrow();
  return Number(total);
};

/** Counts the disputes that match a filter; without a filter, or by status alone, from a table of totals. */
export const countDisputes = async (
  db: Db,
  tenantId: string,
  filter: DisputeFilter,
): Promise<number> => {
  const names = nameConditions(filter);
  const own = [...ownConditions(filter), ...rangeConditions(filter)];
  if (names.length + own.length === 0) return sumTotals(db, tenantId, filter);
  const base =
    names.length > 0
      ? selectJoined(db, tenantId)
      : db.selectFrom("disputes as d").where("d.tenant_id", "=", tenantId);
  return countOf((base as Joined).where(allOf([...names, ...own, ...statusConditions(filter)])));
};

/** Formats the code of a document's n-th dispute. */
export const formatDisputeCode = (documentNumber: string, number: number): string =>
  `D-${documentNumber}-${String(number).padStart(2, "0")}`;

/** Returns the next code `D-<document>-NN`; numbers of deleted disputes are not used again. */
export const takeDisputeCode = async (
  tx: Db,
  tenantId: string,
  documentNumber: string,
): Promise<string> => {
  const { last } = await tx
    .insertInto("dispute_sequences")
    .values({ tenant_id: tenantId, document_number: documentNumber, last: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "document_number"])
        .doUpdateSet({ last: sql`dispute_sequences.last + 1` }),
    )
    .returning("last")
    .executeTakeFirstOrThrow();
  return formatDisputeCode(documentNumber, last);
};

/** Inserts disputes of one tenant and counts them. */
export const insertDisputes = async (tx: Db, rows: readonly DisputeRow[]): Promise<void> => {
  const [first] = rows;
  if (first === undefined) return;
  await insertAll(tx, "disputes", rows);
  for (const [status, same] of Map.groupBy(rows, (row) => row.status)) {
    await addToTotal(tx, first.tenant_id, status, same.length);
  }
};

export const updateDispute = async (
  tx: Db,
  tenantId: string,
  id: string,
  change: Partial<DisputeRow>,
): Promise<void> => {
  if (change.status !== undefined) {
    const { status } = await ofTenant(tx, "disputes", tenantId)
      .select("status")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    await moveTotal(tx, tenantId, [status, change.status]);
  }
  await changeRows(tx, "disputes", { tenant_id: tenantId, id }, change);
};

/** Deletes a dispute, and thereby hides its notes and attachments, which the caller removes. */
export const removeDispute = async (tx: Db, tenantId: string, id: string): Promise<void> => {
  const removed = await tx
    .deleteFrom("disputes")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .returning("status")
    .executeTakeFirst();
  if (removed !== undefined) await addToTotal(tx, tenantId, removed.status, -1);
};

/** Whether the dispute exists. */
export const isDispute = async (db: Db, tenantId: string, id: string): Promise<boolean> =>
  (await countOf(ofTenant(db, "disputes", tenantId).where("id", "=", id))) > 0;

/** Lists the codes of the disputes that an assignee has, oldest first. */
export const listCodesOfAssignee = async (
  db: Db,
  tenantId: string,
  assigneeId: string,
): Promise<string[]> => {
  const rows = await ofTenant(db, "disputes", tenantId)
    .select("code")
    .where("assignee_id", "=", assigneeId)
    .orderBy("created_at")
    .execute();
  return rows.map(({ code }) => code);
};
