import type { AuditFacts } from "../../contract/errors.ts";
import type { Result } from "../handlers.ts";
import { recordEtag } from "../preconditions.ts";
import type { RequestContext, Terms } from "./context.ts";

/** The response to a request that was not refused, before its body is serialized, and the facts for its audit entry. */
export type Reply = {
  status: number;
  headers: Record<string, string>;
  body: unknown;
  createdId?: string | undefined;
  audit: AuditFacts;
};

/** Builds the reply from what a handler returned. */
export const toReply = (
  { operation }: Pick<RequestContext, "operation">,
  { ignored: ignoredInInput }: Pick<Terms, "ignored">,
  {
    body,
    version,
    createdId,
    ignored = ignoredInInput,
    audit = {},
    rateLimitHeaders = {},
  }: Result<unknown>,
): Reply => ({
  status: createdId === undefined ? operation.status : 201,
  headers: {
    ...(ignored.length === 0 ? {} : { "X-Ignored-Fields": ignored.join(",") }),
    ...(version === undefined ? {} : { ETag: recordEtag(version) }),
    ...rateLimitHeaders,
  },
  body,
  createdId,
  audit,
});
