import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { createReadStream } from "node:fs";
import { z } from "zod";
import { Problem } from "../../contract/errors.ts";
import { getCode, getMessage } from "../../kit/error.ts";
import { parseIfJson } from "../../kit/json.ts";
import {
  type Beginning,
  type Entry,
  Fault,
  type Head,
  type Key,
  type KeptHead,
  type Numbered,
  type Range,
  readKeptHead,
  readLines,
} from "./evidence-lines.ts";
import { formatHead } from "../store/audit/evidence.ts";
import { formatStatement, nameKey, readPublicKey } from "../store/audit/evidence-keys.ts";

/** The result of a check. `fault` says what is wrong and where; `id` names the entry, where there is one. */
export type EvidenceVerdict = {
  ok: boolean;
  tenantId: string | null;
  entries: number;
  heads: number;
  /** The number of kept heads that the file was compared with, because it has their entries. */
  compared: number;
  fault: string | null;
  id: string | null;
};

const isSignedBy = (publicKey: KeyObject, statement: string, signature: string): boolean =>
  verify(null, Buffer.from(statement), publicKey, Buffer.from(signature, "base64"));

/** The keys that the given one vouches for, directly or through others: each was signed by the one before or after. */
const findTrusted = (given: KeyObject, keys: readonly Key[]): Map<string, KeyObject> => {
  const spki = given.export({ format: "der", type: "spki" }).toString("base64");
  const trusted = new Map([[nameKey(spki), given]]);
  const vouches = (by: string, statement: string, signature: string | undefined): boolean => {
    const key = trusted.get(by);
    return key !== undefined && signature !== undefined && isSignedBy(key, statement, signature);
  };
  const trust = ({ id, publicKey }: Key): void => {
    if (nameKey(publicKey) === id) trusted.set(id, readPublicKey(publicKey));
  };
  // Twice the number of keys: the given one may be any of them.
  for (const [index, key] of [...keys, ...keys.toReversed()].entries()) {
    const at = index < keys.length ? index : 2 * keys.length - 1 - index;
    const former = keys[at - 1];
    if (former === undefined) continue;
    if (vouches(former.id, formatStatement("next-key", key.publicKey), key.signedByFormer))
      trust(key);
    if (vouches(key.id, formatStatement("former-key", former.publicKey), key.signsFormer))
      trust(former);
  }
  return trusted;
};

type State = {
  given: KeyObject;
  beginning: Beginning | undefined;
  keys: Key[];
  /** The keys that sign, by id; undefined until all lines with keys were read. */
  trusted: Map<string, KeyObject> | undefined;
  last: { seq: number; link: string; id: string } | undefined;
  first: { seq: number; id: string } | undefined;
  /** The first entry, whose link is computed when the last line has named the link before it. */
  pending: { entry: readonly unknown[]; link: string } | undefined;
  /** The last entry whose link a head has signed. */
  confirmed: State["last"];
  /** The head in the line before, if that has one. */
  head: Head | undefined;
  range: Range | undefined;
  /** Heads that the auditor keeps, and the links that the file has in their places. */
  kept: readonly KeptHead[];
  places: Map<number, { link: string; id: string | null }>;
  entries: number;
  heads: number;
  compared: number;
};

/** Finds the trusted keys once all are known. @throws {Fault} for one that the given key does not vouch for */
const closeKeys = (state: State): Map<string, KeyObject> => {
  const { given, keys } = state;
  state.trusted ??= findTrusted(given, keys);
  const { trusted } = state;
  const foreign = keys.find(({ id, publicKey }) => !trusted.has(id) || nameKey(publicKey) !== id);
  if (foreign === undefined) return trusted;
  throw new Fault(`the file has the key ${foreign.id}, for which the given key does not vouch.`);
};

const computeLink = (previous: string, entry: readonly unknown[]): string =>
  hash("sha256", `${previous}\n${JSON.stringify(entry)}`, "hex");

const checkSigned = (
  state: State,
  subject: string,
  { key, signature, statement }: { key: string; signature: string; statement: string },
): void => {
  const publicKey = closeKeys(state).get(key);
  if (publicKey === undefined)
    throw new Fault(
      `${subject} is signed with the key ${key}, for which the given key does not vouch.`,
    );
  if (!isSignedBy(publicKey, statement, signature))
    throw new Fault(`the signature of ${subject} does not fit.`);
};

const checkTenant = ({ beginning }: State, subject: string, tenantId: string, id?: string) => {
  if (tenantId !== beginning?.tenantId) throw new Fault(`${subject} is of another tenant.`, id);
};

