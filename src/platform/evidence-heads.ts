import { Problem } from "../contract/errors.ts";
import type { Clock } from "../kit/clock.ts";
import { toErrorFields, type Log } from "../kit/log.ts";
import { createSeal, type MasterKey } from "../kit/seal.ts";
import { type AuditHead, findSigner, type StoreAuditKey } from "./store/audit-key.ts";
import { findHead } from "./store/audit/chain.ts";
import {
  addHead,
  computeLink,
  findNearestHead,
  findNextHead,
  formatHead,
  isHeadSigned,
  type Link,
  listUnsigned,
  selectAfter,
} from "./store/audit/evidence.ts";
import {
  type EvidenceKey,
  findForeignKey,
  listEvidenceKeys,
  readEvidenceKey,
} from "./store/audit/evidence-keys.ts";
import { advanceEnd, type ChainEnd } from "./store/audit/links.ts";
import {
  findLinkRow,
  findRetainedLink,
  listWithoutCode,
  storeLink,
} from "./store/audit/retained-link.ts";
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

/**
 * Reads the keys of evidence, the last of which signs.
 *
 * @throws {Problem} conflict where the last one was replaced meanwhile, or one was added or changed in the database
 */
const readTrustedKeys = async (
  db: Db,
  signer: EvidenceKey | undefined,
): Promise<EvidenceKeyRow[]> => {
  const keys = await listEvidenceKeys(db);
  if (keys.some(({ id, sealed }) => id === signer?.id && sealed === ""))
    throw new Problem(
      "conflict",
      "The key of evidence was replaced meanwhile. Repeat the command.",
    );
  const foreign = findForeignKey(keys, signer);
  if (foreign === undefined) return keys;
  throw new Problem(
    "conflict",
    `The key ${foreign.id} of evidence was added or changed in the database (table evidence_keys): no key of this installation has signed it. Compare it with the output of admin audit key that you keep.`,
  );
};

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

type TrustedHead = AuditHead & { key_id: string };

/**
 * Reads the head of a tenant's audit log.
 *
 * @throws {Problem} conflict where it was changed, or signed with another master key
 */
