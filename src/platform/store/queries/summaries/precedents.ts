import { sql } from "kysely";
import {
  type Alike,
  type Closer,
  type Ending,
  MOST_ALIKE,
} from "../../../../contract/insights/precedents.ts";
import type { Calendar } from "../../../../contract/insights/calendar.ts";
import type { Db } from "../../port.ts";
import type { DisputeRow } from "../../tables/schema.ts";
import { readOffsets } from "./offsets.ts";
import { type Condition, dayNumberOf, whole } from "./sql.ts";

const CANCELED = 2;

type Context = {
  db: Db;
  dispute: Pick<
    DisputeRow,
    "tenant_id" | "code" | "reason_id" | "account_number" | "currency_code" | "amount_order"
  >;
  /** The first moment of the closings that count. */
  from: number;
  now: number;
  calendar: Calendar;
};

/** Disputes `d` with the dispute's reason that have ended since. The index of precedents holds all that is read of them. */
const isPrecedent = ({ dispute, from }: Context): Condition =>
  sql`d.tenant_id = ${dispute.tenant_id} and d.reason_id = ${dispute.reason_id} and d.status <> 0
    and d.closed_at >= ${from} and d.code <> ${dispute.code}`;

const isOfAccount = ({ dispute }: Context) =>
  sql`case when d.account_number = ${dispute.account_number} then 1 else 0 end`;

type EndingRow = {
  own: number;
  status: number;
  is_valid: number;
  code: string | null;
  days: number | string;
  count: number | string;
  amount: number | null;
};

const readEndings = async (context: Context, daysToClose: Condition): Promise<Ending[]> => {
  const { db, dispute } = context;
  const { rows } = await sql<EndingRow>`
    select g.*, r.code from (
      select ${isOfAccount(context)} as own, d.status, d.is_valid, d.resolution_id,
        ${daysToClose} as days, count(*) as count,
        sum(case when d.currency_code = ${dispute.currency_code} then d.amount_order else 0 end) as amount
      from disputes as d where ${isPrecedent(context)} group by 1, 2, 3, 4, 5) as g
    left join resolutions as r on r.tenant_id = ${dispute.tenant_id} and r.id = g.resolution_id`.execute(
    db,
  );
  return rows.map((row) => ({
    isOfAccount: row.own === 1,
    isCanceled: row.status === CANCELED,
    isValid: row.is_valid === 1,
    resolutionCode: row.code,
    days: Math.max(0, Number(row.days)),
    count: Number(row.count),
    amount: row.amount ?? 0,
  }));
};

/** Counts closed cases by their assignees, as far as these belong to a department. */
const readClosers = async (context: Context, departmentId: string | null): Promise<Closer[]> => {
  if (departmentId === null) return [];
  // Grouped before the join: a plan that begins with the department's assignees reads all of their disputes.
  const { rows } = await sql<{ email: string | null; count: number | string }>`
    select case when a.active = 1 then a.email end as email, sum(g.count) as count
    from (
      select d.assignee_id, count(*) as count from disputes as d
      where ${isPrecedent(context)} and d.status <> ${CANCELED} group by 1) as g
    join assignees as a on a.tenant_id = ${context.dispute.tenant_id} and a.id = g.assignee_id
    where a.department_id = ${departmentId}
    group by 1`.execute(context.db);
  return rows.map(({ email, count }) => ({ email, count: Number(count) }));
};

type AlikeRow = {
  code: string;
  account_number: string;
  amount_order: number;
  currency_code: string;
  resolution_code: string | null;
  is_valid: number;
  days: number | string;
};

const readAlike = async (context: Context, daysToClose: Condition): Promise<Alike[]> => {
  const { db, dispute } = context;
  const { rows } = await sql<AlikeRow>`
    select d.code, d.account_number, d.amount_order, d.currency_code, d.is_valid,
      ${daysToClose} as days, r.code as resolution_code
    from disputes as d
    left join resolutions as r on r.tenant_id = d.tenant_id and r.id = d.resolution_id
    where ${isPrecedent(context)}
    order by ${isOfAccount(context)} desc,
      case when d.currency_code = ${dispute.currency_code} then 1 else 0 end desc,
      abs(d.amount_order - ${dispute.amount_order}), d.code
    limit ${MOST_ALIKE}`.execute(db);
  return rows.map((row) => ({
    disputeCode: row.code,
    accountNumber: row.account_number,
    amount: row.amount_order,
    currencyCode: row.currency_code,
    resolutionCode: row.resolution_code,
    isValid: row.is_valid === 1,
    daysToClose: Math.max(0, Number(row.days)),
  }));
};

/** Reads the cases that are precedents of a dispute, counted in groups, and the ones most alike. */
export const readPrecedents = async (context: Context, departmentId: string | null) => {
  const { db, dispute, calendar, now } = context;
  const offsets = await readOffsets(db, { tenantId: dispute.tenant_id, calendar, asOf: now });
  const [created, closed] = [sql`d.created_at`, sql`d.closed_at`].map((column) =>
    dayNumberOf(column, offsets),
  );
  const daysToClose = whole(sql`(${closed} - ${created})`) as Condition;
  return {
    endings: await readEndings(context, daysToClose),
    closers: await readClosers(context, departmentId),
    alike: await readAlike(context, daysToClose),
  };
};
