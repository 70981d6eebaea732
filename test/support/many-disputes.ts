import { insertDisputes } from "../../src/platform/store/disputes.ts";
import type { Store } from "../../src/platform/store/port.ts";

const MINUTES = 60_000;
const ASSIGNEES = 20;

const stamp = (at: number) => ({
  created_by: "test",
  created_at: at,
  updated_by: "test",
  updated_at: at,
  version: 1,
});

const createConfiguration = (store: Store, tenant_id: string): Promise<void> =>
  store.transaction(async (tx) => {
    const coded = { tenant_id, code: "C", code_folded: "c", description: "Pricing" };
    const described = { ...coded, description_folded: "pricing", ...stamp(0) };
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
    const people = Array.from({ length: ASSIGNEES }, (_, number) => ({
      tenant_id,
      id: `assignee-${number}`,
      department_id: "department",
      user_id: null,
      email: `a${number}@test.example`,
      email_folded: `a${number}@test.example`,
      first_name: "Ada",
      last_name: String(number),
      name_folded: `ada ${number}`,
      person: "{}",
      active: 1 as const,
      all_updates: 0 as const,
      daily_digest: 0 as const,
      ...stamp(0),
    }));
    await tx.insertInto("assignees").values(people).execute();
  }, tenant_id);

/** Gives a tenant a configuration and so many disputes in US dollars, the last one created at a time. */
export const fillDisputes = async (
  store: Store,
  tenantId: string,
  count: number,
  now: number,
): Promise<void> => {
  await createConfiguration(store, tenantId);
  const rows = Array.from({ length: count }, (_, number) => {
    const createdAt = now - (count - 1 - number) * 60 * MINUTES;
    const status = number % 3 === 0 ? (1 as const) : (0 as const);
    return {
      tenant_id: tenantId,
      id: `dispute-${number}`,
      code: `D-${number}-01`,
      document_number: `document-${number}`,
      account_number: `account-${Math.floor(number / 10)}`,
      account_name: null,
      account_name_folded: null,
      amount: String(number + 1),
      amount_order: number + 1,
      currency_code: "USD",
      reason_id: "reason",
      external_reason_id: null,
      assignee_id: number % 10 === 0 ? null : `assignee-${number % ASSIGNEES}`,
      po_number: null,
      status,
      is_valid: 0 as const,
      resolution_id: null,
      closed_at: status === 0 ? null : createdAt,
      origin: "test",
      source_key: null,
      source_row: null,
      ...stamp(createdAt),
    };
  });
  for (let from = 0; from < count; from += 200) {
    await store.transaction((tx) => insertDisputes(tx, rows.slice(from, from + 200)), tenantId);
  }
};
