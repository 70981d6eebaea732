import { Problem } from "../contract/errors.ts";

/** The parts of a record's ETag. */
export type RecordVersion = { id: string; version: number };

/** The preconditions of a request (RFC 9110, section 13.1); null where the header is absent. */
export type Preconditions = { ifMatch: string | null; ifNoneMatch: string | null };

/** Returns the ETag of a record. */
export const recordEtag = ({ id, version }: RecordVersion): string => `"${id}.${version}"`;

/** Weak tags count too: a proxy that compresses a response makes its tag weak, and the version in it is exact. */
const matches = (header: string, record: RecordVersion): boolean => {
  const tags = header.split(",").map((tag) => tag.trim().replace(/^W\//i, ""));
  return tags.includes("*") || tags.includes(recordEtag(record));
};

/**
 * Compares If-Match with the record that is about to change. Call it inside the transaction of the change.
 * @throws {Problem} precondition_failed
 */
export const checkIfMatch = (
  { ifMatch }: Pick<Preconditions, "ifMatch">,
  record: RecordVersion,
): void => {
  if (ifMatch === null || matches(ifMatch, record)) return;
  throw new Problem(
    "precondition_failed",
    "The record has changed since it was read. Read it again.",
  );
};

/**
 * Compares If-Match and If-None-Match with the record that a PUT replaces, undefined where it creates one.
 * Call it inside the transaction of the change.
 * @throws {Problem} precondition_failed
 */
export const checkUpsert = (call: Preconditions, record: RecordVersion | undefined): void => {
  if (record === undefined) {
    if (call.ifMatch === null) return;
    throw new Problem("precondition_failed", "There is no such record yet, in any version.");
  }
  if (call.ifNoneMatch !== null && matches(call.ifNoneMatch, record)) {
    throw new Problem("precondition_failed", "The record exists by now. Read it.");
  }
  checkIfMatch(call, record);
};
