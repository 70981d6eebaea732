import { ASK_SECTIONS } from "./support/requirements/asks.ts";
import { BEHAVIOUR_SECTIONS } from "./support/requirements/behaviour.ts";
import { FILE_SECTIONS } from "./support/requirements/files.ts";
import { HOST_SECTIONS } from "./support/requirements/hosts.ts";
import { INSIGHT_SECTIONS } from "./support/requirements/insights.ts";
import { INTERFACE_SECTIONS } from "./support/requirements/interface.ts";
import { LIST_SECTIONS } from "./support/requirements/lists.ts";
import { MONEY_SECTIONS } from "./support/requirements/money.ts";
import { OPERATIONS_SECTIONS } from "./support/requirements/operations.ts";
import { RESULT_SECTIONS } from "./support/requirements/results.ts";
import { NOT_TESTED, SECURITY_SECTIONS } from "./support/requirements/security.ts";
import { SIGN_IN_SECTIONS } from "./support/requirements/sign-in.ts";
import { REACH_SECTIONS } from "./support/requirements/reach.ts";
import { WORK_SECTIONS } from "./support/requirements/work.ts";

export { NOT_TESTED };

/** One demand of the interface documents, under the id by which a test cites it. */
export type Requirement = { id: string; section: string; what: string };

export const requirements: readonly Requirement[] = [
  ...INTERFACE_SECTIONS,
  ...BEHAVIOUR_SECTIONS,
  ...OPERATIONS_SECTIONS,
  ...INSIGHT_SECTIONS,
  ...FILE_SECTIONS,
  ...MONEY_SECTIONS,
  ...SECURITY_SECTIONS,
  ...HOST_SECTIONS,
  ...SIGN_IN_SECTIONS,
  ...WORK_SECTIONS,
  ...REACH_SECTIONS,
  ...ASK_SECTIONS,
  ...LIST_SECTIONS,
  ...RESULT_SECTIONS,
].flatMap((section) =>
  Object.entries(section.lines).map(([id, what]) => ({ id, section: section.title, what })),
);
