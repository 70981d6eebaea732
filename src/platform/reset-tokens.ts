import { type Clock, DAY, MINUTE } from "../kit/clock.ts";
import { createSeal } from "../kit/seal.ts";
import { hashSecret } from "./credentials.ts";
import type { Db } from "./store/port.ts";
import type { UserRow } from "./store/tables/schema.ts";
import { findUser } from "./store/queries/users.ts";

const LIFETIME_MS = 30 * MINUTE;

/** Life of the link of a user without a password whom an import created: the operator hands out many at once. */
export const INVITATION_MS = 7 * DAY;

export const RESET_PATH = "/account/reset/";

/** The user whose password a token replaces. */
export type ResetHolder = Pick<UserRow, "id" | "email" | "password_hash" | "default_tenant_id">;

type Sealed = { userId?: unknown; expiresAt?: unknown; former?: unknown };

const digest = ({ password_hash: hash }: Pick<UserRow, "password_hash">): string =>
  hashSecret(hash ?? "");

/**
 * Tokens with which a person sets a new password. A token names the password that it replaces, so every token of a user
 * ends when one of them is used or when the password changes otherwise.
 */
export const createResetTokens = (masterKey: Buffer, clock: Clock) => {
  const seal = createSeal(masterKey, "password-reset");
  return {
    issue(
      user: Pick<UserRow, "id" | "password_hash">,
      lifetime = LIFETIME_MS,
    ): { token: string; expiresAt: number } {
      const expiresAt = clock() + lifetime;
      return {
        token: seal.seal({ userId: user.id, expiresAt, former: digest(user) }),
        expiresAt,
      };
    },
    async findHolder(db: Db, token: string): Promise<ResetHolder | undefined> {
      const { userId, expiresAt, former } = (seal.open(token) ?? {}) as Sealed;
      if (typeof userId !== "string" || Number(expiresAt) <= clock()) return undefined;
      const user = await findUser(db, userId);
      return user !== undefined && digest(user) === former ? user : undefined;
    },
  };
};

export type ResetTokens = ReturnType<typeof createResetTokens>;
