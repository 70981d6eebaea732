import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { config as configureZod } from "zod/v4/core";
import { base } from "./config.ts";

// The page's policy forbids the code that zod would generate.
configureZod({ jitless: true });

/** Asks the person a question of the server. */
type Ask = (question: string) => Promise<boolean>;

/** The token of the next request; a new sign-in replaces it. */
export type TokenHolder = { current: string | undefined };

type Visit = {
  token: TokenHolder;
  ask: Ask;
  /** Called when the server no longer accepts the token. */
  onEnd(): void;
};

/** The server takes a faster decline for one of the host alone; here a person has pressed the button. */
const SHORTEST_DECLINE_MS = 1100;

const UNREACHABLE = "The server cannot be reached. Check the connection, then try again.";
const OFFLINE = "You are offline. This goes on by itself when the connection is back.";

/** Requests in words for people, whose browsers say "Failed to fetch". */
const request = async (address: string | URL, init?: RequestInit): Promise<Response> => {
  try {
    // oxlint-disable-next-line no-restricted-globals -- a browser has no other way to its own server
    return await fetch(address, init);
  } catch (error) {
    if (init?.signal?.aborted === true) throw error;
    throw new Error(navigator.onLine ? UNREACHABLE : OFFLINE, { cause: error });
  }
};

/** Connects to the server of this page. */
export const connect = async ({ token, ask, onEnd }: Visit): Promise<Client> => {
  const client = new Client(
    { name: "web-page", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const begin = performance.now();
    if (await ask(params.message)) {
      return { action: "accept" as const, content: { confirm: true } };
    }
    const restMs = Math.max(0, SHORTEST_DECLINE_MS - (performance.now() - begin));
    await new Promise((resolve) => setTimeout(resolve, restMs));
    return { action: "decline" as const };
  });
  const requestOrEnd = async (address: string | URL, init?: RequestInit): Promise<Response> => {
    const headers = new Headers(init?.headers);
    if (token.current !== undefined) headers.set("Authorization", `Bearer ${token.current}`);
    const response = await request(address, { ...init, headers });
    if (response.status === 401) onEnd();
    return response;
  };
  await client.connect(
    new StreamableHTTPClientTransport(new URL("mcp", base), { fetch: requestOrEnd }),
  );
  return client;
};
