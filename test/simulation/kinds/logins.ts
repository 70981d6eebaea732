import type { Sent } from "../client.ts";
import type { Asked, Outcome } from "../records.ts";
import type { TenantId } from "../settings.ts";

export const PASSWORD = "correct horse battery staple";

export const emailOf = (tenantId: TenantId): string => `pat@${tenantId}.example`;

/** What logins of a tenant's person and guesses at another account may be answered, except 429. */
const STATUS = { visitor: 200, guess: 401 };

const LOGIN = "/authentication/v1/login";

/** Whether a request is a login with the right password that was not refused, which belongs to a tenant. */
export const isLogin = ({ path, as, outcome }: Sent): boolean =>
  path === LOGIN && as === "visitor" && (outcome.kind === "lost" || outcome.status === 200);

/** A login with the right password, or a guess at an account, which counts like one that exists. */
export const askLogin = (tenantId: TenantId, as: "visitor" | "guess"): Asked<unknown> => ({
  method: "POST",
  path: LOGIN,
  as,
  body:
    as === "guess"
      ? { email: `guessed@${tenantId}.example`, password: "wrong" }
      : { email: emailOf(tenantId), password: PASSWORD },
  effect: (after) => ({ status: STATUS[as], after }),
});

/** Returns a check that a login is answered as its password deserves; 503 while the disk is full. */
export const checkLogin =
  (as: "visitor" | "guess") =>
  (outcome: Outcome): void => {
    if (outcome.kind === "lost" || [429, 503].includes(outcome.status)) return;
    if (outcome.status !== STATUS[as]) {
      throw new Error(`a login as a ${as} was answered ${outcome.status}`);
    }
  };
