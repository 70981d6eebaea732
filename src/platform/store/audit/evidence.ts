import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import type { Seal } from "../../../kit/seal.ts";
import { listCovered } from "../audit-key.ts";
import type { Db } from "../port.ts";
import type { AuditLogRow, EvidenceHeadRow, EvidenceKeyRow } from "../tables/schema.ts";
import { changeRows, ofTenant, rowsOfTenant } from "../engine/rows.ts";

/** The unkeyed link of an entry: anyone can compute it. The one before the first entry is empty. */
export const computeLink = (previous: string, row: AuditLogRow): string =>
  hash("sha256", `${previous}\n${JSON.stringify(listCovered(row))}`, "hex");

/** A number of entries, and the unkeyed link of the last of them. */
export type Link = Pick<EvidenceHeadRow, "seq" | "link">;

type Place = { seq: number; purgedSeq: number };

/** Finds the nearest stored link at or before an entry. Without a signature it is one that retention has left. */
export const findNearestHead = (
  db: Db,
  tenantId: string,
  { seq, purgedSeq }: Place,
): Promise<EvidenceHeadRow | undefined> =>
  rowsOfTenant(db, "evidence_heads", tenantId)
    .where("seq", ">=", purgedSeq)
    .where("seq", "<=", seq)
    .where((where) => where.or([where("signature", "<>", ""), where("seq", "=", purgedSeq)]))
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();

/** The link before the first entry, or before those that retention has left where it left no link. */
export const startLink = (purgedSeq: number): Link => ({ seq: purgedSeq, link: "" });

/** Leaves a link behind for entries that are removed with the beginning of a chain, and forgets earlier ones. */
export const keepLink = async (
  tx: Db,
  tenantId: string,
  { rows, purgedSeq, now }: { rows: readonly AuditLogRow[]; purgedSeq: number; now: number },
): Promise<void> => {
  const place = { seq: purgedSeq, purgedSeq };
  const base = (await findNearestHead(tx, tenantId, place)) ?? startLink(purgedSeq);
  const end = rows.reduce<Link>(
    ({ link }, row) => ({ seq: row.seq, link: computeLink(link, row) }),
    { seq: base.seq, link: base.link },
  );
  await tx
    .deleteFrom("evidence_heads")
    .where("tenant_id", "=", tenantId)
    .where("seq", "<", end.seq)
    .execute();
  await addHead(tx, { tenant_id: tenantId, ...end, at: now, key_id: "", signature: "" });
};

/** Selects the entries after a link, up to a number. */
export const selectAfter = (db: Db, tenantId: string, { seq }: Link, last: number) =>
  rowsOfTenant(db, "audit_logs", tenantId)
    .where("seq", ">", seq)
    .where("seq", "<=", last)
    .orderBy("seq");

/** Finds the first and the last entry of a time; the range includes all entries between them, also those of other times. */
export const findEnds = async (
  db: Db,
  tenantId: string,
  { from, to }: { from: number; to: number },
): Promise<{ first: number; last: number } | undefined> => {
  const found = await ofTenant(db, "audit_logs", tenantId)
    .select((select) => [select.fn.min("seq").as("first"), select.fn.max("seq").as("last")])
    .where("at", ">=", from)
    .where("at", "<=", to)
    .executeTakeFirstOrThrow();
  return found.first === null ? undefined : found;
};

/** Stores a head; one of the same entry that is there already stays. */
export const addHead = async (tx: Db, head: EvidenceHeadRow): Promise<void> => {
  await tx
    .insertInto("evidence_heads")
    .values(head)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
};

/** Lists the signed heads of a span of entries. */
export const listHeads = (db: Db, tenantId: string, [first, last]: readonly [number, number]) =>
  rowsOfTenant(db, "evidence_heads", tenantId)
    .where("seq", ">=", first)
    .where("seq", "<=", last)
    .where("signature", "<>", "")
    .orderBy("seq")
    .execute();

/** Lists tenants whose log has grown since a head was last signed, or whose last head is from before `before`. */
export const listUnsigned = async (db: Db, before: number): Promise<string[]> => {
  const rows = await db
    .selectFrom("audit_heads")
    .leftJoin("evidence_heads", (join) =>
      join
        .onRef("evidence_heads.tenant_id", "=", "audit_heads.tenant_id")
        .on("evidence_heads.signature", "<>", ""),
    )
    .groupBy(["audit_heads.tenant_id", "audit_heads.seq"])
    .select((select) => [
      "audit_heads.tenant_id",
      "audit_heads.seq",
      select.fn.max("evidence_heads.seq").as("signed"),
      select.fn.max("evidence_heads.at").as("at"),
    ])
    .orderBy("audit_heads.tenant_id")
    .execute();
  return rows
    .filter(({ seq, signed, at }) => seq > (signed ?? 0) && (at ?? 0) <= before)
    .map(({ tenant_id }) => tenant_id);
};

