import { readSignInFields } from "../pages/sign-in-fields.ts";
import { readNotice } from "./company.ts";
import { submitConsent } from "./consent.ts";
import { type Exchange, readForm, redirect, sendPage } from "./form.ts";
import { authenticate, closeSession } from "./platform-session.ts";
import { expiredSignInPage, foreignFormPage } from "./sign-in-pages.ts";
import {
  findSession,
  findSignInRequest,
  finishInteraction,
  saveSession,
  showConsent,
  showSignIn,
  type SignInContext,
  type SignInRequest,
  signOut,
  toText,
} from "./sign-in-request.ts";

const cancel = async (context: SignInContext, request: SignInRequest): Promise<void> => {
  await signOut(context, request);
  await finishInteraction(context, request, {
    error: "access_denied",
    error_description: "The person did not allow it.",
  });
};

const submitPassword = async (
  context: SignInContext,
  request: SignInRequest,
  form: URLSearchParams,
): Promise<void> => {
  const { exchange } = request;
  const { email, password } = readSignInFields(form);
  const result = await authenticate(context, { email, password, ip: exchange.ip });
  if ("refusal" in result) return showSignIn(context, request, email, result.refusal);
  const { session } = result;
  if (session.tenants.length === 0) {
    await closeSession(context, session);
    const message = "Your account has no access to the company that this server works for.";
    return showSignIn(context, request, email, { status: 403, message });
  }
  await saveSession(context, request, session);
  redirect(exchange, exchange.url.pathname.split("/").at(-1) ?? "");
};

const show = async (context: SignInContext, request: SignInRequest): Promise<void> => {
  const session = await findSession(context, request);
  if (session !== undefined) return showConsent(context, request, session);
  const hint = toText(request.params["login_hint"]).slice(0, 254);
  showSignIn(context, request, hint, readNotice(request.exchange));
};

const submit = async (context: SignInContext, request: SignInRequest, form: URLSearchParams) => {
  switch (form.get("action")) {
    case "sign-in":
      return submitPassword(context, request, form);
    case "allow":
      return submitConsent(context, request, form);
    case "cancel":
      return cancel(context, request);
    case "switch":
      await signOut(context, request);
      return showSignIn(context, request, "");
    default:
      return show(context, request);
  }
};

/** Handles the pages of one authorization request. `isCancel` is set for the link that leaves them without sign-in. */
export const handleSignIn = async (
  context: SignInContext,
  exchange: Exchange,
  isCancel: boolean,
): Promise<void> => {
  const { incoming, url } = exchange;
  const { forms } = context;
  const request = await findSignInRequest(context, exchange);
  if (request === undefined) return sendPage(exchange, expiredSignInPage());
  if (incoming.method === "POST" && !isCancel) {
    const form = await readForm(exchange);
    if (form === undefined || !forms.isValid(exchange, form, request.uid)) {
      return sendPage(exchange, foreignFormPage());
    }
    const isOver = request.isGranted && form.get("action") !== "allow";
    return isOver ? sendPage(exchange, expiredSignInPage()) : submit(context, request, form);
  }
  if (request.isGranted) return sendPage(exchange, expiredSignInPage());
  const isCancelled = isCancel && forms.isValid(exchange, url.searchParams, request.uid);
  return isCancelled ? cancel(context, request) : show(context, request);
};
