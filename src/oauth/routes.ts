import type { IncomingMessage, ServerResponse } from "node:http";
import { isEncoded } from "../kit/charset.ts";
import { withClientAddress } from "../kit/client-address.ts";
import { toCorsHeaders, toPreflightHeaders } from "../kit/cors.ts";
import { randomToken } from "../kit/ids.ts";
import { toFailureFields } from "../kit/log.ts";
import { createAccountHandler } from "./account.ts";
import { COMPANY_PATHS } from "./company.ts";
import { createCompanyHandler } from "./company-handler.ts";
import { type Cookie, createCookie } from "./cookies.ts";
import { narrowAuthorization } from "./authorization-request.ts";
import { createApprovalHandler } from "./approval-handler.ts";
import { parseApprovalPath } from "./approvals.ts";
import {
  type Exchange,
  isAddressShort,
  leadTo,
  readForm,
  redirect,
  redirectionOf,
  sendPage,
} from "./form.ts";
import { LIFETIMES } from "./lifetimes.ts";
import { METADATA_PATHS, PATHS, PROVIDER_COOKIES, setPage } from "./provider.ts";
import { isLimited, PROTOCOL_PATHS } from "./request-limits.ts";
import { handleSignIn } from "./sign-in.ts";
import { connectedPage, errorPage, expiredSignInPage } from "./sign-in-pages.ts";
import {
  findFirstResponse,
  GRANTED,
  ISSUED,
  saveResponse,
  type SignInContext,
} from "./sign-in-request.ts";
import { createVisits } from "./visits.ts";

type Handler = (incoming: IncomingMessage, response: ServerResponse) => Promise<void>;

type RouteContext = SignInContext & {
  browserCookie: Cookie;
  /** The issuer's path without a slash at its end. */
  prefix: string;
  handleAccount: (exchange: Exchange) => Promise<void>;
  /** Undefined if people sign in with passwords only. */
  handleCompany: ((exchange: Exchange, path: string) => Promise<void>) | undefined;
  handleApproval: (exchange: Exchange, id: string) => Promise<void>;
  handleProtocol: Handler;
};

const trimSlash = (path: string): string => path.replace(/\/$/, "");

/** Returns a path relative to the issuer, whether or not a proxy has removed the issuer's path already. */
const toRelativePath = (path: string, prefix: string): string => {
  const metadata = METADATA_PATHS.find((one) => [one, one + prefix].includes(trimSlash(path)));
  if (metadata !== undefined) return metadata;
  return prefix !== "" && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
};

/** Rewrites a request as if the client had sent it to the issuer's URL, from which the provider derives URLs. */
const rewriteUrl = (
  { issuer, prefix }: RouteContext,
  incoming: IncomingMessage,
  path: string,
  { search }: Pick<URL, "search">,
): void => {
  const { host, protocol } = new URL(issuer);
  incoming.headers["x-forwarded-host"] = host;
  incoming.headers["x-forwarded-proto"] = protocol.replace(":", "");
  incoming.url = path + search;
  Object.assign(incoming, { originalUrl: prefix + path + search });
};

/**
 * Replaces redirections that are too long for a header with pages, and the provider's cookies in responses with one
 * cookie for a browser that starts an interaction.
 */
const replaceCookies = (
  { provider, interactions, brand }: SignInContext,
  browserCookie: Cookie,
): void => {
  provider.use(async (context, next) => {
    await next();
    const page = leadTo(context.res, context.response.get("location") || "");
    if (page !== undefined) {
      context.remove("location");
      setPage(context, page, brand);
    }
    context.remove("Set-Cookie");
    const browser = interactions.newBrowser();
    if (browser === undefined) return;
    context.set("Set-Cookie", browserCookie.toHeader(browser, LIFETIMES.interaction));
  });
};

/** A path of an authorization request: its pages, or the response to its client. */
type InteractionPath = { page: "sign-in" | "authorize"; sealed: string; isCancel: boolean };

const parseInteractionPath = (path: string): InteractionPath | undefined => {
  const [, page, sealed, cancel] =
    /^\/oauth\/(sign-in|authorize)\/([\w-]{1,16000})(\/cancel)?$/.exec(path) ?? [];
  if (sealed === undefined) return undefined;
  return {
    page: page === "authorize" ? page : "sign-in",
    sealed,
    isCancel: cancel !== undefined,
  };
};

