import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { formatDayNumber, openCalendar, parseDay } from "../../contract/insights/calendar.ts";
import { Problem } from "../../contract/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { createSeal, type MasterKey } from "../../kit/seal.ts";
import { selectChain } from "../store/audit/chain.ts";
import {
  addHead,
  computeLink,
  type EvidenceKey,
  findLink,
  formatPublicKey,
  formatStatement,
  type Link,
  listCovered,
  listEvidenceKeys,
  listHeads,
  listUnsigned,
  readEvidenceKey,
  replaceEvidenceKey,
} from "../store/audit/evidence.ts";
import { advanceEnd, type ChainEnd } from "../store/audit/links.ts";
import type { Db, Snapshot, Store } from "../store/port.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { SEALS } from "../store/sealed-columns.ts";
import type { AuditLogRow, EvidenceHeadRow } from "../store/tables/schema.ts";
import { findTrustedHead } from "./audit.ts";
import { checkTenantExists } from "./tenants.ts";

export type EvidenceNeeds = { store: Store; masterKey: MasterKey; clock: Clock };

const toKeyNeeds = ({ masterKey, clock }: EvidenceNeeds) => ({
  seal: createSeal(masterKey, SEALS.evidence),
  now: clock(),
});

const readKey = (needs: EvidenceNeeds): Promise<EvidenceKey> =>
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

const signHead = (key: EvidenceKey, tenantId: string, { seq, link }: Link, at: number): Head => {
  const signedAt = new Date(at).toISOString();
  const statement = formatStatement("head", tenantId, seq, link, signedAt);
  return { tenantId, seq, link, signedAt, key: key.id, signature: key.sign(statement) };
};

const toHead = (row: EvidenceHeadRow): Head => ({
  tenantId: row.tenant_id,
  seq: row.seq,
  link: row.link,
  signedAt: new Date(row.at).toISOString(),
  key: row.key_id,
  signature: row.signature,
});

const selectAfter = (db: Db, tenantId: string, { seq }: Link, last: number) =>
  selectChain(db, tenantId).where("seq", ">", seq).where("seq", "<=", last);

const createChanged = (tenantId: string, id: string): Problem =>
  new Problem(
    "conflict",
    `Entry ${id} of the audit log was changed, or entries before it are missing. Run: admin audit verify ${tenantId}`,
  );

/** Goes through entries that follow a link, and stops at one that was changed. */
async function* followEntries(
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
const computeLast = async (
  needs: EvidenceNeeds,
  snapshot: Snapshot,
  tenantId: string,
): Promise<Link> => {
  const { db } = snapshot;
  const head = await findTrustedHead(db, needs.store.auditKey, tenantId);
  const base = await findLink(db, tenantId, { seq: head.seq, purgedSeq: head.purged_seq });
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
      needs.log.error("audit.head_not_signed", { tenantId, ...toErrorFields(error) });
    }
  }
  return signed;
};

export type PrintedKey = { id: string; publicKey: string; createdAt: string };

/** Returns the public key that evidence is signed with; `rotate` replaces it first. */
export const showEvidenceKey = async (
  needs: EvidenceNeeds,
  { rotate }: { rotate: boolean },
): Promise<PrintedKey> => {
  await readKey(needs);
  if (rotate) await needs.store.transaction((tx) => replaceEvidenceKey(tx, toKeyNeeds(needs)));
  const key = (await listEvidenceKeys(needs.store.read)).at(-1);
  if (key === undefined) throw new Error("the store has no key of evidence");
  return {
    id: key.id,
    publicKey: formatPublicKey(key.public_key),
    createdAt: new Date(key.created_at).toISOString(),
  };
};

const toLine = (value: object): string => `${JSON.stringify(value)}\n`;

const listKeyLines = async (db: Db): Promise<string[]> => {
  const keys = await listEvidenceKeys(db);
  return keys.map((key, index) =>
    toLine({
      type: "key",
      id: key.id,
      publicKey: key.public_key,
      ...(index === 0
        ? {}
        : {
            former: keys[index - 1]?.id,
            signedByFormer: key.signed_by_former,
            signsFormer: key.signs_former,
          }),
    }),
  );
};

type Span = { from: string; to: string };

