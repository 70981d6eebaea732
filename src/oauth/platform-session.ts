import { contract } from "../contract/index.ts";
import { toErrorFields } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import type { Tenant } from "./directory.ts";
import type { OauthContext } from "./context.ts";
import { PASSWORDS_OFF, type Refusal, tooManyAttempts, toSignInRefusal } from "./refusal.ts";

/** Names the caller in the platform's audit log. */
export const CALL_OPTIONS = { tool: "sign_in" };

/** A person's session with the platform, which lasts as long as the sign-in. The default tenant is the first. */
export type PlatformSession = { token: Secret; userId: string; email: string; tenants: Tenant[] };

const openSession = async (
  { client, tenantId: onlyTenant }: OauthContext,
  email: string,
  password: Secret,
): Promise<PlatformSession> => {
  const input = { email, password: password.reveal() };
  const { output: login } = await client.call(contract.auth.login, input, {}, CALL_OPTIONS);
  const tenants = login.tenants
    .filter(({ tenantId }) => onlyTenant === undefined || tenantId === onlyTenant)
    .map(({ tenantId, tenantName }) => ({ id: tenantId, name: tenantName }));
  const rank = ({ id }: Tenant): number => (id === login.defaultTenantId ? 0 : 1);
  return {
    token: new Secret(login.accessToken),
    userId: login.userId,
    email: login.email,
    tenants: tenants.toSorted((a, b) => rank(a) - rank(b)),
  };
};

/** Ends a session. A failure is logged only: the platform ends unused sessions itself. */
export const closeSession = async (
  { client, log }: Pick<OauthContext, "client" | "log">,
  { token }: Pick<PlatformSession, "token">,
): Promise<void> => {
  await client
    .call(contract.auth.logout, { accessToken: token.reveal() }, {}, CALL_OPTIONS)
    .catch((error: unknown) => log.warn("oauth.sign_out_failed", toErrorFields(error)));
};

export type PasswordSignIn = { email: string; password: Secret; ip: string };

/** Opens a session, within the limits on sign-in attempts. */
export const authenticate = async (
  context: OauthContext,
  { email, password, ip }: PasswordSignIn,
): Promise<{ session: PlatformSession } | { refusal: Refusal }> => {
  const { attempts, now, log } = context;
  if (!context.passwords) return { refusal: PASSWORDS_OFF };
  const limitedUntil = await attempts.countSignIn(email, ip);
  if (limitedUntil !== undefined) return { refusal: tooManyAttempts(limitedUntil - now()) };
  try {
    const session = await openSession(context, email, password);
    await attempts.uncountSignIn(email, ip);
    return { session };
  } catch (error) {
    const refusal = toSignInRefusal(error);
    log.info("oauth.sign_in_refused", { status: refusal.status });
    return { refusal };
  }
};
