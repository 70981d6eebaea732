import { HOUR } from "../kit/clock.ts";
import { randomToken } from "../kit/ids.ts";
import { readSignInFields } from "../pages/sign-in-fields.ts";
import type { OauthContext } from "./context.ts";
import { createCookie } from "./cookies.ts";
import type { Exchange } from "./form.ts";
import { userIdOf } from "./people.ts";
import { authenticate, closeSession } from "./platform-session.ts";
import { PATHS } from "./provider.ts";
import type { Refusal } from "./refusal.ts";

/** A browser in which a person is signed in to the pages of their account. */
export type Visit = { id: string; userId: string; email: string };

const KIND = "Visit";
/** A working day, so that a person who signed in in the morning can approve calls all day. */
const VISIT_MS = 8 * HOUR;

/** Whether a user is signed in in any browser. */
export const hasVisit = async (context: OauthContext, userId: string): Promise<boolean> =>
  (await context.records.listByOwner(KIND, userIdOf(context, userId))).length > 0;

/** Signs a user out in every browser. */
export const endVisits = async (context: OauthContext, userId: string): Promise<void> => {
  const { records } = context;
  const visits = (await records.listByOwner(KIND, userIdOf(context, userId))) as Visit[];
  await Promise.all(visits.map(({ id }) => records.remove(KIND, id)));
};

export const createVisits = (context: OauthContext) => {
  const { records, now } = context;
  const cookie = createCookie(context.issuer, {
    name: "receivables_account",
    path: PATHS.account,
    // Sent with links from other sites, because conversations have the addresses of approval pages.
    sameSite: "Lax",
  });
  const start = async (
    { response }: Exchange,
    { userId, email }: Pick<Visit, "userId" | "email">,
  ): Promise<void> => {
    const id = randomToken();
    const value: Visit = { id, userId, email };
    const owner = userIdOf(context, userId);
    await records.write({ kind: KIND, id, value, expiresAt: now() + VISIT_MS, owner });
    response.appendHeader("Set-Cookie", cookie.toHeader(id, VISIT_MS));
  };
  return {
    /** Signs a person in who has proved their identity. */
    start,
    async find({ incoming }: Exchange): Promise<Visit | undefined> {
      const id = cookie.read(incoming);
      const record = id === undefined ? undefined : await records.find(KIND, id);
      return record?.value as Visit | undefined;
    },
    /** Signs the person of a form in; returns why not, and the e-mail address to show again. */
    async begin(
      exchange: Exchange,
      form: URLSearchParams,
    ): Promise<{ email: string; refusal: Refusal } | undefined> {
      const fields = readSignInFields(form);
      const result = await authenticate(context, { ...fields, ip: exchange.ip });
      if ("refusal" in result) return { email: fields.email, refusal: result.refusal };
      await closeSession(context, result.session);
      await start(exchange, result.session);
      return undefined;
    },
    async end({ response }: Exchange, { id }: Visit): Promise<void> {
      await records.remove(KIND, id);
      response.setHeader("Set-Cookie", cookie.toHeader(""));
    },
  };
};

export type Visits = ReturnType<typeof createVisits>;
