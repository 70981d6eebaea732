import { spawn } from "node:child_process";
import { json } from "node:stream/consumers";
import { SECOND } from "../kit/clock.ts";

/** The operating system's own store of secrets. Throws {@link KeychainError} where there is none, or it does not open. */
export type Keychain = {
  /** Keeps a secret, and makes sure that it can be read again. */
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

/** Where the person, or the machine, has no keychain. */
export const noKeychain = (why: string): Keychain => {
  const none = () => Promise.reject(new KeychainError(why));
  return { put: none, get: none, remove: none };
};

/** Long enough for a person to unlock it when they are asked to. */
const WITHIN_MS = 20 * SECOND;

const MAX_WHY = 300;

/**
 * The keychain behind a process of its own, which is ended when it takes too long: what answers for the keychain may be
 * missing or silent, and a call that waits for it cannot be taken back. Secrets go through pipes.
 */
export const keychainIn = (
  program: { command: string; args: readonly string[] },
  withinMs = WITHIN_MS,
): Keychain => {
  const ask = async (request: KeychainRequest): Promise<string | boolean | null> => {
    const child = spawn(program.command, program.args, {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: withinMs,
      killSignal: "SIGKILL",
      windowsHide: true,
    });
    const failed = new Promise<never>((_resolve, reject) => {
      child.once("error", (error) => reject(new KeychainError(error.message)));
    });
    // It may be gone before it has read.
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(request));
    const reply = await Promise.race([json(child.stdout).catch(() => undefined), failed]);
    if (reply === undefined) throw new KeychainError("it did not answer in time");
    const said = reply as KeychainReply;
    if ("why" in said) throw new KeychainError(said.why.slice(0, MAX_WHY));
    return said.value;
  };

  return {
    put: async (account, secret) => {
      await ask({ act: "put", account, secret });
    },
    get: async (account) => {
      const value = await ask({ act: "get", account });
      return typeof value === "string" ? value : undefined;
    },
    remove: async (account) => (await ask({ act: "remove", account })) === true,
  };
};
