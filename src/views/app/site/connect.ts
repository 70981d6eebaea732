import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export type SiteConfig = {
  auth: "none" | "builtin" | "static" | "issuer";
  mcpUrl: string;
  clientId: string;
  views: readonly { name: string; title: string; tool: string }[];
};

export const config = JSON.parse(
  document.querySelector("#config")?.textContent ?? "{}",
) as SiteConfig;

/** Asks the person a question of the server. */
export type Ask = (question: string) => Promise<boolean>;

export type Visit = {
  token: string | undefined;
  ask: Ask;
  /** Called when the server no longer accepts the token. */
  onEnd(): void;
};

/** Connects to the server of this page. */
export const connect = async ({ token, ask, onEnd }: Visit): Promise<Client> => {
  const client = new Client(
    { name: "web-page", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) =>
    (await ask(params.message))
      ? { action: "accept" as const, content: { confirm: true } }
      : { action: "decline" as const },
  );
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const url = new URL("mcp", document.baseURI);
  const fetchOrEnd = async (address: string | URL, init?: RequestInit): Promise<Response> => {
    // oxlint-disable-next-line no-restricted-globals -- a browser has no other way to its own server
    const response = await fetch(address, init);
    if (response.status === 401) onEnd();
    return response;
  };
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch: fetchOrEnd }),
  );
  return client;
};

const PENDING = "sign-in";
const SCOPES = "read write";

const toBase64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCodePoint(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const randomText = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(32)));

const pageUrl = (): string => new URL(".", config.mcpUrl).href;

/** Leaves for the sign-in page of this server (OAuth 2.1: authorization code with PKCE). */
export const signIn = async (): Promise<void> => {
  const [verifier, state] = [randomText(), randomText()];
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  // The verifier alone survives the redirect; the token is only ever in memory.
  sessionStorage.setItem(PENDING, JSON.stringify({ verifier, state }));
  const query = new URLSearchParams({
    response_type: "code",
    client_id: config.clientId,
    redirect_uri: pageUrl(),
    code_challenge: toBase64Url(new Uint8Array(hash)),
    code_challenge_method: "S256",
    resource: config.mcpUrl,
    scope: SCOPES,
    state,
  });
  location.assign(new URL(`oauth/authorize?${query}`, config.mcpUrl));
};

/** Redeems the code with which the sign-in page returned; undefined if the person has not come from there. */
export const redeemCode = async (): Promise<string | undefined> => {
  const query = new URLSearchParams(location.search);
  const { verifier, state } = JSON.parse(sessionStorage.getItem(PENDING) ?? "{}") as {
    verifier?: string;
    state?: string;
  };
  const [code, refusal] = [query.get("code"), query.get("error_description")];
  if (query.size > 0) history.replaceState(null, "", location.pathname);
  sessionStorage.removeItem(PENDING);
  // Before the refusal is shown: any page could link here with words of its own.
  if (verifier === undefined || query.get("state") !== state) return undefined;
  if (refusal !== null) throw new Error(refusal);
  if (code === null) return undefined;
  // oxlint-disable-next-line no-restricted-globals -- a browser has no other way to its own server
  const response = await fetch("oauth/token", {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: config.clientId,
      redirect_uri: pageUrl(),
      resource: config.mcpUrl,
      code_verifier: verifier,
      code,
    }),
  });
  const answer = (await response.json()) as { access_token?: string; error_description?: string };
  if (answer.access_token === undefined) {
    throw new Error(answer.error_description ?? "The sign-in failed.");
  }
  return answer.access_token;
};
