import { claimIntake } from "./claim-intake.ts";
import { creditReview } from "./credit-review.ts";
import { disputeTriage } from "./dispute-triage.ts";
import { monthClose } from "./month-close.ts";
import { shortPayInvestigation } from "./short-pay-investigation.ts";
import type { Skill } from "./skill.ts";
import { workADispute } from "./work-a-dispute.ts";

export const skills: readonly Skill[] = [
  disputeTriage,
  workADispute,
  shortPayInvestigation,
  claimIntake,
  monthClose,
  creditReview,
];
