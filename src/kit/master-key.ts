import { scrypt } from "node:crypto";
import type { MasterKey } from "./seal.ts";

/** OWASP's parameters for scrypt: 128 MiB and a few tenths of a second per guess. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const KEY_BYTES = 32;
// Nodes share the secret and a database that a node may not have opened yet, so the salt can come from neither.
const SALT = "receivables/master-key/1";

const distinct = (text: string): number => new Set(text).size;

const isHexKey = (text: string): boolean =>
  /^[0-9a-f]{64,}$/i.test(text) && distinct(text.toLowerCase()) >= 8;

const isBase64Key = (text: string): boolean =>
  /^[\w+/-]{43,}={0,2}$/.test(text) &&
  [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(text)) &&
  distinct(text) >= 20;

/** Whether a secret looks like 32 random bytes as hex or base64. A passphrase of words does not. */
export const isRandomKey = (secret: string): boolean => isHexKey(secret) || isBase64Key(secret);

const stretch = (secret: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(secret.normalize("NFC"), SALT, KEY_BYTES, COST, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });

/** Returns the key of a secret, then the form of it that earlier versions used. */
const deriveForms = async (secret: string): Promise<[Buffer, ...Buffer[]]> => {
  const plain = Buffer.from(secret, "utf8");
  return isRandomKey(secret) ? [plain] : [await stretch(secret), plain];
};

/**
 * Derives the master key from the configured secret. Random keys are used as they are; any other secret is stretched
 * with scrypt, so that it cannot be guessed quickly from something sealed. What earlier versions sealed with the
 * unstretched secret still opens, and so does what was sealed with `previous`, the secret before a rotation.
 */
export const deriveMasterKey = async (secret: string, previous?: string): Promise<MasterKey> => {
  const [key, ...forms] = await deriveForms(secret);
  const former = [...forms, ...(previous === undefined ? [] : await deriveForms(previous))];
  return former.length === 0 ? key : Object.assign(key, { former });
};
