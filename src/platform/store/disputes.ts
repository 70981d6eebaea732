import { type SelectQueryBuilder, sql } from "kysely";
import type { DISPUTE_SORT } from "../../contract/operations/disputes.ts";
import type { SortKey } from "../../contract/fields.ts";
import { containing } from "./audit-logs.ts";
import type { Db } from "./port.ts";
import type { DisputeRow } from "./tables.ts";

type SortField = (typeof DISPUTE_SORT)[number];

/** Disputes with the records they name; the names follow the records. */
const joined = (db: Db, tenantId: string) =>
  db
    .selectFrom("disputes as d")
    .innerJoin("reasons as r", (on) =>
      on.onRef("r.tenant_id", "=", "d.tenant_id").onRef("r.id", "=", "d.reason_id"),
    )
    .innerJoin("categories as c", (on) =>
      on.onRef("c.tenant_id", "=", "d.tenant_id").onRef("c.id", "=", "r.category_id"),
    )
    .leftJoin("reasons as xr", (on) =>
      on.onRef("xr.tenant_id", "=", "d.tenant_id").onRef("xr.id", "=", "d.external_reason_id"),
    )
    .leftJoin("categories as xc", (on) =>
      on.onRef("xc.tenant_id", "=", "d.tenant_id").onRef("xc.id", "=", "xr.category_id"),
    )
    .leftJoin("assignees as a", (on) =>
      on.onRef("a.tenant_id", "=", "d.tenant_id").onRef("a.id", "=", "d.assignee_id"),
    )
    .leftJoin("departments as p", (on) =>
      on.onRef("p.tenant_id", "=", "d.tenant_id").onRef("p.id", "=", "a.department_id"),
    )
    .leftJoin("resolutions as s", (on) =>
      on.onRef("s.tenant_id", "=", "d.tenant_id").onRef("s.id", "=", "d.resolution_id"),
    )
    .where("d.tenant_id", "=", tenantId);

type Joined = ReturnType<typeof joined>;

const withNames = (query: Joined) =>
  query
    .selectAll("d")
    .select([
      "c.id as category_id",
      "c.description as category_name",
      "r.description as reason_name",
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

export const findDispute = (db: Db, tenantId: string, id: string) =>
  withNames(joined(db, tenantId)).where("d.id", "=", id).executeTakeFirst();

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
};

const partial = (column: string, text: string) =>
  sql<boolean>`${sql.ref(column)} like ${containing(text)} escape '\\'`;

const filtered = (db: Db, tenantId: string, filter: DisputeFilter): Joined => {
  let query = joined(db, tenantId);
  const { reasonName, departmentName, categoryName, statuses, documentNumbers, ids } = filter;
  if (reasonName !== undefined) query = query.where(partial("r.description_folded", reasonName));
  if (departmentName !== undefined) {
    query = query.where(partial("p.description_folded", departmentName));
  }
  if (categoryName !== undefined) {
    query = query.where(partial("c.description_folded", categoryName));
  }
  if (statuses !== undefined) query = query.where("d.status", "in", statuses);
  if (filter.assigneeId !== undefined) query = query.where("d.assignee_id", "=", filter.assigneeId);
  if (filter.departmentId !== undefined) query = query.where("p.id", "=", filter.departmentId);
  if (filter.accountNumber !== undefined) {
    query = query.where("d.account_number", "=", filter.accountNumber);
  }
  if (documentNumbers !== undefined)
    query = query.where("d.document_number", "in", documentNumbers);
  if (ids !== undefined) query = query.where("d.id", "in", ids);
  return query;
};

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

// The two databases disagree on where null belongs.
const CAN_BE_NULL: ReadonlySet<SortField> = new Set<SortField>([
  "ClosedDate",
  "DepartmentName",
  "AssigneeName",
]);

export const NEWEST_FIRST: readonly SortKey<SortField>[] = [
  { field: "CreateDate", descending: true },
];

/** The disputes that a filter keeps, in order; the id settles what the keys leave open. */
export const selectDisputes = (
  db: Db,
  tenantId: string,
  filter: DisputeFilter,
  sort: readonly SortKey<SortField>[] = NEWEST_FIRST,
) => {
  let query = withNames(filtered(db, tenantId, filter));
  for (const { field, descending } of sort) {
    const direction = descending ? "desc" : "asc";
    if (CAN_BE_NULL.has(field)) {
      query = query.orderBy(sql`${sql.ref(COLUMNS[field])} is null`, "asc");
    }
    query = query.orderBy(COLUMNS[field], direction);
  }
  const last = sort.at(-1)?.descending === true ? "desc" : "asc";
  return query.orderBy("d.id", last);
};

export const countDisputes = async (
  db: Db,
  tenantId: string,
  filter: DisputeFilter,
): Promise<number> => {
  const { total } = await filtered(db, tenantId, filter)
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return Number(total);
};

/** The next `D-<document>-NN`; numbers of deleted disputes are not given again. */
export const nextDisputeCode = async (
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
  return `D-${documentNumber}-${String(last).padStart(2, "0")}`;
};

export const insertDispute = async (tx: Db, row: DisputeRow): Promise<void> => {
  await tx.insertInto("disputes").values(row).execute();
};

export const updateDispute = async (
  tx: Db,
  tenantId: string,
  id: string,
  change: Partial<DisputeRow>,
): Promise<void> => {
  await tx
    .updateTable("disputes")
    .set(change)
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .execute();
};

/** Removes a dispute and all that belongs to it. */
export const removeDispute = async (tx: Db, tenantId: string, id: string): Promise<boolean> => {
  await tx
    .deleteFrom("dispute_notes")
    .where("tenant_id", "=", tenantId)
    .where("dispute_id", "=", id)
    .execute();
  const { numDeletedRows } = await tx
    .deleteFrom("disputes")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
};
