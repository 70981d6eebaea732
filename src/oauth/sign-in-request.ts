import type Provider from "oidc-provider";
import type { Client, InteractionResults } from "oidc-provider";
import { SECOND } from "../kit/clock.ts";
import { Secret } from "../kit/secret.ts";
import { systemWait } from "../kit/wait.ts";
import { toOneLine } from "../pages/html.ts";
import { isNativeRedirect } from "./clients.ts";
import type { OauthContext } from "./context.ts";
import type { Company } from "./company.ts";
import { type Exchange, redirect, sendPage } from "./form.ts";
import { closeSession, type PlatformSession } from "./platform-session.ts";
import { PAGE_CLIENT } from "./page-client.ts";
import { LIFETIMES } from "./lifetimes.ts";
import { PATHS } from "./provider.ts";
import type { Refusal } from "./refusal.ts";
import { parseScopes, REQUESTED_SCOPE_PARAMETER, type Scope } from "./scopes.ts";
import { type ClientDescription, consentPage, signInPage } from "./sign-in-pages.ts";

export type SignInContext = OauthContext & { provider: Provider; company?: Company | undefined };

type Details = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** One HTTP request of a sign-in, with the authorization request that it belongs to. */
export type SignInRequest = {
  exchange: Exchange;
  /** The id of the authorization request. */
  uid: string;
  params: Details["params"];
  client: Client;
  /** The scopes that the person may grant. */
  offered: Scope[];
  /** The scopes among them that the client requested. */
  requested: Scope[];
  /** Whether the person has granted it already. Only the same form sent again still has an effect: that of the first. */
  isGranted: boolean;
};

type StoredSession = Omit<PlatformSession, "token"> & { token: string };

/**
 * The kind of record that marks an authorization request as granted, with the address to which the person's browser goes
 * next. Issuing its code consumes the record.
 */
export const GRANTED = "Answered";

/** The kind of record of the address with the code, to which a browser is sent again that repeats its request. */
export const ISSUED = "Issued";

/** Longest time in which a repeated form waits for the effect of the first one. */
const REPEAT_WAIT_MS = 10 * SECOND;
const REPEAT_POLL_MS = 50;

export const toText = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns the address in a record of an authorization request. */
const findAddress = async (
  { records }: SignInContext,
  kind: typeof GRANTED | typeof ISSUED,
  uid: string,
): Promise<string | undefined> => toText((await records.find(kind, uid))?.value["to"]) || undefined;

/**
 * Returns the address to which the first of several equal requests sent the browser; waits while that request is handled
 * as long as `isPending` holds. Undefined if there is none.
 */
export const findFirstResponse = async (
  context: SignInContext,
  kind: typeof GRANTED | typeof ISSUED,
  uid: string,
  isPending: () => Promise<boolean> = async () => true,
): Promise<string | undefined> => {
  for (let waitedMs = 0; waitedMs <= REPEAT_WAIT_MS; waitedMs += REPEAT_POLL_MS) {
    const address = await findAddress(context, kind, uid);
    if (address !== undefined) return address;
    if (!(await isPending())) return undefined;
    await systemWait.sleep(REPEAT_POLL_MS);
  }
  return undefined;
};

export const saveResponse = (
  { records, now }: SignInContext,
  kind: typeof GRANTED | typeof ISSUED,
  uid: string,
  to: string,
): Promise<void> =>
  records.write({ kind, id: uid, value: { to }, expiresAt: now() + LIFETIMES.interaction });

/** Returns the sign-in request of an exchange; undefined if its authorization request has ended. */
export const findSignInRequest = async (
  { provider, records }: SignInContext,
  exchange: Exchange,
): Promise<SignInRequest | undefined> => {
  const { incoming, response } = exchange;
  const details = await provider.interactionDetails(incoming, response).catch(() => undefined);
  if (details === undefined || details.result !== undefined) return undefined;
  const { uid, params } = details;
  // The page's URL can still be opened after the person's decision, so the record decides.
  const isGranted = (await records.find(GRANTED, uid)) !== undefined;
  const client = await provider.Client.find(toText(params["client_id"]));
  if (client === undefined) return undefined;
  const offered = parseScopes(params["scope"]);
  const requested = parseScopes(params[REQUESTED_SCOPE_PARAMETER] ?? params["scope"]);
  return { exchange, uid, params, client, offered, requested, isGranted };
};

