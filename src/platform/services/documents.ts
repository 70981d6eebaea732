import type { Contract } from "../../contract/index.ts";
import {
  ClosureFields,
  type Document,
  type StoredDocument,
} from "../../contract/operations/documents.ts";
import { iso } from "../../kit/clock.ts";
import type { Handlers } from "../handlers.ts";
import { findAccount } from "../store/accounts.ts";
import { findDocument } from "../store/documents.ts";
import type { Db } from "../store/port.ts";
import type { DocumentRow } from "../store/tables.ts";
import { readTenant } from "../store/tenants.ts";
import { accountFaults, checkClosure, checkDocument, sentAmounts } from "./documents/rules.ts";
import { closeDocuments, saveDocuments, type Writer } from "./documents/save.ts";
import type { Write } from "./ingest/body.ts";
import { storedDocument } from "./ingest/stored.ts";
import { type IngestCall, noDocument, tellIgnored, versionOf } from "./ingest/call.ts";
import { shown } from "./records.ts";

const document = (row: DocumentRow): Document => ({
  csrId: row.csr_id,
  documentNumber: row.document_number,
  ...storedDocument(row),
  status: row.status,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

const writerOf = ({ tenantId, caller, now, origin }: IngestCall): Writer => ({
  tenantId,
  caller,
  now,
  source: origin,
});

type Target = { documentNumber: string; write: Write; before?: DocumentRow };

/** What a body leaves of a document; refuses it with all that is wrong. */
const checkedFields = async (
  tx: Db,
  call: IngestCall,
  sent: unknown,
  { documentNumber, write, before }: Target,
): Promise<StoredDocument> => {
  const { settings } = await readTenant(tx, call.tenantId);
  const unknown = settings.requireKnownAccount
    ? await accountFaults(sent, (number) => findAccount(tx, call.tenantId, number))
    : [];
  const known = { documentNumber, write, before: before && storedDocument(before) };
  const { value, faults = [] } = checkDocument(sent, known, unknown);
  if (value === undefined) return call.invalid(faults);
  tellIgnored(call, sent, value);
  return value;
};

const save = async (
  tx: Db,
  call: IngestCall,
  fields: StoredDocument,
  { documentNumber, before, sent }: Omit<Target, "write"> & { sent: unknown },
): Promise<DocumentRow> => {
  const writing = { documentNumber, before, fields, sent: sentAmounts(sent) };
  const [row] = await saveDocuments(tx, writerOf(call), [writing]);
  if (row === undefined) throw new Error("a document was not written");
  return row;
};

/** What accounts owe, and are owed. */
export const documents = (): Handlers<Contract["documents"]> => ({
  async get({ params: { document_number } }, call) {
    const row =
      (await findDocument(call.db, call.tenantId, document_number)) ??
      noDocument(call, document_number);
    call.version(versionOf(row));
    return document(row);
  },

  create({ params: { document_number }, body }, call) {
    return call.create(
      async (tx) => {
        const target = { documentNumber: document_number, sent: body };
        const fields = await checkedFields(tx, call, body, { ...target, write: "create" });
        if ((await findDocument(tx, call.tenantId, document_number)) !== undefined) {
          call.fail(
            "document_already_exists",
            `The document ${shown(document_number)} exists. Replace it with PUT or update it with PATCH.`,
            { record: { document_number } },
          );
        }
        const row = await save(tx, call, fields, target);
        return { row, ...versionOf(row) };
      },
      ({ row }) => document(row),
    );
  },

  async replace({ params: { document_number }, body }, call) {
    const row = await call.change(async (tx) => {
      const before = await findDocument(tx, call.tenantId, document_number);
      if (before === undefined) call.made();
      else call.version(versionOf(before));
      const target = {
        documentNumber: document_number,
        sent: body,
        ...(before === undefined ? {} : { before }),
      };
      const fields = await checkedFields(tx, call, body, { ...target, write: "replace" });
      return save(tx, call, fields, target);
    });
    call.version(versionOf(row));
    return document(row);
  },

  async update({ params: { document_number }, body }, call) {
    const row = await call.change(async (tx) => {
      const before =
        (await findDocument(tx, call.tenantId, document_number)) ??
        noDocument(call, document_number);
      call.version(versionOf(before));
      const target = { documentNumber: document_number, sent: body, before };
      const fields = await checkedFields(tx, call, body, { ...target, write: "update" });
      return save(tx, call, fields, target);
    });
    call.version(versionOf(row));
    return document(row);
  },

  async close({ params: { document_number }, body }, call) {
    const { row, closure } = await call.change(async (tx) => {
      const before =
        (await findDocument(tx, call.tenantId, document_number)) ??
        noDocument(call, document_number);
      call.version(versionOf(before));
      const { value, faults = [] } = checkClosure(body, call.now);
      if (value === undefined) return call.invalid(faults);
      tellIgnored(call, body, ClosureFields.shape);
      const [after] = await closeDocuments(tx, writerOf(call), [{ row: before, closure: value }]);
      if (after !== undefined) return { row: after, closure: value };
      return call.fail(
        "document_already_closed",
        `The document ${shown(document_number)} is closed already.`,
        { record: { document_number } },
      );
    });
    call.version(versionOf(row));
    return {
      closure_reason: closure.closure_reason,
      closedAt: iso(closure.closed_at),
      status: "closed",
      csrId: row.csr_id,
      documentNumber: row.document_number,
      updatedAt: iso(row.updated_at),
    };
  },
});
