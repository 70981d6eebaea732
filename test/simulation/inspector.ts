import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export type RunRow = {
  tenant_id: string;
  id: string;
  schedule_id: string;
  slot_at: number;
  status: string;
  row_count: number;
};

export type AttemptRow = {
  tenant_id: string;
  webhook_id: string;
  schedule_id: string;
  event: string;
  delivery_id: string;
  attempt: number;
  status: string;
  http_status: number | null;
  error: string | null;
};

export type SlotRow = { name: string; at: number; changed_at: number | null };

export type AuditRow = { tenant_id: string; tool: string; status_code: number };

/** Reads the database itself, beside the platform. */
export const openInspector = (folder: string) => {
  const database = new DatabaseSync(join(folder, "receivables.db"), { readOnly: true });
  const all = <Row>(sql: string, ...values: (string | number)[]): Row[] =>
    database.prepare(sql).all(...values) as Row[];
  return {
    all,
    findAudits: (tool: string): AuditRow[] =>
      all(
        `select tenant_id, status_code, json_extract(metadata, '$.mcpTool') as tool
         from audit_logs where json_extract(metadata, '$.mcpTool') = ?`,
        tool,
      ),
    /** Claims on jobs of a kind. */
    claims: (kind: string): { id: string; lease: string }[] =>
      all(`select id, lease from jobs where kind = ? and lease is not null`, kind),
    runs: (): RunRow[] => all(`select * from export_runs order by slot_at, id`),
    attempts: (): AttemptRow[] =>
      all(`select * from webhook_attempts order by delivery_id, attempt, created_at`),
    /** The slots of all runs, and the next slot of each schedule, with its last change while it lives. */
    slots: (): SlotRow[] =>
      all(`select name, slot_at as at, null as changed_at from export_runs
           join schedules on schedules.id = schedule_id
         union all
         select name, next_run_at, case when deleted_at is null then updated_at end from schedules`),
    dueSchedules: (now: number): { id: string; next_run_at: number }[] =>
      all(
        `select id, next_run_at from schedules where deleted_at is null and next_run_at <= ?`,
        now,
      ),
    close: () => database.close(),
  };
};

export type Inspector = ReturnType<typeof openInspector>;
