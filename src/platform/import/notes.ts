import { hash } from "node:crypto";
import { z } from "zod";
import type { Fault } from "../../contract/errors.ts";
import { NoteVisibility, RecordId, RecordNumber } from "../../contract/fields.ts";
import { NoteContent } from "../../contract/operations/dispute-notes.ts";
import { checkValue } from "../services/ingest/body.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import type { Db } from "../store/port.ts";
import { findNotes } from "../store/queries/dispute-notes.ts";
import { findNamedDisputes, type NamedDispute } from "../store/queries/imported-disputes.ts";
import type { DisputeNoteRow } from "../store/tables/schema.ts";
import { type FindAuthor, readAuthors } from "./authors.ts";
import { shortenKey } from "./disputes.ts";
import { collectFields } from "./fields.ts";
import { createOccurrences } from "./occurrences.ts";
import { findTimeFaults, SourceAuthor, SourceTimestamp } from "./source-values.ts";
import type { Accepted, Form, Needs, Outcome, Target } from "./target.ts";

/** A note of a dispute in an import file. */
const NoteValues = z.object({
  disputeNoteId: RecordId.optional(),
  disputeId: RecordId.optional(),
  disputeCode: RecordId.optional(),
  documentNumber: RecordNumber.optional(),
  content: NoteContent,
  visibility: NoteVisibility.optional(),
  createUser: SourceAuthor.optional(),
  createDate: SourceTimestamp.optional(),
  updateUser: SourceAuthor.optional(),
  updateDate: SourceTimestamp.optional(),
});
type NoteValues = z.output<typeof NoteValues>;

/** The form of a note's row. */
export const NOTE_FORM: Form<NoteValues> = {
  fields: collectFields(NoteValues, {
    disputeNoteId: { role: "key" },
    createDate: { role: "day" },
    updateDate: { role: "day" },
  }),
  parse: (record) => checkValue(NoteValues, record),
};

type Row = Accepted<NoteValues>;

const refuse = (field: string, code: string, message: string): { faults: Fault[] } => ({
  faults: [{ field, code, message }],
});

const MOST_CODES = 5;

const NAMES = ["disputeId", "disputeCode", "documentNumber"] as const;
const COLUMNS = {
  disputeId: "id",
  disputeCode: "code",
  documentNumber: "document_number",
} as const;

type Found = { dispute: NamedDispute; faults?: never } | { dispute?: never; faults: Fault[] };

/** The disputes of a batch's rows, by each of the ways to name one. */
type Disputes = Record<(typeof NAMES)[number] | "sourceKey", Map<string, NamedDispute[]>>;

const indexDisputes = (rows: readonly NamedDispute[]): Disputes => {
  const by = (column: keyof NamedDispute) => Map.groupBy(rows, (row) => row[column] ?? "");
  return {
    disputeId: by("id"),
    disputeCode: by("code"),
    documentNumber: by("document_number"),
    sourceKey: by("source_key"),
  };
};

const chooseDispute = ({ values, sourceKey }: Row, disputes: Disputes): Found => {
  const field = NAMES.find((name) => values[name] !== undefined);
  const key = sourceKey === undefined ? undefined : shortenKey(sourceKey);
  if (field === undefined && key === undefined) {
    const message = `is required, or disputeCode, documentNumber, or the map's "sourceKey" of the disputes' file`;
    return refuse("disputeId", "required", message);
  }
  const found =
    field === undefined
      ? disputes.sourceKey.get(key ?? "")
      : disputes[field].get(values[field] ?? "");
  const [dispute, ...others] = found ?? [];
  const name = field ?? "sourceKey";
  if (dispute === undefined) return refuse(name, "unknown_reference", "names no dispute");
  if (others.length === 0) return { dispute };
  const codes = [dispute, ...others].map(({ code }) => code).toSorted();
  const shown = codes.slice(0, MOST_CODES).join(", ");
  const more = codes.length > MOST_CODES ? ", …" : "";
  const message = `has ${codes.length} disputes (${shown}${more}); give disputeCode`;
  return refuse(name, "ambiguous", message);
};

/** One batch of rows to write in one transaction. */
type Batch = Needs & {
  now: number;
  disputes: Disputes;
  findAuthor: FindAuthor;
  /** The n-th equal note of a file is its own note, counted from 1. */
  count: (key: string) => number;
};

