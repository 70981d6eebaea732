import {
  bearerAuthChallengeResponse,
  OAuthError,
  OAuthErrorCode,
} from "@modelcontextprotocol/server";
import type { CallerAuthInfo, Scope } from "../caller.ts";
import { listRequests } from "../messages.ts";
import { activeTools } from "../tools/listing/active-tools.ts";
import { findCalledName } from "../tools/listing/discovery-tools.ts";
import { researchTools } from "../tools/listing/research-tools.ts";
import { scopeOfTool } from "../tools/listing/kinds.ts";
import type { ListSettings } from "../tools/listing/toolsets.ts";

const READ_METHODS = new Set([
  "resources/read",
  "resources/subscribe",
  "resources/directory/read",
  "skills/get",
  "subscriptions/listen",
  "prompts/get",
  "completion/complete",
]);

/** Checks of the scope that a request needs. Initialization and lists need none: lists offer what the scopes allow. */
export type ScopeChecks = {
  /** Checks a request of 2026 by its headers, which the SDK compares with the body. */
  checkHeaders(request: Request, authInfo: CallerAuthInfo): Response | undefined;
  /** Checks every request in a body. */
  checkBody(body: unknown, authInfo: CallerAuthInfo): Response | undefined;
};

const challenge = (scope: Scope, { resourceMetadataUrl }: CallerAuthInfo): Response => {
  const error = new OAuthError(
    OAuthErrorCode.InsufficientScope,
    `This needs the scope ${scope}. If your host does not ask for it, connect it again and allow it.`,
  );
  return bearerAuthChallengeResponse(error, {
    requiredScopes: [scope],
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  });
};

/** Creates checks that refuse with 403 and the missing scope (RFC 6750), for which hosts then ask the person. */
export const createScopeChecks = (settings: ListSettings): ScopeChecks => {
  const scopesByTool = new Map<unknown, Scope>([
    ...(settings.research === true ? researchTools : []).map(({ name }) => [name, "read"] as const),
    ...activeTools(settings).map((tool) => [tool.name, scopeOfTool(tool)] as const),
  ]);
  const check = (
    method: string | null,
    name: unknown,
    authInfo: CallerAuthInfo,
  ): Response | undefined => {
    const readScope = READ_METHODS.has(method ?? "") ? "read" : undefined;
    const scope = method === "tools/call" ? scopesByTool.get(name) : readScope;
    const isAllowed = scope === undefined || authInfo.scopes.includes(scope);
    return isAllowed ? undefined : challenge(scope, authInfo);
  };
  return {
    checkHeaders: ({ headers }, authInfo) =>
      check(headers.get("mcp-method"), headers.get("mcp-name"), authInfo),
    checkBody(body, authInfo) {
      for (const { method, params = {} } of listRequests(body)) {
        const name = settings.discovery === true ? findCalledName(params) : params["name"];
        const refusal = check(method, name, authInfo);
        if (refusal !== undefined) return refusal;
      }
      return undefined;
    },
  };
};
