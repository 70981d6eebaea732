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

/** A question for figures. The traps are the figures that a wrong way leads to; one that is right by chance is none. */
export const askFigures = (
  question: Question,
  right: readonly Labelled[],
  traps: readonly Labelled[],
): Task => {
  const values = right.map(([, figure]) => valueOf(figure));
  const others = traps.filter(([, figure]) => !values.includes(valueOf(figure)));
  const grade = (answer: string): Reasons =>
    expectFigures(
      answer,
      values,
      others.map(([, figure]) => valueOf(figure)),
    );
  const [first, ...rest] = right;
  if (first === undefined) throw new Error(`${question.name} has no answer.`);
  const trap = others[0]?.[1] ?? { count: valueOf(first[1]) + 1 };
  const replaced: Labelled[] = [[first[0], trap], ...rest];
  const lacking = `${sentence(rest)}; all is well`;
  const added = others.length === 0 ? lacking : `${sentence(right)}; or ${show(trap)}`;
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
  if (right.length === 0 || decoys.length === 0) throw new Error(`${question.name} lacks records.`);
  const list = (records: readonly string[]): string => records.join(", ");
  const lacking = list([...right.slice(1), ...decoys.slice(0, 1)]);
  return toTask(question, grade, [list(right), lacking, list([...right, ...decoys.slice(0, 1)])]);
};