/** Returns the platform session of a person who has signed in but not decided yet. */
export const findSession = async (
  { records }: SignInContext,
  { uid }: SignInRequest,
): Promise<PlatformSession | undefined> => {
  const stored = (await records.find("SignIn", uid))?.value as StoredSession | undefined;
  return stored && { ...stored, token: new Secret(stored.token) };
};

export const saveSession = (
  { records, now }: SignInContext,
  { uid }: Pick<SignInRequest, "uid">,
  { token, ...session }: PlatformSession,
): Promise<void> =>
  records.write({
    kind: "SignIn",
    id: uid,
    value: { ...session, token: token.reveal() } satisfies StoredSession,
    expiresAt: now() + LIFETIMES.interaction,
  });

/** Removes the session; false if another request has removed it, so that a decision counts once. */
export const removeSession = (
  { records }: SignInContext,
  { uid }: SignInRequest,
): Promise<boolean> => records.remove("SignIn", uid);

/** Signs the person out of the sign-in and of the platform. */
export const signOut = async (context: SignInContext, request: SignInRequest): Promise<void> => {
  const session = await findSession(context, request);
  if (session !== undefined && (await removeSession(context, request))) {
    await closeSession(context, session);
  }
};

export const describeClient = ({ client, params }: SignInRequest): ClientDescription => {
  const documentHost =
    client.clientIdMetadataDocument === true ? URL.parse(client.clientId)?.host : undefined;
  const redirectUri = URL.parse(toText(params["redirect_uri"]));
  return {
    name: toOneLine(client.clientName ?? "") || documentHost || "A program without a name",
    documentHost: documentHost && toOneLine(documentHost, 255),
    isOwnPage: client.clientId === PAGE_CLIENT,
    redirectHost:
      redirectUri === null || isNativeRedirect(redirectUri)
        ? undefined
        : toOneLine(redirectUri.host, 255),
  };
};

const commonContent = ({ interactions, forms }: SignInContext, request: SignInRequest) => ({
  path: interactions.seal(),
  formToken: forms.issue(request.uid),
  client: describeClient(request),
});

export const showSignIn = (
  context: SignInContext,
  request: SignInRequest,
  email: string,
  { message: alert, status, headers }: Partial<Refusal> = {},
): void => {
  const { platformName: platform } = context;
  const common = commonContent(context, request);
  const company = context.company?.linkTo(common.path);
  const content = { ...common, email, platform, alert, status, headers, company };
  sendPage(request.exchange, signInPage(content));
};

export const showConsent = (
  context: SignInContext,
  request: SignInRequest,
  { email, tenants }: PlatformSession,
  more: { alert?: string; status?: number; chosen?: Scope[]; tenant?: string | undefined } = {},
): void => {
  const { offered, requested } = request;
  // Changes need reading, but hosts that request more scopes later may name the new ones alone.
  const chosen = offered.filter((scope) => scope === "read" || requested.includes(scope));
  const content = { ...commonContent(context, request), email, tenants, offered, chosen, ...more };
  sendPage(request.exchange, consentPage(content));
};

/** Settles an authorization request and returns the address at which the provider responds to the client. */
export const settleInteraction = async (
  { provider, interactions, issuer }: SignInContext,
  { exchange }: SignInRequest,
  result: InteractionResults,
): Promise<string> => {
  await provider.interactionResult(exchange.incoming, exchange.response, result);
  return `${issuer}${PATHS.authorization}/${interactions.seal()}`;
};

/** Settles an authorization request and redirects to the provider, which responds to the client. */
export const finishInteraction = async (
  context: SignInContext,
  request: SignInRequest,
  result: InteractionResults,
): Promise<void> => redirect(request.exchange, await settleInteraction(context, request, result));
