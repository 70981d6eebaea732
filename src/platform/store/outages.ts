import { Problem } from "../../contract/errors.ts";
import { StoreUnavailable, TenantPaused, TooManyReads, ViewExpired } from "./port.ts";

const RETRY_AFTER_READS = 5;
/** A short pause passes while clients that repeat requests themselves still do. */
const RETRY_AFTER_PAUSE = 2;

/** Returns the refusal for a store that cannot do something now; undefined for any other error. */
export const toOutageProblem = (error: unknown): Problem | undefined => {
  const refuse = (code: "unavailable" | "rate_limited", message: string, seconds: number) =>
    new Problem(code, message, { retryAfterSeconds: seconds }, error);
  if (error instanceof StoreUnavailable) {
    return refuse("unavailable", "The service cannot use its store now.", 1);
  }
  if (error instanceof TenantPaused) {
    const message = `${error.message} Send the request again in a moment.`;
    return refuse("unavailable", message, RETRY_AFTER_PAUSE);
  }
  if (error instanceof TooManyReads) {
    const message = "Too many long reads of this tenant are under way. Wait until one has ended.";
    return refuse("rate_limited", message, RETRY_AFTER_READS);
  }
  if (error instanceof ViewExpired) {
    const message = "Reading took too long, and was ended. Narrow the filters, or try again later.";
    return refuse("unavailable", message, RETRY_AFTER_READS);
  }
  return undefined;
};
