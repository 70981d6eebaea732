import { Problem } from "../contract/errors.ts";
import { MINUTE, SECOND } from "../kit/clock.ts";

/** The reason why a person cannot continue, with the message and headers of the response. */
export type Refusal = { status: number; message: string; headers?: Record<string, string> };

const UNAVAILABLE: Refusal = {
  status: 503,
  message: "The platform does not answer at the moment. Try again in a minute.",
};

export const PASSWORDS_OFF: Refusal = {
  status: 403,
  message: "This server accepts no passwords. Sign in at your company.",
};

/** Returns the value of `Retry-After` (RFC 9110, section 10.2.3): whole seconds, at least one. */
export const retryAfter = (waitMs: number): Record<string, string> => ({
  "Retry-After": String(Math.max(1, Math.ceil(waitMs / SECOND))),
});

export const tooManyAttempts = (waitMs: number): Refusal => {
  const minutes = Math.max(1, Math.ceil(waitMs / MINUTE));
  return {
    status: 429,
    message: `Too many tries. Wait ${minutes === 1 ? "a minute" : `${minutes} minutes`}, then try again.`,
    headers: retryAfter(waitMs),
  };
};

/** Converts the platform's refusal of a sign-in. The message does not reveal whether the account exists. */
export const toSignInRefusal = (error: unknown): Refusal => {
  if (!(error instanceof Problem)) throw error;
  if (error.code === "rate_limited") {
    return tooManyAttempts((error.details.retryAfterSeconds ?? 60) * SECOND);
  }
  if ([400, 401, 403, 404, 422].includes(error.status)) {
    return { status: 400, message: "The e-mail address or the password is wrong." };
  }
  return UNAVAILABLE;
};

/** Converts the platform's refusal to create an API key for a signed-in person. */
export const toKeyRefusal = (error: unknown): Refusal & { isSessionExpired: boolean } => {
  if (!(error instanceof Problem)) throw error;
  if (error.status === 401) {
    const message = "Your sign-in took too long. Sign in once more.";
    return { status: 400, message, isSessionExpired: true };
  }
  if (error.code === "conflict") {
    const message =
      "You have the maximum number of API keys, so none could be created for this server. Delete one that you do not need, then try again.";
    return { status: 409, message, isSessionExpired: false };
  }
  if (error.status === 403) {
    const message = "Your account may not create an API key for this company.";
    return { status: 403, message, isSessionExpired: false };
  }
  return { ...UNAVAILABLE, isSessionExpired: false };
};
