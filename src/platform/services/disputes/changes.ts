import { z } from "zod";
import type { Contract } from "../../../contract/index.ts";
import {
  CHANGE_ACTIONS,
  CHANGE_FACTS,
  type RecordedChange,
} from "../../../contract/insights/changes.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import type { Seal } from "../../../kit/seal.ts";
import type { Handlers } from "../../handlers.ts";
import {
  type ChangesWithin,
  listChangeEntries,
  listRecordedClosings,
} from "../../store/queries/dispute-changes.ts";
import type { Db } from "../../store/port.ts";

/** The last change that was returned: of the audit log, which comes first, or of the closings. */
const Position = z.object({
  entry: z.object({ at: z.int(), seq: z.int() }).optional(),
  closing: z.object({ at: z.int(), documentNumber: z.string(), number: z.int() }).optional(),
});
type Position = z.infer<typeof Position>;

const Cursor = z.object({ tenant: z.string(), query: z.string(), after: Position });

/** A change, and the position after it. */
type Placed = { change: RecordedChange; after: Position };

const pickFacts = (metadata: string): Record<string, unknown> => {
  const all = JSON.parse(metadata) as Record<string, unknown>;
  return Object.fromEntries(
    CHANGE_FACTS.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])),
  );
};

const readEntries = async (
  db: Db,
  within: ChangesWithin,
  actions: readonly string[],
  after: Position["entry"],
): Promise<Placed[]> =>
  (await listChangeEntries(db, within, actions, after)).map(({ at, seq, action, metadata }) => ({
    change: {
      action: action ?? "",
      timestamp: formatTimestamp(at),
      metadata: pickFacts(metadata),
    },
    after: { entry: { at, seq } },
  }));

const readClosings = async (
  db: Db,
  within: ChangesWithin,
  after: Position["closing"],
): Promise<Placed[]> =>
  (await listRecordedClosings(db, within, after)).map((row) => ({
    change: {
      action: "document.closed",
      timestamp: formatTimestamp(row.created_at),
      metadata: { document_number: row.document_number, actor: row.created_by },
    },
    after: {
      closing: {
        at: row.created_at,
        documentNumber: row.document_number,
        number: row.number,
      },
    },
  }));

/** Reads so many changes after a position: those of the audit log, then closings unless actions are named. */
const readAfter = async (
  db: Db,
  within: ChangesWithin,
  actions: readonly string[] | undefined,
  { entry, closing }: Position,
): Promise<Placed[]> => {
  const entries =
    closing === undefined ? await readEntries(db, within, actions ?? CHANGE_ACTIONS, entry) : [];
  const limit = within.limit - entries.length;
  return limit === 0 || actions !== undefined
    ? entries
    : [...entries, ...(await readClosings(db, { ...within, limit }, closing))];
};

/** Creates the handler that lists what happened to disputes, from the audit log and the closings of documents. */
export const createChanges =
  (seal: Seal): Handlers<Contract["disputes"]>["changes"] =>
  async ({ body: { cursor, limit, ...filter } }, call) => {
    const { tenantId } = call;
    const { since, until, actions } = filter;
    const [from, to] = [Date.parse(since), Date.parse(until)];
    const query = JSON.stringify(filter);
    let position: Position = {};
    if (cursor !== undefined) {
      const { data } = Cursor.safeParse(seal.open(cursor));
      if (data?.tenant !== tenantId || data.query !== query) {
        return call.refuse("cursor", "format", "is not from this query; omit it to start over");
      }
      position = data.after;
    }
    await using snapshot = await call.snapshot({ aggregates: true });
    const within = { tenantId, from, to, limit: limit + 1 };
    const found = await readAfter(snapshot.db, within, actions, position);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const hasMore = found.length > limit;
    const next =
      hasMore && last !== undefined
        ? seal.seal({ tenant: tenantId, query, after: last.after })
        : null;
    return {
      body: {
        data: page.map(({ change }) => change),
        pagination: { cursor: next, hasMore, rowCount: page.length },
      },
    };
  };
