import { useState } from "preact/hooks";
import { numberOf } from "./answers.ts";
import { counted, formatMoment } from "./format.ts";
import type { Problem, Question } from "./reply.ts";
import { answerQuestion, ASKED_AGAIN, useSession } from "./session.ts";
import { startView } from "./start.tsx";
import { Alert, Loading } from "./ui/status.tsx";

type Outcome =
  | { state: "asking" | "busy" }
  | { state: "declined" }
  | { state: "approved"; refused: number }
  | { state: "failed"; problem: Problem };

/** The longest answer that is passed on to the model, in characters. */
const MAX_ANSWER = 4000;

/** Some of several changes may be refused although the person approved all. */
const describeDone = ({ refused }: { refused: number }): string =>
  refused === 0
    ? "You approved this, and it was done."
    : `You approved this. Refused: ${counted(refused, "change")}; your assistant knows why.`;

/** Asks the question of a call, carries the call out on yes, and tells the model what happened. */
const Confirm = ({ question }: { question: Question }) => {
  const { host, opening } = useSession();
  const [outcome, setOutcome] = useState<Outcome>({ state: "asking" });

  const answer = async (isYes: boolean): Promise<void> => {
    setOutcome({ state: "busy" });
    const { tool = "", args } = opening;
    const reply = await answerQuestion(host, question, { tool, args, isYes });
    const message = `In the confirmation view, the person ${isYes ? "approved" : "declined"}: ${question.summary}`;
    if (reply.kind === "answer") {
      setOutcome({ state: "approved", refused: numberOf(reply.answer["refused"]) });
      const result = JSON.stringify(reply.answer).slice(0, MAX_ANSWER);
      return host.tellModel(`${message} It was done. Result: ${result}`, true);
    }
    const problem = reply.kind === "problem" ? reply.problem : ASKED_AGAIN;
    if (problem.code === "declined") {
      setOutcome({ state: "declined" });
      return host.tellModel(`${message} Nothing was changed.`, true);
    }
    setOutcome({ state: "failed", problem });
    host.tellModel(`${message} It failed: ${problem.code}: ${problem.message}`, true);
  };

  return (
    <main class="confirm" aria-busy={outcome.state === "busy"}>
      <h1>Please confirm</h1>
      <p class="question">{question.summary}</p>
      {outcome.state === "asking" && (
        <>
          <p class="note">
            Your assistant asked for this. Nothing is changed before you approve
            {question.expiresAt && `, until ${formatMoment(question.expiresAt)}`}.
          </p>
          <div class="actions">
            <button type="button" onClick={() => void answer(false)}>
              Decline
            </button>
            <button type="button" class="primary" onClick={() => void answer(true)}>
              Approve
            </button>
          </div>
        </>
      )}
      <div class="report" role="status">
        {outcome.state === "busy" && <Loading what="Working" />}
        {outcome.state === "approved" && <p class="done">{describeDone(outcome)}</p>}
        {outcome.state === "declined" && <p>You declined; nothing was changed.</p>}
      </div>
      {outcome.state === "failed" && <Alert>{outcome.problem.message}</Alert>}
    </main>
  );
};

/** Says how a call ended about which no question was due. */
const Ended = () => {
  const { reply } = useSession().opening;
  if (reply?.kind === "problem") return <Alert>{reply.problem.message}</Alert>;
  return (
    <main class="confirm">
      <h1>Nothing to confirm</h1>
      <p>The call needed no confirmation.</p>
    </main>
  );
};

const View = () => {
  const { reply } = useSession().opening;
  return reply?.kind === "question" ? <Confirm question={reply} /> : <Ended />;
};

startView("confirm", View);
