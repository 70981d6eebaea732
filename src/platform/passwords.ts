import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Problem } from "../contract/errors.ts";

const derive = promisify(argon2);

/** The cost of one guess. */
export type HashCost = { memoryKib: number; passes: number };

// OWASP's floor for argon2id: 19 MiB, two passes, one lane.
const COST: HashCost = { memoryKib: 19_456, passes: 2 };
const TAG_BYTES = 32;

const tagOf = (password: string, nonce: Buffer, { memoryKib, passes }: HashCost): Promise<Buffer> =>
  derive("argon2id", {
    message: password.normalize("NFC"),
    nonce,
    memory: memoryKib,
    passes,
    parallelism: 1,
    tagLength: TAG_BYTES,
  });

/** Returns `argon2id$memory$passes$nonce$tag`. */
export const hashPassword = async (password: string, cost = COST): Promise<string> => {
  const nonce = randomBytes(16);
  const tag = await tagOf(password, nonce, cost);
  const [nonceText, tagText] = [nonce.toString("base64url"), tag.toString("base64url")];
  return ["argon2id", cost.memoryKib, cost.passes, nonceText, tagText].join("$");
};

const PLACEHOLDER_NONCE = Buffer.alloc(16);

/**
 * Compares a password with a hash, at the cost that the hash names. A missing hash takes the same time as a wrong
 * password.
 */
export const matchesPassword = async (
  password: string,
  hash: string | null | undefined,
): Promise<boolean> => {
  const [, memoryKib, passes, nonce, tag] = (hash ?? "").split("$");
  const made =
    nonce === undefined
      ? await tagOf(password, PLACEHOLDER_NONCE, COST)
      : await tagOf(password, Buffer.from(nonce, "base64url"), {
          memoryKib: Number(memoryKib),
          passes: Number(passes),
        });
  const known = Buffer.from(tag ?? "", "base64url");
  return known.length === made.length && timingSafeEqual(known, made);
};

export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 1024;

/** A lower score means less than a million guesses. */
const LEAST_SCORE = 2;

/** Checks a password that a person chooses. @throws {Problem} invalid_request */
export const checkNewPassword = async (password: string): Promise<void> => {
  const { length } = password.length > LONGEST_PASSWORD ? password : [...password];
  // U+0000 is refused in every request, so no login could contain it.
  if (length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD || password.includes("\0")) {
    throw new Problem(
      "invalid_request",
      `A password has ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters; this one has ${length}.`,
    );
  }
  // Loaded on use: the list of common passwords takes time and memory.
  const { judge } = await import("./password-judge.ts");
  if (judge.check(password).score >= LEAST_SCORE) return;
  throw new Problem(
    "invalid_request",
    "This password is common or easy to guess. Choose another one, such as a few words that do not belong together.",
  );
};
