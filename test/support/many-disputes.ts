import { insertDisputes } from "../../src/platform/store/queries/disputes.ts";
import type { Db, Store } from "../../src/platform/store/port.ts";
import type { DisputeRow } from "../../src/platform/store/tables/schema.ts";
import { findRow } from "./rows.ts";

const HOUR = 3_600_000;
const PER_ACCOUNT = 10;
const ASSIGNEES = 20;
const AT_ONCE = 200;

const trackedAt = (at: number) => ({
  created_by: "test",
  created_at: at,
  updated_by: "test",
  updated_at: at,
  version: 1,
});

/** Inserts the configuration that disputes refer to, with so many assignees. */
export const insertConfiguration = async (
  tx: Db,
  tenant_id: string,
  assignees: number,
): Promise<void> => {
  const coded = { tenant_id, code: "C", code_folded: "c", description: "Pricing" };
  const described = { ...coded, description_folded: "pricing", ...trackedAt(0) };
  const category = { id: "category", default_external_reason_id: null };
  const defaults = { default_internal_reason_id: null, default_assignee_id: null };
  await tx
    .insertInto("departments")
    .values({ ...described, id: "department" })
    .execute();
  await tx
    .insertInto("categories")
    .values({ ...described, ...category, ...defaults })
    .execute();
  const reason = { id: "reason", category_id: "category", active: 1, visibility: "All" } as const;
  await tx
    .insertInto("reasons")
    .values({ ...described, ...reason })
    .execute();
  for (let number = 0; number < assignees; number += 1) {
    const email = `a${number}@test.example`;
    await tx
      .insertInto("assignees")
      .values({
        tenant_id,
        id: `assignee-${number}`,
        department_id: "department",
        user_id: null,
        email,
        email_folded: email,
        first_name: "Ada",
        last_name: String(number),
        name_folded: `ada ${number}`,
        person: "{}",
        active: 1,
        all_updates: 0,
        daily_digest: 0,
        ...trackedAt(0),
      })
      .execute();
  }
};

type Varied = Pick<DisputeRow, "tenant_id" | "document_number" | "status" | "assignee_id"> & {
  amount: number;
  createdAt: number;
};

/** Returns a dispute in US dollars with the configuration of {@link insertConfiguration}. */
export const disputeRow = (
  number: number,
  { amount, createdAt, ...varied }: Varied,
): DisputeRow => ({
  ...varied,
  id: `dispute-${number}`,
  code: `D-${number}-01`,
  account_number: `account-${Math.floor(number / PER_ACCOUNT)}`,
  account_name: null,
  account_name_folded: null,
  amount: String(amount),
  amount_order: amount,
  currency_code: "USD",
  reason_id: "reason",
  external_reason_id: null,
  po_number: null,
  is_valid: 0,
  resolution_id: null,
  closed_at: varied.status === 0 ? null : createdAt,
  origin: "test",
  source_key: null,
  source_row: null,
  ...trackedAt(createdAt),
});

/** Inserts so many disputes, a few in each statement. */
export const insertManyDisputes = async (
  tx: Db,
  count: number,
  create: (number: number) => DisputeRow,
): Promise<void> => {
  for (let from = 0; from < count; from += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - from);
    await insertDisputes(
      tx,
      Array.from({ length: size }, (_, index) => create(from + index)),
    );
  }
};

/** Gives a tenant a configuration and so many disputes, one an hour, the last one created at a time. */
export const fillDisputes = (
  store: Store,
  tenantId: string,
  count: number,
  now: number,
): Promise<void> =>
  store.transaction(async (tx) => {
    await insertConfiguration(tx, tenantId, ASSIGNEES);
    await insertManyDisputes(tx, count, (number) =>
      disputeRow(number, {
        tenant_id: tenantId,
        document_number: `document-${number}`,
        status: number % 3 === 0 ? 1 : 0,
        assignee_id: number % 10 === 0 ? null : `assignee-${number % ASSIGNEES}`,
        amount: number + 1,
        createdAt: now - (count - 1 - number) * HOUR,
      }),
    );
  }, tenantId);

/** Inserts so many copies of the only dispute of a tenant, each with the given columns. */
export const copyDispute = async (
  store: Store,
  tenantId: string,
  count: number,
  columns: Partial<DisputeRow> = {},
): Promise<void> => {
  const row = await findRow(store.read, "disputes", { tenant_id: tenantId });
  for (let from = 0; from < count; from += AT_ONCE) {
    await store.transaction((tx) =>
      insertManyDisputes(tx, Math.min(AT_ONCE, count - from), (number) => ({
        ...row,
        id: `copy-${from + number}`,
        code: `copy-${from + number}`,
        ...columns,
      })),
    );
  }
};
