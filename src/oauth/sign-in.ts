import type Provider from "oidc-provider";
import type { Client, InteractionResults } from "oidc-provider";
import type { Clock } from "../kit/clock.ts";
import { errorFields, type Log } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import { oneLine } from "../pages/html.ts";
import type { Attempts } from "./attempts.ts";
import { isLoopback } from "./clients.ts";
import { type Exchange, type FormTokens, readForm, redirect, send } from "./form.ts";
import type { Grants } from "./grants.ts";
import type { People, Person, SignedIn, Tenant } from "./people.ts";
import type { Interactions } from "./interactions.ts";
import { LIVES, PATHS } from "./provider.ts";
import type { Records } from "./records.ts";
import { keyRefusal, signInRefusal, tooOften } from "./refusal.ts";
import { ASKED, type Scope, scopesIn } from "./scopes.ts";
import { consentPage, endedPage, type Face, signInPage } from "./sign-in-pages.ts";

type Details = Awaited<ReturnType<Provider["interactionDetails"]>>;

export type SignInNeeds = {
  provider: Provider;
  records: Records;
  interactions: Interactions;
  issuer: string;
  people: People;
  grants: Grants;
  attempts: Attempts;
  forms: FormTokens;
  resource: string;
  /** What the platform is called on the page. */
  platformName: string;
  now: Clock;
  log: Log;
};

/** How far a person has come, between two pages. */
type Progress = Omit<SignedIn, "token"> & { token: string };

/** One request within a sign-in. */
type Step = {
  exchange: Exchange;
  details: Details;
  client: Client;
  /** What the person may allow, and what of it the client asked for. */
  offered: Scope[];
  asked: Scope[];
};

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The kind of record that says that a person has allowed an authorization request; consumed by its code. */
export const ANSWERED = "Answered";

export const GONE =
  "This sign-in has ended: it took too long, it was answered already, or it began in another browser.";

export const faceOf = (client: Client, redirectUri: string): Face => {
  const home =
    client.clientIdMetadataDocument === true ? URL.parse(client.clientId)?.host : undefined;
  const returns = URL.parse(redirectUri);
  const returnsTo =
    returns === null || isLoopback(returns) ? undefined : oneLine(returns.host, 255);
  const name = oneLine(client.clientName ?? "") || home || "A program without a name";
  return { name, home: home && oneLine(home, 255), returnsTo };
};

