import {
  CLIENT_INFO_META_KEY,
  type ElicitRequestParams,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { Problem } from "../../contract/errors.ts";
import { MINUTE } from "../../kit/clock.ts";
import { isRecord } from "../../kit/json.ts";
import { CONFIRM_FORM, type Host, type Ways } from "./asking/confirm.ts";
import { canShowViews } from "../../views/views.ts";
import type { Progress } from "./tool-context.ts";
import type { Opens, UrlPage } from "./hand-over.ts";
import { randomId } from "../../kit/ids.ts";
import { type Caller, capabilitiesOf } from "../caller.ts";

const ANSWER_WITHIN_MS = 10 * MINUTE;
const RESTART_SECONDS = 5;

const elicitationIn = (capabilities: unknown): object | undefined => {
  const elicitation = isRecord(capabilities) ? capabilities["elicitation"] : undefined;
  return isRecord(elicitation) ? elicitation : undefined;
};

/** A bare `elicitation: {}` means forms; one that names other modes alone does not. */
const canAskForms = (capabilities: unknown): boolean => {
  const elicitation = elicitationIn(capabilities);
  return (
    elicitation !== undefined && (Object.keys(elicitation).length === 0 || "form" in elicitation)
  );
};

const canOpenPages = (capabilities: unknown): boolean =>
  "url" in (elicitationIn(capabilities) ?? {});

/** Asks while the call waits, until `ending` aborts. A host that fails to ask counts as a no. */
const elicit =
  ({ mcpReq }: ServerContext, ending: AbortSignal | undefined) =>
  async (params: ElicitRequestParams): Promise<unknown> => {
    const signals = [mcpReq.signal, ...(ending === undefined ? [] : [ending])];
    try {
      return await mcpReq.send(
        { method: "elicitation/create", params },
        { timeout: ANSWER_WITHIN_MS, signal: AbortSignal.any(signals) },
      );
    } catch (error) {
      if (mcpReq.signal.aborted) throw error;
      return undefined;
    }
  };

/** @throws {Problem} unavailable, if the server ends before the person has answered */
const askNow =
  (context: ServerContext, ending: AbortSignal | undefined) =>
  async (question: string): Promise<unknown> => {
    const params = { message: question, requestedSchema: CONFIRM_FORM };
    const answer = await elicit(context, ending)(params);
    if (answer !== undefined || ending?.aborted !== true) return answer;
    const message = "The server restarts and cannot wait for the person; nothing was changed.";
    throw new Problem("unavailable", message, { retryAfterSeconds: RESTART_SECONDS });
  };

const openNow =
  (context: ServerContext, ending: AbortSignal | undefined) =>
  async ({ url, message }: UrlPage): Promise<boolean> => {
    const params = { mode: "url" as const, url, message, elicitationId: randomId() };
    const answer = await elicit(context, ending)(params);
    return (answer as { action?: unknown } | undefined)?.action === "accept";
  };

/** Longer names are cut: seals and records of questions have them. */
const MAX_NAME_LENGTH = 255;

const nameIn = (info: unknown): string => {
  const name = isRecord(info) ? info["name"] : undefined;
  return typeof name === "string" ? name.slice(0, MAX_NAME_LENGTH) : "";
};

/**
 * The authorization under which a request comes and the program that sends it, by the name that it gives itself: over
 * stdio, and where no sign-in is asked for, this name alone tells two hosts of one person apart.
 */
export const clientOf = (server: Server, { mcpReq }: ServerContext, { grant }: Caller): string => {
  const { envelope } = mcpReq;
  const info =
    envelope === undefined
      ? server.getClientVersion()
      : (envelope as Record<string, unknown>)[CLIENT_INFO_META_KEY];
  return JSON.stringify([grant, nameIn(info)]);
};

/** Returns the way to open a page through the host of a request. */
export const opensOf = (server: Server, context: ServerContext, ending?: AbortSignal): Opens => {
  const { envelope, inputResponses, requestState } = context.mcpReq;
  if (!canOpenPages(capabilitiesOf(server, context))) return { opens: "never" };
  return envelope === undefined
    ? { opens: "now", open: openNow(context, ending) }
    : { opens: "by_round", responses: inputResponses, state: requestState() };
};

/** Returns the ways to ask the person through the host of a request; `client` names the program. */
export const waysOf = (
  server: Server,
  context: ServerContext,
  client: string,
  ending?: AbortSignal,
): Ways => {
  const { envelope, inputResponses, requestState } = context.mcpReq;
  const capabilities = capabilitiesOf(server, context);
  const formsOf = (): Host => {
    if (!canAskForms(capabilities)) return { asks: "never" };
    return envelope === undefined
      ? { asks: "now", ask: askNow(context, ending) }
      : { asks: "by_round", responses: inputResponses, state: requestState() };
  };
  return {
    host: formsOf(),
    showsViews: canShowViews(capabilities),
    session: `${client} ${context.sessionId ?? ""}`,
  };
};

/** Reports each step of a call if the host sent a progress token. Failed notifications are ignored. */
export const progressOf = ({ mcpReq }: ServerContext): Progress => {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return async (message) => {
    if (progressToken === undefined) return;
    progress += 1;
    const params = { progressToken, progress, message };
    await mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  };
};
