import {
  bearerAuthChallengeResponse,
  isJSONRPCRequest,
  OAuthError,
  OAuthErrorCode,
} from "@modelcontextprotocol/server";
import { scopeOfTool } from "../tools/scope.ts";
import { activeTools } from "../tools/active-tools.ts";
import type { CallerAuthInfo, Scope } from "../caller.ts";
import type { ListSettings } from "../tools/toolsets.ts";

const READING = new Set([
  "resources/read",
  "resources/subscribe",
  "subscriptions/listen",
  "prompts/get",
  "completion/complete",
]);

const nameIn = (params: object | undefined): unknown =>
  params !== undefined && "name" in params ? params.name : undefined;

/** What requests need beyond being admitted. Greetings and lists need nothing: they are the same for all. */
export type ScopeChecks = {
  /** Of a request of 2026, by its headers, which the SDK holds against its body. */
  byHeaders(request: Request, caller: CallerAuthInfo): Response | undefined;
  /** Of whatever a body says. */
  byBody(said: unknown, caller: CallerAuthInfo): Response | undefined;
};

/** Answers 403 with the one scope that is needed, upon which hosts ask the person for it. */
export const createScopeChecks = (settings: ListSettings): ScopeChecks => {
  const byTool = new Map<unknown, Scope>(
    activeTools(settings).map((tool) => [tool.name, scopeOfTool(tool)]),
  );
  const needed = (method: string, name: unknown): Scope | undefined => {
    if (method === "tools/call") return byTool.get(name);
    return READING.has(method) ? "read" : undefined;
  };
  const refuse = (
    scope: Scope | undefined,
    { scopes, resourceMetadataUrl }: CallerAuthInfo,
  ): Response | undefined => {
    if (scope === undefined || scopes.includes(scope)) return undefined;
    const error = new OAuthError(
      OAuthErrorCode.InsufficientScope,
      `This needs the scope ${scope}. Where your host does not ask for it, connect it again and allow it.`,
    );
    return bearerAuthChallengeResponse(error, {
      requiredScopes: [scope],
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    });
  };
  return {
    byHeaders: ({ headers }, caller) =>
      refuse(needed(headers.get("mcp-method") ?? "", headers.get("mcp-name")), caller),
    byBody(said, caller) {
      const requests = [said].flat().filter((message) => isJSONRPCRequest(message));
      for (const { method, params } of requests) {
        const refusal = refuse(needed(method, nameIn(params)), caller);
        if (refusal !== undefined) return refusal;
      }
      return undefined;
    },
  };
};
