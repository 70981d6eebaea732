/**
 * Sign-in of people at the company's OpenID provider: authorization code with PKCE, state, nonce and issuer check. The
 * person must exist at the platform; they are found by a verified e-mail address.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { getMessage } from "../kit/error.ts";
import { randomToken } from "../kit/ids.ts";
import { createLazy } from "../kit/lazily.ts";
import { toErrorFields } from "../kit/log.ts";
import { createSeal } from "../kit/seal.ts";
import { Secret } from "../kit/secret.ts";
import type { CompanyLink } from "../pages/sign-in-fields.ts";
import { buildAddress, discover, type Proof, readEmail } from "./company-provider.ts";
import type { CompanySettings } from "./company-settings.ts";
import type { OauthContext } from "./context.ts";
import { type Cookie, createCookie } from "./cookies.ts";
import type { Directory } from "./directory.ts";
import { type Exchange, redirect } from "./form.ts";
import { LIFETIMES } from "./lifetimes.ts";
import type { PlatformSession } from "./platform-session.ts";

export const COMPANY_PATHS = { start: "/oauth/company/start", callback: "/oauth/company" } as const;

const NOTICES = {
  cancelled: "You did not sign in at your company.",
  failed: "The sign-in at your company did not work. Try again.",
  unverified: "Your company's sign-in does not say that your e-mail address is verified.",
  unknown:
    "No active account has your e-mail address. Ask the administrator of your company to create one.",
  unavailable: "Your company's sign-in does not answer at the moment. Try again in a minute.",
  cookies:
    "If you have just signed in, this browser blocks cookies for this address. Allow them here, then sign in again.",
};

/** The reason why a person came back without a session; the pages have a sentence for each. */
export type Notice = keyof typeof NOTICES;

/** The page to which a person returns: that of an authorization request, of their account, or of an approval. */
type ReturnTo = string;

/** A sign-in under way, sealed in a cookie, so that nothing is stored before it is over. */
type Pending = Proof & { to: ReturnTo; expiresAt: number };

/** Browsers accept cookies of 4,096 bytes with name and attributes. */
const MAX_COOKIE = 3800;

const isPending = (value: unknown): value is Pending =>
  typeof value === "object" && value !== null && "state" in value && "verifier" in value;

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** Returns the sentence of a notice in a page's address; undefined if it has none. */
export const readNotice = ({ url }: Exchange): { message: string } | undefined => {
  const notice = url.searchParams.get("notice") ?? "";
  return Object.hasOwn(NOTICES, notice) ? { message: NOTICES[notice as Notice] } : undefined;
};

/** Returns the address of a page after a sign-in: without the cookie of the visit, that page says so. */
export const afterSignIn = (path: string): string => `${path}?notice=${"cookies" satisfies Notice}`;

export type CompanyNeeds = OauthContext & { directory: Directory };

type Needs = CompanyNeeds & {
  settings: CompanySettings;
  cookie: Cookie;
  seal: ReturnType<typeof createSeal>;
  config: () => ReturnType<typeof discover>;
};

const callbackUrl = ({ issuer }: OauthContext): string => `${issuer}${COMPANY_PATHS.callback}`;

/** Sends a browser to the provider; returns the notice if it does not answer. */
const begin = async (
  needs: Needs,
  exchange: Exchange,
  to: ReturnTo,
): Promise<Notice | undefined> => {
  const { config, seal, cookie, now, log } = needs;
  const expiresAt = now() + LIFETIMES.interaction;
  const [state, nonce, verifier] = [randomToken(), randomToken(), randomToken()];
  const pending: Pending = { state, nonce, verifier, to, expiresAt };
  const sealed = seal.seal(pending);
  if (sealed.length > MAX_COOKIE) {
    log.warn("oauth.company_request_too_long", { characters: sealed.length });
    return "failed";
  }
  try {
    const proof = { state, nonce, verifier };
    const address = await buildAddress(await config(), callbackUrl(needs), proof);
    exchange.response.setHeader("Set-Cookie", cookie.toHeader(sealed, LIFETIMES.interaction));
    redirect(exchange, address.href);
    return undefined;
  } catch (error) {
    log.error("oauth.company_away", toErrorFields(error));
    return "unavailable";
  }
};

/** Returns the sign-in that a browser comes back from; undefined if it did not start there, or has expired. */
const findPending = (
  { seal, cookie, now }: Needs,
  { incoming, url }: Exchange,
): Pending | undefined => {
  const pending = seal.open(cookie.read(incoming) ?? "");
  if (!isPending(pending) || pending.expiresAt <= now()) return undefined;
  return isSame(url.searchParams.get("state") ?? "", pending.state) ? pending : undefined;
};

const openSession = async (
  { directory, settings: { issuer }, tenantId }: Needs,
  email: string,
): Promise<PlatformSession | "unknown"> => {
  const opened = await directory.openSession(email, { method: "OPENID", issuer });
  if (opened === undefined) return "unknown";
  const tenants = opened.tenants.filter(({ id }) => tenantId === undefined || id === tenantId);
  return { ...opened, tenants, token: new Secret(opened.token) };
};

/** Returns the session of the person who came back, or the notice why there is none. */
const finish = async (
  needs: Needs,
  { url }: Exchange,
  pending: Pending,
): Promise<PlatformSession | Notice> => {
  const { log } = needs;
  if (url.searchParams.get("error") === "access_denied") return "cancelled";
  const currentUrl = new URL(callbackUrl(needs) + url.search);
  try {
    const found = await readEmail(await needs.config(), currentUrl, pending);
    if (found === "unverified") return found;
    return await openSession(needs, found.email);
  } catch (error) {
    log.warn("oauth.company_refused", { reason: getMessage(error) });
    return "failed";
  }
};

/** Creates the sign-in at the company's provider. The library is loaded, and the provider asked, at the first use. */
export const createCompany = (context: CompanyNeeds, settings: CompanySettings) => {
  const needs: Needs = {
    ...context,
    settings,
    seal: createSeal(context.masterKey, "oauth-company"),
    cookie: createCookie(context.issuer, {
      name: "receivables_company",
      path: "/oauth/",
      // The provider sends the browser back from another site.
      sameSite: "Lax",
    }),
    config: createLazy(() => discover(settings)),
  };
  const { forms, issuer, passwords } = context;
  const formPurpose = (to: ReturnTo): string => `company ${hash("sha256", to, "base64url")}`;
  return {
    /** Returns the link that starts the sign-in and comes back to a page. */
    linkTo(to: ReturnTo): CompanyLink {
      const query = new URLSearchParams({ to, form: forms.issue(formPurpose(to)) });
      const href = `${issuer}${COMPANY_PATHS.start}?${query.toString()}`;
      return { host: new URL(settings.issuer).host, href, hasPasswords: passwords };
    },
    /** Returns the page that a link of this server comes back to; undefined for another link. */
    findStart(exchange: Exchange): ReturnTo | undefined {
      const { searchParams } = exchange.url;
      const to = searchParams.get("to") ?? "";
      return forms.isValid(exchange, searchParams, formPurpose(to)) ? to : undefined;
    },
    begin: (exchange: Exchange, to: ReturnTo) => begin(needs, exchange, to),
    findPending: (exchange: Exchange) => findPending(needs, exchange),
    finish: (exchange: Exchange, pending: Pending) => finish(needs, exchange, pending),
    /** Removes the cookie of a sign-in that is over. */
    clear: ({ response }: Exchange) => response.setHeader("Set-Cookie", needs.cookie.toHeader("")),
  };
};

export type Company = ReturnType<typeof createCompany>;
