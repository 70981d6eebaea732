import { FOREIGN_TEXT, type Prompt } from "./prompt.ts";

export const exportHealth: Prompt = {
  name: "export-health",
  title: "Check the exports",
  description: "Check every schedule, its runs and its webhooks for failures, causes and remedies.",
  arguments: [],
  toolsets: ["insights", "payments"],
  insight: () => ({ name: "export_health", args: {} }),
  text: () => `Check the health of the tenant's recurring exports with me. The answer of export_health is attached.

1. Show me one table, the worst first: schedule, source, interval, last run with its time and rowCount, finding, and the
   field that supports it. State asOf and the number of schedules.
2. For each that is not healthy, look closer: export_runs_status for its runs (a rowCount of 0 or far from earlier runs is
   unusual), webhooks_list_deliveries for attempts.
3. Make one proposal each: for validation and limit, corrected filters that you tested with payments_query; for webhooks,
   the change at the receiver. Schedules cannot be changed: create a corrected one first, then delete the old one.
4. Then stop and wait. When I agree to a proposal, carry out only that one; deleting asks me again.

${FOREIGN_TEXT}`,
};
