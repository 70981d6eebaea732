import type { Contract } from "../../contract/index.ts";
import { utcCalendar } from "../../contract/insights/calendar.ts";
import {
  CLOSURE_REASONS,
  ClosureFields,
  type Document,
  type DocumentWithClosing,
  type ListedDocument,
  type StoredDocument,
} from "../../contract/operations/documents.ts";
import { toNumberKey } from "../../contract/number-key.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { Seal } from "../../kit/seal.ts";
import type { Handlers } from "../handlers.ts";
import { checkIfMatch, checkUpsert } from "../preconditions.ts";
import { findAccount } from "../store/queries/accounts.ts";
import {
  findDocument,
  findDocuments,
  findLastClosures,
  findSoughtDocuments,
} from "../store/queries/documents.ts";
import { findDocumentPlaces } from "../store/queries/listed-documents.ts";
import type { Db } from "../store/port.ts";
import type { DocumentRow } from "../store/tables/schema.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { checkAccount, checkClosure, checkDocument, pickAmounts } from "./documents/rules.ts";
import { readHistories } from "./documents/history.ts";
import { closeDocuments, saveDocuments, type Writer } from "./documents/save.ts";
import { summarize } from "./documents/summary.ts";
import type { Write } from "./ingest/body.ts";
import { measureFields } from "../store/queries/field-sizes.ts";
import { listRecords, PAGE_BYTES, takeBytes } from "./ingest/page.ts";
import { parseDocument } from "./ingest/stored.ts";
import { type IngestCall, readDocument, listIgnored, toVersion } from "./ingest/call.ts";
import { planMatching } from "./payments/matching/job.ts";
import { settleDocuments } from "./payments/matching/settle.ts";
import { shorten } from "./records.ts";

const toDocument = (row: DocumentRow): Document => ({
  csrId: row.csr_id,
  documentNumber: row.document_number,
  ...parseDocument(row),
  status: row.status,
  createdAt: formatTimestamp(row.created_at),
  updatedAt: formatTimestamp(row.updated_at),
});

/** Names a change of the status in the audit entry; a closing by its own operation is named by the action. */
const describeMove = (before: DocumentRow | undefined, { status }: DocumentRow) =>
  before === undefined || before.status === status
    ? {}
    : { audit: { metadata: { formerStatus: before.status, status } } };

const answer = (row: DocumentRow) => ({ body: toDocument(row), version: toVersion(row) });

const toWriter = ({ tenantId, caller, now, origin }: IngestCall): Writer => ({
  tenantId,
  caller,
  now,
  source: origin,
});

type Target = { documentNumber: string; sent: unknown; before: DocumentRow | undefined };

/** Validates a body. Returns the fields to store and the paths of those that were ignored. */
const checkBody = async (
  tx: Db,
  call: IngestCall,
  write: Write,
  { documentNumber, sent, before }: Target,
): Promise<{ fields: StoredDocument; ignored: string[] }> => {
  const { settings } = await readTenant(tx, call.tenantId);
  const unknown = settings.requireKnownAccount
    ? await checkAccount(sent, (number) => findAccount(tx, call.tenantId, number))
    : [];
  const known = { documentNumber, write, before: before && parseDocument(before) };
  const { value, faults = [] } = checkDocument(sent, known, unknown);
  if (value === undefined) return call.invalid(faults);
  return { fields: value, ignored: listIgnored(sent, value) };
};

const save = async (
  tx: Db,
  call: IngestCall,
  fields: StoredDocument,
  { documentNumber, before, sent }: Target,
): Promise<DocumentRow> => {
  const writing = { documentNumber, before, fields, sent: pickAmounts(sent) };
  const [row] = await saveDocuments(tx, toWriter(call), [writing]);
  if (row === undefined) throw new Error("a document was not written");
  if (before !== undefined || row.applies_to_key !== null) {
    const settling = { tenantId: call.tenantId, now: formatTimestamp(call.now) };
    await settleDocuments(tx, settling, [row]);
  }
  await planMatching(tx, row, call.now);
  return row;
};

