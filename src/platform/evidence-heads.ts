import { Problem } from "../contract/errors.ts";
import type { Clock } from "../kit/clock.ts";
import { toErrorFields, type Log } from "../kit/log.ts";
import { createSeal, type MasterKey } from "../kit/seal.ts";
import type { AuditHead, StoreAuditKey } from "./store/audit-key.ts";
import { findHead } from "./store/audit/chain.ts";
import {
  addHead,
  computeLink,
  type EvidenceKey,
  findNearestHead,
  formatHead,
  isHeadSigned,
  type Link,
  listEvidenceKeys,
  listUnsigned,
  readEvidenceKey,
  selectAfter,
  startLink,
} from "./store/audit/evidence.ts";
import { advanceEnd, type ChainEnd } from "./store/audit/links.ts";
import { isOtherKey, isSigned } from "./store/audit/signing.ts";
import type { Db, Snapshot, Store } from "./store/port.ts";
import { SEALS } from "./store/sealed-columns.ts";
import type { AuditLogRow, EvidenceHeadRow, EvidenceKeyRow } from "./store/tables/schema.ts";

export type EvidenceNeeds = { store: Store; masterKey: MasterKey; clock: Clock };

export const toKeyNeeds = ({ masterKey, clock }: EvidenceNeeds) => ({
  seal: createSeal(masterKey, SEALS.evidence),
  now: clock(),
});

/** Returns the key that signs evidence. */
export const readKey = (needs: EvidenceNeeds): Promise<EvidenceKey> =>
  needs.store.transaction((tx) => readEvidenceKey(tx, toKeyNeeds(needs)));

/** A head of a tenant's log that a reader without the audit key can check. Times are ISO 8601 in UTC. */
export type Head = {
  tenantId: string;
  seq: number;
  link: string;
  signedAt: string;
  key: string;
  signature: string;
};

/** Signs a head. `at` is in milliseconds. */
export const signHead = (
  key: EvidenceKey,
  tenantId: string,
  { seq, link }: Link,
  at: number,
): Head => {
  const signedAt = new Date(at).toISOString();
  const statement = formatHead(tenantId, { seq, link, signedAt });
  return { tenantId, seq, link, signedAt, key: key.id, signature: key.sign(statement) };
};

export const toHead = (row: EvidenceHeadRow): Head => ({
  tenantId: row.tenant_id,
  seq: row.seq,
  link: row.link,
  signedAt: new Date(row.at).toISOString(),
  key: row.key_id,
  signature: row.signature,
});

/**
 * Reads the head of a tenant's audit log.
 *
 * @throws {Problem} conflict where it was changed, or signed with another master key
 */
export const findTrustedHead = async (
  db: Db,
  key: StoreAuditKey,
  tenantId: string,
): Promise<AuditHead> => {
  const head = await findHead(db, tenantId);
  if (head !== undefined && isSigned(key, tenantId, head)) return head;
  throw new Problem(
    "conflict",
    head !== undefined && isOtherKey(key, head)
      ? `The audit log of tenant ${tenantId} is signed with another master key. Set the key that signed it.`
      : `The head of the audit log of tenant ${tenantId} was changed. Run: admin audit verify ${tenantId}`,
  );
};

const createChanged = (tenantId: string, id: string): Problem =>
  new Problem(
    "conflict",
    `Entry ${id} of the audit log was changed, or entries before it are missing. Run: admin audit verify ${tenantId}`,
  );

/**
 * Checks a stored head against the key that it names and, where it is known, the link of its entry.
 *
 * @throws {Problem} conflict where it was changed
 */
export const checkStoredHead = (
  keys: readonly EvidenceKeyRow[],
  row: EvidenceHeadRow,
  link = row.link,
): void => {
  if (row.link === link && isHeadSigned(keys, row)) return;
  throw new Problem(
    "conflict",
    `The signed head of entry number ${row.seq} in the audit log of tenant ${row.tenant_id} was changed in the database (table evidence_heads). Compare it with the output of admin audit head that you keep.`,
  );
};

