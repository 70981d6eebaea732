import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(argon2);

// OWASP's floor for argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB = 19_456;
const PASSES = 2;
const TAG_BYTES = 32;

const tagOf = async (password: string, nonce: Buffer): Promise<Buffer> =>
  derive("argon2id", {
    message: password.normalize("NFC"),
    nonce,
    memory: MEMORY_KIB,
    passes: PASSES,
    parallelism: 1,
    tagLength: TAG_BYTES,
  });

/** `argon2id$memory$passes$nonce$tag`. */
export const hashPassword = async (password: string): Promise<string> => {
  const nonce = randomBytes(16);
  const tag = await tagOf(password, nonce);
  return [
    "argon2id",
    MEMORY_KIB,
    PASSES,
    nonce.toString("base64url"),
    tag.toString("base64url"),
  ].join("$");
};

const PLACEHOLDER_NONCE = Buffer.alloc(16);

/** Compares a password with a hash. A missing hash takes the same time as a wrong password. */
export const matchesPassword = async (
  password: string,
  hash: string | null | undefined,
): Promise<boolean> => {
  const [, , , nonce, tag] = (hash ?? "").split("$");
  const made = await tagOf(
    password,
    nonce === undefined ? PLACEHOLDER_NONCE : Buffer.from(nonce, "base64url"),
  );
  const known = Buffer.from(tag ?? "", "base64url");
  return known.length === made.length && timingSafeEqual(known, made);
};
