import { open, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { formatDayNumber, openCalendar, parseDay } from "../../contract/insights/calendar.ts";
import { Problem } from "../../contract/errors.ts";
import {
  checkEnd,
  checkStoredHead,
  computeLast,
  type EvidenceNeeds,
  findBase,
  followEntries,
  type Ground,
  proveLink,
  readGround,
  readKey,
  signHead,
  toHead,
  toKeyNeeds,
} from "../evidence-heads.ts";
import {
  findEnds,
  findNextHead,
  type Link,
  listHeads,
  selectAfter,
} from "../store/audit/evidence.ts";
import {
  type EvidenceKey,
  formatPublicKey,
  formatStatement,
  listEvidenceKeys,
  replaceEvidenceKey,
} from "../store/audit/evidence-keys.ts";
import { listCovered } from "../store/audit-key.ts";
import type { Db, Snapshot } from "../store/port.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { FORMAT } from "./evidence-lines.ts";
import { checkTenantExists } from "./tenants.ts";

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

const toKeyLines = (keys: Ground["keys"]): string[] =>
  keys.map((key, index) =>
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

type Span = { from: string; to: string };

/** Finds the first and the last entry of days of the tenant. */
const findRange = async (db: Db, tenantId: string, { from, to }: Span) => {
  const { settings } = await readTenant(db, tenantId);
  const calendar = openCalendar(settings.timeZone);
  return findEnds(db, tenantId, { from: calendar.startOf(from), to: calendar.endOf(to) });
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

type Parts = { key: EvidenceKey; ground: Ground; range: Range; written: WrittenEvidence };

/**
 * Writes the entries of a range with their links, and the heads that were signed within it. Follows the log to the next
 * signed head, or to its end, which proves the last entries of the range.
 */
async function* formatEntries(
  { store }: EvidenceNeeds,
  snapshot: Snapshot,
  { ground, range, written }: Parts,
): AsyncGenerator<string, RangeEnds> {
  const { db } = snapshot;
  const { tenantId, keys } = ground;
  const { first, last } = range;
  const base = await findBase(db, ground, first - 1);
  const heads = await listHeads(db, tenantId, [first, last]);
  const next = await findNextHead(db, tenantId, last);
  let before: Link = { seq: base.seq, link: base.link };
  let [end, reached] = [before, { ...base }];
  let [firstId, lastId] = ["", ""];
  const rows = snapshot.stream(selectAfter(db, tenantId, base, next?.seq ?? ground.head.seq));
  for await (const { row, link } of followEntries(store, tenantId, rows, base)) {
    reached = { seq: row.seq, link, hash: row.hash };
    if (row.seq < first) before = { seq: row.seq, link };
    if (row.seq < first || row.seq > last) continue;
    yield toLine({ type: "entry", previous: lastId, entry: listCovered(row), link });
    written.entries += 1;
    if (firstId === "") firstId = row.id;
    lastId = row.id;
    end = { seq: row.seq, link };
    const [head] = heads;
    if (head?.seq !== row.seq) continue;
    checkStoredHead(keys, head, link);
    yield toLine({ type: "head", ...toHead(head) });
    heads.shift();
    written.heads += 1;
  }
  if (next === undefined) checkEnd(ground, reached);
  else checkStoredHead(keys, next, reached.link);
  return { before, end, firstId, lastId };
}

async function* format(
  needs: EvidenceNeeds,
  snapshot: Snapshot,
  parts: Parts,
): AsyncGenerator<string> {
  const { key, ground, range, written } = parts;
  const { tenantId, from, to } = range;
  yield toLine({ type: "evidence", format: FORMAT, tenantId, from, to });
  for (const line of toKeyLines(ground.keys)) yield line;
  const ends = yield* formatEntries(needs, snapshot, parts);
  const last = await computeLast(needs, snapshot, ground);
  const fresh = signHead(key, tenantId, last, needs.clock());
  yield toLine({ type: "head", ...fresh });
  written.heads += 1;
  yield toLine(signRange(key, range, ends, fresh.signedAt));
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
  await proveLink(needs, tenantId, key);
  await using snapshot = await store.snapshot({ owner: tenantId });
  const found = await findRange(snapshot.db, tenantId, { from, to });
  if (found === undefined) {
    throw new Problem(
      "not_found",
      `The audit log of tenant ${tenantId} has no entry from ${from} to ${to}.`,
    );
  }
  const written: WrittenEvidence = { tenantId, entries: 0, heads: 0 };
  const ground = await readGround(store, snapshot.db, tenantId, key);
  const range = { tenantId, from, to, ...found };
  const file = await open(path, "wx", 0o600);
  try {
    const lines = Readable.from(format(needs, snapshot, { key, ground, range, written }));
    await pipeline(lines, file.createWriteStream({ flush: true }));
    return written;
  } catch (error) {
    // A partial file would block the next attempt.
    await rm(path, { force: true });
    throw error;
  }
};
