import type { Access } from "../contract/operation.ts";
import {
  isPermission,
  isScope,
  type Permission,
  PERMISSIONS,
  type Scope,
  SCOPES,
} from "../contract/permissions.ts";
import { type Clock, MINUTE } from "../kit/clock.ts";

type Right = Permission | Scope;

/** Each credential has rights of one side: permissions at the gateway, or scopes of the key for export and ingest. */
type Side = "permissions" | "scopes";

const RIGHTS: Record<Side, readonly Right[]> = { permissions: PERMISSIONS, scopes: SCOPES };

/** The known rights of one person's credentials. */
export type HeldRights = {
  /** Whether the credential has a right; true if that is not known. */
  mayHave(access: Access): boolean;
  /** Calls back when an answer of `mayHave` has changed. Call the result to stop. */
  onChange(listener: () => void): () => void;
};

export type RightsRecord = HeldRights & {
  /** Records the rights that an answer of the platform named. */
  note(rights: readonly Right[], side: Side): void;
  /** Records that the platform allowed or refused a request that needs a right. */
  noteOutcome(access: Access, isHeld: boolean): void;
};

// A platform that does not name rights shows them by its refusals alone. A person may get the right later.
const REFUSAL_MS = 10 * MINUTE;

const sideOf = (access: Access): Side => (isPermission(access) ? "permissions" : "scopes");

/** Creates the record of what one person's credentials may do, in which nothing is known yet. */
export const createRightsRecord = (now: Clock): RightsRecord => {
  const named = new Map<Side, ReadonlySet<string>>();
  const refusedAt = new Map<Access, number>();
  const listeners = new Set<() => void>();

  const mayHave = (access: Access): boolean => {
    if (!isPermission(access) && !isScope(access)) return true;
    const known = named.get(sideOf(access));
    if (known !== undefined) return known.has(access);
    return now() - (refusedAt.get(access) ?? -Infinity) > REFUSAL_MS;
  };

  const change = (side: Side, act: () => void): void => {
    const list = (): string => RIGHTS[side].filter(mayHave).join();
    const before = list();
    act();
    if (list() !== before) for (const listener of listeners) listener();
  };

  return {
    mayHave,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    note: (rights, side) => change(side, () => named.set(side, new Set<string>(rights))),
    noteOutcome: (access, isHeld) =>
      change(sideOf(access), () => {
        if (isHeld) refusedAt.delete(access);
        else refusedAt.set(access, now());
      }),
  };
};
