import { askPayments } from "./ask-payments.ts";
import { dailyBrief } from "./daily-brief.ts";
import { draftReply } from "./draft-reply.ts";
import { investigateShortPay } from "./investigate-short-pay.ts";
import { exportHealth } from "./export-health.ts";
import { intake } from "./intake.ts";
import type { Prompt } from "./prompt.ts";
import { monthClose } from "./month-close.ts";
import { monthEndDeductions } from "./month-end-deductions.ts";
import { reviewCreditApplication } from "./review-credit-application.ts";
import { rootCause } from "./root-cause.ts";
import { triageDisputes } from "./triage-disputes.ts";
import { workDispute } from "./work-dispute.ts";

export const prompts: readonly Prompt[] = [
  dailyBrief,
  triageDisputes,
  workDispute,
  draftReply,
  intake,
  investigateShortPay,
  askPayments,
  monthClose,
  monthEndDeductions,
  rootCause,
  reviewCreditApplication,
  exportHealth,
];
