import type { IncomingMessage, ServerResponse } from "node:http";
import type { Client } from "../client/port.ts";
import { withClientAddress } from "../kit/client-address.ts";
import { type Clock, HOUR, SECOND } from "../kit/clock.ts";
import { errorFields, type Log } from "../kit/log.ts";
import { randomToken } from "../kit/ids.ts";
import type { HostNeeds } from "../kit/network.ts";
import { createSeal } from "../kit/seal.ts";
import type { Secret } from "../kit/secret.ts";
import { createAccount } from "./account.ts";
import { createAttempts } from "./attempts.ts";
import { type Cookie, createCookie } from "./cookies.ts";
import { createBoundedFetch, createFetchDocument } from "./documents.ts";
import { createFormTokens, type Exchange, send } from "./form.ts";
import { createGrants } from "./grants.ts";
import { createInteractions } from "./interactions.ts";
import { createOwnKeys, type OwnKeyAsked } from "./own-keys.ts";
import { createPeople } from "./people.ts";
import { createProvider, LIVES, PATHS, PROVIDER_COOKIES } from "./provider.ts";
import { createRecords } from "./records.ts";
import { type Refusal, tooOften } from "./refusal.ts";
import { EVERY_SCOPE, offerEvery, type Scope, scopesIn } from "./scopes.ts";
import { ANSWERED, createSignIn, GONE } from "./sign-in.ts";
import { endedPage } from "./sign-in-pages.ts";
import type { Storage } from "./store/port.ts";

export type AuthorizationServerNeeds = {
  /** What this server is called by clients: its address, without a slash at its end. */
  issuer: string;
  /** The one resource that tokens are for: the address of the MCP endpoint. */
  resource: string;
  storage: Storage;
  masterKey: Buffer;
  client: Client;
  headerWord: string;
  /** Names the platform: its address, or that it is the embedded one. */
  platform: string;
  /** What people know the platform as. */
  platformName: string;
  /** The one tenant that may be worked for, where it is one. */
  tenantId: string | undefined;
  /** Whether clients may register themselves. */
  registration: boolean;
  /** Where clients' metadata documents may lie. */
  hosts: HostNeeds;
  /** An authority to trust for them beside the usual ones, as PEM. */
  ca?: string;
  /** Where a request came from, behind proxies that are trusted. */
  addressOf: (incoming: IncomingMessage) => string;
  now: Clock;
  log: Log;
};

/** Whom a token was given to. */
export type Bearer = {
  personId: string;
  clientId: string;
  grantId: string;
  scopes: Scope[];
  expiresAt: number;
};

