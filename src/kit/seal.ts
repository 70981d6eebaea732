import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/**
 * The key that all others are derived from. `previous` is the form of the same secret that earlier versions used: it
 * opens what they sealed, and seals nothing.
 */
export type MasterKey = Buffer & { readonly previous?: Buffer };

/** Derives the key of one purpose, which reveals neither the master key nor the keys of other purposes. */
export const keyFor = (masterKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", masterKey, "", `receivables/${purpose}`, 32));

/** Text that only a holder of the master key can make or read: AES-256-GCM under a key of its own per purpose. */
export type Seal = {
  seal(value: unknown): string;
  /** The sealed value, or undefined for anything altered, foreign or sealed for another purpose. */
  open(token: string): unknown;
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

export const createSeal = (masterKey: MasterKey, purpose: string): Seal => {
  const key = keyFor(masterKey, purpose);
  const { previous } = masterKey;
  const previousKey = previous && keyFor(previous, purpose);
  return {
    seal(value) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, iv);
      const body = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(token) {
      const bytes = Buffer.from(token, "base64url");
      // A second spelling of the same bytes would make two tokens of one.
      if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString("base64url") !== token) {
        return undefined;
      }
      const opened = openWith(key, bytes);
      return opened === undefined && previousKey !== undefined
        ? openWith(previousKey, bytes)
        : opened;
    },
  };
};
