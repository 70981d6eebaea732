import type { IncomingMessage, ServerResponse } from "node:http";
import { withClientAddress } from "../kit/client-address.ts";
import { randomToken } from "../kit/ids.ts";
import { toErrorFields } from "../kit/log.ts";
import { createAccountHandler } from "./account.ts";
import { type Cookie, createCookie } from "./cookies.ts";
import { type Exchange, sendPage } from "./form.ts";
import { LIFETIMES, METADATA_PATHS, PATHS, PROVIDER_COOKIES } from "./provider.ts";
import { isLimited } from "./request-limits.ts";
import { offerAllScopes } from "./scopes.ts";
import { handleSignIn } from "./sign-in.ts";
import { errorPage, expiredSignInPage } from "./sign-in-pages.ts";
import { GRANTED, type SignInContext } from "./sign-in-request.ts";

type Handler = (incoming: IncomingMessage, response: ServerResponse) => Promise<void>;

type RouteContext = SignInContext & {
  browserCookie: Cookie;
  /** The issuer's path without a slash at its end. */
  prefix: string;
  handleAccount: (exchange: Exchange) => Promise<void>;
  handleProtocol: Handler;
};

/** Returns a path relative to the issuer, whether or not a proxy has removed the issuer's path already. */
const toRelativePath = (path: string, prefix: string): string => {
  const metadata = METADATA_PATHS.find((one) => path === one || path === one + prefix);
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

/** Replaces the provider's cookies in responses with one cookie for a browser that starts an interaction. */
const replaceCookies = ({ provider, interactions }: SignInContext, browserCookie: Cookie): void => {
  provider.use(async (context, next) => {
    await next();
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
      return sendPage(exchange, expiredSignInPage());
    }
    rewriteUrl(context, incoming, `${PATHS.authorization}/${uid}`, { search: "" });
    return context.handleProtocol(incoming, response);
  });
};

const route = async (context: RouteContext, exchange: Exchange, path: string): Promise<void> => {
  const { incoming, response } = exchange;
  if (await isLimited(context, exchange, path)) return;
  const interactionPath = parseInteractionPath(path);
  if (interactionPath !== undefined) return handleInteraction(context, exchange, interactionPath);
  if (path === PATHS.account) return context.handleAccount(exchange);
  const known = context.browserCookie.read(incoming) ?? "";
  delete incoming.headers.cookie;
  const browser = /^[\w-]{43}$/.test(known) ? known : randomToken();
  await context.interactions.run(browser, undefined, () =>
    context.handleProtocol(incoming, response),
  );
};

/** Creates the handler of requests below `/oauth/` and for the metadata (RFC 8414). */
export const createRequestHandler = (signInContext: SignInContext): Handler => {
  const { issuer, provider, addressOf, brand, log } = signInContext;
  const browserCookie = createCookie(issuer, {
    name: "receivables_browser",
    path: "/oauth/",
    sameSite: "Lax",
  });
  replaceCookies(signInContext, browserCookie);
  const context: RouteContext = {
    ...signInContext,
    browserCookie,
    prefix: new URL(issuer).pathname.replace(/\/$/, ""),
    handleAccount: createAccountHandler(signInContext),
    handleProtocol: provider.callback(),
  };
  return async (incoming, response) => {
    const url = new URL(incoming.url ?? "/", issuer);
    const path = toRelativePath(url.pathname, context.prefix);
    if (path === PATHS.authorization) offerAllScopes(url.searchParams);
    rewriteUrl(context, incoming, path, url);
    const exchange: Exchange = { incoming, response, url, ip: addressOf(incoming), brand };
    try {
      await withClientAddress(exchange.ip, () => route(context, exchange, path));
    } catch (error) {
      log.error("oauth.failed", toErrorFields(error));
      if (response.headersSent) response.destroy();
      else sendPage(exchange, errorPage("Something went wrong in this server.", 500));
    }
  };
};
