import { toErrorFields } from "../kit/log.ts";
import type { Secret } from "../kit/secret.ts";
import type { OauthContext } from "./context.ts";
import { createApiKey, personIdOf } from "./people.ts";
import {
  authenticate,
  closeSession,
  type PasswordSignIn,
  type PlatformSession,
} from "./platform-session.ts";
import { type Refusal, toKeyRefusal } from "./refusal.ts";

export type OwnKeyRequest = PasswordSignIn & {
  /** Whether the key may be given to this person. */
  isFor: (personId: string) => boolean;
  /** Claims the request after sign-in; false if it was used already. */
  claim: () => Promise<boolean>;
};

const createClaimedKey = async (
  context: OauthContext,
  session: PlatformSession,
  { isFor, claim }: OwnKeyRequest,
): Promise<{ apiKey: Secret } | Refusal> => {
  const tenant = session.tenants.find(({ id }) => isFor(personIdOf(context, session.userId, id)));
  if (tenant === undefined) {
    const message =
      "The key is for another person: sign in with the account that your assistant acts for. It must still have access to the company.";
    return { status: 403, message };
  }
  if (!(await claim())) return { status: 410, message: "The key was created already." };
  const { keyId, apiKey } = await createApiKey(context, session, tenant);
  context.log.info("oauth.own_key_made", { keyId });
  return { apiKey };
};

/** Creates an API key for a person who signs in for it, because the platform lets no key create another. */
export const createOwnKey = async (
  context: OauthContext,
  request: OwnKeyRequest,
): Promise<{ apiKey: Secret } | Refusal> => {
  const result = await authenticate(context, request);
  if ("refusal" in result) return result.refusal;
  try {
    return await createClaimedKey(context, result.session, request);
  } catch (error) {
    context.log.warn("oauth.no_key", toErrorFields(error));
    const { status, message } = toKeyRefusal(error);
    return { status, message: `${message} Then let your assistant ask again.` };
  } finally {
    await closeSession(context, result.session);
  }
};
