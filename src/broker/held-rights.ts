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
  /**
   * Calls back when an answer of `mayHave` has changed: `seen` in an answer of the platform, or `adopted` from another
   * process. Call the result to stop.
   */
  onChange(listener: (how: "seen" | "adopted") => void): () => void;
  /** Describes what is known in less than 200 characters, for other processes with the same credentials. */
  describe(): string;
  /** Takes over what another process described; ignores the description of a version with other rights. */
  adopt(description: string): void;
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

const SIDES: readonly Side[] = ["permissions", "scopes"];

/** Describes rights as a number with a bit for each: `N40.3ff` if the platform named them, `R…` if refusals showed them. */
const toMask = (
  all: readonly Right[],
  held: (right: Right) => boolean,
  isNamed: boolean,
): string => {
  const bits = all.map((right) => (held(right) ? "1" : "0")).join("");
  return `${isNamed ? "N" : "R"}${all.length}.${BigInt(`0b${bits}`).toString(16)}`;
};

const MASK = /^([NR])(\d{1,3})\.([\da-f]{1,60})$/;

/** Reads a number of {@link toMask}; undefined for one that other rights were described by. */
const parseMask = (
  all: readonly Right[],
  text: string,
): { isNamed: boolean; held: Right[] } | undefined => {
  const [, kind, count, digits = "0"] = MASK.exec(text) ?? [];
  if (Number(count) !== all.length) return undefined;
  const bits = BigInt(`0x${digits}`).toString(2).padStart(all.length, "0");
  return { isNamed: kind === "N", held: all.filter((_right, at) => bits[at] === "1") };
};

/** Creates the record of what one person's credentials may do, in which nothing is known yet. */
export const createRightsRecord = (now: Clock): RightsRecord => {
  const named = new Map<Side, ReadonlySet<string>>();
  const refusedAt = new Map<Access, number>();
  const listeners = new Set<Parameters<HeldRights["onChange"]>[0]>();

  const mayHave = (access: Access): boolean => {
    if (!isPermission(access) && !isScope(access)) return true;
    const known = named.get(sideOf(access));
    if (known !== undefined) return known.has(access);
    return now() - (refusedAt.get(access) ?? -Infinity) > REFUSAL_MS;
  };

  const change = (side: Side, act: () => void, how: "seen" | "adopted" = "seen"): void => {
    const list = (): string => RIGHTS[side].filter(mayHave).join();
    const before = list();
    act();
    if (list() !== before) for (const listener of listeners) listener(how);
  };

  const noteOutcome = (access: Access, isHeld: boolean): void => {
    if (isHeld) refusedAt.delete(access);
    else refusedAt.set(access, now());
  };

  const adopt = (side: Side, text: string): void => {
    const all = RIGHTS[side];
    const { isNamed, held } = parseMask(all, text) ?? {};
    if (held === undefined) return;
    const act = (): void => {
      if (isNamed === true) named.set(side, new Set<string>(held));
      else for (const right of all) if (!held.includes(right)) noteOutcome(right, false);
    };
    change(side, act, "adopted");
  };

  return {
    mayHave,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    note: (rights, side) => change(side, () => named.set(side, new Set<string>(rights))),
    noteOutcome: (access, isHeld) => change(sideOf(access), () => noteOutcome(access, isHeld)),
    describe: () => SIDES.map((side) => toMask(RIGHTS[side], mayHave, named.has(side))).join(" "),
    adopt(description) {
      const masks = description.split(" ", SIDES.length);
      for (const [at, side] of SIDES.entries()) adopt(side, masks[at] ?? "");
    },
  };
};
