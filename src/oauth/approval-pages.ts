import { formatTimestamp } from "../kit/clock.ts";
import { html } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";
import {
  hasPasswordFields,
  renderAlert,
  renderCompanyLink,
  renderFormToken,
  renderSignInFields,
} from "../pages/sign-in-fields.ts";
import type { AccountSignInPage } from "./account-pages.ts";
import type { Approval, Decision } from "./approvals.ts";
import type { Person } from "./people.ts";

const TITLE = "Approve a change";

const formatTime = (at: number): string => `${formatTimestamp(at).slice(11, 16)} UTC`;

/** The question about a call, with the two answers. */
export const approvalPage = (formToken: string, approval: Approval, person: Person): Page => ({
  title: TITLE,
  body: html`<h1>Approve this change?</h1>
    <p class="lead">Your assistant asks for it. Nothing is changed before you approve.</p>
    <p class="question">${approval.question}</p>
    <dl class="facts">
      <dt>You</dt>
      <dd>${person.email}</dd>
      <dt>Company</dt>
      <dd>${person.tenant.name}</dd>
      <dt>Page valid until</dt>
      <dd>${formatTime(approval.expiresAt)}</dd>
    </dl>
    <form method="post">
      ${renderFormToken(formToken)}
      <div class="actions">
        <button class="primary" name="action" value="approve">Approve</button>
        <button class="quiet" name="action" value="decline">Decline</button>
      </div>
    </form>
    <p class="note">Approve it only if you have just asked your assistant for it.</p>`,
});

const DECIDED: Record<Decision, { title: string; text: string }> = {
  approved: {
    title: "You approved this change",
    text: "Go back to your assistant and say so: it now makes the change, once.",
  },
  declined: {
    title: "You declined this change",
    text: "Nothing was changed. You can close this page.",
  },
};

/** The page of a question that the person has answered. */
export const decidedPage = (decision: Decision, { question }: Approval): Page => {
  const { title, text } = DECIDED[decision];
  return {
    title,
    body: html`<h1>${title}</h1>
      <p class="question">${question}</p>
      <p>${text}</p>`,
  };
};

/** The sign-in before a question, which says nothing about the question. */
export const approvalSignInPage = (content: AccountSignInPage): Page => {
  const { formToken, email, platform, refusal, company } = content;
  const focus = company === undefined ? { autofocus: "email" as const } : {};
  return {
    title: TITLE,
    status: refusal?.status,
    headers: refusal?.headers,
    body: html`<h1>Sign in to answer</h1>
      <p class="lead">
        Your assistant asks you to approve a change. Sign in with your account at
        <strong>${platform}</strong> to see what it is.
      </p>
      ${renderAlert(refusal?.message)} ${renderCompanyLink(company)}
      ${
        hasPasswordFields(company)
          ? html`<form method="post">
              ${renderFormToken(formToken)}
              ${renderSignInFields({ email, refused: refusal?.status !== undefined, ...focus })}
              <div class="actions">
                <button class="primary" name="action" value="sign-in">Continue</button>
              </div>
            </form>`
          : undefined
      }`,
  };
};

/** The page for a signed-in person whom the question is not for. */
export const otherPersonPage = (formToken: string, email: string): Page => ({
  title: TITLE,
  status: 403,
  body: html`<h1>This question is for another person</h1>
    <p class="lead">
      You are signed in as <strong>${email}</strong>. Only the person who is connected to the
      assistant that asks can answer.
    </p>
    <form method="post">
      ${renderFormToken(formToken)}
      <div class="actions">
        <button class="primary" name="action" value="switch">Sign in with another account</button>
      </div>
    </form>`,
});

/** The page of a question that does not exist, or not any more. */
export const endedApprovalPage = (): Page => ({
  title: "This question has ended",
  status: 410,
  body: html`<h1>This question has ended</h1>
    <p class="lead">
      Its ten minutes are over, or it was never asked. If you still want the change, ask your
      assistant again.
    </p>`,
});
