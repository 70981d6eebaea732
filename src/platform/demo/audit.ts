import { contract } from "../../contract/index.ts";
import type { Operation } from "../../contract/operation.ts";
import { DAY, HOUR, MINUTE } from "../../kit/clock.ts";
import { entryOf } from "../http/audit.ts";
import type { NewEntry } from "../store/audit-entries.ts";
import { authorOf, type Making } from "./configuration.ts";
import type { Exports } from "./exports.ts";
import { officeTime } from "./moments.ts";
import { CLERK, MANAGER } from "./people.ts";

type Act = {
  operation: Operation;
  by: string;
  status?: number;
  params?: Record<string, string>;
  rowCount?: number;
  /** The MCP tool that asked. */
  tool?: string;
};

const DAYS = 84;
/** Before, entries had no action. */
const NAMED_SINCE = 35;
const MOST_A_DAY = 8;

const entry = (
  { dice, tenantId, ...making }: Making,
  at: number,
  { operation, by, status = 200, params = {}, rowCount, tool }: Act,
): NewEntry => {
  const told = {
    tenantId,
    at,
    method: operation.method,
    tool,
    userId: authorOf({ dice, tenantId, ...making }, by),
    params,
    outcome: { status, body: null },
    rowCount,
  };
  return entryOf(operation, told, dice.id);
};

/** What people and their assistants ask for on any day. */
const asked = ({ dice }: Making): Act => {
  const by = dice.chance(0.6) ? CLERK : MANAGER;
  const byTool = dice.chance(0.5);
  const rowCount = dice.whole(1, 500);
  const source = dice.weigh([
    ["cashapp", 60],
    ["iandp", 25],
    ["bpn", 15],
  ]);
  const queried = { operation: contract.payments.query, by, params: { source } };
  const acts: readonly (readonly [Act, number])[] = [
    [{ ...queried, rowCount, ...(byTool ? { tool: "payments_query" } : {}) }, 46],
    [{ ...queried, status: 400, tool: "payments_query" }, 6],
    [
      { operation: contract.payments.schema, by, ...(byTool ? { tool: "payments_schema" } : {}) },
      12,
    ],
    [{ operation: contract.disputes.list, by, rowCount, tool: "disputes_list" }, 20],
    [{ operation: contract.schedules.list, by, rowCount: 1 }, 6],
    [{ operation: contract.webhooks.list, by, rowCount: 0 }, 3],
    [{ operation: contract.audit_logs.list, by: MANAGER, rowCount }, 7],
  ];
  return dice.weigh(acts);
};

const everyday = (making: Making): NewEntry[] =>
  Array.from({ length: DAYS }, (_, place) => DAYS - place).flatMap((ageDays) =>
    Array.from({ length: making.dice.whole(1, MOST_A_DAY) }, () => {
      const act = asked(making);
      const at = officeTime(making.dice, making.now - ageDays * DAY, making.now - HOUR);
      return entry(making, at, act);
    }),
  );

/** How the schedule was made, and its runs read. */
const aboutExports = (making: Making, { schedule, runs }: Exports): NewEntry[] => {
  const scheduleId = schedule.id;
  const create: Act = {
    operation: contract.schedules.create,
    by: MANAGER,
    status: 201,
    params: { scheduleId, source: schedule.source },
    tool: "schedules_create",
  };
  const read = runs.flatMap(({ row: { id: runId, status, completed_at } }): NewEntry[] => {
    const params = { scheduleId, runId, status };
    const [asksAt, readsAt] = [2, 3].map((hours) => (completed_at ?? 0) + hours * HOUR);
    return [
      entry(making, asksAt ?? 0, {
        operation: contract.export_runs.status,
        by: CLERK,
        params: { scheduleId },
        rowCount: runs.length,
      }),
      entry(making, (readsAt ?? 0) + MINUTE, {
        operation: contract.export_runs.data,
        by: CLERK,
        status: status === "completed" ? 200 : 409,
        params,
        tool: "export_runs_data",
      }),
    ];
  });
  return [entry(making, schedule.created_at, create), ...read];
};

/** What was asked of the tenant in past weeks, oldest first. */
export const auditEntries = (making: Making, exports: Exports): NewEntry[] => {
  const namedSince = making.now - NAMED_SINCE * DAY;
  return [...everyday(making), ...aboutExports(making, exports)]
    .toSorted((one, other) => one.at - other.at)
    .map((made) => (made.at < namedSince ? { ...made, action: null } : made));
};
