import type { Prompt } from "./prompt.ts";
import { disputeTriage } from "./skills/dispute-triage.ts";
import { renderTask } from "./skills/skill.ts";

export const triageDisputes: Prompt = {
  name: "triage-disputes",
  title: "Triage open disputes",
  description:
    "Review the open disputes, find those that need attention today, and propose next steps.",
  arguments: [],
  toolsets: ["insights", "disputes"],
  attachments: () => ["receivables://dispute-configuration"],
  text: (_args, has) =>
    `Triage the tenant's open disputes with me. The dispute configuration is attached.

${renderTask(disputeTriage, has)}`,
};
