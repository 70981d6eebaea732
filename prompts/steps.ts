/** Whether a server has a tool, listed or behind `call_tool`. */
export type HasTool = (name: string) => boolean;

/** A step of a task: a text, or one for servers that have some tools or that lack one. */
export type Step =
  | string
  | { needs: readonly string[]; text: string }
  | { unless: string; text: string };

/** Returns the texts of the steps that a server can take. */
export const selectSteps = (steps: readonly Step[], has: HasTool): string[] =>
  steps.flatMap((step) => {
    if (typeof step === "string") return [step];
    const isPossible = "needs" in step ? step.needs.every(has) : !has(step.unless);
    return isPossible ? [step.text] : [];
  });

/** Numbers texts, one a line, from 1. */
export const numberLines = (texts: readonly string[]): string =>
  texts.map((text, place) => `${place + 1}. ${text}`).join("\n");
