import {
  CLIENT_CAPABILITIES_META_KEY,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { MINUTE } from "../kit/clock.ts";
import { CONFIRM_FORM, type Host } from "./confirm.ts";
import type { Progress } from "./file-upload.ts";

const ANSWER_WITHIN_MS = 10 * MINUTE;

/** A bare `elicitation: {}` means forms; one that names other modes alone does not. */
const canAskForms = (capabilities: unknown): boolean => {
  if (typeof capabilities !== "object" || capabilities === null) return false;
  const { elicitation } = capabilities as { elicitation?: object };
  if (typeof elicitation !== "object" || elicitation === null) return false;
  return Object.keys(elicitation).length === 0 || "form" in elicitation;
};

/** Asks while the call waits. A host that fails to ask has not been told yes. */
const askNow =
  ({ mcpReq }: ServerContext) =>
  async (question: string): Promise<unknown> => {
    const params = { message: question, requestedSchema: CONFIRM_FORM };
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

/** How the person behind the host of a request can be asked. */
export const hostOf = (server: Server, context: ServerContext): Host => {
  const { envelope, inputResponses, requestState } = context.mcpReq;
  if (envelope !== undefined) {
    return canAskForms((envelope as Record<string, unknown>)[CLIENT_CAPABILITIES_META_KEY])
      ? { asks: "by_round", responses: inputResponses, state: requestState() }
      : { asks: "never" };
  }
  return canAskForms(server.getClientCapabilities())
    ? { asks: "now", ask: askNow(context) }
    : { asks: "never" };
};

/** Tells the host of each step of a call, if it has asked to be told. A host that cannot be told has lost nothing. */
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
