import { z } from "zod";
import type { Contract } from "../../contract/index.ts";
import type { AuditEntry } from "../../contract/operations/audit-logs.ts";
import { iso } from "../../kit/clock.ts";
import type { Seal } from "../../kit/seal.ts";
import type { Handlers } from "../handlers.ts";
import { selectEntries } from "../store/audit-logs.ts";

const DEFAULT_LIMIT = 500;

type Row = Awaited<ReturnType<ReturnType<typeof selectEntries>["execute"]>>[number];

const toEntry = (row: Row): AuditEntry => ({
  id: row.id,
  method: row.method,
  endpoint: row.endpoint,
  ...(row.action === null ? {} : { action: row.action }),
  statusCode: row.status_code,
  metadata: JSON.parse(row.metadata) as Record<string, unknown>,
  tenantId: row.tenant_id,
  timestamp: iso(row.at),
});

/** Where a walk stands: whose it is, what it looks for, and the last entry given. */
const Cursor = z.object({ tenant: z.string(), filter: z.string(), before: z.int() });

const moment = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text);

export const audit_logs = ({ seal }: { seal: Seal }): Handlers<Contract["audit_logs"]> => ({
  async list({ query }, call) {
    const { cursor, limit = DEFAULT_LIMIT, from, to, ...exact } = query;
    const filter = JSON.stringify({ from, to, ...exact });
    let before: number | undefined;
    if (cursor !== undefined) {
      const at = Cursor.safeParse(seal.open(cursor));
      if (!at.success || at.data.tenant !== call.tenantId || at.data.filter !== filter) {
        return call.refuse("cursor", "format", "is not from this query; omit it to start anew");
      }
      ({ before } = at.data);
    }
    const rows = await selectEntries(call.db, call.tenantId, {
      ...exact,
      from: moment(from),
      to: moment(to),
      before,
    })
      .limit(limit + 1)
      .execute();
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    return {
      data: page.map(toEntry),
      pagination: {
        cursor: hasMore ? seal.seal({ tenant: call.tenantId, filter, before: last.seq }) : null,
        hasMore,
        rowCount: page.length,
      },
    };
  },
});
