import { PASSWORD_PAGE } from "../contract/index.ts";
import { accountPage, accountSignInPage, type PasswordPage } from "./account-pages.ts";
import { afterSignIn, type Company, readNotice } from "./company.ts";
import { ACCOUNT } from "./company-pages.ts";
import type { OauthContext } from "./context.ts";
import { type Exchange, readForm, redirect, sendPage } from "./form.ts";
import { connectionHandle, listConnections, revokeGrant } from "./grants.ts";
import { listPeopleOfUser } from "./people.ts";
import { PATHS } from "./provider.ts";
import type { Refusal } from "./refusal.ts";
import { foreignFormPage } from "./sign-in-pages.ts";
import type { Visit, Visits } from "./visits.ts";

/** The purpose of the form tokens before sign-in. */
const SIGN_IN_FORM = "account";

type AccountContext = OauthContext & {
  visits: Visits;
  path: string;
  company?: Company | undefined;
};

const listTenantConnections = async (context: AccountContext, { userId }: Visit) => {
  const people = await listPeopleOfUser(context, userId);
  const lists = people.map(async ({ id, tenant }) =>
    (await listConnections(context, id)).map((connection) => ({ tenant, connection })),
  );
  return (await Promise.all(lists)).flat();
};

/** Finds the platform's page for a new password; an embedded platform has this server's address. */
const findPasswordPage = async ({
  client,
  platform,
  issuer,
}: AccountContext): Promise<PasswordPage | undefined> => {
  if (!(await client.extensions()).has(PASSWORD_PAGE.name)) return undefined;
  const isOwn = platform === "embedded";
  return { url: (isOwn ? issuer : platform) + PASSWORD_PAGE.path, isOwn };
};

const showSignIn = (
  { forms, platformName: platform, company }: AccountContext,
  exchange: Exchange,
  email = "",
  refused?: Refusal,
): void => {
  const formToken = forms.issue(SIGN_IN_FORM);
  const refusal = refused ?? readNotice(exchange);
  const link = company?.linkTo(ACCOUNT);
  sendPage(exchange, accountSignInPage({ formToken, email, platform, refusal, company: link }));
};

const signIn = async (context: AccountContext, exchange: Exchange, form: URLSearchParams) => {
  const { visits, path } = context;
  const refused = await visits.begin(exchange, form);
  if (refused !== undefined) return showSignIn(context, exchange, refused.email, refused.refusal);
  redirect(exchange, afterSignIn(path));
};

const disconnect = async (context: AccountContext, visit: Visit, handle: string | null) => {
  const all = await listTenantConnections(context, visit);
  const chosen = all.find(({ connection }) => connectionHandle(connection) === handle);
  if (chosen !== undefined) await revokeGrant(context, chosen.connection.grantId);
};

/** Whether a form was sent again after its effect: a sign-in during the visit, or a sign-out after it. */
const isRepeated = (
  { forms }: AccountContext,
  exchange: Exchange,
  form: URLSearchParams | undefined,
  visit: Visit | undefined,
): boolean => {
  const action = form?.get("action");
  return visit === undefined
    ? action === "sign-out"
    : action === "sign-in" && forms.isValid(exchange, form, SIGN_IN_FORM);
};

const submit = async (context: AccountContext, exchange: Exchange, visit: Visit | undefined) => {
  const { forms, visits, path } = context;
  const form = await readForm(exchange);
  if (form === undefined || !forms.isValid(exchange, form, visit?.id ?? SIGN_IN_FORM)) {
    if (isRepeated(context, exchange, form, visit)) return redirect(exchange, path);
    return sendPage(exchange, foreignFormPage());
  }
  if (visit === undefined) return signIn(context, exchange, form);
  if (form.get("action") === "end") await disconnect(context, visit, form.get("connection"));
  if (form.get("action") === "sign-out") await visits.end(exchange, visit);
  redirect(exchange, path);
};

/** Creates the handler of the page on which people see and disconnect their connected programs. */
export const createAccountHandler = (context: Omit<AccountContext, "path">) => {
  const path = new URL(context.issuer).pathname.replace(/\/$/, "") + PATHS.account;
  const account: AccountContext = { ...context, path };
  return async (exchange: Exchange): Promise<void> => {
    const visit = await context.visits.find(exchange);
    if (exchange.incoming.method === "POST") return submit(account, exchange, visit);
    if (visit === undefined) return showSignIn(account, exchange);
    const connections = await listTenantConnections(account, visit);
    const formToken = context.forms.issue(visit.id);
    const passwordPage = await findPasswordPage(account);
    sendPage(exchange, accountPage(formToken, visit.email, connections, passwordPage));
  };
};
