import type { WireReply, WireRequest } from "./port.ts";

const HIDDEN = "[secret]";
/** Shorter ones would be found by chance. */
const MIN_LENGTH = 8;
const SENT_IN_BODIES = ["password", "accessToken"];

/** What a request bears that nobody may read in its answer. */
export const secretsOf = (
  credential: WireRequest["headers"],
  args: Record<string, unknown>,
): string[] => {
  const values = [...Object.values(credential), ...SENT_IN_BODIES.map((name) => args[name])];
  return values.flatMap((value) => {
    if (typeof value !== "string" || value.length < MIN_LENGTH) return [];
    const inJson = JSON.stringify(value).slice(1, -1);
    return inJson === value ? [value] : [value, inJson];
  });
};

/** An answer that repeats none of the secrets it was asked with, as pages for debugging do. */
export const withoutEcho = (reply: WireReply, secrets: readonly string[]): WireReply => {
  const hide = (text: string): string =>
    secrets.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);
  const bears = (text: string): boolean => secrets.some((secret) => text.includes(secret));
  const { body, headers } = reply;
  const told = Object.entries(headers);
  if (!bears(body) && !told.some(([, value]) => bears(value))) return reply;
  const hidden = told.map(([name, value]) => [name, hide(value)] as const);
  return { ...reply, body: hide(body), headers: Object.fromEntries(hidden) };
};