/** The id of a note without one of its own: equal facts give the same one, so that a file can be imported again. */
const deriveId = (
  { values, disputeId }: { values: NoteValues; disputeId: string },
  batch: Batch,
) => {
  const { content, createUser, createDate } = values;
  const facts = JSON.stringify([disputeId, createUser, createDate, content]);
  const count = batch.count(facts);
  return `n-${hash("sha256", count > 1 ? `${facts}${count}` : facts, "hex").slice(0, 32)}`;
};

const toRow = ({ values }: Row, { id: disputeId }: NamedDispute, batch: Batch): DisputeNoteRow => {
  const { createUser, createDate, updateUser = createUser, updateDate = createDate } = values;
  const toTime = (text: string | undefined) => (text === undefined ? batch.now : Date.parse(text));
  return {
    tenant_id: batch.tenantId,
    id: values.disputeNoteId ?? deriveId({ values, disputeId }, batch),
    dispute_id: disputeId,
    content: values.content,
    visibility: values.visibility ?? "Internal",
    created_by: batch.findAuthor(createUser),
    created_at: toTime(createDate),
    updated_by: batch.findAuthor(updateUser),
    updated_at: toTime(updateDate),
    version: 1,
  };
};

const planRow = (row: Row, batch: Batch): DisputeNoteRow | Fault[] => {
  const { values } = row;
  const late = findTimeFaults(values, ["createDate", "updateDate"], batch.now);
  const { dispute, faults = [] } = chooseDispute(row, batch.disputes);
  if (dispute === undefined || late.length > 0) return [...faults, ...late];
  return toRow(row, dispute, batch);
};

/** A stored note is never changed by an import: neither one that people have changed since nor one of another text. */
const compareStored = (stored: DisputeNoteRow, row: DisputeNoteRow): Outcome => {
  if (stored.dispute_id !== row.dispute_id) {
    return refuse("disputeNoteId", "conflict", "is the id of a note of another dispute").faults;
  }
  if (stored.version > 1 || stored.content === row.content) return "unchanged";
  const message =
    "exists with another content; change it with dispute_notes.update, or give it another id";
  return refuse("disputeNoteId", "conflict", message).faults;
};

const openBatch = async (
  { tenantId, clock }: Needs,
  tx: Db,
  rows: readonly Row[],
  count: Batch["count"],
): Promise<Batch> => {
  const list = (name: (typeof NAMES)[number]) =>
    rows.flatMap(({ values }) =>
      name === NAMES.find((one) => values[one] !== undefined) ? (values[name] ?? []) : [],
    );
  const named = {
    ...Object.fromEntries(NAMES.map((name) => [COLUMNS[name], list(name)])),
    source_key: rows.flatMap(({ sourceKey }) =>
      sourceKey === undefined ? [] : [shortenKey(sourceKey)],
    ),
  };
  const disputes = indexDisputes(await findNamedDisputes(tx, tenantId, named));
  const findAuthor = await readAuthors(tx, tenantId);
  return { tenantId, clock, now: clock(), disputes, findAuthor, count };
};

/** Creates the import target of notes on disputes: a row creates the note with its id, else with its facts. */
export const createNoteTarget = (needs: Needs): Target<NoteValues> => {
  const met = createOccurrences();
  return {
    kind: "notes",
    ...NOTE_FORM,
    batchRows: 500,
    identify: ({ values }) =>
      values.disputeNoteId === undefined
        ? undefined
        : { field: "disputeNoteId", key: values.disputeNoteId, facts: [JSON.stringify(values)] },
    async write(tx, rows, journal) {
      const batch = await openBatch(needs, tx, rows, met.count);
      const planned = rows.map((row) => planRow(row, batch));
      const ids = planned.flatMap((row) => (Array.isArray(row) ? [] : [row.id]));
      const stored = await findNotes(tx, needs.tenantId, [...new Set(ids)]);
      const known = new Map(stored.map((row) => [row.id, row]));
      const made: DisputeNoteRow[] = [];
      const outcomes = planned.map((row): Outcome => {
        if (Array.isArray(row)) return row;
        const before = known.get(row.id);
        if (before !== undefined) return compareStored(before, row);
        known.set(row.id, row);
        made.push(row);
        return "written";
      });
      await insertAll(tx, "dispute_notes", made);
      journal.created("dispute_notes", made);
      return outcomes;
    },
    close: () => met.close(),
  };
};
