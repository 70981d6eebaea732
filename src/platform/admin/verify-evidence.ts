import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { open } from "node:fs/promises";
import { z } from "zod";
import { Problem } from "../../contract/errors.ts";
import { getMessage } from "../../kit/error.ts";
import { parseIfJson } from "../../kit/json.ts";
import { formatStatement, nameKey } from "../store/audit/evidence.ts";

const Text = z.string();
const Link = z.strictObject({ seq: z.int().min(0), link: Text });

const Beginning = z.strictObject({
  type: z.literal("evidence"),
  format: z.literal(1),
  tenantId: Text,
  from: Text,
  to: Text,
});

const Key = z.strictObject({
  type: z.literal("key"),
  id: Text,
  publicKey: Text,
  former: Text.optional(),
  signedByFormer: Text.optional(),
  signsFormer: Text.optional(),
});
type Key = z.infer<typeof Key>;

const Entry = z.strictObject({
  type: z.literal("entry"),
  previous: Text,
  entry: z.tuple([Text, z.int(), Text, z.number(), Text, Text, Text.nullable(), z.number(), Text]),
  link: Text,
});

const Head = z.strictObject({
  type: z.literal("head"),
  tenantId: Text,
  seq: z.int(),
  link: Text,
  signedAt: Text,
  key: Text,
  signature: Text,
});

const Range = z.strictObject({
  type: z.literal("range"),
  tenantId: Text,
  from: Text,
  to: Text,
  before: Link,
  end: Link,
  firstId: Text,
  lastId: Text,
  signedAt: Text,
  key: Text,
  signature: Text,
});
type Range = z.infer<typeof Range>;

const Line = z.discriminatedUnion("type", [Beginning, Key, Entry, Head, Range]);
type Line = z.infer<typeof Line>;

/** The result of a check. `fault` says what is wrong and where; `id` names the entry, where there is one. */
export type EvidenceVerdict = {
  ok: boolean;
  tenantId: string | null;
  entries: number;
  heads: number;
  fault: string | null;
  id: string | null;
};

/** The first fault of a file. */
class Fault extends Error {
  readonly id: string | null;
  constructor(message: string, id: string | null = null) {
    super(message);
    this.id = id;
  }
}

const isSignedBy = (publicKey: KeyObject, statement: string, signature: string): boolean =>
  verify(null, Buffer.from(statement), publicKey, Buffer.from(signature, "base64"));

const toPublicKey = (spki: string): KeyObject =>
  createPublicKey({ key: Buffer.from(spki, "base64"), format: "der", type: "spki" });