export type AuthorizationServer = {
  /** Answers what is asked below `/oauth/`, and its metadata. */
  answer(incoming: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Signs somebody in and makes an API key of their own, which is kept nowhere; words for them where that fails. */
  makeOwnKey(
    incoming: IncomingMessage,
    asked: Omit<OwnKeyAsked, "ip">,
  ): Promise<{ apiKey: Secret } | Refusal>;
  /** Undefined for a token that is unknown, expired, ended, or for something else. It is looked up each time. */
  verify(token: string): Promise<Bearer | undefined>;
  /** What a person's calls are made with; undefined once their last grant has ended. */
  credentialOf(
    personId: string,
  ): Promise<{ email: string; tenantId: string; apiKey: Secret } | undefined>;
  /**
   * To be told when the platform refused a person's key. Where it holds no more, all that was granted on it ends, so
   * that hosts have the person sign in again; true then.
   */
  keyRefused(personId: string): Promise<boolean>;
  /** Removes what has expired, and the keys that nobody uses any more: at start, and hourly. */
  clean(): Promise<void>;
};

const METADATA = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

const refuse = (
  response: ServerResponse,
  status: number,
  error: string,
  why: string,
  headers: Record<string, string>,
): void => {
  response
    .writeHead(status, {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      ...headers,
    })
    .end(JSON.stringify({ error, error_description: why }));
};

/** Paths below the issuer's own, whether or not a proxy has taken that off already. */
const createPathOf = (issuer: string) => {
  const prefix = new URL(issuer).pathname.replace(/\/$/, "");
  return (path: string): string => {
    const metadata = METADATA.find((one) => path === one || path === one + prefix);
    if (metadata !== undefined) return metadata;
    return prefix !== "" && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
  };
};

// A program keeps the name that it was given, also after whoever gave it has forgotten.
const UNKNOWN_PROGRAM =
  "This server does not know the program that sent you here, or no longer. Remove the server from the program, then add it again.";

/** Everything an authorization server is made of, over a storage that all its processes share. */
const partsOf = (needs: AuthorizationServerNeeds) => {
  const { storage, masterKey, hosts, ca, now, log } = needs;
  const records = createRecords(storage, masterKey);
  const people = createPeople({ ...needs, records });
  const grants = createGrants({ records, ended: (personId) => people.leave(personId), log });
  const attempts = createAttempts(storage);
  const forms = createFormTokens(createSeal(masterKey, "oauth-form"), now);
  const interactions = createInteractions(createSeal(masterKey, "oauth-interaction"), now);
  const provider = createProvider({
    ...needs,
    records,
    interactions,
    people,
    grants,
    fetchDocument: createBoundedFetch(
      createFetchDocument(ca === undefined ? { hosts } : { hosts, ca }),
      now,
    ),
    showError(context, code, message) {
      const words = message === "client is invalid" ? UNKNOWN_PROGRAM : message;
      const { status, headers, body } = endedPage(`${words} (${code})`, context.status);
      context.set(headers);
      context.status = status;
      context.body = body;
    },
  });
  provider.on("server_error", (_context, error) => log.error("oauth.failed", errorFields(error)));
  const parts = { ...needs, records, interactions, people, grants, attempts, forms, provider };
  return { ...parts, signIn: createSignIn(parts), account: createAccount(parts) };
};

/** Scopes in metadata are those that people are asked for; the provider would name its own beside them. */
const correctMetadata = ({ provider }: ReturnType<typeof partsOf>): void => {
  provider.use(async (context, next) => {
    await next();
    const { body } = context;
    if (typeof body !== "object" || body === null || !("scopes_supported" in body)) return;
    body.scopes_supported = [...scopesIn(EVERY_SCOPE), "offline_access"];
  });
};

/** Removes the provider's cookies from an answer; the browser that begins an authorization request is given its own. */
const replaceCookies = (
  { provider, interactions }: ReturnType<typeof partsOf>,
  browserCookie: Cookie,
): void => {
  provider.use(async (context, next) => {
    await next();
    context.remove("Set-Cookie");
    const browser = interactions.begunBy();
    if (browser === undefined) return;
    context.set("Set-Cookie", browserCookie.line(browser, LIVES.interaction));
  });
};

/** An authorization request under way, by the address of its pages or of its result. */
type Found = { page: "sign-in" | "authorize"; part: string; cancels: boolean };

const findInteraction = (path: string): Found | undefined => {
  const [, page, part, cancel] =
    /^\/oauth\/(sign-in|authorize)\/([\w-]{1,16000})(\/cancel)?$/.exec(path) ?? [];
  if (part === undefined) return undefined;
  return { page: page === "authorize" ? page : "sign-in", part, cancels: cancel !== undefined };
};

const PROTOCOL_PATHS: readonly string[] = [PATHS.token, PATHS.revocation, PATHS.jwks, ...METADATA];

/** Answers requests beyond an address's limits with 429. */
const createRequestLimits = ({ attempts, registration, now }: ReturnType<typeof partsOf>) => {
  const retryAfter = (until: number) => ({
    "Retry-After": String(Math.max(1, Math.ceil((until - now()) / SECOND))),
  });
  return async (exchange: Exchange, path: string): Promise<boolean> => {
    const { incoming, response, ip } = exchange;
    const isProtocol = PROTOCOL_PATHS.includes(path) || path === PATHS.registration;
    const until = await attempts.request(isProtocol ? "protocol" : "pages", ip);
    if (until !== undefined && isProtocol) {
      const why = "Too many requests from this address.";
      refuse(response, 429, "temporarily_unavailable", why, retryAfter(until));
    } else if (until !== undefined) {
      const { status, message, headers } = tooOften(until - now());
      const page = endedPage(message, status);
      send(exchange, { ...page, headers: { ...page.headers, ...headers } });
    }
    if (until !== undefined) return true;
    if (path !== PATHS.registration || incoming.method !== "POST" || !registration) return false;
    const next = await attempts.registration(ip);
    if (next === undefined) return false;
    const why = "Too many clients were registered from this address. Try again in an hour.";
    refuse(response, 429, "temporarily_unavailable", why, retryAfter(next));
    return true;
  };
};

export const createAuthorizationServer = (needs: AuthorizationServerNeeds): AuthorizationServer => {
  const parts = partsOf(needs);
  const { provider, records, people, grants, signIn, account, now, log } = parts;
  correctMetadata(parts);
  const { interactions } = parts;
  const browserCookie = createCookie(needs.issuer, {
    name: "receivables_browser",
    path: "/oauth/",
    sameSite: "Lax",
  });
  replaceCookies(parts, browserCookie);
  const isRefused = createRequestLimits(parts);
  const issuer = new URL(needs.issuer);
  const prefix = issuer.pathname.replace(/\/$/, "");
  const pathOf = createPathOf(needs.issuer);
  const answerProtocol = provider.callback();
  const makeOwnKey = createOwnKeys(parts);

  /** The request as if it had come to the issuer's own address, so that all addresses in answers are right. */
  const addressed = (incoming: IncomingMessage, path: string, url: URL): void => {
    incoming.headers["x-forwarded-host"] = issuer.host;
    incoming.headers["x-forwarded-proto"] = issuer.protocol.replace(":", "");
    if (path === PATHS.authorization) offerEvery(url.searchParams);
    incoming.url = path + url.search;
    Object.assign(incoming, { originalUrl: prefix + path + url.search });
  };

  /** Continues an authorization request whose page or result the address holds. */
  const proceed = async (exchange: Exchange, found: Found): Promise<void> => {
    const { incoming, response } = exchange;
    const browser = browserCookie.read(incoming);
    const opened = interactions.open(found.part, browser);
    if (opened === undefined) return send(exchange, endedPage(GONE));
    const { uid, payload } = opened;
    const { interaction, resume } = PROVIDER_COOKIES;
    incoming.headers.cookie = `${interaction}=${uid}; ${resume}=${uid}`;
    return interactions.run(opened.browser, opened, async () => {
      if (found.page === "sign-in") return signIn(exchange, found.cancels);
      // A result with a grant makes one code, in every process.
      const isAllowed = (payload["result"] as { consent?: unknown } | undefined)?.consent;
      if (isAllowed !== undefined && !(await records.consume(ANSWERED, uid))) {
        return send(exchange, endedPage(GONE));
      }
      const url = `${PATHS.authorization}/${uid}`;
      Object.assign(incoming, { url, originalUrl: prefix + url });
      return answerProtocol(incoming, response);
    });
  };

  const route = async (exchange: Exchange, path: string): Promise<void> => {
    const { incoming, response } = exchange;
    if (await isRefused(exchange, path)) return;
    const found = findInteraction(path);
    if (found !== undefined) return proceed(exchange, found);
    if (path === PATHS.account) return account(exchange);
    const known = browserCookie.read(incoming) ?? "";
    delete incoming.headers.cookie;
    const browser = /^[\w-]{43}$/.test(known) ? known : randomToken();
    await interactions.run(browser, undefined, () => answerProtocol(incoming, response));
  };

  return {
    async answer(incoming, response) {
      const url = new URL(incoming.url ?? "/", needs.issuer);
      const path = pathOf(url.pathname);
      addressed(incoming, path, url);
      const exchange: Exchange = { incoming, response, url, ip: needs.addressOf(incoming) };
      try {
        await withClientAddress(exchange.ip, () => route(exchange, path));
      } catch (error) {
        log.error("oauth.failed", errorFields(error));
        if (response.headersSent) response.destroy();
        else send(exchange, endedPage("Something went wrong in this server.", 500));
      }
    },
    makeOwnKey(incoming, asked) {
      const ip = needs.addressOf(incoming);
      return withClientAddress(ip, () => makeOwnKey({ ...asked, ip }));
    },
    async verify(token) {
      const found = await provider.AccessToken.find(token);
      if (found === undefined || found.aud !== needs.resource) return undefined;
      const { accountId, grantId, clientId, exp } = found;
      if (accountId === undefined || grantId === undefined) return undefined;
      // Where a grant ends while a token is given out, the token may be the later one.
      if ((await provider.Grant.find(grantId)) === undefined) return undefined;
      const scopes = scopesIn(found.scope);
      return {
        personId: accountId,
        clientId: clientId ?? "",
        grantId,
        scopes,
        expiresAt: exp ?? 0,
      };
    },
    async credentialOf(personId) {
      const person = await people.find(personId);
      return person && { email: person.email, tenantId: person.tenant.id, apiKey: person.apiKey };
    },
    async keyRefused(personId) {
      const person = await people.find(personId);
      if (person === undefined) return true;
      if (await people.isLive(person)) return false;
      const connections = await grants.of(personId);
      await Promise.all(connections.map(({ grantId }) => grants.end(grantId)));
      return true;
    },
    async clean() {
      // oxlint-disable-next-line no-await-in-loop -- short transactions, so that requests get their turn
      while ((await needs.storage.purge()) > 0);
      const spent = await needs.storage.listSpentGrants(now() + LIVES.grant - HOUR);
      for (const record of spent) {
        const grantId = records.open(record)?.value["jti"];
        // oxlint-disable-next-line no-await-in-loop -- nobody waits for it
        if (typeof grantId === "string") await grants.end(grantId);
      }
      await people.leaveIdle();
    },
  };
};
