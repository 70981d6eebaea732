import { ClosureFields } from "../../contract/operations/documents.ts";
import { type AskedClosure, checkClosure } from "../services/documents/rules.ts";
import { closeDocuments, type Writer } from "../services/documents/save.ts";
import { findDocuments, findLastClosures } from "../store/queries/documents.ts";
import type { Db } from "../store/port.ts";
import type { DocumentClosureRow, DocumentRow } from "../store/tables/schema.ts";
import { IMPORTER } from "./importer.ts";
import { type NumberedRecord, describeNumbered } from "./numbered-record.ts";
import type { Needs, Outcome, RowIdentity, Target } from "./target.ts";

type Ended = Pick<DocumentClosureRow, "closure_reason" | "closed_at">;

/** One batch of rows to write in one transaction. */
type Batch = {
  writer: Writer;
  known: Map<string, DocumentRow>;
  /** The last closure of each document. */
  ended: Map<string, Ended>;
  /** The closures to write, by document number. */
  requested: Map<string, AskedClosure>;
};

const openBatch = async (
  { tenantId, clock }: Needs,
  tx: Db,
  numbers: readonly string[],
): Promise<Batch> => {
  const documents = await findDocuments(tx, tenantId, numbers);
  const closures = await findLastClosures(tx, tenantId, numbers);
  return {
    writer: { tenantId, caller: IMPORTER, now: clock(), source: "import" },
    known: new Map(documents.map((row) => [row.document_number, row])),
    ended: new Map(closures.map((row) => [row.document_number, row])),
    requested: new Map(),
  };
};

const reject = (code: string, message: string): Outcome => [
  { field: "document_number", code, message },
];

const writeRow = (batch: Batch, { number, sent }: NumberedRecord): Outcome => {
  const { writer, known, ended, requested } = batch;
  const { value, faults } = checkClosure(sent, writer.now);
  if (value === undefined) return faults;
  const document = known.get(number);
  if (document === undefined) return reject("document_not_found", "names no document");
  const last = ended.get(number);
  if (document.status === "open" && !requested.has(number)) {
    requested.set(number, value);
    ended.set(number, value);
    return "written";
  }
  const isRepeated =
    last?.closure_reason === value.closure_reason &&
    (sent["closure_date"] === undefined || last.closed_at === value.closed_at);
  if (isRepeated) return "unchanged";
  return reject(
    "document_already_closed",
    last?.closure_reason === null
      ? "names a document that closed by itself, because nothing was left to pay"
      : "names a document that is closed for another reason or on another day",
  );
};

const FACTS = ["closure_reason", "closure_date", "notes"] as const;

/** Tells closures of one document apart: a document closes once, for one reason and on one day. */
const identifyClosure = ({ number, sent }: NumberedRecord): RowIdentity => {
  const at = Date.parse(String(sent["closure_date"]));
  const closing = Number.isNaN(at) ? sent : { ...sent, closure_date: at };
  return {
    field: "document_number",
    key: number,
    facts: FACTS.map((name) => JSON.stringify(closing[name]) ?? ""),
    names: FACTS,
  };
};

/** Creates the import target of closures: a row closes the existing document with its number. */
export const createClosureTarget = (needs: Needs): Target<NumberedRecord> => ({
  kind: "closures",
  ...describeNumbered("document_number", ClosureFields, {
    roles: { closure_date: { role: "day" } },
  }),
  identify: ({ values }) => identifyClosure(values),
  async write(tx, rows, journal) {
    const numbers = new Set(rows.map(({ values }) => values.number));
    const batch = await openBatch(needs, tx, [...numbers]);
    const outcomes = rows.map(({ values }) => writeRow(batch, values));
    const closings = [...batch.requested].flatMap(([number, closure]) => {
      const row = batch.known.get(number);
      return row === undefined ? [] : [{ row, closure }];
    });
    for (const after of await closeDocuments(tx, batch.writer, closings)) {
      const before = batch.known.get(after.document_number);
      if (before !== undefined) journal.changed("documents", before, after);
    }
    return outcomes;
  },
});
