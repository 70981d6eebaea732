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
import { changeRows } from "../engine/rows.ts";
import type { Db } from "../port.ts";
import type { EvidenceKeyRow } from "../tables/schema.ts";

/** Lists the keys of evidence, the first one first. */
export const listEvidenceKeys = (db: Db) =>
  db.selectFrom("evidence_keys").selectAll().orderBy("number").execute();

/** The text of a statement: its kind and its values as JSON. Each kind has its own label, so none passes for another. */
export const formatStatement = (kind: string, ...values: readonly (string | number)[]): string =>
  JSON.stringify([`receivables-${kind}`, ...values]);

/** Reads a public key (SPKI, base64). */
export const readPublicKey = (publicKey: string): KeyObject =>
  createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });

/** A key that signs evidence. `publicKey` is its public half (SPKI, base64). */
export type EvidenceKey = { id: string; publicKey: string; sign(statement: string): string };

const KEY_ID_DIGITS = 16;

/** Names a public key (SPKI, base64) without repeating it. */
export const nameKey = (publicKey: string): string =>
  hash("sha256", Buffer.from(publicKey, "base64"), "hex").slice(0, KEY_ID_DIGITS);

/** Opens a private key (PKCS #8, base64). Its public half follows from it, so that no stored one has to be believed. */
const openKey = (pkcs8: string): EvidenceKey => {
  const key = createPrivateKey({
    key: Buffer.from(pkcs8, "base64"),
    format: "der",
    type: "pkcs8",
  });
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).toString("base64");
  return {
    id: nameKey(publicKey),
    publicKey,
    sign: (statement) => sign(null, Buffer.from(statement), key).toString("base64"),
  };
};

const generateKey = () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
  return { pkcs8, key: openKey(pkcs8) };
};

const openRow = (row: EvidenceKeyRow, seal: Pick<Seal, "open">): EvidenceKey => {
  const pkcs8 = seal.open(row.sealed);
  if (typeof pkcs8 === "string") return openKey(pkcs8);
  throw new Error(
    "The key that signs evidence was sealed with another master key, or changed in the database (table evidence_keys). Set RECEIVABLES_SECRET_KEY to the master key that sealed it.",
  );
};

/** Whether a key has signed a statement. `publicKey` is SPKI, base64. */
export const isSignedBy = (publicKey: string, statement: string, signature: string): boolean =>
  verify(null, Buffer.from(statement), readPublicKey(publicKey), Buffer.from(signature, "base64"));

/**
 * Finds a stored key that was added or changed in the database. The last one must be the public half of the one that
 * signs, which the master key has sealed; each other one must be signed by the one after it.
 */
export const findForeignKey = (
  keys: readonly EvidenceKeyRow[],
  signer: EvidenceKey | undefined,
): EvidenceKeyRow | undefined =>
  keys.findLast((row, index) => {
    const next = keys[index + 1];
    if (row.id !== nameKey(row.public_key)) return true;
    if (next === undefined) return row.public_key !== signer?.publicKey;
    return !isSignedBy(
      next.public_key,
      formatStatement("former-key", row.public_key),
      next.signs_former,
    );
  });

type KeyNeeds = { seal: Pick<Seal, "seal" | "open">; now: number };

/** Adds a key. Where another process has added one at the same time, that one stays. */
const addKey = async (
  tx: Db,
  former: EvidenceKeyRow | undefined,
  { seal, now }: KeyNeeds,
): Promise<void> => {
  const { pkcs8, key } = generateKey();
  const added = await tx
    .insertInto("evidence_keys")
    .values({
      number: (former?.number ?? 0) + 1,
      id: key.id,
      public_key: key.publicKey,
      sealed: seal.seal(pkcs8),
      created_at: now,
      signed_by_former:
        former === undefined
          ? ""
          : openRow(former, seal).sign(formatStatement("next-key", key.publicKey)),
      signs_former:
        former === undefined ? "" : key.sign(formatStatement("former-key", former.public_key)),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("number")
    .execute();
  if (former === undefined || added.length === 0) return;
  await changeRows(tx, "evidence_keys", { number: former.number }, { sealed: "" });
};

/** Finds the key that signs evidence; undefined where none was created yet. */
export const findEvidenceKey = async (
  db: Db,
  seal: Pick<Seal, "open">,
): Promise<EvidenceKey | undefined> => {
  const row = (await listEvidenceKeys(db)).at(-1);
  return row === undefined ? undefined : openRow(row, seal);
};

/** Returns the key that signs evidence, and creates the first one. */
export const readEvidenceKey = async (tx: Db, needs: KeyNeeds): Promise<EvidenceKey> => {
  const found = await findEvidenceKey(tx, needs.seal);
  if (found !== undefined) return found;
  await addKey(tx, undefined, needs);
  const added = await findEvidenceKey(tx, needs.seal);
  if (added === undefined) throw new Error("the store has no key of evidence");
  return added;
};

/** Replaces the key that signs evidence. The former one signs nothing more, and stays to verify its signatures. */
export const replaceEvidenceKey = async (tx: Db, needs: KeyNeeds): Promise<void> => {
  await readEvidenceKey(tx, needs);
  await addKey(tx, (await listEvidenceKeys(tx)).at(-1), needs);
};

/** Returns a public key (SPKI, base64) in the form of files, PEM. */
export const formatPublicKey = (publicKey: string): string =>
  readPublicKey(publicKey).export({ format: "pem", type: "spki" }).toString();
