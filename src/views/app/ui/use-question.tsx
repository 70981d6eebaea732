import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

type Question = { text: string; answer: (isYes: boolean) => void };

/** Asks the person questions that are answered with yes or no; the dialog is undefined while none is open. */
export const useQuestion = (
  title: string,
): { ask: (text: string) => Promise<boolean>; dialog: ComponentChild } => {
  const [question, setQuestion] = useState<Question>();
  const ask = async (text: string): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    setQuestion({ text, answer: resolve });
    const isYes = await promise;
    setQuestion(undefined);
    return isYes;
  };
  const dialog = question && (
    <Dialog
      title={title}
      confirm="Yes, do it"
      onConfirm={() => question.answer(true)}
      onClose={() => question.answer(false)}
    >
      <p class="question">{question.text}</p>
    </Dialog>
  );
  return { ask, dialog };
};
