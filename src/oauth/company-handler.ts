import { APPROVALS_PATH } from "./approvals.ts";
import { afterSignIn, type Company, COMPANY_PATHS, type Notice } from "./company.ts";
import { ACCOUNT, APPROVE } from "./company-pages.ts";
import type { Cookie } from "./cookies.ts";
import { type Exchange, redirect, sendPage } from "./form.ts";
import { closeSession, type PlatformSession } from "./platform-session.ts";
import { PATHS } from "./provider.ts";
import { errorPage, expiredSignInPage, foreignFormPage } from "./sign-in-pages.ts";
import { GRANTED, saveSession, type SignInContext } from "./sign-in-request.ts";
import type { Visits } from "./visits.ts";

type CompanyContext = SignInContext & {
  company: Company;
  visits: Visits;
  /** Binds an authorization request to the browser in which it started. */
  browserCookie: Cookie;
};

/** Returns the address of the page to which a sign-in returns. */
const pageUrl = ({ issuer }: CompanyContext, to: string): string => {
  if (to === ACCOUNT) return issuer + PATHS.account;
  if (to.startsWith(APPROVE)) return issuer + APPROVALS_PATH + to.slice(APPROVE.length);
  return `${issuer}${PATHS.signIn}/${to}`;
};

/** Gives a session to the authorization request in whose page it started; false if that has ended. */
const continueRequest = async (
  context: CompanyContext,
  { incoming }: Exchange,
  to: string,
  session: PlatformSession,
): Promise<boolean> => {
  const { interactions, browserCookie, records } = context;
  const interaction = interactions.open(to, browserCookie.read(incoming));
  if (interaction === undefined) return false;
  if ((await records.find(GRANTED, interaction.uid)) !== undefined) return false;
  await saveSession(context, interaction, session);
  return true;
};

const comeBack = async (context: CompanyContext, exchange: Exchange): Promise<void> => {
  const { company, visits } = context;
  const pending = company.findPending(exchange);
  company.clear(exchange);
  if (pending === undefined) return sendPage(exchange, expiredSignInPage());
  const { to } = pending;
  const page = pageUrl(context, to);
  const leave = (notice: Notice): void => redirect(exchange, `${page}?notice=${notice}`);
  const session = await company.finish(exchange, pending);
  if (typeof session === "string") return leave(session);
  if (session.tenants.length === 0) {
    await closeSession(context, session);
    return leave("unknown");
  }
  if (to === ACCOUNT || to.startsWith(APPROVE)) {
    await closeSession(context, session);
    await visits.start(exchange, session);
    return redirect(exchange, afterSignIn(page));
  }
  if (await continueRequest(context, exchange, to, session)) return redirect(exchange, page);
  await closeSession(context, session);
  sendPage(exchange, expiredSignInPage());
};

const leaveForCompany = async (context: CompanyContext, exchange: Exchange): Promise<void> => {
  const { company } = context;
  const to = company.findStart(exchange);
  if (to === undefined) return sendPage(exchange, foreignFormPage());
  const notice = await company.begin(exchange, to);
  if (notice !== undefined) redirect(exchange, `${pageUrl(context, to)}?notice=${notice}`);
};

/** Creates the handler of the way to the company's OpenID provider and back. */
export const createCompanyHandler =
  (context: CompanyContext) =>
  async (exchange: Exchange, path: string): Promise<void> => {
    if (exchange.incoming.method !== "GET") return sendPage(exchange, errorPage("Not found.", 404));
    return path === COMPANY_PATHS.start
      ? leaveForCompany(context, exchange)
      : comeBack(context, exchange);
  };
