import { findHostName } from "../../kit/network.ts";
import { asksForPage, describeOtherHost, otherHostPage } from "../../pages/other-host.ts";
import { createPageResponse } from "../../pages/page.ts";
import type { MessageId } from "../message-ids.ts";
import { toErrorMessage } from "../messages.ts";

export const isEventStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;

/**
 * Returns the response and calls `onEnd` once: after the last byte of a stream or when the client disconnects; for any
 * other response at once, because its body is complete already.
 */
export const onResponseEnd = (response: Response, onEnd: () => void): Response => {
  if (!isEventStream(response) || response.body === null) {
    onEnd();
    return response;
  }
  const watched = new TransformStream({ flush: onEnd, cancel: onEnd });
  return new Response(response.body.pipeThrough(watched), response);
};

type ErrorOptions = {
  code?: number;
  headers?: Record<string, string>;
  /** The id of the request; null where it cannot be read, or is added later. */
  id?: MessageId | null;
};

/** Returns the response to a request that does not reach a server: a JSON-RPC error. */
export const createErrorResponse = (
  status: number,
  message: string,
  { code = -32_000, headers = {}, id = null }: ErrorOptions = {},
): Response => Response.json(toErrorMessage({ id, code, message }), { status, headers });

const TEXT = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };

/** Refuses a request for a page or a document in a line of text. */
export const refuseInText = (
  status: number,
  text: string,
  headers: Record<string, string> = {},
): Response => new Response(`${text}\n`, { status, headers: { ...TEXT, ...headers } });

/** Refuses a method that is none of those in a list, such as `GET, HEAD`. */
export const refuseMethod = (methods: string, headers: Record<string, string> = {}): Response =>
  refuseInText(405, `Only ${methods}.`, { ...headers, Allow: methods });

export const refuseUnknownPath = (): Response => refuseInText(404, "There is no such page.");

/** Returns the refusal of a request that calls the server by another name; undefined for the names in `hosts`. */
export const refuseOtherHost = (
  { method, headers }: Request,
  hosts: readonly string[],
): Response | undefined => {
  const host = headers.get("host");
  const name = findHostName(host);
  if (name !== undefined && hosts.includes(name)) return undefined;
  return asksForPage(method, headers.get("accept"))
    ? createPageResponse(otherHostPage(host))
    : createErrorResponse(403, describeOtherHost(host));
};
