import { type Clock, MINUTE } from "../kit/clock.ts";
import { randomToken } from "../kit/ids.ts";
import { errorFields, type Log } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import { accountPage, type Connected, entryPage } from "./account-pages.ts";
import type { Attempts } from "./attempts.ts";
import { type Exchange, type FormTokens, readForm, redirect, send } from "./form.ts";
import { type Grants, handleOf } from "./grants.ts";
import type { People } from "./people.ts";
import { PATHS } from "./provider.ts";
import type { Records } from "./records.ts";
import { signInRefusal, tooOften } from "./refusal.ts";
import { endedPage } from "./sign-in-pages.ts";

const VISIT_MS = 15 * MINUTE;
const COOKIE = "receivables_account";

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

const cookieIn = (header: string | undefined): string | undefined =>
  (header ?? "")
    .split(";")
    .map((pair) => pair.trim().split("="))
    .find(([name]) => name === COOKIE)?.[1];

/** The page on which a person sees what acts for them, and ends it. */
export const createAccount = (needs: AccountNeeds) => {
  const { records, people, grants, attempts, forms, now, log } = needs;
  const { protocol, pathname } = new URL(needs.issuer);
  const path = pathname.replace(/\/$/, "") + PATHS.account;
  const secure = protocol === "https:" ? "; Secure" : "";
  const setCookie = ({ response }: Exchange, value: string, seconds: number): void => {
    const rest = `Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
    response.setHeader("Set-Cookie", `${COOKIE}=${value}; ${rest}`);
  };

  const visitOf = async ({ incoming }: Exchange): Promise<Visit | undefined> => {
    const id = cookieIn(incoming.headers.cookie);
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
      setCookie(exchange, id, VISIT_MS / 1000);
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
      setCookie(exchange, "", 0);
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
