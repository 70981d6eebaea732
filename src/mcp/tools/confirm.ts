import {
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type InputResponseView,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Clock, formatTimestamp, MINUTE, SECOND } from "../../kit/clock.ts";
import { Problem } from "../../contract/errors.ts";
import { randomToken } from "../../kit/ids.ts";
import { createSeal, type Seal } from "../../kit/seal.ts";
import { bindingOf, type Purpose } from "./binding.ts";
import type { Bound } from "./bound.ts";
import type { Asking, Version } from "./question.ts";
import { Refusal } from "../results/refusal.ts";
import type { Settings } from "../caller.ts";
import type { ReplayGuard } from "./replay-guard.ts";

/** The way to ask a person during this call. */
export type Host =
  | { asks: "never" }
  /** The protocol of 2025: the question goes out while the call waits. */
  | { asks: "now"; ask(question: string): Promise<unknown> }
  /** The protocol of 2026: the call ends with the question and comes again with the answer. */
  | { asks: "by_round"; responses: Record<string, unknown> | undefined; state: unknown };

type Question = {
  /** Prepares the question; called only where a person may be asked. */
  asking: () => Promise<Asking>;
  /** Whether the question may turn out to be unnecessary, because the call creates the record. */
  open: boolean;
  purpose: Purpose;
  host: Host;
  token: string | undefined;
};

/** The question that goes out, or leave to act on what the question was about. */
export type Consented = { ask: InputRequiredResult } | Leave;

/** The version that the person has confirmed to change, and the ids in the question. */
export type Leave = Version & { bound: Bound };

/** No person reads a question and answers it in less time. */
const AT_ONCE_MS = 5 * SECOND;
const LIFE_MS = 10 * MINUTE;
const KEY = "confirm";
const FORM = z.object({ confirm: z.boolean().meta({ title: "Confirm" }) });

/** The form as plain JSON Schema, for hosts that are asked directly. */
export const CONFIRM_FORM = {
  type: "object" as const,
  properties: { confirm: { type: "boolean" as const, title: "Confirm" } },
  required: ["confirm"],
};

const Sealed = z.tuple([
  z.string(),
  z.string(),
  z.number(),
  z.string(),
  z.string().nullable(),
  z.boolean(),
  z.record(z.string(), z.unknown()),
]);

const declined = () => new Refusal("declined", "The person did not confirm; nothing was changed.");

const invalid = (why: string) =>
  new Refusal("confirmation_invalid", `The confirmation ${why}; nothing was changed.`);

const unavailable = () =>
  new Refusal(
    "confirmation_unavailable",
    "This asks a person first, and the host cannot ask one; nothing was changed.",
  );

const isYes = (view: InputResponseView): boolean =>
  view.kind === "elicit" &&
  view.action === "accept" &&
  FORM.safeParse(view.content).data?.confirm === true;

type Needs = {
  key: Buffer;
  replayGuard: ReplayGuard;
  now: Clock;
  setting: Settings["confirm"];
};

const changed = () =>
  new Problem(
    "precondition_failed",
    "A record that the question named has changed since; nothing was changed.",
  );

/** Seals leave to act on what a question is about for one purpose, for ten minutes. */
const sealLeave = (
  { now }: Needs,
  seal: Seal,
  purpose: Purpose,
  { print, etag, absent, bound }: Asking,
): { sealed: string; expiresAt: number } => {
  const expiresAt = now() + LIFE_MS;
  const sealed = seal.seal([
    randomToken(),
    bindingOf(purpose),
    expiresAt,
    print,
    etag,
    absent,
    bound,
  ]);
  return { sealed, expiresAt };
};

/**
 * Returns leave to act on what a question was about. Change and ids are bound to it; the other records that it named
 * are read again, unless the answer came at once.
 *
 * @throws {Problem} precondition_failed
 */
const checkUnchanged = async (
  { now }: Needs,
  asking: Question["asking"],
  { print, askedAt, ...leave }: Leave & { print: string; askedAt: number },
): Promise<Leave> => {
  if (now() - askedAt > AT_ONCE_MS && (await asking()).print !== print) throw changed();
  return leave;
};

/**
 * Returns the leave that was sealed, once.
 *
 * @throws {Refusal} confirmation_invalid
 * @throws {Problem} precondition_failed
 */
const redeemLeave = async (
  needs: Needs,
  seal: Seal,
  { purpose, asking }: Pick<Question, "purpose" | "asking">,
  sealed: unknown,
): Promise<Leave> => {
  const { success, data } = Sealed.safeParse(
    typeof sealed === "string" ? seal.open(sealed) : undefined,
  );
  if (!success) throw invalid("is not one that this server gave");
  const [id, binding, expiresAt, print, etag, absent, bound] = data;
  if (binding !== bindingOf(purpose)) {
    throw invalid("was given for another call or to another program");
  }
  if (expiresAt < needs.now()) throw invalid("has expired");
  if (!(await needs.replayGuard.claim(id, expiresAt))) throw invalid("has been used");
  const askedAt = expiresAt - LIFE_MS;
  return checkUnchanged(needs, asking, { print, askedAt, etag, absent, bound });
};

/** Creates the function that asks a person. No answer, and any answer other than yes, means no. */
export const createConfirm = (needs: Needs) => {
  const { key, setting } = needs;
  // Separate seals, so that the state of a dialog cannot be used as a token that skips the dialog.
  const tokens = createSeal(key, "mcp/confirmation-token");
  const states = createSeal(key, "mcp/confirmation-state");

  const demand = (purpose: Purpose, summary: string, asked: Asking): Refusal => {
    if (setting === "refuse") return unavailable();
    const { sealed, expiresAt } = sealLeave(needs, tokens, purpose, asked);
    return new Refusal("confirmation_required", `Needs a person's consent: ${summary}`, {
      confirmationToken: sealed,
      expiresAt: formatTimestamp(expiresAt),
      summary,
    });
  };

  const ask = (purpose: Purpose, message: string, asked: Asking): InputRequiredResult =>
    inputRequired({
      inputRequests: { [KEY]: inputRequired.elicit({ message, requestedSchema: FORM }) },
      requestState: sealLeave(needs, states, purpose, asked).sealed,
    });

  return async ({ host, token, purpose, asking, open }: Question): Promise<Consented> => {
    if (token !== undefined && setting === "token")
      return redeemLeave(needs, tokens, { purpose, asking }, token);
    if (host.asks === "by_round") {
      const view = inputResponse(host.responses, KEY);
      if (view.kind !== "missing") {
        if (!isYes(view)) throw declined();
        return redeemLeave(needs, states, { purpose, asking }, host.state);
      }
    }
    if (host.asks === "never" && setting === "refuse" && !open) throw unavailable();
    const asked = await asking();
    const { summary, print, etag, absent, bound } = asked;
    if (summary === null) return { etag, absent, bound };
    if (host.asks === "never") throw demand(purpose, summary, asked);
    if (host.asks === "by_round") return { ask: ask(purpose, summary, asked) };
    const askedAt = needs.now();
    const answer = await host.ask(summary);
    if (!isYes(inputResponse({ [KEY]: answer }, KEY))) throw declined();
    return checkUnchanged(needs, asking, { print, askedAt, etag, absent, bound });
  };
};
