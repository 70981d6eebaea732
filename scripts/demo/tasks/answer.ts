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
export type Answered = { question: string; calls: Call[]; figures: Figures };

/** Answers the tasks in order; none of them changes anything. */
export const answerTasks = async (
  session: Session,
  tasks: readonly Task[],
): Promise<Answered[]> => {
  const answered: Answered[] = [];
  for (const { question, calls, read } of tasks) {
    const results: Result[] = [];
    for (const [tool, args] of calls) results.push(await session.call(tool, args, Result));
    const { calls: made } = session.takeRecords();
    answered.push({ question, calls: made, figures: read(results) });
  }
  return answered;
};