/**
 * Finds the nearest link at or before an entry from which the rest can be computed.
 *
 * @throws {Problem} conflict where it was changed
 */
export const findBase = async (
  db: Db,
  tenantId: string,
  place: { seq: number; purgedSeq: number },
): Promise<Link> => {
  const row = await findNearestHead(db, tenantId, place);
  if (row === undefined) return startLink(place.purgedSeq);
  if (row.signature !== "") checkStoredHead(await listEvidenceKeys(db), row);
  return { seq: row.seq, link: row.link };
};

/** Goes through entries that follow a link, and stops at one that was changed. */
export async function* followEntries(
  { store }: Pick<EvidenceNeeds, "store">,
  tenantId: string,
  rows: AsyncIterable<AuditLogRow>,
  base: Link,
): AsyncGenerator<{ row: AuditLogRow; link: string }> {
  let { seq, link } = base;
  let end: ChainEnd | undefined;
  for await (const row of rows) {
    end ??= { seq: row.seq - 1, hash: row.prev_hash, era: undefined };
    end = row.seq === seq + 1 ? advanceEnd(store.auditKey, end, row) : undefined;
    if (end === undefined) throw createChanged(tenantId, row.id);
    ({ seq } = row);
    link = computeLink(link, row);
    yield { row, link };
  }
}

/** Computes the link of the last entry from the nearest one that is known. */
export const computeLast = async (
  needs: EvidenceNeeds,
  snapshot: Snapshot,
  tenantId: string,
): Promise<Link> => {
  const { db } = snapshot;
  const head = await findTrustedHead(db, needs.store.auditKey, tenantId);
  const base = await findBase(db, tenantId, { seq: head.seq, purgedSeq: head.purged_seq });
  let last = base;
  const rows = snapshot.stream(selectAfter(db, tenantId, base, head.seq));
  for await (const { row, link } of followEntries(needs, tenantId, rows, base))
    last = { seq: row.seq, link };
  if (last.seq === head.seq) return last;
  throw new Problem(
    "conflict",
    `Entries are missing at the end of the audit log. Run: admin audit verify ${tenantId}`,
  );
};

/**
 * Signs the present end of a tenant's log, and stores the signature.
 *
 * @throws {Problem} not_found for an unknown tenant, conflict where the log was changed
 */
export const signEvidenceHead = async (needs: EvidenceNeeds, tenantId: string): Promise<Head> => {
  const { store, clock } = needs;
  const key = await readKey(needs);
  await using snapshot = await store.snapshot({ owner: tenantId });
  const head = signHead(key, tenantId, await computeLast(needs, snapshot, tenantId), clock());
  const { seq, link, signedAt, signature } = head;
  const row = { tenant_id: tenantId, seq, link, at: Date.parse(signedAt), key_id: key.id };
  await store.transaction((tx) => addHead(tx, { ...row, signature }), tenantId);
  return head;
};

/** Heads are signed hourly; several nodes share the work. */
const LEAST_BETWEEN_MS = 50 * 60 * 1000;

/** Signs the ends of all logs that have grown since theirs was signed. Returns how many. */
export const signEvidenceHeads = async (needs: EvidenceNeeds & { log: Log }): Promise<number> => {
  const tenants = await listUnsigned(needs.store.read, needs.clock() - LEAST_BETWEEN_MS);
  let signed = 0;
  for (const tenantId of tenants) {
    try {
      await signEvidenceHead(needs, tenantId);
      signed += 1;
    } catch (error) {
      // A log that was changed is refused with a problem; anything else may succeed the next time.
      const level = error instanceof Problem ? "error" : "warn";
      needs.log[level]("audit.head_not_signed", { tenantId, ...toErrorFields(error) });
    }
  }
  return signed;
};
