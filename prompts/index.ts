import { askPayments } from "./ask-payments.ts";
import { investigateShortPay } from "./investigate-short-pay.ts";
import { exportHealth } from "./export-health.ts";
import type { Prompt } from "./prompt.ts";
import { monthEndDeductions } from "./month-end-deductions.ts";
import { reviewCreditApplication } from "./review-credit-application.ts";
import { rootCause } from "./root-cause.ts";
import { triageDisputes } from "./triage-disputes.ts";
import { workDispute } from "./work-dispute.ts";

export const prompts: readonly Prompt[] = [
  triageDisputes,
  workDispute,
  investigateShortPay,
  askPayments,
  monthEndDeductions,
  rootCause,
  reviewCreditApplication,
  exportHealth,
];