/** Sends a browser again to its client with the same code, as long as the client has not used it. */
const repeatResponse = async (context: RouteContext, exchange: Exchange, uid: string) => {
  const isGranted = (await context.records.find(GRANTED, uid)) !== undefined;
  const to = isGranted ? await findFirstResponse(context, ISSUED, uid) : undefined;
  if (to === undefined) return sendPage(exchange, expiredSignInPage());
  const code = URL.parse(to)?.searchParams.get("code") ?? "";
  const record = await context.records.find("AuthorizationCode", code);
  // A code that is used twice ends the grant.
  if (record?.consumedAt !== null) return sendPage(exchange, connectedPage());
  redirect(exchange, to);
};

const handleInteraction = async (
  context: RouteContext,
  exchange: Exchange,
  { page, sealed, isCancel }: InteractionPath,
): Promise<void> => {
  const { interactions, browserCookie, records } = context;
  const { incoming, response } = exchange;
  const interaction = interactions.open(sealed, browserCookie.read(incoming));
  if (interaction === undefined) return sendPage(exchange, expiredSignInPage());
  const { uid, payload, browser } = interaction;
  const { interaction: interactionCookie, resume } = PROVIDER_COOKIES;
  incoming.headers.cookie = `${interactionCookie}=${uid}; ${resume}=${uid}`;
  return interactions.run(browser, interaction, async () => {
    if (page === "sign-in") return handleSignIn(context, exchange, isCancel);
    // One grant issues one code, even if several processes receive the request.
    const consent = (payload["result"] as { consent?: unknown } | undefined)?.consent;
    if (consent !== undefined && !(await records.consume(GRANTED, uid))) {
      return repeatResponse(context, exchange, uid);
    }
    rewriteUrl(context, incoming, `${PATHS.authorization}/${uid}`, { search: "" });
    await context.handleProtocol(incoming, response);
    const to = redirectionOf(response);
    if (consent === undefined || to === undefined) return;
    await saveResponse(context, ISSUED, uid, to);
  });
};

/** Turns an authorization request that was sent as a form (RFC 6749, section 3.1) into one with a query. */
const redirectToAuthorization = async ({ issuer }: RouteContext, exchange: Exchange) => {
  const form = (await readForm(exchange)) ?? new URLSearchParams();
  const to = `${issuer}${PATHS.authorization}?${form.toString()}`;
  if (isAddressShort(to)) return redirect(exchange, to);
  sendPage(exchange, errorPage("The authorization request is too long."));
};

const METHODS = ["GET", "HEAD", "POST", "OPTIONS"];

/**
 * Lets scripts of an accepted origin use the endpoints of the protocol; the provider decides about other origins. Returns
 * true if it has answered a preflight.
 */
const allowOrigin = ({ isOrigin }: RouteContext, exchange: Exchange, path: string): boolean => {
  const { incoming, response } = exchange;
  const { origin, host, "access-control-request-headers": requested } = incoming.headers;
  if (origin === undefined || !PROTOCOL_PATHS.includes(path) || !isOrigin(origin, host)) {
    return false;
  }
  if (incoming.method === "OPTIONS") {
    response.writeHead(204, toPreflightHeaders(origin, METHODS.join(", "), requested)).end();
    return true;
  }
  response.setHeaders(
    new Map(Object.entries(toCorsHeaders(origin, ["WWW-Authenticate", "Retry-After"]))),
  );
  return false;
};

const FAILED = "Something went wrong in this server.";
const ENCODED = "Send the body without Content-Encoding; it is not decoded here.";

type Refusal = { status: number; error: string; why: string; headers?: Record<string, string> };

const isForPrograms = (path: string): boolean =>
  PROTOCOL_PATHS.includes(path) || path.startsWith("/.well-known/");

/** Answers programs with an OAuth error (RFC 6749, section 5.2), and people with a page. */
const sendRefusal = (
  exchange: Exchange,
  path: string,
  { status, error, why, headers = {} }: Refusal,
): void => {
  if (!isForPrograms(path)) return sendPage(exchange, errorPage(why, status), headers);
  exchange.response
    .writeHead(status, {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      ...headers,
    })
    .end(JSON.stringify({ error, error_description: why }));
};

/** Answers a request that failed. */
const sendFailure = (exchange: Exchange, path: string): void => {
  if (exchange.response.headersSent) exchange.response.destroy();
  else sendRefusal(exchange, path, { status: 500, error: "server_error", why: FAILED });
};

const READ = ["GET", "HEAD", "OPTIONS"];
const SENT = ["POST", "OPTIONS"];

