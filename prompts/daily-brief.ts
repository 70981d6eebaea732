import { FOREIGN_TEXT, type Prompt } from "./prompt.ts";
import { numberLines, selectSteps, type Step } from "./steps.ts";

const STEPS: readonly Step[] = [
  {
    needs: ["changes_since"],
    text: `What happened: changes_since {"since": "SINCE"}. Counts per kind, then the items that matter, with who and when, and what its notes say cannot be seen.`,
  },
  {
    unless: "changes_since",
    text: `What happened: disputes_summary {"createdFrom": "SINCE", "groupBy": ["reason"]} for what was opened, and {"status": "Closed", "closedFrom": "SINCE", "groupBy": ["resolution"]} for what ended.`,
  },
  `What is due: disputes_triage {"limit": 10}, and where it counts due ones also {"flags": ["due"], "orderBy": "daysLeft", "limit": 10}. First those with fewest daysLeft, then those with the highest score. Code, account, amount, assignee, why.`,
  "What is broken: export_health, only if an export or a webhook has failed.",
  "Write at most fifteen lines: three sentences on what changed, a table of what is due today, and one line for each thing that needs me. Amounts per currency, never added across currencies; name asOf. Change nothing.",
];

export const dailyBrief: Prompt = {
  name: "daily-brief",
  title: "Brief me on the day",
  description: "What changed since the last working day, which disputes are due, what is broken.",
  arguments: [],
  toolsets: ["insights", "disputes"],
  text: (
    _args,
    has,
  ) => `Brief me on my receivables today. SINCE is the last working day before today, such as Friday on a Monday.

${numberLines(selectSteps(STEPS, has))}

${FOREIGN_TEXT}`,
};
