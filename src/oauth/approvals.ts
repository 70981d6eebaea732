import type { OauthContext } from "./context.ts";
import { findPerson } from "./people.ts";
import { PATHS } from "./provider.ts";
import { hasVisit } from "./visits.ts";

/** A question that a page puts to one person; `expiresAt` in milliseconds since the epoch. */
export type Approval = { id: string; personId: string; question: string; expiresAt: number };

export type Decision = "approved" | "declined";

const KIND = "Approval";
/** Apart from the question, so that of two answers the first counts on every node. */
const DECISION_KIND = "ApprovalDecision";
const ID = /^[\w-]{43}$/;
export const APPROVALS_PATH = `${PATHS.account}/approve/`;

/** Returns the id in the path of an approval page; undefined for any other path. */
export const parseApprovalPath = (path: string): string | undefined => {
  const id = path.startsWith(APPROVALS_PATH) ? path.slice(APPROVALS_PATH.length) : "";
  return ID.test(id) ? id : undefined;
};

/** Opens a page for a person and returns its address; undefined if they are signed in in no browser. */
export const openApproval = async (
  context: OauthContext,
  approval: Approval,
): Promise<string | undefined> => {
  const { records, issuer } = context;
  const { id, personId, expiresAt } = approval;
  const person = await findPerson(context, personId);
  if (person === undefined || !(await hasVisit(context, person.userId))) return undefined;
  await records.write({ kind: KIND, id, value: approval, expiresAt });
  return `${issuer}${APPROVALS_PATH}${id}`;
};

/** Returns the person's decision; undefined as long as there is none. */
export const findDecision = async (
  { records }: OauthContext,
  { id, personId }: Pick<Approval, "id" | "personId">,
): Promise<Decision | undefined> => {
  const found = await records.find(DECISION_KIND, id);
  const { decision, personId: decider } = found?.value ?? {};
  return decider === personId ? (decision as Decision) : undefined;
};

export const findApproval = async (
  { records }: OauthContext,
  id: string,
): Promise<Approval | undefined> => (await records.find(KIND, id))?.value as Approval | undefined;

/** Records a decision, if there is none yet: a form that is sent again changes nothing. */
export const saveDecision = async (
  { records, log }: OauthContext,
  { id, personId, expiresAt }: Approval,
  decision: Decision,
): Promise<void> => {
  const value = { decision, personId };
  if (!(await records.add({ kind: DECISION_KIND, id, value, expiresAt }))) return;
  log.info("oauth.approval", { person: personId, decision });
};
