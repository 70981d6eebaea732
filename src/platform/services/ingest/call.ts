import type { ProblemDetails, SharedErrorCode } from "../../../contract/errors.ts";
import type { Call } from "../../handlers.ts";
import { listIgnoredFields } from "../../ignored-fields.ts";
import { shorten } from "../records.ts";
import { toComparable, isObject } from "./body.ts";

/** The parts of a call that the rules of the ingest API use. */
export type IngestCall = Pick<Call, "tenantId" | "now" | "origin" | "invalid"> & {
  caller: { id: string };
};

type Failing<C extends string> = {
  fail(code: C | SharedErrorCode, message: string, details?: ProblemDetails): never;
};

export const createNoAccount = (call: Failing<"account_not_found">, number: string): never =>
  call.fail("account_not_found", `There is no account ${shorten(number)}.`);

export const createNoDocument = (call: Failing<"document_not_found">, number: string): never =>
  call.fail("document_not_found", `There is no document ${shorten(number)}.`);

// Account and document numbers may contain characters that are invalid in a header, so ETags use the csrId.
export const toVersion = ({ csr_id, version }: { csr_id: number; version: number }) => ({
  id: String(csr_id),
  version,
});

/** Returns the paths of the body's fields that have no meaning here. */
export const listIgnored = (sent: unknown, known: object): string[] =>
  isObject(sent) ? listIgnoredFields(toComparable(sent), known) : [];
