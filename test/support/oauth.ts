import { createClient } from "../../src/client/client.ts";
import { createInProcessTransport } from "../../src/client/in-process.ts";
import type { Client, Transport } from "../../src/client/port.ts";
import { serve, type Served } from "../../src/server/serve.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { createOriginCheck } from "../../src/kit/cors.ts";
import { silentLog } from "../../src/kit/log.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createNetworks } from "../../src/kit/network.ts";
import type { Directory } from "../../src/oauth/directory.ts";
import { createDirectory } from "../../src/platform/admin/directory.ts";
import {
  type AuthorizationServer,
  type AuthorizationServerNeeds,
  createAuthorizationServer,
} from "../../src/oauth/server.ts";
import { createStorage } from "../../src/records/storage.ts";
import { type Browser, openBrowser, type Shown } from "./browser.ts";
import { MASTER_KEY, type TestPlatform } from "./platform.ts";
import { makePkce } from "./pkce.ts";

/** Creates a client of the test's platform that records the requests. */
export const watchedClient = ({
  platform,
}: Pick<TestPlatform, "platform">): { client: Client; sent: string[] } => {
  const sent: string[] = [];
  const inner = createInProcessTransport({
    fetch: async (request) => platform.fetch(request),
    requestMs: 10_000,
  });
  const transport: Transport = {
    ...inner,
    send(request) {
      sent.push(JSON.stringify(request));
      return inner.send(request);
    },
  };
  return { client: createClient({ transport, headerWord: "Platform", log: silentLog }), sent };
};

/** Opens the people and clients of the test's platform, as a server does that shares its store. */
export const directoryOf = ({ store, clock }: TestPlatform): Directory =>
  createDirectory({ store, clock, newId: randomId });

export type Running = {
  url: string;
  resource: string;
  server: AuthorizationServer;
  /** Paths of the requests to the platform. */
  sent: string[];
  close(): Promise<void>;
};

export type Options = Partial<
  Pick<
    AuthorizationServerNeeds,
    | "registration"
    | "ca"
    | "platform"
    | "tenantId"
    | "masterKey"
    | "client"
    | "addressOf"
    | "directory"
    | "identityProviders"
    | "companySettings"
    | "passwords"
    | "hosts"
    | "storage"
    | "log"
  >
> & { port?: number; issuer?: string };

/** Starts an authorization server over a test's platform and store. */
export const startAuthorization = async (
  at: TestPlatform,
  { port = 0, issuer, ...options }: Options = {},
): Promise<Running> => {
  const { client, sent } = watchedClient(at);
  const { promise: ready, resolve: isReady } = Promise.withResolvers<AuthorizationServer>();
  let asked = 0;
  const served: Served = await serve(
    async (incoming, response) => (await ready).handle(incoming, response),
    { host: "127.0.0.1", port },
  );
  const resource = `${issuer ?? served.url}/mcp`;
  const server = createAuthorizationServer({
    issuer: issuer ?? served.url,
    resource,
    storage: createStorage(await at.oauthStore(), systemClock),
    masterKey: MASTER_KEY,
    client,
    headerWord: "Platform",
    platform: "test",
    platformName: "platform.test",
    tenantId: undefined,
    registration: true,
    hosts: { resolve: async () => ["127.0.0.1"], allowed: createNetworks(["127.0.0.0/8"]) },
    isOrigin: createOriginCheck(["https://app.example.com"]),
    // Each request has another address, except in tests of limits.
    addressOf: () => `10.0.0.${(asked += 1)}`,
    now: systemClock,
    log: silentLog,
    ...options,
  });
  isReady(server);
  return { url: served.url, resource, server, sent, close: () => served.close() };
};

export const REDIRECT = "http://127.0.0.1:33418/callback";

export type Registered = { clientId: string; redirect: string };

