import { z } from "zod";
import { Problem } from "../../contract/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { parseIfJson } from "../../kit/json.ts";
import { createSeal, type MasterKey } from "../../kit/seal.ts";
import { findHead, selectChain } from "../store/audit/chain.ts";
import {
  findSigner,
  type KeptHead,
  listAuditKeys,
  type StoreAuditKey,
} from "../store/audit-key.ts";
import { checkStoredHead, findTrustedHead, type Ground, readGround } from "../evidence-heads.ts";
import { computeLink, listHeads, listStrayLinks } from "../store/audit/evidence.ts";
import { findEvidenceKey } from "../store/audit/evidence-keys.ts";
import { type ChainEnd, advanceEnd } from "../store/audit/links.ts";
import { isOtherKey, isSigned } from "../store/audit/signing.ts";
import type { Snapshot, Store } from "../store/port.ts";
import { SEALS } from "../store/sealed-columns.ts";
import type { AuditLogRow } from "../store/tables/schema.ts";
import { checkTenantExists } from "./tenants.ts";

type Head = NonNullable<Awaited<ReturnType<typeof findHead>>>;

/**
 * Why a log does not verify: its head row is missing; it was signed with another master key; an entry was changed;
 * entries are missing at the end; the head row was changed; entries without a key were never sealed; what evidence rests
 * on was changed; or a kept head is not in the log, or can no longer be compared because retention has removed its entry.
 */
export type Fault =
  | "head_missing"
  | "other_key"
  | "entry_changed"
  | "entries_missing"
  | "head_changed"
  | "not_sealed"
  | "evidence_changed"
  | "kept_head_differs"
  | "kept_head_purged";

export type Verdict = {
  tenantId: string;
  /** The number of entries, good and bad. */
  entries: number;
  /** The number of the last valid entry of the chain. */
  sealedTo: number;
  ok: boolean;
  /** The first entry that does not follow the one before it, or was changed; null where no entry shows the fault. */
  firstBadId: string | null;
  fault: Fault | null;
  /** What was changed of signed heads, their keys or the link that retention left; null where nothing was, or not checked. */
  evidence: string | null;
  /** Entries up to this number are from before chains had a key; the seal covers them since then. */
  unkeyed: { to: number; sealedAt: string } | null;
};

type Scan = {
  end: ChainEnd;
  entries: number;
  firstBadId: string | null;
  unkeyed: Verdict["unkeyed"];
  keptHash: string | undefined;
};

/** Reads a chain from its beginning up to its first fault, and counts the rest. */
const scanChain = async (
  key: StoreAuditKey,
  rows: AsyncIterable<AuditLogRow>,
  {
    head,
    kept,
    follow,
  }: { head: Head; kept: KeptHead | undefined; follow: (row: AuditLogRow) => void },
): Promise<Scan> => {
  let end: ChainEnd = { seq: head.purged_seq, hash: head.purged_hash, era: undefined };
  const scan: Omit<Scan, "end"> = {
    entries: 0,
    firstBadId: null,
    unkeyed: null,
    keptHash: end.seq === kept?.seq ? end.hash : undefined,
  };
  for await (const row of rows) {
    scan.entries += 1;
    if (scan.firstBadId !== null) continue;
    const next = row.seq <= head.seq ? advanceEnd(key, end, row) : undefined;
    if (next === undefined) {
      scan.firstBadId = row.id;
      continue;
    }
    if (end.era === "unkeyed" && next.era !== "unkeyed") {
      scan.unkeyed = { to: end.seq, sealedAt: new Date(row.at).toISOString() };
    }
    if (row.seq === kept?.seq) scan.keptHash = row.hash;
    follow(row);
    end = next;
  }
  return { ...scan, end };
};

const findHeadFault = ({ keptHash }: Scan, head: Head, keptHead: KeptHead): Fault | null => {
  if (keptHead.seq < head.purged_seq) return "kept_head_purged";
  return keptHash === keptHead.hash ? null : "kept_head_differs";
};

const findFault = (
  key: StoreAuditKey,
  tenantId: string,
  { scan, head, kept }: { scan: Scan; head: Head; kept: KeptHead | undefined },
): Fault | null => {
  const { end, entries, firstBadId } = scan;
  if (isOtherKey(key, head)) return "other_key";
  if (firstBadId !== null) return "entry_changed";
  if (end.seq < head.seq) return "entries_missing";
  if (end.hash !== head.hash || !isSigned(key, tenantId, head)) return "head_changed";
  if (entries > 0 && end.era === "unkeyed") return "not_sealed";
  // A key that was replaced cannot go on with a chain.
  if (entries > 0 && end.era !== findSigner(key, head.key_id)) return "head_changed";
  return kept === undefined ? null : findHeadFault(scan, head, kept);
};

const NO_HEAD: Head = { seq: 0, hash: "", purged_seq: 0, purged_hash: "", mac: "", key_id: "" };

/** Compares signed heads with the entries that a scan goes through. */
type EvidenceCheck = { follow(row: AuditLogRow): void; end(): string | null };

const NO_CHECK: EvidenceCheck = { follow: () => {}, end: () => null };