export const findTrustedHead = async (
  db: Db,
  key: StoreAuditKey,
  tenantId: string,
): Promise<TrustedHead> => {
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

const createLinkChanged = (tenantId: string, seq: number): Problem =>
  new Problem(
    "conflict",
    `The link that evidence of the audit log of tenant ${tenantId} begins with, of entry number ${seq}, was changed, removed or added in the database (table evidence_heads). Restore the table from a backup.`,
  );

/**
 * Checks a stored head against the key that it names and, where it is known, the link of its entry.
 *
 * @throws {Problem} conflict where it was changed, or the entries up to it
 */
export const checkStoredHead = (
  keys: readonly EvidenceKeyRow[],
  row: EvidenceHeadRow,
  link = row.link,
): void => {
  const head = `The signed head of entry number ${row.seq} in the audit log of tenant ${row.tenant_id}`;
  if (!isHeadSigned(keys, row))
    throw new Problem(
      "conflict",
      `${head} was changed in the database (table evidence_heads). Compare it with the output of admin audit head that you keep.`,
    );
  if (row.link === link) return;
  throw new Problem(
    "conflict",
    `${head} was signed for other entries than those in the database. Run: admin audit verify ${row.tenant_id}`,
  );
};

/** A link from which others follow. `hash` is the code of its entry in the chain, where it is known. */
type Base = Link & { hash: string | undefined };

/** What evidence of a log rests on, from one snapshot: its head, the keys that sign, and the link that retention left. */
export type Ground = {
  tenantId: string;
  head: AuditHead;
  keys: readonly EvidenceKeyRow[];
  retained: Base;
};

/**
 * Reads what evidence of a log rests on. `signer` is the key that signs evidence, where one was created.
 *
 * @throws {Problem} conflict where any of it was changed in the database
 */
export const readGround = async (
  { auditKey }: Pick<Store, "auditKey">,
  db: Db,
  tenantId: string,
  signer: EvidenceKey | undefined,
): Promise<Ground> => {
  const head = await findTrustedHead(db, auditKey, tenantId);
  const keys = await readTrustedKeys(db, signer);
  const link = await findRetainedLink(db, auditKey, tenantId, head);
  if (link === undefined) throw createLinkChanged(tenantId, head.purged_seq);
  return { tenantId, head, keys, retained: { ...link, hash: head.purged_hash } };
};

/**
 * Finds the nearest link at or before an entry from which the rest can be computed.
 *
 * @throws {Problem} conflict where it was changed
 */
export const findBase = async (
  db: Db,
  { tenantId, head, keys, retained }: Ground,
  seq: number,
): Promise<Base> => {
  const row = await findNearestHead(db, tenantId, { seq, purgedSeq: head.purged_seq });
  if (row === undefined) return retained;
  checkStoredHead(keys, row);
  return { seq: row.seq, link: row.link, hash: undefined };
};

/**
 * Goes through entries that follow a link, and stops at one that was changed. Entries from before chains had a key can
 * be replaced together: only what follows them, a signed head or the end of the log, shows that they are genuine.
 */
export async function* followEntries(
  { auditKey }: Pick<Store, "auditKey">,
  tenantId: string,
  rows: AsyncIterable<AuditLogRow>,
  base: Base,
): AsyncGenerator<{ row: AuditLogRow; link: string }> {
  let { seq, link } = base;
  let end: ChainEnd | undefined;
  for await (const row of rows) {
    end ??= { seq: row.seq - 1, hash: base.hash ?? row.prev_hash, era: undefined };
    end = row.seq === seq + 1 ? advanceEnd(auditKey, end, row) : undefined;
    if (end === undefined) throw createChanged(tenantId, row.id);
    ({ seq } = row);
    link = computeLink(link, row);
    yield { row, link };
  }
}

/**
 * Checks that entries end where the head of the log says.
 *
 * @throws {Problem} conflict where they do not
 */
export const checkEnd = ({ tenantId, head }: Ground, { seq, hash }: Omit<Base, "link">): void => {
  const isEnd = hash === undefined || hash === head.hash;
  if (seq === head.seq && isEnd) return;
  throw new Problem(
    "conflict",
    `Entries ${isEnd ? "are missing" : "were changed"} at the end of the audit log. Run: admin audit verify ${tenantId}`,
  );
};

/** Computes the link of the last entry from the nearest one that is known. */
export const computeLast = async (
  { store }: Pick<EvidenceNeeds, "store">,
  snapshot: Snapshot,
  ground: Ground,
): Promise<Link> => {
  const { tenantId, head } = ground;
  const base = await findBase(snapshot.db, ground, head.seq);
  let last = base;
  const rows = snapshot.stream(selectAfter(snapshot.db, tenantId, base, head.seq));
  for await (const { row, link } of followEntries(store, tenantId, rows, base))
    last = { seq: row.seq, link, hash: row.hash };
  checkEnd(ground, last);
  return { seq: last.seq, link: last.link };
};

/** Whether the next signed head, or its own signature, proves a link without a code. */
const isProven = async (
  { store }: Pick<EvidenceNeeds, "store">,
  snapshot: Snapshot,
  keys: readonly EvidenceKeyRow[],
  { tenantId, base, row }: { tenantId: string; base: Base; row: EvidenceHeadRow | undefined },
): Promise<boolean> => {
  if (row !== undefined && isHeadSigned(keys, row)) return true;
  const next = await findNextHead(snapshot.db, tenantId, base.seq + 1);
  if (next === undefined || !isHeadSigned(keys, next)) return false;
  let last: Link = base;
  const rows = snapshot.stream(selectAfter(snapshot.db, tenantId, base, next.seq));
  for await (const { row, link } of followEntries(store, tenantId, rows, base))
    last = { seq: row.seq, link };
  return last.seq === next.seq && last.link === next.link;
};

/**
 * Gives the link that retention has left a code, where a version before these codes has left it or left none: only if a
 * signed head proves it.
 *
 * @throws {Problem} conflict where nothing proves it
 */
export const proveLink = async (
  { store, clock }: EvidenceNeeds,
  tenantId: string,
  signer: EvidenceKey,
): Promise<void> => {
  const { auditKey } = store;
  await using snapshot = await store.snapshot({ owner: tenantId });
  const { db } = snapshot;
  const head = await findTrustedHead(db, auditKey, tenantId);
  const { purged_seq: seq, purged_hash: hash } = head;
  const row = await findLinkRow(db, tenantId, seq);
  if (seq === 0 || (row !== undefined && row.mac !== "")) return;
  const keys = await readTrustedKeys(db, signer);
  const base = { seq, link: row?.link ?? "", hash };
  const key = findSigner(auditKey, head.key_id);
  if (key === undefined || !(await isProven({ store }, snapshot, keys, { tenantId, base, row })))
    throw createLinkChanged(tenantId, seq);
  const proven = { end: head, link: base.link, at: clock() };
  await store.transaction((tx) => storeLink(tx, key, tenantId, proven), tenantId);
};

/**
 * Signs the present end of a tenant's log, and stores the signature.
 *
 * @throws {Problem} not_found for an unknown tenant, conflict where the log was changed
 */
export const signEvidenceHead = async (needs: EvidenceNeeds, tenantId: string): Promise<Head> => {
  const { store, clock } = needs;
  const key = await readKey(needs);
  await proveLink(needs, tenantId, key);
  await using snapshot = await store.snapshot({ owner: tenantId });
  const ground = await readGround(store, snapshot.db, tenantId, key);
  const head = signHead(key, tenantId, await computeLast(needs, snapshot, ground), clock());
  const { seq, link, signedAt, signature } = head;
  const row = { tenant_id: tenantId, seq, link, at: Date.parse(signedAt), key_id: key.id };
  await store.transaction((tx) => addHead(tx, { ...row, signature }), tenantId);
  return head;
};

/** Heads are signed hourly; several nodes share the work. */
const LEAST_BETWEEN_MS = 50 * 60 * 1000;

/** Calls `act` for each tenant. The log names the tenants for which it fails. Returns for how many it succeeded. */
const forEach = async (
  log: Log,
  tenants: readonly string[],
  act: (tenantId: string) => Promise<unknown>,
): Promise<number> => {
  let done = 0;
  for (const tenantId of tenants) {
    try {
      await act(tenantId);
      done += 1;
    } catch (error) {
      // A log that was changed is refused with a problem; anything else may succeed the next time.
      const level = error instanceof Problem ? "error" : "warn";
      log[level]("audit.head_not_signed", { tenantId, ...toErrorFields(error) });
    }
  }
  return done;
};

/** Signs the ends of all logs that have grown since theirs was signed. Returns how many. */
export const signEvidenceHeads = async (needs: EvidenceNeeds & { log: Log }): Promise<number> => {
  const { store, clock, log } = needs;
  const withoutCode = await listWithoutCode(store.read);
  if (withoutCode.length > 0) {
    const key = await readKey(needs);
    await forEach(log, withoutCode, (tenantId) => proveLink(needs, tenantId, key));
  }
  const tenants = await listUnsigned(store.read, clock() - LEAST_BETWEEN_MS);
  return forEach(log, tenants, (tenantId) => signEvidenceHead(needs, tenantId));
};
