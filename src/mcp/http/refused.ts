/** The answer to a request that does not reach a server, in the form that hosts read: an error that belongs to no id. */
export const refused = (
  status: number,
  error: { code: number; message: string },
  headers: Record<string, string> = {},
): Response => Response.json({ jsonrpc: "2.0", id: null, error }, { status, headers });
