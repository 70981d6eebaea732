import { createHash } from "node:crypto";

const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, ordered(child)]),
  );
};

/** A value as text that does not depend on the order of its keys. */
export const canonical = (value: unknown): string => JSON.stringify(ordered(value));

/** What a cursor or a confirmation is good for: one tool, one set of arguments, one tenant, one credential, one caller. */
export type Purpose = {
  tool: string;
  args: unknown;
  tenantId: string;
  principal: string;
  caller: string;
};

/** The purpose in a few characters that no other purpose shares; the order of keys does not matter. */
export const bindingOf = ({ tool, args, tenantId, principal, caller }: Purpose): string =>
  createHash("sha256")
    .update(JSON.stringify([tool, ordered(args), tenantId, principal, caller]))
    .digest("base64url")
    .slice(0, 22);
