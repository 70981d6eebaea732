import type { Task } from "../task.ts";
import type { World } from "../world/index.ts";
import { createChangeTasks } from "./change-tasks.ts";
import { createJudgementTasks } from "./judgement-tasks.ts";
import { createQuestionTasks } from "./question-tasks.ts";
import { createRefusalTasks } from "./refusal-tasks.ts";

/** The tasks of an analyst in a world. */
export const createTasks = (world: World): readonly Task[] => [
  ...createQuestionTasks(world),
  ...createJudgementTasks(world),
  ...createChangeTasks(world),
  ...createRefusalTasks(world),
];