/** Lists the keys of evidence, the first one first. */
export const listEvidenceKeys = (db: Db) =>
  db.selectFrom("evidence_keys").selectAll().orderBy("number").execute();

/** The text of a statement: its kind and its values as JSON. Each kind has its own label, so none passes for another. */
export const formatStatement = (kind: string, ...values: readonly (string | number)[]): string =>
  JSON.stringify([`receivables-${kind}`, ...values]);

/** The statement that a head signs. Its time is in ISO 8601. */
export const formatHead = (
  tenantId: string,
  { seq, link, signedAt }: Link & { signedAt: string },
): string => formatStatement("head", tenantId, seq, link, signedAt);

/** Reads a public key (SPKI, base64). */
export const readPublicKey = (publicKey: string): KeyObject =>
  createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });

/** Whether the key that a stored head names has signed it. */
export const isHeadSigned = (keys: readonly EvidenceKeyRow[], row: EvidenceHeadRow): boolean => {
  const key = keys.find(({ id }) => id === row.key_id);
  const signedAt = new Date(row.at).toISOString();
  const statement = Buffer.from(formatHead(row.tenant_id, { ...row, signedAt }));
  const signature = Buffer.from(row.signature, "base64");
  return key !== undefined && verify(null, statement, readPublicKey(key.public_key), signature);
};

/** A key that signs evidence. */
export type EvidenceKey = { id: string; sign(statement: string): string };

const openKey = (id: string, pkcs8: string): EvidenceKey => {
  const key = createPrivateKey({
    key: Buffer.from(pkcs8, "base64"),
    format: "der",
    type: "pkcs8",
  });
  return { id, sign: (statement) => sign(null, Buffer.from(statement), key).toString("base64") };
};

const KEY_ID_DIGITS = 16;

/** Names a public key (SPKI, base64) without repeating it. */
export const nameKey = (publicKey: string): string =>
  hash("sha256", Buffer.from(publicKey, "base64"), "hex").slice(0, KEY_ID_DIGITS);

const generateKey = () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ format: "der", type: "spki" }).toString("base64");
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
  return { publicKey: spki, pkcs8, key: openKey(nameKey(spki), pkcs8) };
};

const openRow = (row: EvidenceKeyRow, seal: Pick<Seal, "open">): EvidenceKey => {
  const pkcs8 = seal.open(row.sealed);
  if (typeof pkcs8 === "string") return openKey(row.id, pkcs8);
  throw new Error(
    "The key that signs evidence was sealed with another master key. Set RECEIVABLES_SECRET_KEY to that one.",
  );
};

type KeyNeeds = { seal: Pick<Seal, "seal" | "open">; now: number };

/** Adds a key. Where another process has added one at the same time, that one stays. */
const addKey = async (
  tx: Db,
  former: EvidenceKeyRow | undefined,
  { seal, now }: KeyNeeds,
): Promise<void> => {
  const { publicKey, pkcs8, key } = generateKey();
  const added = await tx
    .insertInto("evidence_keys")
    .values({
      number: (former?.number ?? 0) + 1,
      id: key.id,
      public_key: publicKey,
      sealed: seal.seal(pkcs8),
      created_at: now,
      signed_by_former:
        former === undefined
          ? ""
          : openRow(former, seal).sign(formatStatement("next-key", publicKey)),
      signs_former:
        former === undefined ? "" : key.sign(formatStatement("former-key", former.public_key)),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("number")
    .execute();
  if (former === undefined || added.length === 0) return;
  await changeRows(tx, "evidence_keys", { number: former.number }, { sealed: "" });
};

/** Returns the key that signs evidence, and creates the first one. */
export const readEvidenceKey = async (tx: Db, needs: KeyNeeds): Promise<EvidenceKey> => {
  const find = async () => (await listEvidenceKeys(tx)).at(-1);
  let row = await find();
  if (row === undefined) {
    await addKey(tx, undefined, needs);
    row = await find();
  }
  if (row === undefined) throw new Error("the store has no key of evidence");
  return openRow(row, needs.seal);
};

/** Replaces the key that signs evidence. The former one signs nothing more, and stays to verify its signatures. */
export const replaceEvidenceKey = async (tx: Db, needs: KeyNeeds): Promise<void> => {
  await readEvidenceKey(tx, needs);
  await addKey(tx, (await listEvidenceKeys(tx)).at(-1), needs);
};

/** Returns a public key (SPKI, base64) in the form of files, PEM. */
export const formatPublicKey = (publicKey: string): string =>
  readPublicKey(publicKey).export({ format: "pem", type: "spki" }).toString();
