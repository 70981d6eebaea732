import { z } from "zod";
import type { CallArguments } from "../../../src/contract/operation.ts";
import { daysBefore, lastFriday, lastMonth } from "../calendar.ts";
import type { Call, Session } from "../session.ts";
import { disputeTasks } from "./disputes.ts";
import { paymentTasks } from "./payments.ts";
import { receivablesTasks } from "./receivables.ts";
import { type Figures, Result, type Task } from "./task.ts";

/** The tasks of an analyst on a day. */
export const createTasks = (now: Date): Task[] => {
  const before = (days: number): string => daysBefore(now, days);
  const days = { today: before(0), friday: lastFriday(now), month: lastMonth(now), before };
  return [...disputeTasks(days), ...receivablesTasks(days), ...paymentTasks(days)];
};

/** A task with its calls and the figures that answer it. */
export type Answered = { question: string; calls: Call[]; before?: Call[]; figures: Figures };

const MOST_PAGES = 100;

const Page = z.object({
  nextCursor: z.string().nullish(),
  pagination: z.object({ cursor: z.string().nullish() }).optional(),
});

/** Calls a tool until its last page. */
const readPages = async (session: Session, tool: string, args: CallArguments): Promise<void> => {
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const sent = cursor === undefined ? args : { ...args, cursor };
    const { nextCursor, pagination } = await session.call(tool, sent, Page);
    cursor = nextCursor ?? pagination?.cursor ?? undefined;
    if (cursor === undefined) return;
  }
};

/** Measures the calls that told the same before. */
const measureBefore = async (
  session: Session,
  { before }: Task,
): Promise<Pick<Answered, "before">> => {
  if (before === undefined) return {};
  for (const [tool, args] of before) await readPages(session, tool, args);
  return { before: session.takeRecords().calls };
};

/** Answers the tasks in order; none of them changes anything. */
export const answerTasks = async (
  session: Session,
  tasks: readonly Task[],
): Promise<Answered[]> => {
  const answered: Answered[] = [];
  for (const task of tasks) {
    const { question, calls, read } = task;
    const results: Result[] = [];
    for (const [tool, args] of calls) results.push(await session.call(tool, args, Result));
    const { calls: made } = session.takeRecords();
    const before = await measureBefore(session, task);
    answered.push({ question, calls: made, ...before, figures: read(results) });
  }
  return answered;
};
