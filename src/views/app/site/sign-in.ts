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

const BLOCKED =
  "This browser blocks cookies and site data for this address, which the sign-in needs. Allow them, then try again.";

/** Keeps the state of a sign-in. @throws {Error} if the browser blocks the storage */
const keep = (pending: Pending): void => {
  try {
    sessionStorage.setItem(PENDING, JSON.stringify(pending));
  } catch {
    throw new Error(BLOCKED);
  }
};

/** Takes the state of a sign-in; empty if there is none, or if the browser blocks the storage. */
const take = (): Pending => {
  try {
    const pending = JSON.parse(sessionStorage.getItem(PENDING) ?? "{}") as Pending;
    sessionStorage.removeItem(PENDING);
    return pending;
  } catch {
    return {};
  }
};

/** The secrets of a sign-in: PKCE's verifier, and the state that its answer repeats. */
type Begun = { verifier: string; state: string; address: URL };

/** Prepares the way to the sign-in page of this server (OAuth 2.1: authorization code with PKCE). */
const begin = async (mark = ""): Promise<Begun> => {
  const [verifier, state] = [randomText(), `${mark}${randomText()}`];
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
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
  return { verifier, state, address: new URL(`oauth/authorize?${query}`, config.mcpUrl) };
};

/** Leaves for the sign-in page. */
export const signIn = async (): Promise<void> => {
  const { verifier, state, address } = await begin();
  const path = location.href.startsWith(base.href) ? location.href.slice(base.href.length) : "";
  keep({ verifier, state, path });
  location.assign(address);
};

/** Exchanges a code for a token. */
const exchange = async (code: string, verifier: string): Promise<string> => {
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
  return answer.access_token;
};

/** Ends the sign-in at the server, where the token is one of its own, and loads the page without it. */
export const signOut = async (token: string | undefined): Promise<void> => {
  if (config.auth === "builtin" && token !== undefined) {
    const body = new URLSearchParams({ client_id: config.clientId, token });
    // oxlint-disable-next-line no-restricted-globals -- a browser has no other way to its own server
    await fetch(new URL("oauth/revoke", base), { method: "POST", body });
  }
  location.assign(base);
};

type SignedIn = {
  token: string;
  /** The path of the page that asked for the sign-in. */ path: string;
};

/** Redeems the code with which the sign-in page returned; undefined if the person has not come from there. */
export const redeemCode = async (): Promise<SignedIn | undefined> => {
  const query = new URLSearchParams(location.search);
  const { verifier, state, path = "" } = take();
  const [code, refusal] = [query.get("code"), query.get("error_description")];
  if (query.size > 0) history.replaceState(null, "", location.pathname);
  // Before the refusal is shown: any page could link here with words of its own.
  if (verifier === undefined || query.get("state") !== state) return undefined;
  if (refusal !== null) throw new Error(refusal);
  if (code === null) return undefined;
  return { token: await exchange(code, verifier), path };
};

/** Begins the state of a sign-in in a second window, whose answer belongs to the first one. */
const BESIDE = "beside.";
const CHANNEL = "receivables sign-in";
const POPUP = "popup,width=520,height=760";

/** The parameters that the second window came back with. */
type Returned = { state: string; code: string | null; refusal: string | null };

/** Waits for the answer of a sign-in in a second window. */
const waitForReturn = (state: string): Promise<Returned> =>
  new Promise((resolve) => {
    const channel = new BroadcastChannel(CHANNEL);
    channel.addEventListener("message", ({ data }: MessageEvent<Returned>) => {
      if (data.state !== state) return;
      channel.close();
      resolve(data);
    });
  });

/**
 * Signs in in a second window, so that nothing that was typed on the page is lost; where the browser opens none, leaves
 * the page. The window opens before anything is awaited, because browsers block it otherwise.
 */
export const signInBeside = async (): Promise<string | undefined> => {
  const beside = window.open("", "", POPUP);
  if (beside === null) {
    await signIn();
    return undefined;
  }
  const { verifier, state, address } = await begin(BESIDE);
  const returned = waitForReturn(state);
  beside.location.replace(address);
  const { code, refusal } = await returned;
  if (code === null) throw new Error(refusal ?? "The sign-in failed.");
  return exchange(code, verifier);
};

/** In the second window: hands the answer of the sign-in to the first one; false in any other window. */
export const handOver = (): boolean => {
  const query = new URLSearchParams(location.search);
  const state = query.get("state") ?? "";
  if (!state.startsWith(BESIDE)) return false;
  history.replaceState(null, "", location.pathname);
  const channel = new BroadcastChannel(CHANNEL);
  const returned: Returned = {
    state,
    code: query.get("code"),
    refusal: query.get("error_description"),
  };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel of this origin, not a window
  channel.postMessage(returned);
  // The message is on its way when the next task begins.
  setTimeout(() => window.close());
  return true;
};

/** Returns the record that a path below the server's address names. */
export const recordOfPath = (path: string): typeof config.record => {
  const match = /^(dispute|account|document)s\/(.+)$/.exec(path);
  const [, kind, id] = match ?? [];
  return kind === undefined || id === undefined
    ? undefined
    : { kind: kind as NonNullable<typeof config.record>["kind"], id: decodeURIComponent(id) };
};
