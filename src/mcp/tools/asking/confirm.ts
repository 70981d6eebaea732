import {
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type InputResponseView,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { formatTimestamp, SECOND } from "../../../kit/clock.ts";
import { createSeal } from "../../../kit/seal.ts";
import type { Settings } from "../../../config/settings.ts";
import { Refusal } from "../../results/refusal.ts";
import { createWaiting } from "../../results/waiting.ts";
import type { Approvals } from "./approvals.ts";
import {
  checkUnchanged,
  findLeave,
  type Leave,
  type LeaveFor,
  type LeaveNeeds,
  openSealed,
  readLeave,
  redeemLeave,
  writeLeave,
} from "./leave.ts";
import type { Asking } from "./question.ts";
import { createTickets, type TicketCall } from "./tickets.ts";

/** The way to ask a person with a form during this call. */
export type Host =
  | { asks: "never" }
  /** The protocol of 2025: the question goes out while the call waits. */
  | { asks: "now"; ask(question: string): Promise<unknown> }
  /** The protocol of 2026: the call ends with the question and comes again with the answer. */
  | { asks: "by_round"; responses: Record<string, unknown> | undefined; state: unknown };

/** The ways to ask the person of a call. */
export type Ways = {
  host: Host;
  /** Whether the host shows views. */
  showsViews: boolean;
  /** Names the session with the host, or the program where there are no sessions. */
  session: string;
  /** The leave in the ticket with which the person approved the call in a view. */
  approved?: { leave: unknown } | undefined;
};

type Question = LeaveFor & {
  /** Whether the question may turn out to be unnecessary, because the call creates the record. */
  open: boolean;
  ways: Ways;
  token: string | undefined;
  /** The call, for a ticket. */
  call: TicketCall;
};

/** A result that ends the call with a question, or leave to act on what the question was about. */
export type Consented = { ask: InputRequiredResult | CallToolResult } | Leave;

/** No person reads a question and declines it within this time: the host did, or showed nothing. */
const UNANSWERED_WITHIN_MS = SECOND;
const MAX_SESSIONS = 1000;
const KEY = "confirm";
const FORM = z.object({ confirm: z.boolean().meta({ title: "Confirm" }) });

/** The form as plain JSON Schema, for hosts that are asked directly. */
export const CONFIRM_FORM = {
  type: "object" as const,
  properties: { confirm: { type: "boolean" as const, title: "Confirm" } },
  required: ["confirm"],
};

const declined = () => new Refusal("declined", "The person did not confirm; nothing was changed.");

const unanswered = () =>
  new Refusal(
    "declined",
    "The host declined the question within a second, so the person has not read it and did not confirm; nothing was changed. For a host that declines every question, the operator can set RECEIVABLES_CONFIRM_FORMS=off.",
  );

const unavailable = () =>
  new Refusal(
    "confirmation_unavailable",
    "This asks a person first, and the host cannot ask one; nothing was changed.",
  );

const isYes = (view: InputResponseView): boolean =>
  view.kind === "elicit" &&
  view.action === "accept" &&
  FORM.safeParse(view.content).data?.confirm === true;

type Needs = LeaveNeeds & {
  key: Buffer;
  settings: Pick<Settings, "confirm" | "confirmForms">;
  approvals: Approvals | undefined;
};

/** Remembers names, the newest `max` of them. */
const createMemory = (max: number) => {
  const names = new Set<string>();
  return {
    has: (name: string): boolean => names.has(name),
    add(name: string): void {
      names.add(name);
      for (const oldest of names) {
        if (names.size <= max) return;
        names.delete(oldest);
      }
    },
  };
};

const createContext = (needs: Needs) => ({
  ...needs,
  // Separate seals, so that what one way gives cannot be used in another.
  tokens: createSeal(needs.key, "mcp/confirmation-token"),
  states: createSeal(needs.key, "mcp/confirmation-state"),
  pageTokens: createSeal(needs.key, "mcp/approval-token"),
  tickets: createTickets(needs.key),
  /** Sessions whose host declines questions before a person can read them. */
  unanswered: createMemory(MAX_SESSIONS),
});
type Context = ReturnType<typeof createContext>;

const toSummary = (summary: string): string => `Needs a person's consent: ${summary}`;

const requirePage = (
  confirmation: { confirmationToken: string; expiresAt: string; summary: string },
  page: string,
  message = toSummary(confirmation.summary),
): Refusal =>
  new Refusal("confirmation_required", message, {
    confirmation: { ...confirmation, page },
    nextStep: `Give the person this address, where they approve or decline: ${page} . After they have approved, make the same call with this confirmationToken.`,
  });

/** Asks on a page of this server; undefined if the person is not signed in in any browser. */
const demandPage = async (
  { now, approvals, pageTokens }: Context,
  { purpose }: Question,
  prepared: Asking & { summary: string },
): Promise<Refusal | undefined> => {
  const { summary } = prepared;
  const { id, expiresAt, facts } = writeLeave(now, purpose, prepared);
  const page = await approvals?.open({ id, question: summary, expiresAt });
  if (page === undefined) return undefined;
  const confirmationToken = pageTokens.seal([page, summary, facts]);
  return requirePage({ confirmationToken, expiresAt: formatTimestamp(expiresAt), summary }, page);
};

const demandToken = (
  { now, tokens, settings }: Context,
  { purpose }: Question,
  prepared: Asking & { summary: string },
): Refusal => {
  if (settings.confirm === "refuse") return unavailable();
  const { summary } = prepared;
  const { expiresAt, facts } = writeLeave(now, purpose, prepared);
  return new Refusal("confirmation_required", toSummary(summary), {
    confirmation: {
      confirmationToken: tokens.seal(facts),
      expiresAt: formatTimestamp(expiresAt),
      summary,
    },
  });
};

const PageToken = z.tuple([z.string(), z.string(), z.unknown()]);

/** Redeems the token of an approval page; undefined for any other token. */
const redeemPageToken = async (
  context: Context,
  { purpose, prepare, token }: Question,
): Promise<Leave | undefined> => {
  const { now, approvals, pageTokens } = context;
  const { data } = PageToken.safeParse(openSealed(pageTokens, token));
  if (data === undefined || approvals === undefined) return undefined;
  const [page, summary, facts] = data;
  const sealed = readLeave(now, facts, purpose);
  const decision = await approvals.decisionOf(sealed.id);
  if (decision === "declined") throw declined();
  if (decision === "approved") return redeemLeave(context, prepare, sealed, "page");
  const expiresAt = formatTimestamp(sealed.expiresAt);
  const confirmation = { confirmationToken: String(token), expiresAt, summary };
  throw requirePage(confirmation, page, `The person has not approved this yet: ${summary}`);
};

const redeemToken = async (context: Context, question: Question): Promise<Leave | undefined> => {
  const { now, tokens, settings } = context;
  const { token, purpose, prepare } = question;
  if (token === undefined) return undefined;
  const leave = await redeemPageToken(context, question);
  if (leave !== undefined || settings.confirm === "refuse") return leave;
  return redeemLeave(context, prepare, readLeave(now, openSealed(tokens, token), purpose), "token");
};

/**
 * Reads the answer with which a call of 2026 comes again. Undefined if it has none, or the host gave it.
 *
 * @throws {Refusal} declined, confirmation_invalid
 */
const readRound = async (
  context: Context,
  { ways: { host, session }, purpose, prepare }: Question,
): Promise<Leave | undefined> => {
  const { now, states, replayGuard } = context;
  if (host.asks !== "by_round") return undefined;
  const view = inputResponse(host.responses, KEY);
  if (view.kind === "missing") return undefined;
  const opened = openSealed(states, host.state);
  if (isYes(view)) return redeemLeave(context, prepare, readLeave(now, opened, purpose), "form");
  const accepted = findLeave(now, opened, purpose);
  if (accepted === undefined) throw declined();
  // A question that was declined cannot be accepted any more.
  await replayGuard.claim(accepted.id, accepted.expiresAt);
  if (now() - accepted.askedAt > UNANSWERED_WITHIN_MS) throw declined();
  context.unanswered.add(session);
  return undefined;
};

/** Asks with a form of the host. Undefined if the host answered in the person's place. */
const askForm = async (
  context: Context,
  { ways: { host, session }, purpose, prepare }: Question,
  prepared: Asking & { summary: string },
): Promise<Consented | undefined> => {
  const { now, states } = context;
  const { summary, print, etag, absent, bound } = prepared;
  if (host.asks === "never") return undefined;
  if (host.asks === "by_round") {
    const inputRequests = {
      [KEY]: inputRequired.elicit({ message: summary, requestedSchema: FORM }),
    };
    const requestState = states.seal(writeLeave(now, purpose, prepared).facts);
    return { ask: inputRequired({ inputRequests, requestState }) };
  }
  const askedAt = now();
  const answer = await host.ask(summary);
  if (isYes(inputResponse({ [KEY]: answer }, KEY))) {
    await checkUnchanged(prepare, print);
    return { etag, absent, bound, confirmedBy: "form" };
  }
  if (now() - askedAt > UNANSWERED_WITHIN_MS) throw declined();
  context.unanswered.add(session);
  return undefined;
};

const askInView = (
  { now, tickets }: Context,
  { ways, purpose, call }: Question,
  prepared: Asking & { summary: string },
): Consented | undefined => {
  if (!ways.showsViews) return undefined;
  const { expiresAt, facts } = writeLeave(now, purpose, prepared);
  const ticket = tickets.write(facts, call);
  if (ticket === undefined) return undefined;
  return { ask: createWaiting({ question: prepared.summary, expiresAt, ticket }) };
};

/** Whether the person may be asked with a form of the host. */
const hasForms = ({ settings }: Context, { ways: { host } }: Question): boolean =>
  settings.confirmForms !== false && host.asks !== "never";

/** Whether the host has just declined the question of this call. */
const isDeclinedRound = ({ ways: { host } }: Question): boolean =>
  host.asks === "by_round" && inputResponse(host.responses, KEY).kind !== "missing";

/** Asks in one way after the other, and throws the refusal where none leads to an answer. */
const askInTurn = async (
  context: Context,
  question: Question,
  prepared: Asking & { summary: string },
): Promise<Consented> => {
  const { session } = question.ways;
  const canForm = hasForms(context, question) && !isDeclinedRound(question);
  const isRemembered = context.unanswered.has(session);
  const form = canForm && !isRemembered ? await askForm(context, question, prepared) : undefined;
  const consented = form ?? askInView(context, question, prepared);
  if (consented !== undefined) return consented;
  const page = await demandPage(context, question, prepared);
  if (page !== undefined) throw page;
  // The only way that is left: a person may have been as fast as a host, once.
  const again = canForm && isRemembered ? await askForm(context, question, prepared) : undefined;
  if (again !== undefined) return again;
  // A declined question must not lead to a token, which an assistant could send by itself.
  throw context.unanswered.has(session) ? unanswered() : demandToken(context, question, prepared);
};

/**
 * Creates the function that asks a person: with a form, in a view, on a page, then as the settings say. No answer, and
 * any answer other than yes, means no.
 */
export const createConfirm = (needs: Needs) => {
  const context = createContext(needs);
  const { settings, approvals, now } = context;
  return async (question: Question): Promise<Consented> => {
    const { ways, purpose, prepare, open } = question;
    if (ways.approved !== undefined) {
      const leave = readLeave(now, ways.approved.leave, purpose);
      return redeemLeave(context, prepare, leave, "view");
    }
    const leave = (await redeemToken(context, question)) ?? (await readRound(context, question));
    if (leave !== undefined) return leave;
    const canAsk = hasForms(context, question) || ways.showsViews || approvals !== undefined;
    if (!canAsk && settings.confirm === "refuse" && !open) throw unavailable();
    const prepared = await prepare();
    const { summary, etag, absent, bound } = prepared;
    if (summary === null) return { etag, absent, bound, confirmedBy: "none" };
    return askInTurn(context, question, { ...prepared, summary });
  };
};