/** Checks that an entry follows the one before it. */
const checkFollows = (
  { seq: lastSeq, link: lastLink, id: lastId }: NonNullable<State["last"]>,
  { previous, entry, link }: Entry,
): void => {
  const [, seq, id] = entry;
  if (previous !== lastId && seq > lastSeq + 1)
    throw new Fault(`entry ${previous} before entry ${id} was left out.`, previous);
  if (seq !== lastSeq + 1)
    throw new Fault(
      `entry ${id} has the number ${seq} after ${lastSeq}: it was added or moved.`,
      id,
    );
  if (link !== computeLink(lastLink, entry))
    throw new Fault(`entry ${id} was changed, or entry ${lastId} before it with its link.`, id);
  if (previous !== lastId)
    throw new Fault(`entry ${id} names ${previous} as the one before it, not ${lastId}.`, id);
};

/** Checks that nothing but the last line follows the head of an entry that is not in the file. */
const checkPlaceOfHead = ({ head, last }: State): void => {
  if (head === undefined || head.seq === last?.seq) return;
  throw new Fault(`the head of entry number ${head.seq} stands in another place.`);
};

const recordPlace = (
  { kept, places }: State,
  seq: number,
  place: { link: string; id: string | null },
): void => {
  if (kept.some((head) => head.seq === seq)) places.set(seq, place);
};

/** Compares the file with the heads that the auditor keeps. */
const checkKept = (state: State): void => {
  for (const head of state.kept) {
    const subject = `the kept head of entry number ${head.seq}`;
    checkTenant(state, subject, head.tenantId);
    checkSigned(state, subject, { ...head, statement: formatHead(head.tenantId, head) });
    const place = state.places.get(head.seq);
    if (place === undefined) continue;
    if (place.link !== head.link)
      throw new Fault(
        `${subject} was signed for other entries than those up to ${place.id ?? "that number"}: entries were changed since ${head.signedAt}, or the link that follows those that retention removed.`,
        place.id,
      );
    state.compared += 1;
  }
};

const checkEntry = (state: State, line: Entry): void => {
  const { previous, entry, link } = line;
  const [tenantId, seq, id] = entry;
  checkTenant(state, `entry ${id}`, tenantId, id);
  const { last } = state;
  checkPlaceOfHead(state);
  state.head = undefined;
  if (last !== undefined) checkFollows(last, line);
  else if (previous !== "")
    throw new Fault(`entry ${previous} before entry ${id} was left out.`, previous);
  else {
    state.first = { seq, id };
    state.pending = { entry, link };
  }
  state.last = { seq, link, id };
  recordPlace(state, seq, { link, id });
  state.entries += 1;
};

const checkHead = (state: State, head: Head): void => {
  const { tenantId, seq, link } = head;
  const statement = formatHead(tenantId, head);
  const subject = `the head of entry number ${seq}`;
  checkTenant(state, subject, tenantId);
  checkSigned(state, subject, { ...head, statement });
  state.heads += 1;
  const { last } = state;
  if (last === undefined || seq < last.seq) throw new Fault(`${subject} stands in another place.`);
  if (seq === last.seq && link !== last.link)
    throw new Fault(
      `${subject} was signed for other entries than those up to ${last.id}.`,
      last.id,
    );
  checkPlaceOfHead(state);
  if (seq === last.seq) state.confirmed = last;
  else recordPlace(state, seq, { link, id: null });
  state.head = head;
};

const checkEnds = (
  { first, last, pending, confirmed }: State,
  { before, end, firstId, lastId }: Range,
): void => {
  if (first === undefined || last === undefined || pending === undefined)
    throw new Fault(`entry ${firstId} was left out, and all after it.`, firstId);
  if (first.seq > before.seq + 1)
    throw new Fault(`entry ${firstId} at the beginning was left out.`, firstId);
  if (first.seq !== before.seq + 1 || first.id !== firstId)
    throw new Fault(`entry ${first.id} at the beginning was added or changed.`, first.id);
  if (pending.link !== computeLink(before.link, pending.entry))
    throw new Fault(`entry ${first.id} was changed.`, first.id);
  if (last.seq < end.seq) throw new Fault(`entry ${lastId} at the end was left out.`, lastId);
  if (last.seq !== end.seq || last.id !== lastId)
    throw new Fault(`entry ${last.id} at the end was added or changed.`, last.id);
  if (last.link === end.link) return;
  const place = confirmed === undefined ? "" : ` after entry ${confirmed.id} and`;
  throw new Fault(
    `an entry${place} up to ${last.id} was changed, with all links from it to the end.`,
    last.id,
  );
};