const METHODS_OF: Readonly<Record<string, readonly string[]>> = {
  [PATHS.authorization]: METHODS,
  [PATHS.account]: METHODS,
  [PATHS.token]: SENT,
  [PATHS.revocation]: SENT,
  [PATHS.registration]: SENT,
  [PATHS.jwks]: READ,
  ...Object.fromEntries(METADATA_PATHS.map((path) => [path, READ])),
};

/**
 * Answers a method that a path does not have, and OPTIONS (RFC 9110, sections 9.3.7 and 15.5.6). Preflights are the
 * provider's to answer.
 */
const answerOtherMethod = (exchange: Exchange, path: string): boolean => {
  const { incoming, response } = exchange;
  const { method = "GET", headers } = incoming;
  const methods = METHODS_OF[path];
  if (methods === undefined) return false;
  const allow = { Allow: methods.join(", ") };
  if (method === "OPTIONS" && headers.origin === undefined) {
    response.writeHead(204, allow).end();
    return true;
  }
  if (methods.includes(method)) return false;
  const why = `This address has no ${method}; use ${methods[0]}.`;
  sendRefusal(exchange, path, { status: 405, error: "invalid_request", why, headers: allow });
  return true;
};

const route = async (context: RouteContext, exchange: Exchange, path: string): Promise<void> => {
  const { incoming, response } = exchange;
  if (allowOrigin(context, exchange, path)) return;
  if (await isLimited(context, exchange, path)) return;
  if (isEncoded(incoming.headers["content-encoding"])) {
    const headers = { "Accept-Encoding": "identity" };
    const refusal = { status: 415, error: "invalid_request", why: ENCODED, headers };
    return sendRefusal(exchange, path, refusal);
  }
  if (answerOtherMethod(exchange, path)) return;
  const interactionPath = parseInteractionPath(path);
  if (interactionPath !== undefined) return handleInteraction(context, exchange, interactionPath);
  if (path === PATHS.account) return context.handleAccount(exchange);
  if (path === COMPANY_PATHS.start || path === COMPANY_PATHS.callback) {
    if (context.handleCompany !== undefined) return context.handleCompany(exchange, path);
  }
  const approvalId = parseApprovalPath(path);
  if (approvalId !== undefined) return context.handleApproval(exchange, approvalId);
  // The provider also routes other spellings of a path, such as `/oauth/Register/`, which no rule above holds for.
  if (path !== PATHS.authorization && !PROTOCOL_PATHS.includes(path)) {
    const refusal = { status: 404, error: "invalid_request", why: "There is no such address." };
    return sendRefusal(exchange, path, refusal);
  }
  if (path === PATHS.authorization && incoming.method === "POST") {
    return redirectToAuthorization(context, exchange);
  }
  const known = context.browserCookie.read(incoming) ?? "";
  delete incoming.headers.cookie;
  const browser = /^[\w-]{43}$/.test(known) ? known : randomToken();
  await context.interactions.run(browser, undefined, () =>
    context.handleProtocol(incoming, response),
  );
};

/** Creates the handler of requests below `/oauth/` and for the metadata (RFC 8414). */
export const createRequestHandler = (signInContext: SignInContext): Handler => {
  const { issuer, provider, addressOf, brand, log, company } = signInContext;
  const browserCookie = createCookie(issuer, {
    name: "receivables_browser",
    path: "/oauth/",
    sameSite: "Lax",
  });
  replaceCookies(signInContext, browserCookie);
  const visits = createVisits(signInContext);
  const context: RouteContext = {
    ...signInContext,
    browserCookie,
    prefix: trimSlash(new URL(issuer).pathname),
    handleAccount: createAccountHandler({ ...signInContext, visits }),
    handleApproval: createApprovalHandler({ ...signInContext, visits }),
    handleCompany:
      company && createCompanyHandler({ ...signInContext, company, visits, browserCookie }),
    handleProtocol: provider.callback(),
  };
  return async (incoming, response) => {
    // A refused body is read to its end: the next request of the connection comes after it.
    response.once("finish", () => incoming.resume());
    const url = new URL(incoming.url ?? "/", issuer);
    const path = toRelativePath(url.pathname, context.prefix);
    const credentials = { ...incoming.headers };
    if (path === PATHS.authorization) narrowAuthorization(url.searchParams);
    rewriteUrl(context, incoming, path, url);
    const exchange: Exchange = { incoming, response, url, ip: addressOf(incoming), brand };
    try {
      await withClientAddress(exchange.ip, () => route(context, exchange, path));
    } catch (error) {
      log.error("oauth.failed", toFailureFields(error, credentials));
      sendFailure(exchange, path);
    }
  };
};
