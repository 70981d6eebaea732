import type { Kind, Outcome, Task, Transcript } from "../task.ts";
import { expectFigures, expectRecords, money, type Reasons, unchanged } from "./grading.ts";

type Calls = Transcript["calls"];

/** A question that changes nothing. */
type Question = { name: string; kind?: Kind; prompt: string; calls: Calls };

const toTask = (
  { name, kind = "question", prompt, calls }: Question,
  grade: (answer: string) => Reasons,
  [right, ...wrong]: readonly [string, ...string[]],
): Task => ({
  name,
  kind,
  prompt,
  grade: (outcome: Outcome) => [...grade(outcome.answer), ...unchanged(outcome)],
  right: { calls, answer: right },
  wrong: wrong.map((answer) => ({ calls, answer })),
});

/** A figure with its label; amounts are in cents, counts are whole. */
export type Labelled = readonly [label: string, figure: { cents: number } | { count: number }];

const show = (figure: Labelled[1]): string =>
  "cents" in figure ? money(figure.cents) : String(figure.count);
const valueOf = (figure: Labelled[1]): number =>
  "cents" in figure ? figure.cents / 100 : figure.count;

const sentence = (figures: readonly Labelled[]): string =>
  figures.map(([label, figure]) => `${label}: ${show(figure)}`).join("; ");

/** A question for figures. The traps are the figures that a wrong way leads to. */
export const askFigures = (
  question: Question,
  right: readonly Labelled[],
  traps: readonly Labelled[],
): Task => {
  const values = (list: readonly Labelled[]): number[] => list.map(([, figure]) => valueOf(figure));
  const grade = (answer: string): Reasons => expectFigures(answer, values(right), values(traps));
  const [first, ...others] = right;
  const [trap] = traps;
  if (first === undefined || trap === undefined) throw new Error(`${question.name} has no trap.`);
  const replaced: Labelled[] = [[first[0], trap[1]], ...others];
  const added = `${sentence(right)}; ${sentence([trap])}`;
  return toTask(question, grade, [sentence(right), sentence(replaced), added]);
};

/** A question for records. The decoys are those that a wrong way leads to. */
export const askRecords = (
  question: Question,
  like: RegExp,
  right: readonly string[],
  decoys: readonly string[],
): Task => {
  const grade = (answer: string): Reasons => expectRecords(answer, like, right);
  const list = (records: readonly string[]): string => records.join(", ");
  const lacking = list([...right.slice(1), ...decoys.slice(0, 1)]);
  return toTask(question, grade, [list(right), lacking, list([...right, ...decoys.slice(0, 1)])]);
};
