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
  type ContentTable,
  listChangeEntries,
  listCreatedContents,
  listRecordedClosings,
} from "../../store/queries/dispute-changes.ts";
import type { Db } from "../../store/port.ts";
import { openCursor } from "../listing.ts";

const ContentPlace = z.object({ at: z.int(), id: z.string() });

/** The last change that was returned, of the one source that it is from. */
const Position = z.object({
  entry: z.object({ at: z.int(), seq: z.int() }).optional(),
  dispute_notes: ContentPlace.optional(),
  dispute_attachments: ContentPlace.optional(),
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

/** One source of changes: reads so many of them after a position. */
type Source = {
  name: keyof Position;
  read(db: Db, within: ChangesWithin, after: Position): Promise<Placed[]>;
};

const entriesOf = (actions: readonly string[]): Source => ({
  name: "entry",
  read: async (db, within, { entry }) =>
    (await listChangeEntries(db, within, actions, entry)).map(({ at, seq, action, metadata }) => ({
      change: {
        action: action ?? "",
        timestamp: formatTimestamp(at),
        metadata: pickFacts(metadata),
      },
      after: { entry: { at, seq } },
    })),
});

const contentsOf = (table: ContentTable, action: string): Source => ({
  name: table,
  read: async (db, within, after) =>
    (await listCreatedContents(db, table, within, after[table])).map((row) => ({
      change: {
        action,
        timestamp: formatTimestamp(row.created_at),
        metadata: { disputeId: row.dispute_id, resourceId: row.id, actor: row.created_by },
      },
      after: { [table]: { at: row.created_at, id: row.id } },
    })),
});

const closings: Source = {
  name: "closing",
  read: async (db, within, { closing }) =>
    (await listRecordedClosings(db, within, closing)).map((row) => ({
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
    })),
};

/** Sources beside the audit log, which has no entry for each record of an import. */
const RECORDS: Source[] = [
  contentsOf("dispute_notes", "dispute_note.created"),
  contentsOf("dispute_attachments", "dispute_attachment.created"),
  closings,
];

/** Reads so many changes after a position, one source after another. */
const readAfter = async (
  db: Db,
  within: ChangesWithin,
  sources: readonly Source[],
  after: Position,
): Promise<Placed[]> => {
  const [current] = Object.keys(after);
  const first = sources.findIndex(({ name }) => name === current);
  const found: Placed[] = [];
  for (const source of sources.slice(Math.max(0, first))) {
    const limit = within.limit - found.length;
    if (limit > 0) found.push(...(await source.read(db, { ...within, limit }, after)));
  }
  return found;
};

/** Creates the handler that lists what happened to disputes, from the audit log and from records. */
export const createChanges =
  (seal: Seal): Handlers<Contract["disputes"]>["changes"] =>
  async ({ body: { cursor, limit, ...filter } }, call) => {
    const { tenantId } = call;
    const { since, until, actions } = filter;
    const query = JSON.stringify(filter);
    const own = { tenant: tenantId, query };
    const position = openCursor(call, { schema: Cursor, seal, cursor }, own)?.after ?? {};
    await using snapshot = await call.snapshot({ aggregates: true });
    const within = { tenantId, from: Date.parse(since), to: Date.parse(until), limit: limit + 1 };
    const sources =
      actions === undefined ? [entriesOf(CHANGE_ACTIONS), ...RECORDS] : [entriesOf(actions)];
    const found = await readAfter(snapshot.db, within, sources, position);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const hasMore = found.length > limit;
    const next = hasMore && last !== undefined ? seal.seal({ ...own, after: last.after }) : null;
    return {
      body: {
        data: page.map(({ change }) => change),
        pagination: { cursor: next, hasMore, rowCount: page.length },
      },
    };
  };
