import type { ProblemDetails, SharedErrorCode } from "../../../contract/errors.ts";
import { isRecord } from "../../../kit/json.ts";
import type { Call } from "../../handlers.ts";
import { listIgnoredFields } from "../../ignored-fields.ts";
import { findAccount } from "../../store/queries/accounts.ts";
import { findDocument } from "../../store/queries/documents.ts";
import type { Db } from "../../store/port.ts";
import type { AccountRow, DocumentRow } from "../../store/tables/schema.ts";
import { shorten } from "../records.ts";
import { toComparable } from "./body.ts";

/** The parts of a call that the rules of the ingest API use. */
export type IngestCall = Pick<Call, "tenantId" | "now" | "origin" | "invalid"> & {
  caller: { id: string };
};

type Failing<C extends string> = {
  tenantId: string;
  fail(code: C | SharedErrorCode, message: string, details?: ProblemDetails): never;
};

/** Finds an account. @throws {Problem} account_not_found */
export const readAccount = async (
  db: Db,
  call: Failing<"account_not_found">,
  number: string,
): Promise<AccountRow> =>
  (await findAccount(db, call.tenantId, number)) ??
  call.fail("account_not_found", `There is no account ${shorten(number)}.`);

/** Finds a document. @throws {Problem} document_not_found */
export const readDocument = async (
  db: Db,
  call: Failing<"document_not_found">,
  number: string,
): Promise<DocumentRow> =>
  (await findDocument(db, call.tenantId, number)) ??
  call.fail("document_not_found", `There is no document ${shorten(number)}.`);

// Account and document numbers may contain characters that are invalid in a header, so ETags use the csrId.
export const toVersion = ({ csr_id, version }: { csr_id: number; version: number }) => ({
  id: String(csr_id),
  version,
});

/** Returns the paths of the body's fields that have no meaning here. */
export const listIgnored = (sent: unknown, known: object): string[] =>
  isRecord(sent) ? listIgnoredFields(toComparable(sent), known) : [];
