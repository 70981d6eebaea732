import { z } from "zod";
import type { Contract } from "../../contract/index.ts";
import { paymentSchema } from "../../contract/operations/payments.ts";
import {
  DEFAULT_LIMIT,
  PaymentQueryBody,
  parseSelection,
  type Selection,
  hashSelection,
} from "../../contract/payments/query.ts";
import { openCalendar } from "../../contract/insights/calendar.ts";
import { createPlacing } from "../../contract/insights/relative-days.ts";
import { hasRelativeDays, type PlaceFilters } from "../../contract/payments/relative-days.ts";
import { DAY } from "../../kit/clock.ts";
import { isRecord } from "../../kit/json.ts";
import type { Seal } from "../../kit/seal.ts";
import type { Call, Handlers } from "../handlers.ts";
import { findPage, findLastSeq, readPayments } from "../store/queries/payments.ts";
import { ROW_SEPARATOR, type RowBytes } from "../store/engine/dialect.ts";
import { openCursor, readSnapshot } from "./listing.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { summarize } from "./payments/summary.ts";

const CURSOR_LIFE = DAY;

/** Content of a cursor: tenant, hash of the query, last row returned, last row that existed when the query began. */
const Cursor = z.object({
  tenant: z.string(),
  query: z.string(),
  after: z.int(),
  upTo: z.int(),
  madeAt: z.int(),
  /** The moment whose days the query has in place of relative ones. */
  daysAt: z.int().optional(),
});

type Place = { after: number; upTo: number | undefined };

type Query = { selection: Selection; limit: number; cursor: string | undefined };

const BETWEEN = Buffer.from(ROW_SEPARATOR);

/** Yields the rows separated by commas. */
async function* toBytes(rows: AsyncIterable<RowBytes>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const { bytes } of rows) {
    // Joining them would copy the rows.
    if (!isFirst) yield BETWEEN;
    yield bytes;
    isFirst = false;
  }
}

/** Returns the placing of the days of a run: the tenant's, at a moment. */
export const placingAt = async (
  { db, tenantId }: Pick<Call, "db" | "tenantId">,
  now: number,
): Promise<PlaceFilters> => {
  const { settings } = await readTenant(db, tenantId);
  return createPlacing({ calendar: openCalendar(settings.timeZone), now });
};

const hasRelative = (sent: unknown): boolean => isRecord(sent) && hasRelativeDays(sent["filters"]);

const readQuery = (sent: unknown, call: Call, place?: PlaceFilters): Query => {
  const read = parseSelection(PaymentQueryBody, sent, place);
  if (read.faults !== undefined) return call.invalid(read.faults);
  const { rest, ...selection } = read.value;
  const { limit, pageSize, cursor } = rest;
  if (limit !== undefined && pageSize !== undefined && limit !== pageSize) {
    call.refuse("pageSize", "format", "says the same as limit; send one of them");
  }
  return { selection, cursor: cursor ?? undefined, limit: limit ?? pageSize ?? DEFAULT_LIMIT };
};

/** Handlers of payment queries. */
export const payments = ({ seal }: { seal: Seal }): Handlers<Contract["payments"]> => {
  const placeOf = ({ cursor }: Query, query: string, call: Call): Place => {
    const at = openCursor(call, { schema: Cursor, seal, cursor }, { tenant: call.tenantId, query });
    if (at === undefined) return { after: 0, upTo: undefined };
    if (call.now - at.madeAt > CURSOR_LIFE) {
      return call.refuse("cursor", "expired", "is older than 24 hours; omit it to start over");
    }
    return at;
  };

  /** All pages of a query have the days of its first one. */
  const findDaysAt = (body: unknown, call: Call): number => {
    const { cursor } = isRecord(body) ? body : {};
    const { data } = Cursor.safeParse(typeof cursor === "string" ? seal.open(cursor) : undefined);
    return data?.daysAt ?? call.now;
  };

  return {
    summary: summarize,
    schema: async () => ({ body: paymentSchema }),

    async query({ body }, call) {
      const daysAt = hasRelative(body) ? findDaysAt(body, call) : undefined;
      const placing = daysAt === undefined ? undefined : await placingAt(call, daysAt);
      const query = readQuery(body, call, placing);
      const { selection, limit } = query;
      const { source, fields, filter } = selection;
      const { tenantId } = call;
      const hash = hashSelection(selection);
      const place = placeOf(query, hash, call);
      const page = await readSnapshot(call, async ({ db }) => {
        const upTo = place.upTo ?? (await findLastSeq(db, tenantId, source));
        const scan = { tenantId, source, filter, after: place.after, upTo };
        const { seqs, hasMore } = await findPage(db, scan, limit);
        const made = { madeAt: call.now, daysAt };
        const next = { tenant: tenantId, query: hash, after: seqs.at(-1), upTo, ...made };
        const rowCount = seqs.length;
        return {
          head: {},
          rowCount,
          data: toBytes(readPayments(db, { tenantId, source, fields }, seqs)),
          pagination: () => ({ cursor: hasMore ? seal.seal(next) : null, hasMore, rowCount }),
        };
      });
      return { body: page };
    },
  };
};
