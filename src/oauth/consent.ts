import { toErrorFields } from "../kit/log.ts";
import type { Tenant } from "./directory.ts";
import { redirect, sendPage } from "./form.ts";
import { revokeGrant, saveConnection } from "./grants.ts";
import { ensurePerson, type Person, personIdOf } from "./people.ts";
import { closeSession, type PlatformSession } from "./platform-session.ts";
import { LIFETIMES } from "./lifetimes.ts";
import { toKeyRefusal } from "./refusal.ts";
import type { Scope } from "./scopes.ts";
import { expiredSignInPage } from "./sign-in-pages.ts";
import {
  describeClient,
  findFirstResponse,
  findSession,
  GRANTED,
  removeSession,
  saveResponse,
  saveSession,
  settleInteraction,
  showConsent,
  showSignIn,
  type SignInContext,
  type SignInRequest,
  toText,
} from "./sign-in-request.ts";

/** The person's decision: the company and the scopes that they chose. */
type Decision = { tenant: Tenant; scopes: Scope[] };

const saveGrant = async (
  { provider, resource: onlyResource }: SignInContext,
  { client, params, offered }: SignInRequest,
  accountId: string,
  scopes: Scope[],
): Promise<string> => {
  const [named] = [params["resource"]].flat();
  const resource = typeof named === "string" ? named : onlyResource;
  const grant = new provider.Grant({ accountId, clientId: client.clientId });
  const isOffline = toText(params["scope"]).split(" ").includes("offline_access");
  grant.addOIDCScope([...scopes, ...(isOffline ? ["offline_access"] : [])].join(" "));
  grant.addResourceScope(resource, scopes.join(" "));
  const rejected = offered.filter((scope) => !scopes.includes(scope));
  if (rejected.length > 0) grant.rejectResourceScope(resource, rejected.join(" "));
  return grant.save();
};

const createGrant = async (
  context: SignInContext,
  request: SignInRequest,
  session: PlatformSession,
  { tenant, scopes }: Decision,
): Promise<{ grantId: string; person: Person }> => {
  const personId = personIdOf(context, session.userId, tenant.id);
  // The grant is saved before the key exists, so that no clean-up deletes the key in between.
  const grantId = await saveGrant(context, request, personId, scopes);
  try {
    const person = await ensurePerson(context, session, tenant);
    const { name: client, documentHost, redirectHost } = describeClient(request);
    const host = documentHost ?? redirectHost ?? "a program on your computer";
    const since = context.now();
    const connection = { grantId, personId, client, host, scopes, since };
    await saveConnection(context, connection, since + LIFETIMES.grant);
    return { grantId, person };
  } catch (error) {
    await revokeGrant(context, grantId);
    throw error;
  }
};

const grantAccess = async (
  context: SignInContext,
  request: SignInRequest,
  session: PlatformSession,
  decision: Decision,
): Promise<void> => {
  const { log } = context;
  const { tenant, scopes } = decision;
  const { grantId, person } = await createGrant(context, request, session, decision);
  log.info("oauth.granted", { person: person.id, tenantId: tenant.id, scopes });
  await closeSession(context, session);
  const login = { accountId: person.id, remember: false };
  const next = await settleInteraction(context, request, { login, consent: { grantId } });
  await saveResponse(context, GRANTED, request.uid, next);
  redirect(request.exchange, next);
};

/** Answers a form that was sent again, as a double click does, like the first one. */
const repeatConsent = async (context: SignInContext, request: SignInRequest): Promise<void> => {
  const { exchange, uid } = request;
  // The session comes back if the first form failed.
  const isPending = async () => (await findSession(context, request)) === undefined;
  const next = await findFirstResponse(context, GRANTED, uid, isPending);
  if (next !== undefined) return redirect(exchange, next);
  const session = await findSession(context, request);
  if (session !== undefined) return showConsent(context, request, session);
  sendPage(exchange, expiredSignInPage());
};

/** Grants the client the access that the person chose in the consent form. */
export const submitConsent = async (
  context: SignInContext,
  request: SignInRequest,
  form: URLSearchParams,
): Promise<void> => {
  const session = await findSession(context, request);
  if (session === undefined) return repeatConsent(context, request);
  const tenant = session.tenants.find(({ id }) => id === form.get("tenant"));
  const scopes = request.offered.filter((scope) => form.getAll("scope").includes(scope));
  const chosen = { chosen: scopes, tenant: tenant?.id };
  if (tenant === undefined || scopes.length === 0) {
    const alert = tenant === undefined ? "Choose a company." : "Choose what it may do, or cancel.";
    return showConsent(context, request, session, { ...chosen, alert, status: 400 });
  }
  // Of two concurrent submissions the first counts.
  if (!(await removeSession(context, request))) return repeatConsent(context, request);
  try {
    await grantAccess(context, request, session, { tenant, scopes });
  } catch (error) {
    const { isSessionExpired, message: alert, status } = toKeyRefusal(error);
    context.log.warn("oauth.no_key", toErrorFields(error));
    if (isSessionExpired) {
      return showSignIn(context, request, session.email, { status, message: alert });
    }
    await saveSession(context, request, session);
    showConsent(context, request, session, { ...chosen, alert, status });
  }
};
