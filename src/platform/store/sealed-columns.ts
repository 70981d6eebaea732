import { sql } from "kysely";
import type { SealedColumn } from "../../kit/sealed-column.ts";
import { joinNames } from "./engine/bulk-writes.ts";
import { AUDIT_KEY_PURPOSE } from "./audit-key.ts";
import type { Db } from "./port.ts";

/** The purposes of the seals around secrets of webhooks, answers to requests with a key, and keys of evidence. */
export const SEALS = {
  webhook: "webhook-secret",
  answer: "idempotency",
  evidence: "evidence-key",
} as const;

type StoreColumn = SealedColumn<Db> & { purpose: string };

/** Describes a column of sealed text, in a table with this primary key. */
const createColumn = (
  table: string,
  column: string,
  key: readonly string[],
  purpose: string,
): StoreColumn => ({
  purpose,
  async list(tx, after, most) {
    const isLater =
      after === undefined
        ? sql`1 = 1`
        : sql`(${joinNames(key)}) > (${sql.join(key.map((name) => after[name]))})`;
    const { rows } = await sql<Record<string, string>>`
      select ${joinNames([...key, column])} from ${sql.table(table)}
      where ${isLater} and ${sql.ref(column)} <> ''
      order by ${joinNames(key)} limit ${most}`.execute(tx);
    return rows.map(({ [column]: sealed = "", ...names }) => ({ key: names, sealed }));
  },
  async replace(tx, row, sealed) {
    const former = { ...row.key, [column]: row.sealed };
    const isSame = Object.entries(former).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
    await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${sealed}
      where ${sql.join(isSame, sql` and `)}`.execute(tx);
  },
});

const ANSWER_KEY = ["tenant_id", "principal", "operation", "key"];

/** Every column of sealed text, by the name that a rotation reports. */
export const SEALED_COLUMNS: Record<string, StoreColumn> = {
  webhooks: createColumn("webhooks", "secret", ["tenant_id", "id"], SEALS.webhook),
  deliveries: createColumn("webhook_deliveries", "secret", ["id"], SEALS.webhook),
  answers: createColumn("idempotency_keys", "answer", ANSWER_KEY, SEALS.answer),
  auditKeys: createColumn("audit_keys", "sealed", ["id"], AUDIT_KEY_PURPOSE),
  evidenceKeys: createColumn("evidence_keys", "sealed", ["id"], SEALS.evidence),
};
