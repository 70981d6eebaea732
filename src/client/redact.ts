import type { CallArguments } from "../contract/operation.ts";
import { hideSecrets } from "../kit/secret.ts";
import type { WireReply, WireRequest } from "./port.ts";

/** Shorter secrets would match unrelated text by chance. */
const MIN_LENGTH = 8;
const SENT_IN_BODIES = ["password", "accessToken"];

/** Collects the secrets of a request, plain and JSON-escaped, to be redacted from its response. */
export const collectSecrets = (
  credential: WireRequest["headers"],
  args: CallArguments,
): string[] => {
  const values = [...Object.values(credential), ...SENT_IN_BODIES.map((name) => args[name])];
  return values.flatMap((value) => {
    if (typeof value !== "string" || value.length < MIN_LENGTH) return [];
    const inJson = JSON.stringify(value).slice(1, -1);
    return inJson === value ? [value] : [value, inJson];
  });
};

/** Returns the response with every secret of its request replaced: debug pages of proxies repeat request headers. */
export const redactSecrets = (reply: WireReply, secrets: readonly string[]): WireReply => {
  const hide = (text: string): string => hideSecrets(text, secrets);
  const hasSecret = (text: string): boolean => secrets.some((secret) => text.includes(secret));
  const { body, headers } = reply;
  const entries = Object.entries(headers);
  if (!hasSecret(body) && !entries.some(([, value]) => hasSecret(value))) return reply;
  const hidden = entries.map(([name, value]) => [name, hide(value)] as const);
  return { ...reply, body: hide(body), headers: Object.fromEntries(hidden) };
};
