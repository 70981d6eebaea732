import type { Prompt } from "./prompt.ts";
import { shortPayInvestigation, shortPaySteps } from "./skills/short-pay-investigation.ts";
import { renderTask } from "./skills/skill.ts";

export const investigateShortPay: Prompt = {
  name: "investigate-short-pay",
  title: "Investigate short payments",
  description: "Find what an account paid short, why, and which dispute covers it.",
  arguments: [{ name: "accountNumber", description: "number of the account", of: "account" }],
  toolsets: ["insights", "payments", "disputes"],
  attachments: () => ["receivables://dispute-configuration/reasons"],
  text: ({ accountNumber = "" }, has) => {
    const account = JSON.stringify(accountNumber);
    const task = { ...shortPayInvestigation, steps: shortPaySteps(account) };
    return `Investigate with me what account ${account} paid short. The reasons of disputes are attached.

${renderTask(task, has)}`;
  },
};