/** Registers a client (RFC 7591). */
export const register = async (
  { url }: Pick<Running, "url">,
  metadata: Record<string, unknown> = {},
): Promise<Registered> => {
  const answer = await fetch(`${url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Test host", redirect_uris: [REDIRECT], ...metadata }),
  });
  const { client_id: clientId, redirect_uris: uris } = (await answer.json()) as {
    client_id: string;
    redirect_uris: string[];
  };
  return { clientId, redirect: uris[0] ?? "" };
};

/** Returns the authorization URL to which a client sends a person's browser; its own code challenge can be given. */
export const authorizeUrl = (
  { url, resource }: Pick<Running, "url" | "resource">,
  { clientId, redirect }: Registered,
  more: Record<string, string | undefined> = {},
): string => {
  const asked = new URL(`${url}/oauth/authorize`);
  const params = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirect,
    code_challenge: makePkce().challenge,
    code_challenge_method: "S256",
    scope: "read write",
    state: "the state",
    resource,
    ...more,
  };
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) asked.searchParams.set(name, value);
  }
  return asked.href;
};

export type Login = { email: string; password: string };

/** Signs in on the first page and returns the consent page. */
export const signIn = (
  browser: Browser,
  first: Shown,
  { email, password }: Login,
): Promise<Shown> => browser.submit(first, { email, password, action: "sign-in" });

export type Tokens = {
  access_token: string;
  refresh_token: string;
  scope: string;
  expires_in: number;
};
export type Answer = { status: number; body: Tokens & { error?: string } };

export const askToken = async (
  { url }: Pick<Running, "url">,
  params: Record<string, string>,
): Promise<Answer> => {
  const answer = await fetch(`${url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams(params),
  });
  return { status: answer.status, body: (await answer.json()) as Answer["body"] };
};

/** The person who signs in for a client. `scope`: the scopes they select; the preselected ones by default. */
export type Signing = Login & { browser?: Browser; scope?: string[]; tenant?: string };

/** Completes the sign-in in the person's browser and returns the authorization code. */
export const codeFrom = async (
  url: string,
  { browser = openBrowser(), scope, tenant, ...login }: Signing,
): Promise<string> => {
  const second = await signIn(browser, await browser.open(url), login);
  const last = await browser.submit(second, {
    ...(scope === undefined ? {} : { scope }),
    ...(tenant === undefined ? {} : { tenant }),
    action: "allow",
  });
  const code = new URL(last.url).searchParams.get("code");
  if (code === null) throw new Error(`no code at ${last.url}: ${last.status} ${last.text}`);
  return code;
};

/** Returns the code in the address to which a sign-in has led. */
export const codeOf = ({ url }: Pick<Shown, "url">): string =>
  new URL(url).searchParams.get("code") ?? "";

export type Coded = { code: string; verifier: string; client: Registered };

/** Completes a sign-in for a client, a new one by default; `scope` is the client's request. */
export const authorize = async (
  running: Pick<Running, "url" | "resource">,
  { email, password }: Login,
  more: Omit<Signing, "scope" | keyof Login> & { client?: Registered; scope?: string } = {},
): Promise<Coded> => {
  const { client = await register(running), scope, ...signing } = more;
  const { verifier, challenge } = makePkce();
  const asked = { code_challenge: challenge, ...(scope === undefined ? {} : { scope }) };
  const url = authorizeUrl(running, client, asked);
  return { code: await codeFrom(url, { email, password, ...signing }), verifier, client };
};

export const redeem = (
  running: Pick<Running, "url" | "resource">,
  { code, verifier, client }: Coded,
  more: Record<string, string> = {},
): Promise<Answer> =>
  askToken(running, {
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    client_id: client.clientId,
    redirect_uri: client.redirect,
    resource: running.resource,
    ...more,
  });

export const refresh = (
  running: Pick<Running, "url">,
  { clientId }: Registered,
  refreshToken: string,
  more: Record<string, string> = {},
): Promise<Answer> =>
  askToken(running, {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: clientId,
    ...more,
  });

export const revoke = async (
  { url }: Pick<Running, "url">,
  { clientId }: Registered,
  token: string,
): Promise<number> => {
  const body = new URLSearchParams({ token, client_id: clientId });
  return (await fetch(`${url}/oauth/revoke`, { method: "POST", body })).status;
};
