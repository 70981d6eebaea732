import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type Code, ERRORS } from "../contract/errors.ts";
import { randomId } from "../kit/ids.ts";
import { createLog, toFailureFields } from "../kit/log.ts";
import { getRequestId } from "../kit/request-id.ts";
import { textBefore } from "../kit/text.ts";
import { createErrorResponse } from "../mcp/http/responses.ts";
import { createPageResponse } from "../pages/page.ts";
import { html } from "../pages/html.ts";

export { asksForPage, otherHostPage } from "../pages/other-host.ts";

/** A failure of the server, or a request that no handler was called for. */
type FailureCode = Extract<Code, "internal" | "invalid_request">;

const MESSAGES: Record<FailureCode, string> = {
  internal: "Something went wrong in this server. Try again later.",
  invalid_request: "The address or the Host of the request is not valid.",
};

const RPC_CODES: Record<FailureCode, number> = { internal: -32_603, invalid_request: -32_600 };

/** Creates the response to a failed request. It does not describe the error. */
export type AnswerFailure = (code: FailureCode) => Response;

/** A JSON-RPC error. */
export const failedMessage: AnswerFailure = (code) =>
  createErrorResponse(ERRORS[code].status, MESSAGES[code], { code: RPC_CODES[code] });

/** A page for people. */
export const failedPage: AnswerFailure = (code) =>
  createPageResponse({
    status: ERRORS[code].status,
    title: ERRORS[code].title,
    body: html`<h1>${ERRORS[code].title}</h1>
      <p class="lead">${MESSAGES[code]}</p>`,
  });

const PROBLEM_HEADERS = {
  "Content-Type": "application/problem+json",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
};

const formatProblem = (code: FailureCode, instance: string): string => {
  const { title, status } = ERRORS[code];
  const requestId = getRequestId() ?? randomId();
  const detail = MESSAGES[code];
  return JSON.stringify({
    type: `urn:problem:${code}`,
    title,
    status,
    detail,
    instance,
    code,
    requestId,
    errors: [],
  });
};

/** A problem of the platform (RFC 9457). */
export const failedRequest: AnswerFailure = (code) =>
  new Response(formatProblem(code, "/"), {
    status: ERRORS[code].status,
    headers: PROBLEM_HEADERS,
  });

const errorLog = createLog("error");

/** Logs an error that no handler expected, in one line. */
export const logFailure = (error: unknown, headers: IncomingMessage["headers"] = {}): void =>
  errorLog.error("http.failed", {
    requestId: getRequestId(),
    ...toFailureFields(error, headers),
  });

/** Answers a request whose listener failed; a response that has begun cannot be completed, so its connection is reset. */
const endFailed = ({ url = "/" }: IncomingMessage, response: ServerResponse): void => {
  if (response.headersSent) return void response.destroy();
  // The rest of the body may be unread.
  const headers = { ...PROBLEM_HEADERS, Connection: "close" };
  response
    .writeHead(ERRORS.internal.status, headers)
    .end(formatProblem("internal", textBefore(url, "?#")));
};

/** Calls a listener. A failure of it, at once or later, is logged and answered. */
export const callListener = async (
  listener: RequestListener,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  try {
    await Promise.resolve(listener(request, response) as unknown);
  } catch (error) {
    logFailure(error, request.headers);
    endFailed(request, response);
  }
};
