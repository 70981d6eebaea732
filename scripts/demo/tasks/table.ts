import type { Table } from "../conversation.ts";
import type { Answered } from "./answer.ts";

export const TASKS_TITLE = "Forty tasks";

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const tokensOf = ({ calls }: Answered): number => sum(calls.map(({ tokens }) => tokens));

const format = (count: number): string => count.toLocaleString("en-US");

/** Says what the tasks cost altogether. */
export const describeTasks = (tasks: readonly Answered[]): string => {
  const calls = tasks.map((task) => task.calls.length);
  const tokens = tasks.map(tokensOf);
  const mean = Math.round(sum(tokens) / tasks.length);
  return `${tasks.length} questions about the same tenant, each answered by figures as they stand in results, which a test compares with SQL over the rows of the tenant where that is possible. Together they took ${sum(calls)} calls, at most ${Math.max(...calls)} for one, and ${format(sum(tokens))} tokens of replies: ${format(mean)} on average, at most ${format(Math.max(...tokens))}.`;
};

/** Returns each task with its tools and tokens. */
export const tabulateTasks = (tasks: readonly Answered[]): Table => ({
  head: ["Task", "Calls", "Tokens"],
  numeric: [2],
  rows: tasks.map((task) => [
    task.question,
    task.calls.map(({ tool }) => tool).join(", "),
    tokensOf(task),
  ]),
});
