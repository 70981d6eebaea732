import {
  CLIENT_INFO_META_KEY,
  type ElicitRequestParams,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { MINUTE } from "../../kit/clock.ts";
import { CONFIRM_FORM, type Host } from "./confirm.ts";
import type { Progress } from "./tool-call.ts";
import type { Opens, UrlPage } from "./hand-over.ts";
import { randomId } from "../../kit/ids.ts";
import { type Caller, capabilitiesOf } from "../caller.ts";

const ANSWER_WITHIN_MS = 10 * MINUTE;

const elicitationIn = (capabilities: unknown): object | undefined => {
  if (typeof capabilities !== "object" || capabilities === null) return undefined;
  const { elicitation } = capabilities as { elicitation?: unknown };
  return typeof elicitation === "object" && elicitation !== null ? elicitation : undefined;
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

/** Asks while the call waits. A host that fails to ask counts as a no. */
const elicit =
  ({ mcpReq }: ServerContext) =>
  async (params: ElicitRequestParams): Promise<unknown> => {
    try {
      return await mcpReq.send(
        { method: "elicitation/create", params },
        { timeout: ANSWER_WITHIN_MS, signal: mcpReq.signal },
      );
    } catch (error) {
      if (mcpReq.signal.aborted) throw error;
      return undefined;
    }
  };

const askNow = (context: ServerContext) => (question: string) =>
  elicit(context)({ message: question, requestedSchema: CONFIRM_FORM });

const openNow =
  (context: ServerContext) =>
  async ({ url, message }: UrlPage): Promise<boolean> => {
    const answer = await elicit(context)({ mode: "url", url, message, elicitationId: randomId() });
    return (answer as { action?: unknown } | undefined)?.action === "accept";
  };

const nameIn = (info: unknown): string => {
  const name = typeof info === "object" && info !== null && "name" in info ? info.name : undefined;
  return typeof name === "string" ? name : "";
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
export const opensOf = (server: Server, context: ServerContext): Opens => {
  const { envelope, inputResponses, requestState } = context.mcpReq;
  if (!canOpenPages(capabilitiesOf(server, context))) return { opens: "never" };
  return envelope === undefined
    ? { opens: "now", open: openNow(context) }
    : { opens: "by_round", responses: inputResponses, state: requestState() };
};

/** Returns the way to ask the person through the host of a request. */
export const hostOf = (server: Server, context: ServerContext): Host => {
  const { envelope, inputResponses, requestState } = context.mcpReq;
  if (!canAskForms(capabilitiesOf(server, context))) return { asks: "never" };
  return envelope === undefined
    ? { asks: "now", ask: askNow(context) }
    : { asks: "by_round", responses: inputResponses, state: requestState() };
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
