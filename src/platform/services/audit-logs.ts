import { z } from "zod";
import type { Contract } from "../../contract/index.ts";
import type { AuditEntry, AuditPage } from "../../contract/operations/audit-logs.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { Seal } from "../../kit/seal.ts";
import type { Call, Handlers } from "../handlers.ts";
import { serializeRowsToBytes } from "../json-rows.ts";
import { findHead } from "../store/audit/chain.ts";
import {
  type AuditFilter,
  countEntries,
  isScanned,
  selectEntries,
  type Walk,
} from "../store/queries/audit-logs.ts";
import { openCursor, readSnapshot } from "./listing.ts";

const DEFAULT_LIMIT = 500;
/** Pages of more rows are streamed. */
const HELD_ROWS = 1000;

type Row = Awaited<ReturnType<ReturnType<typeof selectEntries>["execute"]>>[number];

const toEntry = (row: Row): AuditEntry => ({
  id: row.id,
  method: row.method,
  endpoint: row.endpoint,
  ...(row.action === null ? {} : { action: row.action }),
  statusCode: row.status_code,
  metadata: JSON.parse(row.metadata) as Record<string, unknown>,
  tenantId: row.tenant_id,
  timestamp: formatTimestamp(row.at),
});

/** Content of a cursor: tenant, filter, newest entry when the query began, last entry returned. */
const Cursor = z.object({
  tenant: z.string(),
  filter: z.string(),
  top: z.int(),
  after: z.object({ at: z.int(), seq: z.int() }),
});

const parseTimestamp = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text);

type Wanted = { filter: AuditFilter; walk: Walk; limit: number };
type CursorAfter = (row: Row | undefined) => string | null;

const readHeldPage = async (
  { db, tenantId }: Call,
  { filter, walk, limit }: Wanted,
  cursorAfter: CursorAfter,
): Promise<AuditPage> => {
  const found = await selectEntries(db, tenantId, filter, walk)
    .limit(limit + 1)
    .execute();
  const rows = found.slice(0, limit);
  const hasMore = found.length > limit;
  const cursor = hasMore ? cursorAfter(rows.at(-1)) : null;
  return { data: rows.map(toEntry), pagination: { cursor, hasMore, rowCount: rows.length } };
};

const streamPage = (call: Call, { filter, walk, limit }: Wanted, cursorAfter: CursorAfter) =>
  readSnapshot(call, async ({ db, stream }) => {
    const { tenantId } = call;
    let last: Row | undefined;
    async function* entries(): AsyncGenerator<AuditEntry> {
      for await (const row of stream(selectEntries(db, tenantId, filter, walk).limit(limit))) {
        last = row;
        yield toEntry(row);
      }
    }
    const count = await countEntries(db, tenantId, filter, walk, limit + 1);
    const [rowCount, hasMore] = [Math.min(count, limit), count > limit];
    return {
      head: {},
      rowCount,
      data: serializeRowsToBytes(entries()),
      pagination: () => ({ cursor: hasMore ? cursorAfter(last) : null, hasMore, rowCount }),
    };
  });

export const audit_logs = ({ seal }: { seal: Seal }): Handlers<Contract["audit_logs"]> => ({
  async list({ query }, call) {
    const { cursor, limit = DEFAULT_LIMIT, from, to, ...exact } = query;
    const { tenantId } = call;
    const queryText = JSON.stringify({ from, to, ...exact });
    const own = { tenant: tenantId, filter: queryText };
    const at = openCursor(call, { schema: Cursor, seal, cursor }, own);
    const walk: Walk = at ?? { top: (await findHead(call.db, tenantId))?.seq ?? 0 };
    const { top } = walk;
    const cursorAfter: CursorAfter = (row) =>
      row === undefined ? null : seal.seal({ ...own, top, after: { at: row.at, seq: row.seq } });
    const page = {
      filter: { ...exact, from: parseTimestamp(from), to: parseTimestamp(to) },
      walk,
      limit,
    };
    const isLong = limit > HELD_ROWS || isScanned(page.filter);
    const readPage = isLong ? streamPage : readHeldPage;
    return { body: await readPage(call, page, cursorAfter) };
  },
});
