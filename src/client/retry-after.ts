import type { WireReply } from "./port.ts";

// RFC 9110 IMF-fixdate. Date.parse alone accepts far more than dates.
const HTTP_DATE =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

const parseHttpDate = (text: string | undefined): number | undefined => {
  const value = text?.trim() ?? "";
  return HTTP_DATE.test(value) ? Date.parse(value) : undefined;
};

/** Parses Retry-After to seconds. A date is compared with the response's Date header, else with `now`. */
export const parseRetryAfter = (
  { headers }: Pick<WireReply, "headers">,
  now: number,
): number | undefined => {
  const value = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = parseHttpDate(value);
  if (at === undefined || Number.isNaN(at)) return undefined;
  return Math.max(0, Math.ceil((at - (parseHttpDate(headers["date"]) ?? now)) / 1000));
};
