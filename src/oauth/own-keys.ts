import type { Clock } from "../kit/clock.ts";
import { errorFields, type Log } from "../kit/log.ts";
import type { Secret } from "../kit/secret.ts";
import type { Attempts } from "./attempts.ts";
import type { People, SignedIn } from "./people.ts";
import { keyRefusal, type Refusal, signInRefusal, tooOften } from "./refusal.ts";

export type OwnKeyAsked = {
  email: string;
  password: Secret;
  /** Where the request came from. */
  ip: string;
  /** Whether the key is for this person. */
  isFor: (personId: string) => boolean;
  /** Whether there is still a key to make; asked once it is known who asks. */
  claim: () => Promise<boolean>;
};

const OTHERS =
  "The key is for somebody else: sign in as whom you let your assistant act for, who may still use the company.";

/** Keys that people make for themselves. A key makes no other, so that whoever wants one signs in for it. */
export const createOwnKeys = ({
  people,
  attempts,
  now,
  log,
}: {
  people: People;
  attempts: Attempts;
  now: Clock;
  log: Log;
}) => {
  const make = async (who: SignedIn, { isFor, claim }: OwnKeyAsked) => {
    const tenant = who.tenants.find(({ id }) => isFor(people.idOf(who.userId, id)));
    if (tenant === undefined) return { status: 403, message: OTHERS };
    if (!(await claim())) return { status: 410, message: "It was made already." };
    const { keyId, apiKey } = await people.makeKey(who, tenant);
    log.info("oauth.own_key_made", { keyId });
    return { apiKey };
  };

  return async (asked: OwnKeyAsked): Promise<{ apiKey: Secret } | Refusal> => {
    const { email, password, ip } = asked;
    const until = await attempts.signIn(email, ip);
    if (until !== undefined) return tooOften(until - now());
    let who: SignedIn;
    try {
      who = await people.signIn(email, password);
    } catch (error) {
      const refusal = signInRefusal(error);
      log.info("oauth.sign_in_refused", { status: refusal.status });
      return refusal;
    }
    await attempts.signedIn(email, ip);
    try {
      return await make(who, asked);
    } catch (error) {
      log.warn("oauth.no_key", errorFields(error));
      const { status, message } = keyRefusal(error);
      return { status, message: `${message} Have your assistant ask once more.` };
    } finally {
      await people.signOut(who.token);
    }
  };
};
