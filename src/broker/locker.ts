import { randomToken } from "../kit/ids.ts";
import { createSeal } from "../kit/seal.ts";
import { type Keychain, KeychainError } from "./keychain.ts";

/** Encrypted secrets. `account` names the keychain entry with their key; without it the master key decrypts them. */
export type Locked = { secrets: string; account?: string | undefined };

export type Locker = {
  /** Encrypts; `why` gives the reason if the key could not be stored in the keychain. */
  lock(name: string, secrets: unknown): Promise<Locked & { why?: string }>;
  /** Decrypts; returns undefined if the key does not fit. Throws {@link KeychainError}. */
  unlock(locked: Locked): Promise<unknown>;
  /** Removes the key from the keychain; its secrets cannot be decrypted afterwards. */
  forget(account: string | undefined): Promise<void>;
};

/** The purpose of the seal around a profile's secrets. */
export const PROFILE_SECRETS = "profile secrets";

const getKeychainReason = (error: unknown): string => {
  if (error instanceof KeychainError) return error.message;
  throw error;
};

/** Creates a locker that encrypts with a key stored only in the keychain, or with the master key without one. */
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
      return { account, secrets: createSeal(Buffer.from(key), PROFILE_SECRETS).seal(secrets) };
    } catch (error) {
      const why = getKeychainReason(error);
      return { secrets: createSeal(await masterKey(), PROFILE_SECRETS).seal(secrets), why };
    }
  },
  async unlock({ secrets, account }) {
    if (account === undefined) return createSeal(await masterKey(), PROFILE_SECRETS).open(secrets);
    const key = await keychain.get(account);
    return key === undefined
      ? undefined
      : createSeal(Buffer.from(key), PROFILE_SECRETS).open(secrets);
  },
  async forget(account) {
    if (account !== undefined) await keychain.remove(account).catch(getKeychainReason);
  },
});
