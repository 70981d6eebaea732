/** Returns the response to a request that does not reach a server: a JSON-RPC error without a request id. */
export const createErrorResponse = (
  status: number,
  error: { code: number; message: string },
  headers: Record<string, string> = {},
): Response => Response.json({ jsonrpc: "2.0", id: null, error }, { status, headers });
