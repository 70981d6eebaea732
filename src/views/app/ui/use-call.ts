import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Fields } from "../host.ts";
import { callTool, type Problem, type Reply, useSession } from "../session.ts";

export type Called = {
  reply: Reply | undefined;
  answer: Fields | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  /** Calls again, although an answer is known. */
  reload: () => void;
};

type Options = {
  /** An answer to the first arguments that is known already. */
  first?: Reply | undefined;
  /** Whether nothing is called for now, because nobody sees the answer. */
  isPaused?: boolean;
};

/** Changes within this time, such as several clicks, cause one call. */
const SETTLE_MS = 250;
const SECOND_MS = 1000;
/** A longer wait is left to the person. */
const LONGEST_WAIT_S = 60;

type State = { reply: Reply | undefined; isLoading: boolean };

/** Returns the time after which a refused call is repeated by itself; undefined if it is not. */
const waitOf = (reply: Reply): number | undefined => {
  const seconds = reply.kind === "problem" ? reply.problem.retryAfterSeconds : undefined;
  return seconds === undefined || seconds > LONGEST_WAIT_S ? undefined : seconds * SECOND_MS;
};

/** Calls `again` when the browser is online again after a call that reached no server. */
const useReturn = (problem: Problem | undefined, again: () => void): void => {
  const isCut = problem?.code === "host";
  useEffect(() => {
    if (!isCut) return undefined;
    window.addEventListener("online", again);
    return () => window.removeEventListener("online", again);
  }, [isCut, again]);
};

/**
 * Calls a tool whenever its arguments change or a record was changed, and keeps the former answer until the next one is
 * here; a late answer to earlier arguments is dropped. Without arguments nothing is called.
 */
export const useCall = (
  tool: string,
  args: Fields | undefined,
  { first: given, isPaused = false }: Options = {},
): Called => {
  const { host, known } = useSession();
  const first = known.isChanged() ? undefined : given;
  const sent = args === undefined || isPaused ? undefined : JSON.stringify(args);
  const [state, setState] = useState<State>({ reply: first, isLoading: first === undefined });
  const turn = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const hasCalled = useRef(false);

  const start = useCallback(
    (delayMs: number): void => {
      if (sent === undefined) return;
      const key = `${tool} ${sent}`;
      turn.current += 1;
      const mine = turn.current;
      clearTimeout(timer.current);
      const reply = known.get(key);
      if (reply !== undefined) return setState({ reply, isLoading: false });
      const load = async (): Promise<void> => {
        const answered = await callTool(host, tool, JSON.parse(sent) as Fields);
        if (answered.kind === "answer") known.set(key, answered);
        if (mine !== turn.current) return;
        setState({ reply: answered, isLoading: false });
        const wait = waitOf(answered);
        if (wait !== undefined) timer.current = setTimeout(() => start(0), wait);
      };
      setState((before) => ({ ...before, isLoading: true }));
      timer.current = setTimeout(() => void load(), delayMs);
    },
    [host, known, tool, sent],
  );

  useEffect(() => {
    if (first !== undefined && !hasCalled.current && sent !== undefined) {
      known.set(`${tool} ${sent}`, first);
    }
    start(hasCalled.current ? SETTLE_MS : 0);
    hasCalled.current = true;
  }, [start]);
  useEffect(() => known.onClear(() => start(0)), [known, start]);
  useEffect(
    () => () => {
      turn.current += 1;
      clearTimeout(timer.current);
    },
    [],
  );

  const { reply, isLoading } = state;
  // A refusal leaves on the page what was there.
  const last = useRef<Fields | undefined>(undefined);
  if (reply?.kind === "answer") last.current = reply.answer;
  const problem = reply?.kind === "problem" ? reply.problem : undefined;
  const reload = useCallback((): void => {
    if (sent !== undefined) known.delete(`${tool} ${sent}`);
    start(0);
  }, [known, tool, sent, start]);
  useReturn(problem, reload);
  return {
    reply,
    isLoading: isLoading && args !== undefined,
    answer: last.current,
    problem,
    reload,
  };
};