/** Calls `act` unless there is a fault already. Returns the fault. */
const findProblem = (fault: string | null, act: () => void): string | null => {
  if (fault !== null) return fault;
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
};

const checkHeads = async (snapshot: Snapshot, ground: Ground): Promise<EvidenceCheck> => {
  const { tenantId, head, keys, retained } = ground;
  const heads = await listHeads(snapshot.db, tenantId, [
    head.purged_seq + 1,
    Number.MAX_SAFE_INTEGER,
  ]);
  const [stray] = await listStrayLinks(snapshot.db, tenantId, head.purged_seq);
  let { link } = retained;
  let fault: string | null =
    stray === undefined
      ? null
      : `A link of entry number ${stray.seq} without a signature was added in the database (table evidence_heads).`;
  return {
    follow(row) {
      link = computeLink(link, row);
      const [next] = heads;
      if (next?.seq !== row.seq) return;
      heads.shift();
      fault = findProblem(fault, () => checkStoredHead(keys, next, link));
    },
    end() {
      const [left] = heads;
      if (left === undefined) return fault;
      return fault ?? `The signed head of entry number ${left.seq} is of no entry of the log.`;
    },
  };
};

/** Prepares the check of what evidence rests on; one that fails at once where the keys or the first link were changed. */
const openEvidenceCheck = async (
  { store, masterKey }: { store: Store; masterKey?: MasterKey },
  snapshot: Snapshot,
  tenantId: string,
): Promise<EvidenceCheck> => {
  if (masterKey === undefined) return NO_CHECK;
  const { db } = snapshot;
  try {
    const signer = await findEvidenceKey(db, createSeal(masterKey, SEALS.evidence));
    return await checkHeads(snapshot, await readGround(store, db, tenantId, signer));
  } catch (error) {
    if (error instanceof Problem) return { ...NO_CHECK, end: () => error.message };
    throw error;
  }
};

/**
 * Verifies a tenant's audit log from its beginning: no entry was changed, removed, added or moved. With the master key,
 * the signed heads are compared with it, too.
 */
export const verifyAudit = async (
  needs: { store: Store; masterKey?: MasterKey },
  tenantId: string,
  keptHead?: KeptHead,
): Promise<Verdict> => {
  const { store } = needs;
  await checkTenantExists(store.read, tenantId);
  const { auditKey: key } = store;
  await using snapshot = await store.snapshot({ owner: tenantId });
  const found = await findHead(snapshot.db, tenantId);
  const head = found ?? NO_HEAD;
  const { follow, end } = await openEvidenceCheck(needs, snapshot, tenantId);
  const rows = snapshot.stream(selectChain(snapshot.db, tenantId));
  const scan = await scanChain(key, rows, { head, kept: keptHead, follow });
  const inChain =
    found === undefined ? "head_missing" : findFault(key, tenantId, { scan, head, kept: keptHead });
  // Where the chain itself was changed, heads disagree with it for that reason.
  const evidence = inChain === null ? end() : null;
  const fault = inChain ?? (evidence === null ? null : "evidence_changed");
  const { entries, firstBadId, unkeyed } = scan;
  const sealedTo = scan.end.seq;
  return { tenantId, entries, sealedTo, ok: fault === null, firstBadId, fault, evidence, unkeyed };
};

const SignedHead = z.strictObject({
  tenantId: z.string(),
  seq: z.int().min(0),
  hash: z.string(),
  timestamp: z.string(),
  signature: z.string(),
  /** The same end for readers without the audit key; not compared here. */
  evidence: z.unknown().optional(),
});
/** A head to store outside the database. */
export type SignedHead = Omit<z.infer<typeof SignedHead>, "evidence">;

/** Signs the head of a tenant's audit log, so that it can be compared with the log later. */
export const signHead = async (
  { store, clock }: { store: Store; clock: Clock },
  tenantId: string,
): Promise<SignedHead> => {
  await checkTenantExists(store.read, tenantId);
  const { seq, hash } = await findTrustedHead(store.read, store.auditKey, tenantId);
  const keptHead = { tenantId, seq, hash, timestamp: new Date(clock()).toISOString() };
  return { ...keptHead, signature: store.auditKey.keptHead(keptHead) };
};

/**
 * Reads a head that `signHead` returned.
 *
 * @throws {Problem} invalid_request for other text, another tenant's head, and a signature of another key
 */
export const readSignedHead = (
  { store }: { store: Pick<Store, "auditKey"> },
  tenantId: string,
  text: string,
): KeptHead => {
  const { data } = SignedHead.safeParse(parseIfJson(text));
  if (data === undefined) {
    throw new Problem("invalid_request", "The head is not the output of: admin audit head");
  }
  const { signature, evidence: _evidence, ...keptHead } = data;
  if (keptHead.tenantId !== tenantId) {
    throw new Problem(
      "invalid_request",
      `The head is of tenant ${keptHead.tenantId}, not of tenant ${tenantId}.`,
    );
  }
  if (listAuditKeys(store.auditKey).some((key) => signature === key.keptHead(keptHead)))
    return keptHead;
  throw new Problem(
    "invalid_request",
    "The signature of the head does not fit: the head was changed, or signed with another master key.",
  );
};