const checkRange = (state: State, range: Range): void => {
  const { tenantId, from, to, before, end, firstId, lastId, signedAt } = range;
  const values = [tenantId, from, to, before.seq, before.link, end.seq, end.link];
  const statement = formatStatement("range", ...values, firstId, lastId, signedAt);
  checkTenant(state, "the last line", tenantId);
  checkSigned(state, "the range", { ...range, statement });
  // A copy of a replaced key must not sign new files.
  if (range.key !== state.keys.at(-1)?.id)
    throw new Fault(`the range is signed with the key ${range.key}, which was replaced.`);
  checkEnds(state, range);
  if (state.head?.signedAt !== signedAt)
    throw new Fault("the head that was signed with the range, before the last line, is missing.");
  if (from !== state.beginning?.from || to !== state.beginning.to)
    throw new Fault("the days of the first line are not those that were signed.");
  recordPlace(state, before.seq, { link: before.link, id: null });
  checkKept(state);
  state.range = range;
};

const checkLine = (state: State, { number, line }: Numbered): void => {
  if (state.range !== undefined) throw new Fault(`line ${number} stands after the end.`);
  if (line.type === "evidence") {
    if (state.beginning !== undefined) throw new Fault(`line ${number} begins the evidence again.`);
    state.beginning = line;
    return;
  }
  if (state.beginning === undefined) throw new Fault("the first line is missing.");
  if (line.type === "key") {
    if (state.trusted !== undefined)
      throw new Fault(`line ${number} has a key, and keys stand before entries.`);
    state.keys.push(line);
    return;
  }
  closeKeys(state);
  if (line.type === "entry") checkEntry(state, line);
  else if (line.type === "head") checkHead(state, line);
  else checkRange(state, line);
};

/** Goes through the lines up to the first fault. @throws {Fault} */
const checkLines = async (bytes: AsyncIterable<Uint8Array>, state: State): Promise<void> => {
  for await (const line of readLines(bytes)) checkLine(state, line);
  if (state.range !== undefined) return;
  const { last } = state;
  const place = last === undefined ? "" : ` after entry ${last.id}`;
  throw new Fault(`the file was cut off${place}: its signed last line is missing.`, last?.id);
};

const openState = (given: KeyObject, kept: readonly KeptHead[]): State => ({
  given,
  kept,
  places: new Map(),
  beginning: undefined,
  keys: [],
  trusted: undefined,
  last: undefined,
  first: undefined,
  pending: undefined,
  confirmed: undefined,
  head: undefined,
  range: undefined,
  entries: 0,
  heads: 0,
  compared: 0,
});

const toVerdict = (state: State, fault: Fault | null): EvidenceVerdict => ({
  ok: fault === null,
  tenantId: state.beginning?.tenantId ?? null,
  entries: state.entries,
  heads: state.heads,
  compared: state.compared,
  fault: fault?.message ?? null,
  id: fault?.id ?? null,
});

const createUnread = (path: string, error: unknown): Problem =>
  new Problem("not_found", `The file ${path} cannot be read: ${getMessage(error)}`);

const parseKept = (text: string): KeptHead => {
  const head = readKeptHead(text);
  if (head !== undefined) return head;
  throw new Problem(
    "invalid_request",
    "The head is neither the output of admin audit head nor a line of evidence with a head.",
  );
};

/**
 * Checks a file that `writeEvidence` wrote, without store, master key or network. `key` is a public key in PEM form, or the
 * output of `admin audit key`; `heads` are outputs of `admin audit head`, or such lines of earlier evidence, to compare with.
 *
 * @throws {Problem} invalid_request for text that is no Ed25519 public key or no head, not_found for a file that cannot be
 *   read
 */
export const verifyEvidence = async (
  path: string,
  key: string,
  heads: readonly string[] = [],
): Promise<EvidenceVerdict> => {
  const state = openState(parsePublicKey(key), heads.map(parseKept));
  const file = createReadStream(path);
  try {
    await checkLines(file, state);
    return toVerdict(state, null);
  } catch (error) {
    if (error instanceof Fault) return toVerdict(state, error);
    throw getCode(error) === undefined ? error : createUnread(path, error);
  } finally {
    file.destroy();
  }
};

const Printed = z.object({ publicKey: z.string() });

const parsePublicKey = (text: string): KeyObject => {
  const printed = Printed.safeParse(parseIfJson(text));
  try {
    const key = createPublicKey(printed.data?.publicKey ?? text);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // The text is no key at all.
  }
  throw new Problem(
    "invalid_request",
    "The key is no public Ed25519 key, neither in PEM form nor as admin audit key prints it.",
  );
};
