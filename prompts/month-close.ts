import type { Prompt } from "./prompt.ts";
import { monthClose as task, monthCloseSteps } from "./skills/month-close.ts";
import { renderTask } from "./skills/skill.ts";

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** Returns the first and last day of a month such as 2026-10; undefined for any other text. */
const parseMonth = (text: string): { first: string; last: string } | undefined => {
  const [, year, month] = MONTH.exec(text.trim()) ?? [];
  if (year === undefined || month === undefined) return undefined;
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return { first: `${year}-${month}-01`, last: `${year}-${month}-${days}` };
};

export const monthClose: Prompt = {
  name: "month-close",
  title: "Close a month",
  description:
    "Report a month: measures, ageing, disputes, unclaimed deductions, statements that do not add up.",
  arguments: [{ name: "month", description: "such as 2026-10", maxLength: 20 }],
  toolsets: ["insights", "disputes"],
  text: ({ month = "" }, has) => {
    const days = parseMonth(month);
    const begin =
      days === undefined
        ? `If that is not one month, ask me which. ${task.placeholders ?? ""}`
        : `It is ${days.first} to ${days.last}.`;
    const steps = days === undefined ? task.steps : monthCloseSteps(days.first, days.last);
    return `Close the month ${JSON.stringify(month)} with me. ${begin}

${renderTask({ ...task, steps }, has)}`;
  },
};