/** Finds the first and the last entry of days; entries between them belong to the range whatever their time. */
const findRange = async (
  db: Db,
  tenantId: string,
  { from, to }: Span,
): Promise<{ first: number; last: number } | undefined> => {
  const { settings } = await readTenant(db, tenantId);
  const calendar = openCalendar(settings.timeZone);
  const found = await db
    .selectFrom("audit_logs")
    .select((select) => [select.fn.min("seq").as("first"), select.fn.max("seq").as("last")])
    .where("tenant_id", "=", tenantId)
    .where("at", ">=", calendar.startOf(from))
    .where("at", "<=", calendar.endOf(to))
    .executeTakeFirstOrThrow();
  if (found.first === null) return undefined;
  return found;
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;

const checkDays = ({ from, to }: Span): void => {
  for (const [name, day] of Object.entries({ from, to })) {
    if (DAY.test(day) && formatDayNumber(parseDay(day)) === day) continue;
    throw new Problem("invalid_request", `--${name} takes a day such as 2026-01-31, not ${day}.`);
  }
  if (from > to) throw new Problem("invalid_request", `--from ${from} is after --to ${to}.`);
};

export type WrittenEvidence = { tenantId: string; entries: number; heads: number };

type Range = Span & { tenantId: string; first: number; last: number };

/** The two ends of a range: the links before its first entry and of its last one, and the ids of both. */
type RangeEnds = { before: Link; end: Link; firstId: string; lastId: string };

const signRange = (key: EvidenceKey, range: Range, ends: RangeEnds, signedAt: string): object => {
  const { tenantId, from, to } = range;
  const { before, end, firstId, lastId } = ends;
  const values = [tenantId, from, to, before.seq, before.link, end.seq, end.link];
  const statement = formatStatement("range", ...values, firstId, lastId, signedAt);
  const signature = key.sign(statement);
  return {
    type: "range",
    tenantId,
    from,
    to,
    before,
    end,
    firstId,
    lastId,
    signedAt,
    key: key.id,
    signature,
  };
};

/** Writes the entries of a range with their links, and the heads that were signed within it. */
async function* formatRange(
  needs: EvidenceNeeds,
  snapshot: Snapshot,
  { key, range, written }: { key: EvidenceKey; range: Range; written: WrittenEvidence },
): AsyncGenerator<string> {
  const { db } = snapshot;
  const { tenantId, first, last } = range;
  const { purged_seq: purgedSeq } = await findTrustedHead(db, needs.store.auditKey, tenantId);
  const base = await findLink(db, tenantId, { seq: first - 1, purgedSeq });
  const heads = (await listHeads(db, tenantId, [first, last])).map(toHead);
  let before: Link = base;
  let end: Link = base;
  let [firstId, lastId] = ["", ""];
  const rows = snapshot.stream(selectAfter(db, tenantId, base, last));
  for await (const { row, link } of followEntries(needs, tenantId, rows, base)) {
    if (row.seq < first) {
      before = { seq: row.seq, link };
      continue;
    }
    yield toLine({ type: "entry", previous: lastId, entry: listCovered(row), link });
    written.entries += 1;
    if (firstId === "") firstId = row.id;
    lastId = row.id;
    end = { seq: row.seq, link };
    if (heads[0]?.seq !== row.seq) continue;
    yield toLine({ type: "head", ...heads.shift() });
    written.heads += 1;
  }
  const fresh = signHead(
    key,
    tenantId,
    await computeLast(needs, snapshot, tenantId),
    needs.clock(),
  );
  yield toLine({ type: "head", ...fresh });
  written.heads += 1;
  yield toLine(signRange(key, range, { before, end, firstId, lastId }, fresh.signedAt));
}

const FORMAT = 1;

async function* format(
  needs: EvidenceNeeds,
  snapshot: Snapshot,
  parts: { key: EvidenceKey; range: Range; written: WrittenEvidence },
): AsyncGenerator<string> {
  const { tenantId, from, to } = parts.range;
  yield toLine({ type: "evidence", format: FORMAT, tenantId, from, to });
  for (const line of await listKeyLines(snapshot.db)) yield line;
  yield* formatRange(needs, snapshot, parts);
}

/**
 * Writes the entries of days, in the tenant's time zone and both included, to a new file, as `docs/evidence.md`
 * describes.
 *
 * @throws {Problem} not_found for an unknown tenant or days without entries, conflict where the log was changed
 */
export const writeEvidence = async (
  needs: EvidenceNeeds,
  tenantId: string,
  { from, to, path }: Span & { path: string },
): Promise<WrittenEvidence> => {
  const { store } = needs;
  checkDays({ from, to });
  await checkTenantExists(store.read, tenantId);
  const key = await readKey(needs);
  await using snapshot = await store.snapshot({ owner: tenantId });
  const found = await findRange(snapshot.db, tenantId, { from, to });
  if (found === undefined) {
    throw new Problem(
      "not_found",
      `The audit log of tenant ${tenantId} has no entry from ${from} to ${to}.`,
    );
  }
  const written: WrittenEvidence = { tenantId, entries: 0, heads: 0 };
  const range = { tenantId, from, to, ...found };
  await pipeline(
    Readable.from(format(needs, snapshot, { key, range, written })),
    createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }),
  );
  return written;
};
