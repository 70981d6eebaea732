import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** A key of its own for a purpose: it tells nothing of the master key or of other purposes' keys. */
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

export const createSeal = (masterKey: Buffer, purpose: string): Seal => {
  const key = keyFor(masterKey, purpose);
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
    },
  };
};
