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

/** Returns the response to a request that does not reach a server: a JSON-RPC error without a request id. */
export const createErrorResponse = (
  status: number,
  message: string,
  { code = -32_000, headers = {} }: { code?: number; headers?: Record<string, string> } = {},
): Response =>
  Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status, headers });
