import { type Clock, MINUTE } from "../kit/clock.ts";
import { randomToken } from "../kit/ids.ts";
import { errorFields, type Log } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import { accountPage, type Connected, entryPage } from "./account-pages.ts";
import type { Attempts } from "./attempts.ts";
import { createCookie } from "./cookies.ts";
import { type Exchange, type FormTokens, readForm, redirect, send } from "./form.ts";
import { type Grants, handleOf } from "./grants.ts";
import type { People } from "./people.ts";
import { PATHS } from "./provider.ts";
import type { Records } from "./records.ts";
import { signInRefusal, tooOften } from "./refusal.ts";
import { endedPage } from "./sign-in-pages.ts";

const VISIT_MS = 15 * MINUTE;

export type AccountNeeds = {
  issuer: string;
  records: Records;
  people: People;
  grants: Grants;
  attempts: Attempts;
  forms: FormTokens;
  platformName: string;
  now: Clock;
  log: Log;
};

/** A person who looks at what is connected. */
type Visit = { id: string; userId: string; email: string };

/** The page on which a person sees what acts for them, and ends it. */
export const createAccount = (needs: AccountNeeds) => {
  const { records, people, grants, attempts, forms, now, log } = needs;
  const path = new URL(needs.issuer).pathname.replace(/\/$/, "") + PATHS.account;
  const cookie = createCookie(needs.issuer, {
    name: "receivables_account",
    path: PATHS.account,
    sameSite: "Strict",
  });

  const visitOf = async ({ incoming }: Exchange): Promise<Visit | undefined> => {
    const id = cookie.read(incoming);
    return id === undefined
      ? undefined
      : ((await records.find("Visit", id))?.value as Visit | undefined);
  };

  const connectedOf = async ({ userId }: Visit): Promise<Connected[]> =>
    Promise.all(
      (await people.ofUser(userId)).map(async ({ id, tenant }) => ({
        tenant,
        connections: await grants.of(id),
      })),
    );

  const enter = (
    exchange: Exchange,
    email = "",
    refusal: { status?: number; message?: string; headers?: Record<string, string> } = {},
  ): void => {
    const { message: alert, ...more } = refusal;
    const [form, platform] = [forms.of("account"), needs.platformName];
    send(exchange, entryPage({ form, email, platform, alert, ...more }));
  };

  const signIn = async (exchange: Exchange, form: URLSearchParams): Promise<void> => {
    const email = (form.get("email") ?? "").trim().slice(0, 254);
    const until = await attempts.signIn(email, exchange.ip);
    if (until !== undefined) return enter(exchange, email, tooOften(until - now()));
    try {
      const who = await people.signIn(email, new Secret(form.get("password") ?? ""));
      await attempts.signedIn(email, exchange.ip);
      await people.signOut(who.token);
      const visit: Visit = { id: randomToken(), userId: who.userId, email: who.email };
      const { id } = visit;
      await records.write({ kind: "Visit", id, value: visit, expiresAt: now() + VISIT_MS });
      exchange.response.setHeader("Set-Cookie", cookie.line(id, VISIT_MS));
      redirect(exchange, path);
    } catch (error) {
      log.info("oauth.sign_in_refused", errorFields(error));
      enter(exchange, email, signInRefusal(error));
    }
  };

  const end = async (visit: Visit, handle: string | null): Promise<void> => {
    const all = (await connectedOf(visit)).flatMap(({ connections }) => connections);
    const chosen = all.find((connection) => handleOf(connection) === handle);
    if (chosen !== undefined) await grants.end(chosen.grantId);
  };

  const act = async (exchange: Exchange, visit: Visit | undefined): Promise<void> => {
    const form = await readForm(exchange);
    const purpose = visit?.id ?? "account";
    if (form === undefined || !forms.holds(exchange, form, purpose)) {
      return send(exchange, endedPage("This form was not sent from a page of this server.", 403));
    }
    if (visit === undefined) return signIn(exchange, form);
    if (form.get("action") === "end") await end(visit, form.get("connection"));
    if (form.get("action") === "sign-out") {
      await records.remove("Visit", visit.id);
      exchange.response.setHeader("Set-Cookie", cookie.line(""));
    }
    redirect(exchange, path);
  };

  return async (exchange: Exchange): Promise<void> => {
    const visit = await visitOf(exchange);
    if (exchange.incoming.method === "POST") return act(exchange, visit);
    if (visit === undefined) return enter(exchange);
    const [form, connected] = [forms.of(visit.id), await connectedOf(visit)];
    send(exchange, accountPage({ form, email: visit.email, connected }));
  };
};
