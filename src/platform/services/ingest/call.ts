import type { ProblemDetails, SharedCode } from "../../../contract/errors.ts";
import type { Call } from "../../handlers.ts";
import { ignoredFields } from "../../ignored-fields.ts";
import { shown } from "../records.ts";
import { comparable, isObject } from "./body.ts";

/** What the ingest API's rules need of a call, whatever its operation. */
export type IngestCall = Pick<Call, "tenantId" | "now" | "origin" | "invalid"> & {
  caller: { id: string };
};

type Failing<C extends string> = {
  fail(code: C | SharedCode, message: string, details?: ProblemDetails): never;
};

export const noAccount = (call: Failing<"account_not_found">, number: string): never =>
  call.fail("account_not_found", `There is no account ${shown(number)}.`);

export const noDocument = (call: Failing<"document_not_found">, number: string): never =>
  call.fail("document_not_found", `There is no document ${shown(number)}.`);

// The number may be text that no header can bear; the csrId names the record as well.
export const versionOf = ({ csr_id, version }: { csr_id: number; version: number }) => ({
  id: String(csr_id),
  version,
});

/** Returns the paths of the body's fields that have no meaning here. */
export const ignoredIn = (sent: unknown, known: object): string[] =>
  isObject(sent) ? ignoredFields(comparable(sent), known) : [];