export const createSignIn = (needs: SignInNeeds) => {
  const { provider, records, interactions, people, grants, attempts, forms, now, log } = needs;

  const progressOf = async ({ uid }: Details): Promise<SignedIn | undefined> => {
    const kept = (await records.find("SignIn", uid))?.value as Progress | undefined;
    return kept && { ...kept, token: new Secret(kept.token) };
  };

  const keep = ({ uid }: Details, { token, ...who }: SignedIn): Promise<void> =>
    records.write({
      kind: "SignIn",
      id: uid,
      value: { ...who, token: token.reveal() } satisfies Progress,
      expiresAt: now() + LIVES.interaction,
    });

  const common = ({ details, client }: Step) => ({
    part: interactions.part(),
    form: forms.of(details.uid),
    face: faceOf(client, text(details.params["redirect_uri"])),
  });

  const showSignIn = (
    step: Step,
    email: string,
    refusal?: { status: number; message: string; headers?: Record<string, string> },
  ): void => {
    const { message: alert, ...more } = refusal ?? {};
    const platform = needs.platformName;
    send(step.exchange, signInPage({ ...common(step), email, platform, alert, ...more }));
  };

  const showConsent = (
    step: Step,
    { email, tenants }: SignedIn,
    more: { alert?: string; status?: number; chosen?: Scope[]; tenant?: string } = {},
  ): void => {
    const { offered, asked } = step;
    // Whatever is changed is looked at too, and hosts that come back for more may name that alone.
    const chosen = offered.filter((scope) => scope === "read" || asked.includes(scope));
    send(step.exchange, consentPage({ ...common(step), email, tenants, offered, chosen, ...more }));
  };

  /** Back to the client, by way of the provider. */
  const finish = async ({ exchange }: Step, result: InteractionResults): Promise<void> => {
    const { incoming, response } = exchange;
    await provider.interactionResult(incoming, response, result);
    redirect(exchange, `${needs.issuer}${PATHS.authorization}/${interactions.part()}`);
  };

  const forget = async ({ details }: Step): Promise<boolean> => {
    const progress = await progressOf(details);
    if (progress === undefined || !(await records.remove("SignIn", details.uid))) return false;
    await people.signOut(progress.token);
    return true;
  };

  const noteAnswered = ({ uid }: Details): Promise<void> =>
    records.write({ kind: ANSWERED, id: uid, value: {}, expiresAt: now() + LIVES.interaction });

  const cancel = async (step: Step): Promise<void> => {
    await forget(step);
    await finish(step, {
      error: "access_denied",
      error_description: "The person did not allow it.",
    });
  };

  const signIn = async (step: Step, form: URLSearchParams): Promise<void> => {
    const email = (form.get("email") ?? "").trim().slice(0, 254);
    const password = form.get("password") ?? "";
    const until = await attempts.signIn(email, step.exchange.ip);
    if (until !== undefined) return showSignIn(step, email, tooOften(until - now()));
    let progress: SignedIn;
    try {
      progress = await people.signIn(email, new Secret(password));
    } catch (error) {
      const refusal = signInRefusal(error);
      log.info("oauth.sign_in_refused", { status: refusal.status });
      return showSignIn(step, email, refusal);
    }
    await attempts.signedIn(email, step.exchange.ip);
    if (progress.tenants.length === 0) {
      await people.signOut(progress.token);
      const message = "Your account has no access to the company that this server works for.";
      return showSignIn(step, email, { status: 403, message });
    }
    await keep(step.details, progress);
    redirect(step.exchange, step.exchange.url.pathname.split("/").at(-1) ?? "");
  };

  const resourceOf = ({ details }: Step): string => {
    const [first] = [details.params["resource"]].flat();
    return typeof first === "string" ? first : needs.resource;
  };

  const makeGrant = async (step: Step, personId: string, chosen: Scope[]): Promise<string> => {
    const { client, details, offered } = step;
    const grant = new provider.Grant({ accountId: personId, clientId: client.clientId });
    const names = text(details.params["scope"]).split(" ");
    const granted = [...chosen, ...(names.includes("offline_access") ? ["offline_access"] : [])];
    grant.addOIDCScope(granted.join(" "));
    grant.addResourceScope(resourceOf(step), chosen.join(" "));
    const refused = offered.filter((scope) => !chosen.includes(scope));
    if (refused.length > 0) grant.rejectResourceScope(resourceOf(step), refused.join(" "));
    return grant.save();
  };

  const grantTo = async (
    step: Step,
    who: SignedIn,
    tenant: Tenant,
    scopes: Scope[],
  ): Promise<{ grantId: string; person: Person }> => {
    const personId = people.idOf(who.userId, tenant.id);
    // The grant stands before the key is made or found, so that nobody ends the key meanwhile.
    const grantId = await makeGrant(step, personId, scopes);
    try {
      const person = await people.settle(who, tenant);
      const { name, home, returnsTo } = common(step).face;
      const host = home ?? returnsTo ?? "a program on your computer";
      const connection = { grantId, personId, client: name, host, scopes, since: now() };
      await grants.note(connection, now() + LIVES.grant);
      return { grantId, person };
    } catch (error) {
      await grants.end(grantId);
      throw error;
    }
  };

  const allow = async (step: Step, form: URLSearchParams): Promise<void> => {
    const { details, offered, exchange } = step;
    const progress = await progressOf(details);
    if (progress === undefined) return showSignIn(step, "");
    const tenant = progress.tenants.find(({ id }) => id === form.get("tenant"));
    const chosen = offered.filter((scope) => form.getAll("scope").includes(scope));
    const kept = { chosen, ...(tenant === undefined ? {} : { tenant: tenant.id }) };
    if (tenant === undefined || chosen.length === 0) {
      const alert =
        tenant === undefined ? "Choose a company." : "Choose what it may do, or cancel.";
      return showConsent(step, progress, { ...kept, alert, status: 400 });
    }
    // Two answers to one question: the first counts.
    if (!(await records.remove("SignIn", details.uid))) return send(exchange, endedPage(GONE));
    try {
      const { grantId, person } = await grantTo(step, progress, tenant, chosen);
      log.info("oauth.granted", { person: person.id, tenantId: tenant.id, scopes: chosen });
      await people.signOut(progress.token);
      await noteAnswered(details);
      const login = { accountId: person.id, remember: false };
      await finish(step, { login, consent: { grantId } });
    } catch (error) {
      const { signInAgain, message: alert, status } = keyRefusal(error);
      log.warn("oauth.no_key", errorFields(error));
      if (signInAgain) return showSignIn(step, progress.email, { status, message: alert });
      await keep(details, progress);
      showConsent(step, progress, { ...kept, alert, status });
    }
  };

  const show = async (step: Step): Promise<void> => {
    const progress = await progressOf(step.details);
    if (progress === undefined)
      showSignIn(step, text(step.details.params["login_hint"]).slice(0, 254));
    else showConsent(step, progress);
  };

  const begin = async (exchange: Exchange): Promise<Step | undefined> => {
    const { incoming, response } = exchange;
    const details = await provider.interactionDetails(incoming, response).catch(() => undefined);
    if (details === undefined || details.result !== undefined) return undefined;
    // An address that was answered still opens; its answer was stored.
    if ((await records.find(ANSWERED, details.uid)) !== undefined) return undefined;
    const client = await provider.Client.find(text(details.params["client_id"]));
    if (client === undefined) return undefined;
    const offered = scopesIn(details.params["scope"]);
    const asked = scopesIn(details.params[ASKED] ?? details.params["scope"]);
    return { exchange, details, client, offered, asked };
  };

  const act = async (step: Step, form: URLSearchParams): Promise<void> => {
    switch (form.get("action")) {
      case "sign-in":
        return signIn(step, form);
      case "allow":
        return allow(step, form);
      case "cancel":
        return cancel(step);
      case "switch":
        await forget(step);
        return showSignIn(step, "");
      default:
        return show(step);
    }
  };

  /** Answers the pages of one sign-in, and its way out without one. */
  return async (exchange: Exchange, cancels: boolean): Promise<void> => {
    const { incoming, url } = exchange;
    const step = await begin(exchange);
    if (step === undefined) return send(exchange, endedPage(GONE));
    if (step.offered.length === 0) {
      return finish(step, {
        error: "invalid_scope",
        error_description: "Ask for read, write or admin.",
      });
    }
    const { uid } = step.details;
    if (incoming.method === "POST" && !cancels) {
      const form = await readForm(exchange);
      if (form !== undefined && forms.holds(exchange, form, uid)) return act(step, form);
      return send(exchange, endedPage("This form was not sent from a page of this server.", 403));
    }
    if (cancels && forms.holds(exchange, url.searchParams, uid)) return cancel(step);
    return show(step);
  };
};
