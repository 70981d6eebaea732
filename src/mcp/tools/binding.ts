import { hash } from "node:crypto";
import type { CallerContext } from "../caller.ts";

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

/** The call that a cursor, a confirmation or a secret's page belongs to. */
export type Purpose = {
  tool: string;
  args: unknown;
  tenantId: string;
  principal: string;
  caller: string;
  /**
   * The authorization and the program that ask. Absent for cursors: they grant nothing, and a host that was allowed
   * more under a new grant reads on with the cursor it has.
   */
  client?: string;
};

/** A hash of the purpose; the order of keys does not matter. */
export const bindingOf = ({ tool, args, tenantId, principal, caller, client }: Purpose): string =>
  hash(
    "sha256",
    JSON.stringify([tool, ordered(args), tenantId, principal, caller, client]),
    "base64url",
  ).slice(0, 22);

/** Returns the call that a cursor belongs to; a confirmation belongs to one client as well. */
export const toPurpose = (
  { caller, broker }: Pick<CallerContext, "caller" | "broker">,
  { name }: { name: string },
  args: unknown,
): Purpose => {
  const { tenantId, principal } = broker;
  return { tool: name, args, tenantId, principal, caller };
};
