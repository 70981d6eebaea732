import { Problem } from "../contract/errors.ts";
import { MINUTE, SECOND } from "../kit/clock.ts";

/** Why a person cannot go on, in words for them. */
export type Refusal = { status: number; message: string; headers?: Record<string, string> };

const WRONG = "The e-mail address or the password is wrong.";

export const tooOften = (waitMs: number): Refusal => {
  const minutes = Math.max(1, Math.ceil(waitMs / MINUTE));
  return {
    status: 429,
    message: `Too many tries. Wait ${minutes === 1 ? "a minute" : `${minutes} minutes`}, then try again.`,
    headers: { "Retry-After": String(Math.max(1, Math.ceil(waitMs / SECOND))) },
  };
};

/** What the platform's refusal of a sign-in means to the person. It never tells whether there is such an account. */
export const signInRefusal = (error: unknown): Refusal => {
  if (!(error instanceof Problem)) throw error;
  if (error.code === "rate_limited") {
    return tooOften((error.details.retryAfterSeconds ?? 60) * SECOND);
  }
  if ([400, 401, 403, 404, 422].includes(error.status)) return { status: 400, message: WRONG };
  return {
    status: 503,
    message: "The platform does not answer at the moment. Try again in a minute.",
  };
};

/** What came in the way of a key for a person who is signed in. */
export const keyRefusal = (error: unknown): Refusal & { signInAgain: boolean } => {
  if (!(error instanceof Problem)) throw error;
  if (error.status === 401) {
    const message = "Your sign-in took too long. Sign in once more.";
    return { status: 400, message, signInAgain: true };
  }
  if (error.code === "conflict") {
    const message =
      "You have as many API keys as there may be, so none could be made for this server. Delete one that is not needed, then try again.";
    return { status: 409, message, signInAgain: false };
  }
  if (error.status === 403) {
    const message = "Your account may not make an API key for this company.";
    return { status: 403, message, signInAgain: false };
  }
  return {
    status: 503,
    message: "The platform does not answer at the moment. Try again in a minute.",
    signInAgain: false,
  };
};