type Service = Handlers<Contract["documents"]>;

type Closing = Pick<DocumentWithClosing, "closedAt" | "closure_reason">;

const NOT_CLOSED: Closing = { closedAt: null, closure_reason: null };

/** Finds time and reason of the closings of documents, by number; of open ones there are none. */
const findClosings = async (
  db: Db,
  tenantId: string,
  rows: readonly DocumentRow[],
): Promise<(row: DocumentRow) => Closing> => {
  const closed = rows.filter(({ status }) => status === "closed");
  const numbers = closed.map(({ document_number }) => document_number);
  const closures = numbers.length === 0 ? [] : await findLastClosures(db, tenantId, numbers);
  const known = new Map(
    closures.map(({ document_number, closed_at, closure_reason }): [string, Closing] => [
      document_number,
      {
        closedAt: formatTimestamp(closed_at),
        closure_reason: CLOSURE_REASONS.find((reason) => reason === closure_reason) ?? null,
      },
    ]),
  );
  return ({ document_number }) => known.get(document_number) ?? NOT_CLOSED;
};

const get: Service["get"] = async ({ params: { document_number }, query: { closure } }, call) => {
  const row = await readDocument(call.db, call, document_number);
  const { body, version } = answer(row);
  if (closure !== true) return { body, version };
  const closingOf = await findClosings(call.db, call.tenantId, [row]);
  return { body: { ...body, ...closingOf(row) }, version };
};

const create: Service["create"] = ({ params: { document_number }, body }, call) => {
  return call.change(async (tx) => {
    const target = { documentNumber: document_number, sent: body, before: undefined };
    const { fields, ignored } = await checkBody(tx, call, "create", target);
    if ((await findDocument(tx, call.tenantId, document_number)) !== undefined) {
      call.fail(
        "document_already_exists",
        `The document ${shorten(document_number)} exists. Replace it with PUT or update it with PATCH.`,
        { record: { document_number } },
      );
    }
    const row = await save(tx, call, fields, target);
    return { ...answer(row), createdId: String(row.csr_id), ignored };
  });
};

const replace: Service["replace"] = async ({ params: { document_number }, body }, call) => {
  return call.change(async (tx) => {
    const before = await findDocument(tx, call.tenantId, document_number);
    checkUpsert(call, before && toVersion(before));
    const target = { documentNumber: document_number, sent: body, before };
    const { fields, ignored } = await checkBody(tx, call, "replace", target);
    const row = await save(tx, call, fields, target);
    return {
      ...answer(row),
      ...(before === undefined ? { createdId: String(row.csr_id) } : {}),
      ...describeMove(before, row),
      ignored,
    };
  });
};

const update: Service["update"] = async ({ params: { document_number }, body }, call) => {
  return call.change(async (tx) => {
    const before = await readDocument(tx, call, document_number);
    checkIfMatch(call, toVersion(before));
    const target = { documentNumber: document_number, sent: body, before };
    const { fields, ignored } = await checkBody(tx, call, "update", target);
    const row = await save(tx, call, fields, target);
    return { ...answer(row), ignored, ...describeMove(before, row) };
  });
};

const close: Service["close"] = async ({ params: { document_number }, body }, call) => {
  return call.change(async (tx) => {
    const before = await readDocument(tx, call, document_number);
    checkIfMatch(call, toVersion(before));
    const { value: closure, faults = [] } = checkClosure(body, call.now);
    if (closure === undefined) return call.invalid(faults);
    const [row] = await closeDocuments(tx, toWriter(call), [{ row: before, closure }]);
    if (row === undefined) {
      return call.fail(
        "document_already_closed",
        `The document ${shorten(document_number)} is closed already.`,
        { record: { document_number } },
      );
    }
    return {
      body: {
        closure_reason: closure.closure_reason,
        closedAt: formatTimestamp(closure.closed_at),
        status: "closed" as const,
        csrId: row.csr_id,
        documentNumber: row.document_number,
        updatedAt: formatTimestamp(row.updated_at),
      },
      version: toVersion(row),
      ignored: listIgnored(body, ClosureFields.shape),
    };
  });
};

