/** The audit log of an imported tenant. */
import { setImmediate } from "node:timers/promises";
import { type AuditKey, findSigner, listAuditKeys } from "../store/audit-key.ts";
import { advanceEnd, type ChainEnd } from "../store/audit/links.ts";
import type { AuditHeadRow, AuditLogRow } from "../store/tables/schema.ts";
import { readTable, type Row } from "./tenant-folder.ts";
import { completeRows } from "./tenant-rows.ts";
import { checkOwner, type Import, insertRows, ROWS_AT_ONCE } from "./tenant-writes.ts";

/**
 * `kept` with its codes if they are of this store's keys, `signed_again` with this store's key otherwise. `wasValid`:
 * whether the log verified; null if this store has no key that could tell.
 */
export type ImportedAudit = {
  entries: number;
  chain: "kept" | "signed_again";
  wasValid: boolean | null;
};

/** Returns the entry with the code of this store's key. */
const signAgain = (key: AuditKey, prev_hash: string, row: AuditLogRow): AuditLogRow => {
  const linked = { ...row, prev_hash };
  return { ...linked, hash: key.link(linked) };
};

type Examined = {
  /** A key of this store has signed the head, an entry or the manifest, or is said to have. */
  isOwn: boolean;
  /** The chain verifies with this store's keys from its beginning to its signed end. */
  isValid: boolean;
};

const examine = async (task: Import, head: AuditHeadRow): Promise<Examined> => {
  const { auditKey } = task.store;
  const keys = listAuditKeys(auditKey);
  const named = [head.key_id, task.manifest.audit.keyId];
  let isOwn = task.isOwn || named.some((id) => id === "" || keys.some((key) => key.id === id));
  let end: ChainEnd | undefined = { seq: head.purged_seq, hash: head.purged_hash, era: undefined };
  for await (const rows of readTable(task.folder, "audit_logs", ROWS_AT_ONCE)) {
    for (const row of rows as AuditLogRow[]) {
      end &&= advanceEnd(auditKey, end, row);
      // Another key may be named for a log of this store's, so that it would be signed again.
      isOwn ||= keys.some((key) => row.hash === key.link(row) || row.hash === key.takeOver(row));
    }
  }
  const mac = findSigner(auditKey, head.key_id)?.head(head.tenant_id, head);
  const isWhole = end !== undefined && end.seq === head.seq && end.hash === head.hash;
  return { isOwn, isValid: isWhole && head.mac === mac };
};

/** Returns the head of a log that does not verify: without a signature, so that it never will. */
const toInvalidHead = (task: Import, head: AuditHeadRow, lastSeq: number): AuditHeadRow => {
  const { auditKey: key } = task.store;
  const isKnown = findSigner(key, head.key_id) !== undefined;
  return {
    ...head,
    seq: Math.max(head.seq, lastSeq),
    mac: "",
    key_id: isKnown ? head.key_id : key.id,
  };
};

/**
 * Writes the log: as it is if it is this store's own, also if it does not verify, because signing it would hide that.
 * Otherwise each entry gets a code of this store's key. Returns the log's head for this store.
 */
export const writeAuditLog = async (
  task: Import,
  head: AuditHeadRow,
): Promise<{ audit: ImportedAudit; head: AuditHeadRow }> => {
  const { auditKey: key } = task.store;
  const { isOwn, isValid } = await examine(task, head);
  let [entries, hash, seq] = [0, head.purged_hash, head.purged_seq];
  for await (const rows of readTable(task.folder, "audit_logs", ROWS_AT_ONCE)) {
    checkOwner(task, "audit_logs", rows);
    const sign = (row: AuditLogRow): AuditLogRow => {
      const entry = signAgain(key, hash, row);
      ({ hash } = entry);
      return entry;
    };
    const written = isOwn
      ? rows
      : (completeRows("audit_logs", rows, task.owner) as AuditLogRow[]).map(sign);
    await task.store.transaction((tx) => insertRows(task, tx, "audit_logs", written as Row[]));
    entries += rows.length;
    seq = Math.max(seq, Number(rows.at(-1)?.["seq"] ?? 0));
    await setImmediate();
  }
  if (isOwn) {
    const audit = { entries, chain: "kept", wasValid: isValid } as const;
    return { audit, head: isValid ? head : toInvalidHead(task, head, seq) };
  }
  const next = { ...head, seq, hash, key_id: key.id };
  return {
    audit: { entries, chain: "signed_again", wasValid: null },
    head: { ...next, mac: key.head(head.tenant_id, next) },
  };
};
