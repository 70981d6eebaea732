const clientInfo = { name: "test", version: "1" };

/** What a client of the protocol of 2026 says of itself in each request. */
export const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** What a client of the protocol of 2025 says of itself at the start. */
export const START = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };

/** The first message of a client of the protocol of 2025. */
export const HELLO = { jsonrpc: "2.0", id: 1, method: "initialize", params: START };

/** The address of a server that is called in memory. */
export const ADDRESS = "http://127.0.0.1:8765/mcp";

/** What a host says of the form of its messages over HTTP. */
export const FORM = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

/** A request to a server that is called in memory. */
export const requestOf = (
  body: unknown,
  headers: Record<string, string> = {},
  method = "POST",
): Request =>
  new Request(ADDRESS, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { host: "127.0.0.1:8765", ...FORM, ...headers },
  });
