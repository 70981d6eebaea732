import type { OauthContext } from "./context.ts";
import {
  approvalPage,
  approvalSignInPage,
  decidedPage,
  endedApprovalPage,
  otherPersonPage,
} from "./approval-pages.ts";
import {
  type Approval,
  APPROVALS_PATH,
  type Decision,
  findApproval,
  findDecision,
  saveDecision,
} from "./approvals.ts";
import { afterSignIn, type Company, readNotice } from "./company.ts";
import { toApproval } from "./company-pages.ts";
import { type Exchange, readForm, redirect, sendPage } from "./form.ts";
import { findPerson, type Person } from "./people.ts";
import type { Refusal } from "./refusal.ts";
import { foreignFormPage } from "./sign-in-pages.ts";
import type { Visit, Visits } from "./visits.ts";

type ApprovalContext = OauthContext & { visits: Visits; company?: Company | undefined };

/** The purpose of the form tokens before sign-in. */
const SIGN_IN_FORM = "approval";

/** A proxy may have removed the issuer's path from the request. */
const pathOf = ({ issuer }: ApprovalContext, { id }: Approval): string =>
  new URL(issuer).pathname.replace(/\/$/, "") + APPROVALS_PATH + id;

/** A question that the signed-in person may answer. */
type Shown = { approval: Approval; person: Person; visit: Visit };

const formPurpose = ({ approval, visit }: Shown): string =>
  `approve ${approval.id} ${visit.userId}`;

const show = async (context: ApprovalContext, exchange: Exchange, shown: Shown): Promise<void> => {
  const { approval, person } = shown;
  const decision = await findDecision(context, approval);
  if (decision !== undefined) return sendPage(exchange, decidedPage(decision, approval));
  const formToken = context.forms.issue(formPurpose(shown));
  sendPage(exchange, approvalPage(formToken, approval, person));
};

const showSignIn = (
  { forms, platformName: platform, company }: ApprovalContext,
  exchange: Exchange,
  { id }: Approval,
  { email, refusal }: { email: string; refusal?: Refusal } = { email: "" },
): void => {
  const formToken = forms.issue(SIGN_IN_FORM);
  const link = company?.linkTo(toApproval(id));
  const why = refusal ?? readNotice(exchange);
  const content = { formToken, email, platform, refusal: why, company: link };
  sendPage(exchange, approvalSignInPage(content));
};

const DECISIONS: Readonly<Record<string, Decision>> = { approve: "approved", decline: "declined" };

const isAsked = ({ person, visit }: Shown): boolean => person.userId === visit.userId;

const submit = async (context: ApprovalContext, exchange: Exchange, shown: Shown) => {
  const { forms, visits } = context;
  const { approval, visit } = shown;
  const form = await readForm(exchange);
  const action = form?.get("action") ?? "";
  // A sign-in form that is sent twice, as a double click does.
  const isRepeated = action === "sign-in" && forms.isValid(exchange, form, SIGN_IN_FORM);
  if (!isRepeated && !forms.isValid(exchange, form, formPurpose(shown))) {
    return sendPage(exchange, foreignFormPage());
  }
  const decision = DECISIONS[action];
  if (action === "switch") await visits.end(exchange, visit);
  if (isAsked(shown) && decision !== undefined) await saveDecision(context, approval, decision);
  redirect(exchange, pathOf(context, approval));
};

/** Answers the page of a person who is signed in. Another person than the one who was asked sees no question. */
const answerVisit = async (
  context: ApprovalContext,
  exchange: Exchange,
  approval: Approval,
  visit: Visit,
): Promise<void> => {
  const person = await findPerson(context, approval.personId);
  if (person === undefined) return sendPage(exchange, endedApprovalPage());
  const shown = { approval, person, visit };
  if (exchange.incoming.method === "POST") return submit(context, exchange, shown);
  if (isAsked(shown)) return show(context, exchange, shown);
  const formToken = context.forms.issue(formPurpose(shown));
  sendPage(exchange, otherPersonPage(formToken, visit.email));
};

/** Creates the handler of the pages on which people approve the calls of their assistants. */
export const createApprovalHandler = (context: ApprovalContext) => {
  const { forms, visits } = context;
  return async (exchange: Exchange, id: string): Promise<void> => {
    const approval = await findApproval(context, id);
    if (approval === undefined) return sendPage(exchange, endedApprovalPage());
    const visit = await visits.find(exchange);
    if (visit !== undefined) return answerVisit(context, exchange, approval, visit);
    if (exchange.incoming.method !== "POST") return showSignIn(context, exchange, approval);
    const form = await readForm(exchange);
    if (form === undefined || !forms.isValid(exchange, form, SIGN_IN_FORM)) {
      return sendPage(exchange, foreignFormPage());
    }
    const refused = await visits.begin(exchange, form);
    if (refused !== undefined) return showSignIn(context, exchange, approval, refused);
    redirect(exchange, afterSignIn(pathOf(context, approval)));
  };
};