/** The keys that the given one vouches for, directly or through others: each was signed by the one before or after. */
const findTrusted = (given: KeyObject, keys: readonly Key[]): Map<string, KeyObject> => {
  const spki = given.export({ format: "der", type: "spki" }).toString("base64");
  const trusted = new Map([[nameKey(spki), given]]);
  const vouches = (by: string, statement: string, signature: string | undefined): boolean => {
    const key = trusted.get(by);
    return key !== undefined && signature !== undefined && isSignedBy(key, statement, signature);
  };
  const trust = ({ id, publicKey }: Key): void => {
    if (nameKey(publicKey) === id) trusted.set(id, toPublicKey(publicKey));
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
  keys: Key[];
  trusted: Map<string, KeyObject>;
  tenantId: string;
  last: { seq: number; link: string; id: string } | undefined;
  first: { seq: number; id: string } | undefined;
  /** The first entry, whose link is computed when the last line has named the link before it. */
  pending: { entry: readonly unknown[]; link: string } | undefined;
  entries: number;
  heads: number;
};

const computeLink = (previous: string, entry: readonly unknown[]): string =>
  hash("sha256", `${previous}\n${JSON.stringify(entry)}`, "hex");

const checkSigned = (
  { trusted }: State,
  subject: string,
  { key, signature, statement }: { key: string; signature: string; statement: string },
): void => {
  const publicKey = trusted.get(key);
  if (publicKey === undefined)
    throw new Fault(
      `${subject} is signed with the key ${key}, for which the given key does not vouch.`,
    );
  if (!isSignedBy(publicKey, statement, signature))
    throw new Fault(`the signature of ${subject} does not fit.`);
};

const checkEntry = (state: State, { previous, entry, link }: z.infer<typeof Entry>): void => {
  const [tenantId, seq, id] = entry;
  if (tenantId !== state.tenantId) throw new Fault(`entry ${id} is of another tenant.`, id);
  const { last } = state;
  if (last === undefined) {
    state.first = { seq, id };
    state.pending = { entry, link };
  } else {
    if (previous !== last.id && seq > last.seq + 1)
      throw new Fault(`entry ${previous} before entry ${id} was left out.`, previous);
    if (seq !== last.seq + 1)
      throw new Fault(
        `entry ${id} has the number ${seq} after ${last.seq}: it was added or moved.`,
        id,
      );
    if (link !== computeLink(last.link, entry)) throw new Fault(`entry ${id} was changed.`, id);
  }
  state.last = { seq, link, id };
  state.entries += 1;
};

const checkHead = (state: State, head: z.infer<typeof Head>): void => {
  const { tenantId, seq, link, signedAt } = head;
  const statement = formatStatement("head", tenantId, seq, link, signedAt);
  const subject = `the head of entry number ${seq}`;
  if (tenantId !== state.tenantId) throw new Fault(`${subject} is of another tenant.`);
  checkSigned(state, subject, { ...head, statement });
  state.heads += 1;
  const { last } = state;
  if (last === undefined || seq < last.seq) throw new Fault(`${subject} stands in another place.`);
  if (seq === last.seq && link !== last.link)
    throw new Fault(
      `${subject} was signed for other entries than those up to ${last.id}.`,
      last.id,
    );
};

const checkEnds = (
  { first, last, pending }: State,
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
  if (last.link !== end.link) throw new Fault(`entries up to ${last.id} were changed.`, last.id);
};

const checkRange = (state: State, range: Range): void => {
  const { tenantId, from, to, before, end, firstId, lastId, signedAt } = range;
  const values = [tenantId, from, to, before.seq, before.link, end.seq, end.link];
  const statement = formatStatement("range", ...values, firstId, lastId, signedAt);
  if (tenantId !== state.tenantId) throw new Fault("the last line is of another tenant.");
  checkSigned(state, "the range", { ...range, statement });
  checkEnds(state, range);
};

/** Goes through the lines up to the first fault. */
const checkLines = async (
  lines: AsyncIterable<string>,
  given: KeyObject,
  state: State,
): Promise<void> => {
  let beginning: z.infer<typeof Beginning> | undefined;
  let range: Range | undefined;
  let number = 0;
  for await (const text of lines) {
    number += 1;
    const { data: line } = Line.safeParse(parseIfJson(text));
    if (line === undefined) throw new Fault(`line ${number} is not a line of evidence.`);
    if (range !== undefined) throw new Fault(`line ${number} stands after the end.`);
    if (beginning === undefined) {
      if (line.type !== "evidence") throw new Fault("the first line is missing.");
      beginning = line;
      state.tenantId = line.tenantId;
      continue;
    }
    if (line.type === "evidence") throw new Fault(`line ${number} begins the evidence again.`);
    if (line.type === "key") {
      state.keys.push(line);
      state.trusted = findTrusted(given, state.keys);
    } else if (line.type === "entry") checkEntry(state, line);
    else if (line.type === "head") checkHead(state, line);
    else {
      range = line;
      checkRange(state, line);
      if (line.from !== beginning.from || line.to !== beginning.to)
        throw new Fault("the days of the first line are not those that were signed.");
    }
  }
  if (range === undefined) {
    const { last } = state;
    const place = last === undefined ? "" : ` after entry ${last.id}`;
    throw new Fault(`the file was cut off${place}: its signed last line is missing.`, last?.id);
  }
};

/**
 * Checks a file that `writeEvidence` wrote, without store, master key or network. `key` is a public key in PEM form, or the
 * output of `admin audit key`.
 *
 * @throws {Problem} invalid_request for text that is no Ed25519 public key, not_found for a file that cannot be read
 */
export const verifyEvidence = async (path: string, key: string): Promise<EvidenceVerdict> => {
  const given = readPublicKey(key);
  const file = await open(path).catch((error: unknown) => {
    throw new Problem("not_found", `The file ${path} cannot be read: ${getMessage(error)}`);
  });
  const state: State = {
    keys: [],
    trusted: new Map(),
    tenantId: "",
    last: undefined,
    first: undefined,
    pending: undefined,
    entries: 0,
    heads: 0,
  };
  const finish = (fault: Fault | null): EvidenceVerdict => ({
    ok: fault === null,
    tenantId: state.tenantId === "" ? null : state.tenantId,
    entries: state.entries,
    heads: state.heads,
    fault: fault?.message ?? null,
    id: fault?.id ?? null,
  });
  try {
    await checkLines(file.readLines(), given, state);
    return finish(null);
  } catch (error) {
    if (error instanceof Fault) return finish(error);
    throw error;
  } finally {
    await file.close();
  }
};

const Printed = z.object({ publicKey: Text });

const readPublicKey = (text: string): KeyObject => {
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
