import { spawn } from "node:child_process";
import { json } from "node:stream/consumers";
import { SECOND } from "../kit/clock.ts";

/** The operating system's store of secrets. Throws {@link KeychainError} if it is missing or stays locked. */
export type Keychain = {
  /** Stores a secret and verifies that it can be read back. */
  put(account: string, secret: string): Promise<void>;
  get(account: string): Promise<string | undefined>;
  remove(account: string): Promise<boolean>;
};

export class KeychainError extends Error {
  constructor(why: string) {
    super(why);
    this.name = "KeychainError";
  }
}

export type KeychainRequest = { act: keyof Keychain; account: string; secret?: string };
export type KeychainReply = { value: string | boolean | null } | { why: string };

/** Returns a keychain whose every operation fails with `why`. */
export const createMissingKeychain = (why: string): Keychain => {
  const none = () => Promise.reject(new KeychainError(why));
  return { put: none, get: none, remove: none };
};

/** Long enough for a person to answer the prompt that unlocks it. */
const TIMEOUT_MS = 20 * SECOND;

const MAX_WHY = 300;

/**
 * Accesses the keychain through a child process that is killed after `withinMs` milliseconds, because a native call to
 * a keychain that does not answer cannot be cancelled. Secrets go through pipes.
 */
export const createKeychainProcess = (
  program: { command: string; args: readonly string[] },
  withinMs = TIMEOUT_MS,
): Keychain => {
  const send = async (request: KeychainRequest): Promise<string | boolean | null> => {
    const child = spawn(program.command, program.args, {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: withinMs,
      killSignal: "SIGKILL",
      windowsHide: true,
    });
    const failed = new Promise<never>((_resolve, reject) => {
      child.once("error", (error) => reject(new KeychainError(error.message)));
    });
    // The process may end before it has read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(request));
    const reply = await Promise.race([json(child.stdout).catch(() => undefined), failed]);
    if (reply === undefined) throw new KeychainError("it did not answer in time");
    const result = reply as KeychainReply;
    if ("why" in result) throw new KeychainError(result.why.slice(0, MAX_WHY));
    return result.value;
  };

  return {
    put: async (account, secret) => {
      await send({ act: "put", account, secret });
    },
    get: async (account) => {
      const value = await send({ act: "get", account });
      return typeof value === "string" ? value : undefined;
    },
    remove: async (account) => (await send({ act: "remove", account })) === true,
  };
};
