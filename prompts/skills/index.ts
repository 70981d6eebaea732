import { claimIntake } from "./claim-intake.ts";
import { creditReview } from "./credit-review.ts";
import { disputeTriage } from "./dispute-triage.ts";
import { monthClose } from "./month-close.ts";
import { shortPayInvestigation } from "./short-pay-investigation.ts";
import type { Skill } from "./skill.ts";
import { workADispute } from "./work-a-dispute.ts";

/** The first one has a folder of references, which the conformance scenario of folders examines. */
export const skills: readonly Skill[] = [
  monthClose,
  disputeTriage,
  workADispute,
  shortPayInvestigation,
  claimIntake,
  creditReview,
];
