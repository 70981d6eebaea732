import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Fields } from "../host.ts";
import type { Problem, Reply } from "../reply.ts";
import { callTool, useSession } from "../session.ts";

export type Called = {
  reply: Reply | undefined;
  /** The last answer, also while the next one is awaited or after a refusal. */
  answer: Fields | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  /** Calls again, although an answer is known. */
  reload: () => void;
};

type Options = {
  /** An answer to the first arguments that is known already. */
  first?: Reply | undefined;
  /** Whether nothing is called for now, because the answer would not be seen. */
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

/**
 * Calls `again` when the browser is online again after a call that reached no server. The listener is there before the
 * call fails: an effect runs after the next frame, and the browser can be online again by then.
 */
const useReturn = (problem: Problem | undefined, again: () => void): void => {
  const onReturn = useRef<(() => void) | undefined>(undefined);
  onReturn.current = problem?.code === "host" ? again : undefined;
  useEffect(() => {
    const goOn = (): void => onReturn.current?.();
    window.addEventListener("online", goOn);
    return () => window.removeEventListener("online", goOn);
  }, []);
};

/** One call at a time, of which a later one takes the place; it ends with the component. */
const useTurns = () => {
  const turn = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const begin = useCallback((): (() => boolean) => {
    clearTimeout(timer.current);
    turn.current += 1;
    const mine = turn.current;
    return () => mine === turn.current;
  }, []);
  const plan = useCallback((work: () => void, delayMs: number): void => {
    timer.current = setTimeout(work, delayMs);
  }, []);
  useEffect(() => () => void begin(), [begin]);
  return { begin, plan };
};

/** Returns the start of a call, which takes a known answer where there is one. */
const useStart = (tool: string, sent: string | undefined, setState: (state: State) => void) => {
  const { host, known } = useSession();
  const { begin, plan } = useTurns();
  const key = `${tool} ${sent}`;
  const start = useCallback(
    (delayMs: number, waiting: (state: (before: State) => State) => void): void => {
      if (sent === undefined) return;
      const isCurrent = begin();
      const reply = known.get(key);
      if (reply !== undefined) return setState({ reply, isLoading: false });
      const load = async (): Promise<void> => {
        const answered = await callTool(host, tool, JSON.parse(sent) as Fields);
        if (answered.kind === "answer") known.set(key, answered);
        if (!isCurrent()) return;
        setState({ reply: answered, isLoading: false });
        const wait = waitOf(answered);
        if (wait !== undefined) plan(() => start(0, waiting), wait);
      };
      waiting((before) => ({ ...before, isLoading: true }));
      plan(() => void load(), delayMs);
    },
    [host, known, key, begin, plan],
  );
  return { start, known, key };
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
  const sent = args === undefined || isPaused ? undefined : JSON.stringify(args);
  const first = useSession().known.isChanged() ? undefined : given;
  const [state, setState] = useState<State>({ reply: first, isLoading: first === undefined });
  const { start, known, key } = useStart(tool, sent, setState);
  const hasCalled = useRef(false);
  useEffect(() => {
    if (first !== undefined && !hasCalled.current && sent !== undefined) known.set(key, first);
    start(hasCalled.current ? SETTLE_MS : 0, setState);
    hasCalled.current = true;
  }, [start]);
  useEffect(() => known.onClear(() => start(0, setState)), [known, start]);
  const reload = useCallback((): void => {
    known.delete(key);
    start(0, setState);
  }, [known, key, start]);

  const { reply, isLoading } = state;
  const problem = reply?.kind === "problem" ? reply.problem : undefined;
  // A refusal leaves on the page the answer before it.
  const last = useRef<Fields | undefined>(undefined);
  if (reply?.kind === "answer") last.current = reply.answer;
  useReturn(problem, reload);
  return {
    reply,
    isLoading: isLoading && args !== undefined,
    answer: last.current,
    problem,
    reload,
  };
};
