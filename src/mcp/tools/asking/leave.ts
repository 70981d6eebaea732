import { z } from "zod";
import type { ConfirmationWay } from "../../../contract/confirmation.ts";
import { Problem } from "../../../contract/errors.ts";
import { type Clock, MINUTE } from "../../../kit/clock.ts";
import { randomToken } from "../../../kit/ids.ts";
import type { Seal } from "../../../kit/seal.ts";
import { Refusal } from "../../results/refusal.ts";
import { bindingOf, type Purpose } from "../binding.ts";
import type { Bound } from "./bound.ts";
import { type Asking, ONE_BY_ONE, type Version } from "./question.ts";
import type { ReplayGuard } from "./replay-guard.ts";

/** The version that the person has confirmed to change, the ids in the question, and how the person confirmed. */
export type Leave = Version & { bound: Bound; confirmedBy: ConfirmationWay };

export type LeaveNeeds = { replayGuard: ReplayGuard; now: Clock };

/** The purpose of a leave, and the function that prepares its question again. */
export type LeaveFor = { purpose: Purpose; prepare: () => Promise<Asking> };

/** A leave as it was sealed; `id` is used up with it. */
export type SealedLeave = {
  id: string;
  /** Milliseconds since the epoch. */
  askedAt: number;
  expiresAt: number;
  print: string;
  leave: Omit<Leave, "confirmedBy">;
};

const LIFE_MS = 10 * MINUTE;

const Sealed = z.tuple([
  z.string(),
  z.string(),
  z.number(),
  z.string(),
  z.string().nullable(),
  z.boolean(),
  z.record(z.string(), z.unknown()),
]);

export const invalidConfirmation = (why: string) =>
  new Refusal("confirmation_invalid", `The confirmation ${why}; nothing was changed.`);

const changed = () =>
  new Problem(
    "precondition_failed",
    "A record that the question named has changed since; nothing was changed.",
  );

/** Returns the facts of a leave to act on what a question is about, for one purpose and ten minutes, to be sealed. */
export const writeLeave = (
  now: Clock,
  purpose: Purpose,
  { print, etag, absent, bound }: Asking,
): { id: string; expiresAt: number; facts: z.infer<typeof Sealed> } => {
  const id = randomToken();
  const expiresAt = now() + LIFE_MS;
  return { id, expiresAt, facts: [id, bindingOf(purpose), expiresAt, print, etag, absent, bound] };
};

/**
 * Reads a leave that was sealed, without using it up.
 *
 * @throws {Refusal} confirmation_invalid
 */
export const readLeave = (now: Clock, opened: unknown, purpose: Purpose): SealedLeave => {
  const { success, data } = Sealed.safeParse(opened);
  if (!success) throw invalidConfirmation("is not one that this server gave");
  const [id, binding, expiresAt, print, etag, absent, bound] = data;
  if (binding !== bindingOf(purpose)) {
    throw invalidConfirmation("was given for another call or to another program");
  }
  if (expiresAt < now()) throw invalidConfirmation("has expired");
  return { id, askedAt: expiresAt - LIFE_MS, expiresAt, print, leave: { etag, absent, bound } };
};

/** Returns a leave that was sealed; undefined if it is not valid for the purpose. */
export const findLeave = (...read: Parameters<typeof readLeave>): SealedLeave | undefined => {
  try {
    return readLeave(...read);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
};

/**
 * Uses a leave up without acting on it.
 *
 * @throws {Refusal} confirmation_invalid
 */
export const discardLeave = async (
  { now, replayGuard }: LeaveNeeds,
  opened: unknown,
): Promise<void> => {
  const { data } = Sealed.safeParse(opened);
  if (data === undefined) throw invalidConfirmation("is not one that this server gave");
  const [id, , expiresAt] = data;
  if (expiresAt < now()) throw invalidConfirmation("has expired");
  if (!(await replayGuard.claim(id, expiresAt))) throw invalidConfirmation("has been used");
};

/**
 * Reads what a confirmation is bound to. An earlier version of the server may have bound something else.
 *
 * @throws {Refusal} confirmation_invalid
 */
export const readBound = <S extends z.ZodType>(schema: S, bound: Bound): z.output<S> => {
  const { success, data } = schema.safeParse(bound);
  if (!success) throw invalidConfirmation("was given by another version of this server");
  return data;
};

/** Opens sealed text of a host, which may be anything. */
export const openSealed = (seal: Seal, sealed: unknown): unknown =>
  typeof sealed === "string" ? seal.open(sealed) : undefined;

/**
 * Checks that a question is still the same. Change and ids are bound to it; the other records that it named are read
 * again.
 *
 * @throws {Problem} precondition_failed
 */
export const checkUnchanged = async (
  prepare: LeaveFor["prepare"],
  print: string,
): Promise<void> => {
  if (print !== ONE_BY_ONE && (await prepare()).print !== print) throw changed();
};

/**
 * Uses a sealed leave up.
 *
 * @throws {Refusal} confirmation_invalid
 * @throws {Problem} precondition_failed
 */
export const redeemLeave = async (
  { replayGuard }: Pick<LeaveNeeds, "replayGuard">,
  prepare: LeaveFor["prepare"],
  { id, expiresAt, leave, print }: SealedLeave,
  confirmedBy: ConfirmationWay,
): Promise<Leave> => {
  if (!(await replayGuard.claim(id, expiresAt))) throw invalidConfirmation("has been used");
  await checkUnchanged(prepare, print);
  return { ...leave, confirmedBy };
};
