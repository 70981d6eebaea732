import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/**
 * The key that all others are derived from. The keys in `former` open what they sealed, and seal nothing: the key before
 * a rotation, and the form of a secret that earlier versions used.
 */
export type MasterKey = Buffer & { readonly former?: readonly Buffer[] };

/** Derives the key of one purpose, which reveals neither the master key nor the keys of other purposes. */
export const keyFor = (masterKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", masterKey, "", `receivables/${purpose}`, 32));

/** Derives the keys of one purpose: the current one, then the former ones. */
export const keysFor = (masterKey: MasterKey, purpose: string): [Buffer, ...Buffer[]] => [
  keyFor(masterKey, purpose),
  ...(masterKey.former ?? []).map((former) => keyFor(former, purpose)),
];

/** Text that only a holder of the master key can make or read: AES-256-GCM under a key of its own per purpose. */
export type Seal = {
  seal(value: unknown): string;
  /** The sealed value, or undefined for anything altered, foreign or sealed for another purpose. */
  open(token: string): unknown;
  /** Seals again what a former key sealed; undefined for text of the current key, and for text that does not open. */
  renew(token: string): string | undefined;
};

const IV_BYTES = 12;
const TAG_BYTES = 16;

const openWith = (key: Buffer, bytes: Buffer): unknown => {
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    const body = Buffer.concat([
      decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)),
      decipher.final(),
    ]);
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
};

const sealWith = (key: Buffer, value: unknown): string => {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  const body = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
};

/** Returns the sealed bytes, or undefined for text that no seal has written. */
const toBytes = (token: string): Buffer | undefined => {
  const bytes = Buffer.from(token, "base64url");
  // A second spelling of the same bytes would make two tokens of one.
  const isWhole = bytes.length >= IV_BYTES + TAG_BYTES && bytes.toString("base64url") === token;
  return isWhole ? bytes : undefined;
};

const firstDefined = <T, R>(all: readonly T[], find: (one: T) => R): R | undefined => {
  for (const one of all) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
};

export const createSeal = (masterKey: MasterKey, purpose: string): Seal => {
  const [key, ...former] = keysFor(masterKey, purpose);
  const openFormer = (bytes: Buffer): unknown =>
    firstDefined(former, (one) => openWith(one, bytes));
  return {
    seal: (value) => sealWith(key, value),
    open(token) {
      const bytes = toBytes(token);
      if (bytes === undefined) return undefined;
      const value = openWith(key, bytes);
      return value === undefined ? openFormer(bytes) : value;
    },
    renew(token) {
      const bytes = toBytes(token);
      if (bytes === undefined || openWith(key, bytes) !== undefined) return undefined;
      const value = openFormer(bytes);
      return value === undefined ? undefined : sealWith(key, value);
    },
  };
};

/** Opens and renews what seals of several purposes wrote; each text keeps its purpose. */
export const joinSeals = (seals: readonly Seal[]): Pick<Seal, "open" | "renew"> => ({
  open: (token) => firstDefined(seals, ({ open }) => open(token)),
  renew: (token) => firstDefined(seals, ({ renew }) => renew(token)),
});
