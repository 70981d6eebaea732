import { randomToken } from "../kit/ids.ts";
import { createSeal } from "../kit/seal.ts";
import { type Keychain, KeychainError } from "./keychain.ts";

/** Secrets sealed; `account` names the keychain's entry that holds the key, without it the master key opens them. */
export type Locked = { secrets: string; account?: string | undefined };

export type Locker = {
  /** `why` says what kept the key out of the keychain. */
  lock(name: string, secrets: unknown): Promise<Locked & { why?: string }>;
  /** The secrets, or undefined where nothing opens them. Throws {@link KeychainError}. */
  unlock(locked: Locked): Promise<unknown>;
  /** Takes the key out of the keychain; what it has sealed opens no more. */
  forget(account: string | undefined): Promise<void>;
};

const PURPOSE = "profile secrets";

const whyOf = (error: unknown): string => {
  if (error instanceof KeychainError) return error.message;
  throw error;
};

/** Seals with a key of its own that stands in the keychain alone; where there is no keychain, with the master key. */
export const createLocker = ({
  masterKey,
  keychain,
}: {
  masterKey: () => Promise<Buffer>;
  keychain: Keychain;
}): Locker => ({
  async lock(name, secrets) {
    const [account, key] = [`${name} ${randomToken()}`, randomToken()];
    try {
      await keychain.put(account, key);
      return { account, secrets: createSeal(Buffer.from(key), PURPOSE).seal(secrets) };
    } catch (error) {
      const why = whyOf(error);
      return { secrets: createSeal(await masterKey(), PURPOSE).seal(secrets), why };
    }
  },
  async unlock({ secrets, account }) {
    if (account === undefined) return createSeal(await masterKey(), PURPOSE).open(secrets);
    const key = await keychain.get(account);
    return key === undefined ? undefined : createSeal(Buffer.from(key), PURPOSE).open(secrets);
  },
  async forget(account) {
    if (account !== undefined) await keychain.remove(account).catch(whyOf);
  },
});
