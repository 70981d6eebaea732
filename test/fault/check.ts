import { sql } from "kysely";
import { expect } from "vitest";
import type { Db, Store } from "../../src/platform/store/port.ts";
import type { AuditLogRow } from "../../src/platform/store/tables/schema.ts";
import { apply, type Deed, expectedStatus, KEY_MARK, type World } from "./world.ts";
import { findRows } from "../support/rows.ts";

const rowsOf = async (db: Db, tenantId: string) => {
  return {
    disputes: await findRows(db, "disputes", { tenant_id: tenantId }),
    notes: await findRows(db, "dispute_notes", { tenant_id: tenantId }),
    sequences: await findRows(db, "dispute_sequences", { tenant_id: tenantId }),
    keys: await findRows(db, "idempotency_keys", { tenant_id: tenantId }),
    entries: await findRows(db, "audit_logs", { tenant_id: tenantId }, "seq"),
  };
};
type Rows = Awaited<ReturnType<typeof rowsOf>>;

const toolOf = ({ metadata }: AuditLogRow): string => {
  const { mcpTool } = JSON.parse(metadata) as { mcpTool?: string };
  return mcpTool ?? "";
};

/** The chain from its first link to its head. */
export const checkChain = async (
  { read: db, auditKey }: Pick<Store, "read" | "auditKey">,
  tenantId: string,
  entries: readonly AuditLogRow[],
): Promise<void> => {
  let hash = "";
  for (const [index, entry] of entries.entries()) {
    expect(entry.seq).toBe(index + 1);
    expect(entry.prev_hash).toBe(hash);
    ({ hash } = entry);
    expect(auditKey.link(entry)).toBe(hash);
  }
  const head = await db
    .selectFrom("audit_heads")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .executeTakeFirst();
  if (head !== undefined || entries.length > 0) {
    expect(head).toMatchObject({ tenant_id: tenantId, seq: entries.length, hash });
  }
};

/** Finds the record that an unanswered request created, by its mark. */
const madeBy = ({ change }: Deed, { disputes, notes }: Rows): Record<string, unknown> => {
  if (change.kind === "create") {
    const made = disputes.filter(({ po_number }) => po_number === change.mark);
    expect(made).toHaveLength(1);
    const [row] = made;
    const { sent } = change;
    expect(row).toMatchObject({ version: 1, status: 0, document_number: sent["documentNumber"] });
    expect(Number(row?.amount)).toBe(sent["amount"]);
    return { ...sent, status: 0, disputeId: row?.id, disputeCode: row?.code };
  }
  if (change.kind === "note") {
    const made = notes.filter(({ content }) => content === change.mark);
    expect(made).toHaveLength(1);
    return { disputeNoteId: made[0]?.id };
  }
  return change.kind === "update" ? change.shown : {};
};

// The 503 of a failed deed says nothing about its change, and the 401 of an ended session is sent before any.
const IGNORED = [401, 503];

/** Entries of answered deeds, which all name a tool of their own. */
const heeded = ({ entries }: Rows): AuditLogRow[] =>
  entries.filter(
    (entry) => !IGNORED.includes(entry.status_code) && toolOf(entry).startsWith("deed."),
  );

/** The response to this change is unknown, so the id that it set is learned from a later response only. */
const forget = (world: World, { change }: Deed): void => {
  if (change.kind !== "update") return;
  const shown = world.disputes.get(change.id)?.shown ?? {};
  delete shown["updateDate"];
  if ("status" in change.shown) {
    delete shown["closedDate"];
    delete shown["resolutionId"];
  }
};

/** Adds the unanswered requests that were executed to the expected state; the others must have left nothing. */
const settle = (world: World, unanswered: readonly Deed[], rows: Rows): number => {
  const done = new Map(heeded(rows).map((entry) => [toolOf(entry), entry]));
  let settled = 0;
  for (const deed of unanswered) {
    const entry = done.get(deed.tool);
    if (entry === undefined) continue;
    settled += 1;
    expect(entry.status_code).toBe(expectedStatus(deed));
    forget(world, deed);
    apply(world, deed, madeBy(deed, rows));
  }
  return settled;
};

const checkEntries = (world: World, rows: Rows): void => {
  const told = heeded(rows).map((entry) => [
    toolOf(entry),
    { method: entry.method, status: entry.status_code, action: entry.action },
  ]);
  // As lists, so that an entry written twice is one too many.
  expect(told.toSorted()).toEqual([...world.entries].toSorted());
};

const checkRecords = (world: World, { disputes, notes, sequences, keys }: Rows): void => {
  const stored = disputes.map(({ id, version, amount, status, po_number: poNumber }) => [
    id,
    { version, amount: Number(amount), status, poNumber },
  ]);
  const expected = [...world.disputes].map(([id, { version, shown }]) => [
    id,
    { version, amount: shown["amount"], status: shown["status"], poNumber: shown["poNumber"] },
  ]);
  expect(Object.fromEntries(stored)).toEqual(Object.fromEntries(expected));
  expect(
    notes.map((row) => [row.dispute_id, row.id, row.version, row.content].join(" ")).toSorted(),
  ).toEqual(
    [...world.disputes]
      .flatMap(([id, dispute]) =>
        [...dispute.notes].map(([noteId, note]) =>
          [id, noteId, note.version, note.content].join(" "),
        ),
      )
      .toSorted(),
  );
  expect(
    new Map(sequences.map((row) => [row.document_number, row.last] as [string, number])),
  ).toEqual(world.sequences);
  const made = [...world.sequences.values()].reduce((sum, last) => sum + last, 0);
  // Each code once, and none left out.
  expect(world.codes.size).toBe(made);
  // MCP servers send keys of their own.
  const sent = keys.filter(({ key }) => key.startsWith(KEY_MARK));
  expect(new Map(sent.map((row) => [row.key, row.record_id] as [string, string]))).toEqual(
    world.keys,
  );
};

const checkNotes = (world: World, { notes }: Rows): void => {
  for (const row of notes) {
    const answer = world.disputes.get(row.dispute_id)?.notes.get(row.id)?.answer;
    if (answer === undefined) continue;
    expect({
      disputeNoteId: row.id,
      tenantId: row.tenant_id,
      disputeId: row.dispute_id,
      content: row.content,
      visibility: row.visibility,
      createUser: row.created_by,
      createDate: new Date(row.created_at).toISOString(),
      updateUser: row.updated_by,
      updateDate: new Date(row.updated_at).toISOString(),
    }).toEqual(answer);
  }
};

/** Compares one tenant's rows with what must stand there; gives how many of the unanswered requests were done. */
export const checkWorld = async (
  store: Store,
  world: World,
  unanswered: readonly Deed[],
): Promise<number> => {
  const rows = await rowsOf(store.read, world.tenantId);
  await checkChain(store, world.tenantId, rows.entries);
  const settled = settle(world, unanswered, rows);
  checkEntries(world, rows);
  checkRecords(world, rows);
  checkNotes(world, rows);
  return settled;
};

/** Runs the database's own integrity check. */
export const checkIntegrity = async ({ dialect, read }: Store): Promise<void> => {
  if (dialect !== "sqlite") return;
  const found = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(read);
  expect(found.rows).toEqual([{ integrity_check: "ok" }]);
  const foreign = await sql`pragma foreign_key_check`.execute(read);
  expect(foreign.rows).toEqual([]);
};