const toDay = (day: string | undefined): string | undefined =>
  day === undefined ? undefined : utcCalendar.toDay(day);

const list =
  (seal: Seal): Service["list"] =>
  async ({ query }, call) => {
    const { tenantId } = call;
    const { sort = "document_number", search, status } = query;
    const filter = {
      accountNumber: query.account_number,
      status,
      type: query.document_type,
      dueFrom: toDay(query.due_from),
      dueTo: toDay(query.due_to),
      invoiceFrom: toDay(query.invoice_from),
      invoiceTo: toDay(query.invoice_to),
      search,
    };
    const page = await listRecords(call, seal, {
      query,
      find: (db, range) => findDocumentPlaces(db, tenantId, { filter, sort }, range),
      read: async (db, keys) => {
        const rows = await findDocuments(db, tenantId, keys);
        const closingOf =
          query.closure === true ? await findClosings(db, tenantId, rows) : () => ({});
        const historyOf =
          query.history === true ? await readHistories(db, tenantId, keys) : undefined;
        return rows.map((row) => ({
          row,
          more: {
            ...closingOf(row),
            ...(historyOf === undefined ? {} : { history: historyOf(row.document_number) }),
          },
        }));
      },
      measure: (db, keys) => measureFields(db, "documents", tenantId, keys),
      keyOf: ({ row }) => row.document_number,
      toItem: ({ row, more }): ListedDocument => ({ ...toDocument(row), ...more }),
    });
    return { body: page };
  };

/** Documents of one number that a lookup finds; a purchase order may have many more. */
const MOST_OF_NUMBER = 50;
const MOST_FOUND = 1000;

/** Finds the numbers of documents for a lookup: the first ones of each number that is sought come first. */
const seek = async (db: Db, tenantId: string, numbers: readonly string[]) => {
  const keys = [...new Set(numbers.map(toNumberKey))].filter((key) => key !== "");
  const found = await findSoughtDocuments(db, tenantId, { keys, numbers }, MOST_OF_NUMBER + 1);
  const inOrder = found
    .filter(({ place }) => place < MOST_OF_NUMBER)
    .toSorted((a, b) => a.place - b.place);
  const all = [...new Set(inOrder.map(({ document_number }) => document_number))];
  const some = all.slice(0, MOST_FOUND);
  const sizes = await measureFields(db, "documents", tenantId, some);
  const measured = some.map((number) => ({ number, bytes: sizes.get(number) ?? 0 }));
  const taken = takeBytes(measured, PAGE_BYTES).map(({ number }) => number);
  const hasMore = inOrder.length < found.length || taken.length < all.length;
  return { taken, isTruncated: hasMore };
};

/** Finds documents by numbers that differ in letter case, spaces, dashes and padding. */
const lookUp: Service["lookup"] = async ({ body }, { db, tenantId }) => {
  const numbers = [...new Set(body.numbers.map((number) => number.trim()))];
  const { taken, isTruncated } = await seek(db, tenantId, numbers);
  const rows = await findDocuments(db, tenantId, taken);
  const closingOf = await findClosings(db, tenantId, rows);
  const data = rows.map((row) => ({ ...toDocument(row), ...closingOf(row) }));
  return { body: { data, ...(isTruncated ? { truncated: true } : {}) } };
};

/** Handlers of documents: invoices, credit notes and other documents of accounts. */
export const documents = ({ seal }: { seal: Seal }): Service => ({
  get,
  list: list(seal),
  lookup: lookUp,
  summary: summarize,
  create,
  replace,
  update,
  close,
});
