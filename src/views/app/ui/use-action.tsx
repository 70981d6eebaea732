import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { Fields } from "../host.ts";
import type { Problem, Reply } from "../reply.ts";
import { answerQuestion, ASKED_AGAIN, callTool, useSession } from "../session.ts";
import { Alert, Loading } from "./status.tsx";
import { useQuestion } from "./use-question.tsx";

type Outcome = { busy?: true; done?: string; problem?: Problem };

type Run = (action: {
  tool: string;
  args: Fields;
  /** What is reported when it is done, to the person and to the model of the conversation. */
  done: (answer: Fields) => string;
}) => Promise<boolean>;

type Action = {
  run: Run;
  isBusy: boolean;
  /** Why the last run changed nothing; `report` says it too. */
  problem: Problem | undefined;
  report: ComponentChild;
  /** Forgets the outcome of the last run. */
  clear: () => void;
};

/**
 * Runs tools that change something. The server asks the person through the host before it closes or deletes; where the
 * host cannot ask, the server answers with its question, and the view asks it.
 */
export const useAction = (): Action => {
  const { host, known } = useSession();
  const [outcome, setOutcome] = useState<Outcome>({});
  const { ask, dialog } = useQuestion("Please confirm");

  const callConfirmed = async (tool: string, args: Fields): Promise<Reply> => {
    const reply = await callTool(host, tool, args);
    if (reply.kind !== "question") return reply;
    return answerQuestion(host, reply, { tool, args, isYes: await ask(reply.summary) });
  };

  const run: Run = async ({ tool, args, done }) => {
    setOutcome({ busy: true });
    const reply = await callConfirmed(tool, args);
    if (reply.kind === "answer") {
      const text = done(reply.answer);
      known.clear();
      setOutcome({ done: text });
      host.tellModel(`In the view, the person did this: ${text}`);
      return true;
    }
    setOutcome({ problem: reply.kind === "problem" ? reply.problem : ASKED_AGAIN });
    return false;
  };

  const report = (
    <>
      <div class="report" role="status">
        {outcome.done && <p class="done">{outcome.done}</p>}
        {outcome.busy && !dialog && <Loading what="Working; the host may ask you to confirm" />}
      </div>
      {outcome.problem && <Alert>{outcome.problem.message}</Alert>}
      {dialog}
    </>
  );
  const { busy: isBusy = false, problem } = outcome;
  return { run, isBusy, problem, report, clear: () => setOutcome({}) };
};
