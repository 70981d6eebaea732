import type { Table } from "../conversation.ts";
import type { Answered } from "./answer.ts";

export const TASKS_TITLE = "Forty tasks";

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const tokensOf = ({ calls }: Pick<Answered, "calls">): number =>
  sum(calls.map(({ tokens }) => tokens));

/** Names tools, and how often each is called. */
const listTools = (calls: Answered["calls"]): string => {
  const counts = Map.groupBy(calls, ({ tool }) => tool);
  return [...counts]
    .map(([tool, own]) => (own.length === 1 ? tool : `${own.length} × ${tool}`))
    .join(", ");
};

const describeBefore = (tasks: readonly Answered[]): string => {
  const changed = tasks.flatMap(({ before }) => (before === undefined ? [] : [before]));
  const told = changed.filter((calls) => calls.length > 0);
  const calls = sum(told.map(({ length }) => length));
  const tokens = sum(told.map((before) => tokensOf({ calls: before })));
  return `The last two columns have what ${changed.length} of them take without past days of documents, parents, precedents, claims, changes and statements: all pages of lists and summaries, whose rows a person then adds up and compares, ${calls} calls and ${format(tokens)} tokens for ${told.length} of them; nothing else tells the other ${changed.length - told.length}.`;
};

const format = (count: number): string => count.toLocaleString("en-US");

/** Says what the tasks cost altogether. */
export const describeTasks = (tasks: readonly Answered[]): string => {
  const calls = tasks.map((task) => task.calls.length);
  const tokens = tasks.map(tokensOf);
  const mean = Math.round(sum(tokens) / tasks.length);
  return `${tasks.length} questions about the same tenant, each answered by figures as they stand in results, which a test compares with SQL over the rows of the tenant where that is possible. Together they took ${sum(calls)} calls, at most ${Math.max(...calls)} for one, and ${format(sum(tokens))} tokens of replies: ${format(mean)} on average, at most ${format(Math.max(...tokens))}. ${describeBefore(tasks)}`;
};

/** Returns each task with its tools and tokens. */
export const tabulateTasks = (tasks: readonly Answered[]): Table => ({
  head: ["Task", "Calls", "Tokens", "Without", "Tokens"],
  numeric: [2, 4],
  rows: tasks.map((task) => [
    task.question,
    listTools(task.calls),
    tokensOf(task),
    task.before === undefined ? "" : listTools(task.before) || "none",
    task.before === undefined || task.before.length === 0 ? "" : tokensOf({ calls: task.before }),
  ]),
});
