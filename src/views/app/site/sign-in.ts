import { base, config } from "./config.ts";

const PENDING = "sign-in";
const SCOPES = "read write";

const toBase64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCodePoint(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const randomText = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(32)));

const pageUrl = (): string => new URL(".", config.mcpUrl).href;

/** The state that survives the redirects: never a token, which is only ever in memory. */
type Pending = { verifier?: string; state?: string; path?: string };

/** Leaves for the sign-in page of this server (OAuth 2.1: authorization code with PKCE). */
export const signIn = async (): Promise<void> => {
  const [verifier, state] = [randomText(), randomText()];
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const path = location.href.startsWith(base.href) ? location.href.slice(base.href.length) : "";
  sessionStorage.setItem(PENDING, JSON.stringify({ verifier, state, path } satisfies Pending));
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

type SignedIn = {
  token: string;
  /** The path of the page that asked for the sign-in. */ path: string;
};

/** Redeems the code with which the sign-in page returned; undefined if the person has not come from there. */
export const redeemCode = async (): Promise<SignedIn | undefined> => {
  const query = new URLSearchParams(location.search);
  const pending = JSON.parse(sessionStorage.getItem(PENDING) ?? "{}") as Pending;
  const { verifier, state, path = "" } = pending;
  const [code, refusal] = [query.get("code"), query.get("error_description")];
  if (query.size > 0) history.replaceState(null, "", location.pathname);
  sessionStorage.removeItem(PENDING);
  // Before the refusal is shown: any page could link here with words of its own.
  if (verifier === undefined || query.get("state") !== state) return undefined;
  if (refusal !== null) throw new Error(refusal);
  if (code === null) return undefined;
  // oxlint-disable-next-line no-restricted-globals -- a browser has no other way to its own server
  const response = await fetch(new URL("oauth/token", base), {
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
  return { token: answer.access_token, path };
};

/** Returns the record that a path below the server's address names. */
export const recordOfPath = (path: string): typeof config.record => {
  const match = /^(dispute|account|document)s\/(.+)$/.exec(path);
  const [, kind, id] = match ?? [];
  return kind === undefined || id === undefined
    ? undefined
    : { kind: kind as NonNullable<typeof config.record>["kind"], id: decodeURIComponent(id) };
};
