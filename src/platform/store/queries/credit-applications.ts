import { sql } from "kysely";
import type { Db } from "../port.ts";
import { prepareFind } from "../engine/prepared.ts";
import { createUpsert } from "../engine/bulk-writes.ts";
import { ofTenant, rowsOfTenant } from "../engine/rows.ts";

/** The date field that a list filters by, and its range in epoch milliseconds; `before` is exclusive. */
export type ApplicationSpan = { by: "status_at" | "activity_at"; from: number; before: number };

export const findApplication = prepareFind((db: Db, tenantId: string, id: string) =>
  ofTenant(db, "credit_applications", tenantId).select("detail").where("id", "=", id),
);

/** Finds several applications at once, for imports. */
export const findApplications = (db: Db, tenantId: string, ids: readonly string[]) =>
  rowsOfTenant(db, "credit_applications", tenantId).where("id", "in", ids).execute();

const isWithin = (db: Db, tenantId: string, { by, from, before }: ApplicationSpan) =>
  ofTenant(db, "credit_applications", tenantId).where(by, ">=", from).where(by, "<", before);

/** Counts the applications of a time span by status. */
export const countApplications = async (
  db: Db,
  tenantId: string,
  span: ApplicationSpan,
): Promise<Map<string, number>> => {
  const counts = await isWithin(db, tenantId, span)
    .select("status_type")
    .select((eb) => eb.fn.countAll().as("total"))
    .groupBy("status_type")
    .execute();
  return new Map(counts.map(({ status_type, total }) => [status_type, Number(total)]));
};

/** Selects the list entries of the applications of a time span, newest first. */
export const selectApplications = (
  db: Db,
  tenantId: string,
  span: ApplicationSpan,
  statusTypes: readonly string[],
) => {
  const query = isWithin(db, tenantId, span)
    .select("summary")
    .orderBy(span.by, "desc")
    .orderBy("id", "desc");
  return statusTypes.length === 0 ? query : query.where("status_type", "in", statusTypes);
};

/** Adds or replaces complete applications; no two may have the same id. */
export const putApplications = createUpsert("credit_applications", ["tenant_id", "id"]);

/** Whether any application names one of these values of business units. */
export const hasUnits = async (
  db: Db,
  tenantId: string,
  valueIds: readonly string[],
): Promise<boolean> => {
  const found = await ofTenant(db, "credit_applications", tenantId)
    .select("id")
    .where((eb) =>
      eb.or(
        // Unlike `like`, this is case-sensitive on both databases.
        valueIds.map(
          (id) => sql<boolean>`replace(unit_ids, ${JSON.stringify(id)}, '') <> unit_ids`,
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
};
