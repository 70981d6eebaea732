import {
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type InputResponseView,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Clock, formatTimestamp, MINUTE } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { createSeal, type Seal } from "../../kit/seal.ts";
import { bindingOf, type Purpose } from "./binding.ts";
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

/** The question that goes out, or leave to act on one version of the record. */
export type Consented = { ask: InputRequiredResult } | Version;

const LIFE_MS = 10 * MINUTE;
const KEY = "confirm";
const FORM = z.object({ confirm: z.boolean().meta({ title: "Confirm" }) });

/** The form as plain JSON Schema, for hosts that are asked directly. */
export const CONFIRM_FORM = {
  type: "object" as const,
  properties: { confirm: { type: "boolean" as const, title: "Confirm" } },
  required: ["confirm"],
};

const Sealed = z.tuple([z.string(), z.string(), z.number(), z.string().nullable(), z.boolean()]);

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

/** Seals leave to act on a version for one purpose, for ten minutes. */
const sealLeave = (
  { now }: Needs,
  seal: Seal,
  purpose: Purpose,
  { etag, absent }: Version,
): { sealed: string; expiresAt: number } => {
  const expiresAt = now() + LIFE_MS;
  const sealed = seal.seal([randomToken(), bindingOf(purpose), expiresAt, etag, absent]);
  return { sealed, expiresAt };
};

/**
 * Returns the version that a sealed leave is for, once.
 *
 * @throws {Refusal} confirmation_invalid
 */
const redeemLeave = async (
  { now, replayGuard }: Needs,
  seal: Seal,
  purpose: Purpose,
  sealed: unknown,
): Promise<Version> => {
  const { success, data } = Sealed.safeParse(
    typeof sealed === "string" ? seal.open(sealed) : undefined,
  );
  if (!success) throw invalid("is not one that this server gave");
  const [id, binding, expiresAt, etag, absent] = data;
  if (binding !== bindingOf(purpose)) {
    throw invalid("was given for another call or to another program");
  }
  if (expiresAt < now()) throw invalid("has expired");
  if (!(await replayGuard.claim(id, expiresAt))) throw invalid("has been used");
  return { etag, absent };
};

/** Creates the function that asks a person. No answer, and any answer other than yes, means no. */
export const createConfirm = (needs: Needs) => {
  const { key, setting } = needs;
  // Separate seals, so that the state of a dialog cannot be used as a token that skips the dialog.
  const tokens = createSeal(key, "mcp/confirmation-token");
  const states = createSeal(key, "mcp/confirmation-state");

  const demand = (purpose: Purpose, summary: string, version: Version): Refusal => {
    if (setting === "refuse") return unavailable();
    const { sealed, expiresAt } = sealLeave(needs, tokens, purpose, version);
    return new Refusal("confirmation_required", `Needs a person's consent: ${summary}`, {
      confirmationToken: sealed,
      expiresAt: formatTimestamp(expiresAt),
      summary,
    });
  };

  const ask = (purpose: Purpose, message: string, version: Version): InputRequiredResult =>
    inputRequired({
      inputRequests: { [KEY]: inputRequired.elicit({ message, requestedSchema: FORM }) },
      requestState: sealLeave(needs, states, purpose, version).sealed,
    });

  return async ({ host, token, purpose, asking, open }: Question): Promise<Consented> => {
    if (token !== undefined && setting === "token")
      return redeemLeave(needs, tokens, purpose, token);
    if (host.asks === "by_round") {
      const view = inputResponse(host.responses, KEY);
      if (view.kind !== "missing") {
        if (!isYes(view)) throw declined();
        return redeemLeave(needs, states, purpose, host.state);
      }
    }
    if (host.asks === "never" && setting === "refuse" && !open) throw unavailable();
    const { summary, ...version } = await asking();
    if (summary === null) return version;
    if (host.asks === "never") throw demand(purpose, summary, version);
    if (host.asks === "by_round") return { ask: ask(purpose, summary, version) };
    const answer = await host.ask(summary);
    if (!isYes(inputResponse({ [KEY]: answer }, KEY))) throw declined();
    return version;
  };
};
