import type { WireReply } from "./port.ts";

// RFC 9110 IMF-fixdate; Date.parse alone takes nearly anything for a date.
const HTTP_DATE =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

const timeOf = (text: string | undefined): number | undefined => {
  const value = text?.trim() ?? "";
  return HTTP_DATE.test(value) ? Date.parse(value) : undefined;
};

/** Retry-After in seconds; a date in it is measured against the answer's own, or against this machine's clock. */
export const retryAfter = (
  { headers }: Pick<WireReply, "headers">,
  now: number,
): number | undefined => {
  const value = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = timeOf(value);
  if (at === undefined || Number.isNaN(at)) return undefined;
  return Math.max(0, Math.ceil((at - (timeOf(headers["date"]) ?? now)) / 1000));
};
